//! Reads the files of a task: texts as texts; images, sounds and documents as media.
//!
//! The content determines the type of a file, and its name only if the content does not.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use agent::Block;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Maximum number of files of one task.
const MAX_FILES: usize = 200;

/// Limit on the size of all files together, as a multiple of the limit on one file.
const TOGETHER: u64 = 4;

/// Maximum length of a path in an error, in characters.
const MAX_SHOWN: usize = 300;

/// Inputs that can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    #[error("there are {0} inputs, and at most {MAX_FILES} are read; name fewer")]
    TooMany(usize),
    #[error("the input {path:?} can't be read: {source}")]
    File { path: String, source: FileError },
}

/// The reason why a file can't be read, with a remedy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("its path is empty")]
    EmptyPath,
    #[error("no such file ({}); paths are relative to the server's working folder", .0.display())]
    Missing(PathBuf),
    #[error("it is a folder; name its files")]
    Folder,
    #[error("it is not a regular file")]
    NotRegular,
    #[error(
        "it has {length} bytes, and at most {limit} are read; raise agent.inputSize, or name a smaller one"
    )]
    TooLarge { length: String, limit: u64 },
    #[error("all inputs together have more than {TOGETHER} times agent.inputSize; name fewer")]
    Together,
    #[error("it is neither text (UTF-8) nor an image, a sound or a document of a known type")]
    UnknownType,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads files relative to `folder`, each of at most `limit` bytes. Blocks.
///
/// # Errors
/// Returns an error that names the file that can't be read, with the reason and a remedy.
pub(crate) fn read(folder: &Path, paths: &[String], limit: u64) -> Result<Vec<Block>, InputError> {
    if paths.len() > MAX_FILES {
        return Err(InputError::TooMany(paths.len()));
    }
    let mut left = limit.saturating_mul(TOGETHER);
    let mut blocks = Vec::new();
    for path in paths {
        let wrong = |source| InputError::File { path: path.chars().take(MAX_SHOWN).collect(), source };
        if path.is_empty() {
            return Err(wrong(FileError::EmptyPath));
        }
        let content = content(&folder.join(path), limit).map_err(wrong)?;
        let length = content.len() as u64;
        left = left.checked_sub(length).ok_or_else(|| wrong(FileError::Together))?;
        blocks.extend(file(path, content).map_err(wrong)?);
    }
    Ok(blocks)
}

/// The bytes of a file.
fn content(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    // Non-blocking: opening a pipe without a writer would wait forever.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file: File = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing(path.to_owned()),
        _ => FileError::Io(error),
    })?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(FileError::Folder);
    }
    if !found.is_file() {
        return Err(FileError::NotRegular);
    }
    let too_large = |length| FileError::TooLarge { length, limit };
    if found.len() > limit {
        return Err(too_large(found.len().to_string()));
    }
    let mut content = Vec::new();
    // It may have grown in the meantime.
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(too_large(format!("more than {limit}")));
    }
    Ok(content)
}

/// The blocks that a model sees for a file.
fn file(path: &str, content: Vec<u8>) -> Result<Vec<Block>, FileError> {
    let text = match media_type(&content) {
        Some(media_type) => return Ok(media(path, media_type, &content)),
        None => String::from_utf8(content),
    };
    match text {
        Ok(text) if !text.contains('\0') => Ok(vec![Block::text(format!("File {path}:\n{text}"))]),
        Ok(_) => Err(FileError::UnknownType),
        Err(error) => match named(path) {
            Some(media_type) => Ok(media(path, media_type, error.as_bytes())),
            None => Err(FileError::UnknownType),
        },
    }
}

/// The path precedes the media, because not every provider passes the name of media on.
fn media(path: &str, media_type: &str, content: &[u8]) -> Vec<Block> {
    let media = Block::Media {
        media_type: media_type.to_owned(),
        data: STANDARD.encode(content),
        name: Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()),
    };
    vec![Block::text(format!("File {path}:")), media]
}

/// The type by the first bytes (WHATWG MIME Sniffing, section 6).
fn media_type(content: &[u8]) -> Option<&'static str> {
    const BEGINNINGS: [(&[u8], &str); 9] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"%PDF-", "application/pdf"),
        (b"ID3", "audio/mpeg"),
        (b"\xff\xfb", "audio/mpeg"),
        (b"OggS\0", "audio/ogg"),
        (b"fLaC\0", "audio/flac"),
    ];
    let of_riff = |kind: &[u8]| content.starts_with(b"RIFF") && content.get(8..12) == Some(kind);
    if of_riff(b"WEBP") {
        return Some("image/webp");
    }
    if of_riff(b"WAVE") {
        return Some("audio/wav");
    }
    let known = BEGINNINGS.iter().find(|(beginning, _)| content.starts_with(beginning));
    // A text may start with these three letters.
    let known = known.filter(|(beginning, _)| *beginning != b"ID3" || std::str::from_utf8(content).is_err());
    known.map(|(_, media_type)| *media_type)
}

/// The type by the file name extension, for media without a fixed beginning.
fn named(path: &str) -> Option<&'static str> {
    let extension = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "mp3" => Some("audio/mpeg"),
        "m4a" => Some("audio/mp4"),
        "aac" => Some("audio/aac"),
        "avif" => Some("image/avif"),
        "heic" => Some("image/heic"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    fn read_one(folder: &Path, path: &str) -> Result<Vec<Block>, String> {
        read(folder, &[path.to_owned()], 20).map_err(|error| error.to_string())
    }

    #[test]
    fn texts_are_recognized_by_their_content() {
        let folder = folder(&[("a.png", "für alle".as_bytes()), ("id3", b"ID3 is a text")]);
        assert_eq!(read_one(folder.path(), "a.png").unwrap(), [Block::text("File a.png:\nfür alle")]);
        let absolute = folder.path().join("id3").display().to_string();
        let shown = Block::text(format!("File {absolute}:\nID3 is a text"));
        assert_eq!(read_one(Path::new("/nowhere"), &absolute).unwrap(), [shown]);
    }

    #[test]
    fn media_are_recognized_by_their_content_or_name() {
        let folder =
            folder(&[("a", PNG), ("b.M4A", b"\0\xff\xfe"), ("c.bin", b"\0\xff\xfe"), ("d.txt", b"a\0b")]);
        let types = |path: &str| match read_one(folder.path(), path).unwrap().as_slice() {
            [Block::Text { text }, Block::Media { media_type, data, .. }] => {
                (text.clone(), media_type.clone(), STANDARD.decode(data).unwrap().len())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(types("a"), ("File a:".to_owned(), "image/png".to_owned(), PNG.len()));
        assert_eq!(types("b.M4A").1, "audio/mp4");
        for neither in ["c.bin", "d.txt"] {
            let error = read_one(folder.path(), neither).unwrap_err();
            assert!(error.contains(neither) && error.contains("neither text"), "{error}");
        }
    }

    #[test]
    fn unreadable_and_large_files_are_refused_with_a_reason() {
        let folder = folder(&[("large", &[b'a'; 21]), ("fits", &[b'a'; 20])]);
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let wrong = [
            ("large", "it has 21 bytes, and at most 20"),
            ("folder", "it is a folder"),
            ("pipe", "not a regular file"),
            ("/dev/null", "not a regular file"),
            ("absent", "no such file"),
            ("", "path is empty"),
        ];
        for (path, why) in wrong {
            let error = read_one(folder.path(), path).unwrap_err();
            assert!(error.contains(why) && error.contains(&format!("{path:?}")), "{path}: {error}");
        }
        let five = vec!["fits".to_owned(); 5];
        assert_eq!(read(folder.path(), &five[..4], 20).unwrap().len(), 4);
        assert!(read(folder.path(), &five, 20).unwrap_err().to_string().contains("together"));
        let many = vec!["fits".to_owned(); 201];
        assert!(matches!(read(folder.path(), &many, 20), Err(InputError::TooMany(201))));
    }
}
