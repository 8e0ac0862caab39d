//! A saved program as an Agent Skill (<https://agentskills.io/specification>): a folder whose files a signature covers.
//!
//! `signature.json` lists every other file with its SHA-256 digest. An Ed25519 key of the author signs that list.
//! Nothing of a skill is used before the signature and all digests are verified. `skill_text` writes `SKILL.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remote_cache::{KeySource, PublicKey, SigningKey, read_secret};
use report::Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use system::file::{self, Access, Durability};

use super::{Approvals, RecordedRuns};
use crate::failure::Failure;

/// The version of the format.
const VERSION: u64 = 1;

/// Maximum number of files, and of folders: an exported skill has five files.
const FILES_LIMIT: usize = 64;

/// Maximum size of all files, in bytes (80 MiB): recorded runs have at most 64 MiB.
const BYTES_LIMIT: u64 = 80 << 20;

/// Distinguishes these signatures from others by the same key.
const CONTEXT: &[u8] = b"toolsmith skill\0";

const SIGNATURE: &str = "signature.json";
const PROGRAM: &str = "assets/program.json";
const RECORDED: &str = "assets/recorded.json";

/// The file of the user's key, in the state folder.
const KEY: &str = "skill-key.pem";

/// The content of `signature.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Signature {
    version: u64,
    /// The public key, in base64.
    key: String,
    /// The digest of each other file, by its path: `sha256:` and hexadecimal digits.
    files: BTreeMap<String, String>,
    /// The signature of the list of files, in base64.
    signature: String,
}

/// The description of the program: the content of `assets/program.json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Described {
    version: u64,
    /// The program's name.
    pub program: String,
    /// The tools that it can call, as `server.tool`.
    pub calls: Vec<String>,
    /// The flows between them that its author was asked about, a line each.
    pub flows: Vec<String>,
    /// The JSON Schema of its arguments.
    pub arguments: Value,
    /// The JSON Schema of its result, if it has one.
    pub result: Option<Value>,
}

/// A program as a skill.
#[derive(Debug)]
pub struct Skill {
    /// The description of the program.
    pub described: Described,
    /// Its text.
    pub text: String,
    /// Its recorded runs; `None` if they are left out.
    pub recorded: Option<RecordedRuns>,
}

impl Described {
    /// Describes the program `name`.
    pub fn new(
        program: String,
        calls: Vec<String>,
        flows: Vec<String>,
        arguments: Value,
        result: Option<Value>,
    ) -> Self {
        Described { version: VERSION, program, calls, flows, arguments, result }
    }

    /// The skill's name, which is that of its folder: words have hyphens between them.
    pub fn skill_name(&self) -> String {
        let words: Vec<&str> = self.program.split('_').filter(|word| !word.is_empty()).collect();
        words.join("-")
    }
}

impl Skill {
    /// Writes the skill with `skill_md` as its `SKILL.md` into a new folder inside `folder`, and returns its path.
    ///
    /// # Errors
    /// If it can't be written, or exists.
    pub fn write(&self, skill_md: String, key: &SigningKey, folder: &Path) -> Result<PathBuf, Failure> {
        if self.described.skill_name().is_empty() {
            return Err(Failure::command_line(
                "the program's name has no letter or digit, which a skill's needs",
            ));
        }
        let mut files = BTreeMap::from([
            ("SKILL.md".to_owned(), skill_md.into_bytes()),
            (PROGRAM.to_owned(), pretty(&self.described)?),
            (text_path(&self.described.program), self.text.clone().into_bytes()),
        ]);
        if let Some(recorded) = &self.recorded {
            files.insert(RECORDED.to_owned(), pretty(recorded)?);
        }
        let digests = digests(&files);
        let signature = Signature {
            version: VERSION,
            key: key.public().to_string(),
            signature: key.sign_text(&signed(&digests)?),
            files: digests,
        };
        files.insert(SIGNATURE.to_owned(), pretty(&signature)?);
        let path = folder.join(self.described.skill_name());
        write(&files, folder, &path).map_err(|error| match error.kind() {
            std::io::ErrorKind::DirectoryNotEmpty | std::io::ErrorKind::AlreadyExists => {
                Failure::command_line(format!("{} exists already", path.display()))
                    .hint("delete that folder first, or name another one")
            }
            _ => Failure::command_line(format!("{} can't be written: {error}", path.display()))
                .caused_by(error),
        })?;
        Ok(path)
    }

    /// Reads a skill, and verifies its signature; returns also the key that signed it.
    ///
    /// # Errors
    /// If it can't be read, was changed since it was signed, or is not one that Toolsmith has written.
    pub fn read(folder: &Path) -> Result<(Self, PublicKey), Failure> {
        let mut files = read_files(folder)?;
        let wrong = |what: String| wrong(folder, &what);
        let Some(signature) = files.remove(SIGNATURE) else {
            return Err(wrong(format!("it has no {SIGNATURE}")).hint(
                "name the folder of a skill that `toolsmith program export --skill` has written; `toolsmith program save` \
                 saves a program without a signature",
            ));
        };
        let signature: Signature = parsed(folder, SIGNATURE, &signature)?;
        let key = PublicKey::from_text(&signature.key)
            .ok_or_else(|| wrong(format!("the key in {SIGNATURE} is no Ed25519 key")))?;
        if !key.verifies_text(&signed(&signature.files)?, &signature.signature) {
            return Err(changed(folder, "its signature is wrong"));
        }
        if let Some(difference) = difference(&signature.files, &digests(&files)) {
            return Err(changed(folder, &difference));
        }
        let file = |path: &str| files.get(path).ok_or_else(|| wrong(format!("it has no {path}")));
        let described: Described = parsed(folder, PROGRAM, file(PROGRAM)?)?;
        let text_path = text_path(&described.program);
        let text = String::from_utf8(file(&text_path)?.clone())
            .map_err(|_| wrong(format!("{text_path} is not UTF-8")))?;
        let recorded =
            files.get(RECORDED).map(|recorded| RecordedRuns::parse(&folder.join(RECORDED), recorded));
        Ok((Skill { described, text, recorded: recorded.transpose()? }, key))
    }
}

/// The key of the user that signs skills; it is created at first use.
///
/// # Errors
/// If it can't be read or written.
pub fn own_key() -> Result<SigningKey, Failure> {
    let path = config::state_folder()?.join(KEY);
    let failed = |error: std::io::Error| {
        Failure::command_line(format!("{} can't be written: {error}", path.display())).caused_by(error)
    };
    if !path.try_exists().map_err(failed)? {
        system::private::create(file::folder_of(&path)).map_err(failed)?;
        let new = SigningKey::new_pem().map_err(|error| unusable(&error))?;
        match file::create(&path, new.as_bytes(), Access::Owner, Durability::Synced) {
            // Another process was faster.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            created => created.map_err(failed)?,
        }
    }
    key_in(&path)
}

/// The key in a file.
///
/// # Errors
/// If there is none that only its owner can read.
pub fn key_in(path: &Path) -> Result<SigningKey, Failure> {
    const CREATE: &str = "create a key: openssl genpkey -algorithm ed25519 -out key.pem";
    let source = KeySource::File(path.to_owned());
    let text = read_secret(&source, "it signs skills", CREATE).map_err(|error| unusable(&error))?;
    SigningKey::from_pem(&text).ok_or_else(|| {
        let message = format!("the file {} has no Ed25519 private key (PKCS#8, PEM)", path.display());
        Failure::command_line(message).hint(CREATE)
    })
}

/// Whether the user has trusted a key, or it is the user's own.
///
/// # Errors
/// If the records can't be read.
pub fn is_known(key: &PublicKey) -> Result<bool, Failure> {
    let own = config::state_folder()?.join(KEY);
    if own.try_exists().is_ok_and(|exists| exists) && key_in(&own)?.public() == *key {
        return Ok(true);
    }
    Ok(Approvals::read()?.trusts(&key.to_string()))
}

fn unusable(error: &remote_cache::Error) -> Failure {
    Failure::command_line(error.to_string()).hint(error.advice())
}

fn text_path(program: &str) -> String {
    format!("assets/{program}.rs")
}

fn pretty(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let mut text = serde_json::to_vec_pretty(value).map_err(Failure::system)?;
    text.push(b'\n');
    Ok(text)
}

/// The message that is signed: the list in one form, whatever the layout of its file.
fn signed(digests: &BTreeMap<String, String>) -> Result<Vec<u8>, Failure> {
    let list = serde_json::to_vec(digests).map_err(Failure::system)?;
    Ok([CONTEXT, &VERSION.to_be_bytes(), &list].concat())
}

fn digests(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    let digest = |content: &[u8]| {
        let digits: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{digits}")
    };
    files.iter().map(|(path, content)| (path.clone(), digest(content))).collect()
}

/// The first file that differs from the signed list.
fn difference(signed: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Option<String> {
    let differs = |(path, digest): (&String, &String)| match found.get(path) {
        None => Some(format!("{} is missing", printable::name(path))),
        Some(now) if now != digest => Some(format!("{} has changed", printable::name(path))),
        Some(_) => None,
    };
    let added = || found.keys().find(|path| !signed.contains_key(*path));
    let added = || added().map(|path| format!("{} was added", printable::name(path)));
    signed.iter().find_map(differs).or_else(added)
}

/// Writes the files beside `path`, and renames their folder to it at the end.
fn write(files: &BTreeMap<String, Vec<u8>>, folder: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let new = tempfile::Builder::new().prefix(".toolsmith-").tempdir_in(folder)?;
    for (name, content) in files {
        let file = new.path().join(name);
        std::fs::create_dir_all(file::folder_of(&file))?;
        file::create(&file, content, Access::Umask, Durability::Synced)?;
    }
    std::fs::set_permissions(new.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    // Replaces an empty folder, and fails if there is anything in it.
    std::fs::rename(new.path(), path)?;
    // It has another name now.
    drop(new.keep());
    Ok(())
}

/// All files below a folder, by their paths in it.
fn read_files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::command_line(format!("{} can't be read: {error}", path.display())).caused_by(error)
    };
    let (mut files, mut folders, mut room) = (BTreeMap::new(), vec![(folder.to_owned(), 0)], BYTES_LIMIT);
    let mut entries = 0;
    while let Some((inner, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&inner).map_err(|error| failed(&inner, error))? {
            let entry = entry.map_err(|error| failed(&inner, error))?;
            let path = entry.path();
            entries += 1;
            if entries > FILES_LIMIT {
                return Err(wrong(folder, &format!("it has more than {FILES_LIMIT} files and folders")));
            }
            let kind = entry.file_type().map_err(|error| failed(&path, error))?;
            if kind.is_dir() && depth < FILES_LIMIT {
                folders.push((path, depth + 1));
                continue;
            }
            let name = path.strip_prefix(folder).ok().and_then(Path::to_str);
            let name = name.ok_or_else(|| wrong(folder, "the name of a file in it is not UTF-8"))?;
            if !kind.is_file() {
                let what = format!("{} is a link, or no regular file", printable::name(name));
                return Err(wrong(folder, &what));
            }
            let content = file::read(&path, room).map_err(|error| match error.kind() {
                std::io::ErrorKind::FileTooLarge => {
                    wrong(folder, &format!("it has more than {BYTES_LIMIT} bytes"))
                }
                _ => failed(&path, error),
            })?;
            let content = content.unwrap_or_default();
            room = room.saturating_sub(content.len() as u64);
            files.insert(name.to_owned(), content);
        }
    }
    Ok(files)
}

/// Parses a JSON file of a skill, of this version.
fn parsed<T: for<'de> Deserialize<'de>>(folder: &Path, name: &str, content: &[u8]) -> Result<T, Failure> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let broken = |error: &dyn std::fmt::Display| wrong(folder, &format!("{name} can't be read: {error}"));
    let Versioned { version } = strict_json::from_slice(content).map_err(|error| broken(&error))?;
    if version != VERSION {
        let what = format!("{name} has the version {version}, not {VERSION}");
        return Err(wrong(folder, &what).hint("a newer Toolsmith may be able to read it"));
    }
    strict_json::from_slice(content).map_err(|error| broken(&error))
}

fn wrong(folder: &Path, what: &str) -> Failure {
    Failure::command_line(format!("the skill in {} can't be imported: {what}", folder.display()))
}

fn changed(folder: &Path, what: &str) -> Failure {
    let message = format!("the skill in {} is not as its author signed it: {what}", folder.display());
    Failure::new(Kind::Trust, message).hint("get it from its author again")
}
