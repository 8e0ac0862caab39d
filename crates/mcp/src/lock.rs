//! `toolsmith.lock`: the accepted or observed tools of servers, and what was observed of their results.
//!
//! JSON with a version, sorted keys and a final newline, so that the same tools give the same bytes. The file may have
//! been edited or merged by hand: it is read strictly, and errors are reported, not repaired.

mod content;
mod form;

use std::io::Error;
use std::path::{Path, PathBuf};

use report::{Kind, Report};
use serde_json::json;
use system::file::{self, Access, Durability};

use crate::text::shown;

use content::sort;
pub use content::{Lock, LockedServer, LockedTool, Observed, Shape};
pub use form::LOCK_VERSION;

/// Maximum size of a lock file, in bytes (64 MiB): four servers with lists of the maximum size.
pub const MAX_LOCK_BYTES: u64 = 64 << 20;

/// The remedy for a file in another form.
const REMEDY: &str = "restore an older version of it; or delete it, which discards all observations, and create it again with \
                      `toolsmith mcp lock`";

/// Limit on the description of an error, in bytes.
const REASON_BYTES: usize = 400;

/// The reason why a lock file can't be used: the file, the error and its position.
#[derive(Debug, thiserror::Error)]
#[error("the lock file {} {what}", file.display())]
pub struct LockError {
    /// The kind of failure.
    pub kind: LockErrorKind,
    file: PathBuf,
    what: String,
    source: Option<Error>,
}

/// The operation on a lock file that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockErrorKind {
    /// It can't be read.
    Unreadable,
    /// It is not in the form that [`Lock::write`] writes.
    Invalid,
    /// It can't be written.
    Unwritable,
}

impl LockError {
    fn new(kind: LockErrorKind, file: &Path, what: String) -> Self {
        LockError { kind, file: file.to_owned(), what, source: None }
    }

    /// Returns the remedy.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            LockErrorKind::Unreadable => "remove or restore the lock file",
            LockErrorKind::Invalid => REMEDY,
            LockErrorKind::Unwritable => "check its folder",
        }
    }
}

impl From<LockError> for Report {
    fn from(error: LockError) -> Self {
        Report::new(Kind::Lock, error.to_string()).hint(error.hint()).caused_by(error)
    }
}

impl Lock {
    /// Reads the lock from a file; returns `None` if the file does not exist.
    ///
    /// # Errors
    /// If the file can't be read, or is not in the form that [`Lock::write`] writes.
    pub fn read(file: &Path) -> Result<Option<Self>, LockError> {
        Self::read_text(file)?.map(|text| Self::parse(&text, file)).transpose()
    }

    /// Reads the text of a file, of at most [`MAX_LOCK_BYTES`]; returns `None` if the file does not exist. The text is
    /// parsed with [`Lock::parse`]: a caller that has checked a text must parse that text, not what the file may
    /// contain later.
    ///
    /// # Errors
    /// If the file can't be read, is not a regular file, or is too large.
    pub fn read_text(file: &Path) -> Result<Option<String>, LockError> {
        match text_of(file) {
            Ok(text) => Ok(Some(text)),
            Err(Unread::Missing) => Ok(None),
            Err(Unread::Unusable(what, source)) => {
                let what = shown(&what, REASON_BYTES);
                Err(LockError { source, ..LockError::new(LockErrorKind::Unreadable, file, what) })
            }
        }
    }

    /// Parses the text of `file`; returns `None` if the text has no `servers` and so is something else, such as a
    /// response to `tools/list`.
    ///
    /// # Errors
    /// If the text has `servers` but is not in the form that [`Lock::write`] writes.
    pub fn from_text(text: &str, file: &Path) -> Result<Option<Self>, LockError> {
        form::has_servers(text).then(|| Self::parse(text, file)).transpose()
    }

    /// Parses the text of `file`.
    ///
    /// # Errors
    /// If the text is not in the form that [`Lock::write`] writes.
    pub fn parse(text: &str, file: &Path) -> Result<Self, LockError> {
        form::parse(text).map_err(|what| {
            LockError::new(LockErrorKind::Invalid, file, shown(&what.to_string(), REASON_BYTES))
        })
    }

    /// The text that [`Lock::write`] writes.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut content = json!({ "version": LOCK_VERSION, "servers": self.servers });
        sort(&mut content);
        format!("{content:#}\n")
    }

    /// Writes the file atomically: readers see the old or the new one.
    ///
    /// # Errors
    /// If the folder is not writable, or the file would be too large to read again.
    pub fn write(&self, file: &Path) -> Result<(), LockError> {
        let failed = |what| LockError::new(LockErrorKind::Unwritable, file, what);
        let text = self.to_text();
        if text.len() as u64 > MAX_LOCK_BYTES {
            let length = text.len();
            return Err(failed(format!("would have {length} bytes, over the limit of {MAX_LOCK_BYTES}")));
        }
        write_text(file, &text).map_err(|error| {
            let what = format!("can't be written: {error}");
            LockError { source: Some(error), ..failed(what) }
        })
    }
}

/// The reason why the text can't be read.
enum Unread {
    Missing,
    Unusable(String, Option<Error>),
}

fn text_of(path: &Path) -> Result<String, Unread> {
    let bytes = file::read(path, MAX_LOCK_BYTES)
        .map_err(|error| Unread::Unusable(format!("can't be read: {error}"), Some(error)))?;
    let text = String::from_utf8(bytes.ok_or(Unread::Missing)?)
        .map_err(|_| Unread::Unusable("is not text".to_owned(), None))?;
    Ok(strict_json::without_mark(&text).to_owned())
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    // If the path is a link, its target is replaced, not the link.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    file::replace(&path, text.as_bytes(), Access::Umask, Durability::Synced)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::{Value, json};

    use super::*;

    fn tool() -> Value {
        json!({ "name": "echo", "description": "…", "inputSchema": { "type": "object" } })
    }

    fn lock() -> Lock {
        Lock::from_iter([("demo".to_owned(), LockedServer::new(vec![tool()]))])
    }

    #[test]
    fn locks_round_trip_to_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolsmith.lock");
        assert_eq!(Lock::read(&file).unwrap(), None);
        let mut lock = lock();
        let observed = Observed {
            shape: Shape::OutputSchema(json!({ "type": "string" })),
            content: vec!["image".to_owned()],
            samples: 2,
        };
        lock.servers.get_mut("demo").unwrap().tools.get_mut("echo").unwrap().observed = Some(observed);
        lock.write(&file).unwrap();
        let bytes = std::fs::read_to_string(&file).unwrap();
        assert!(bytes.ends_with("}\n"));
        let read = Lock::read(&file).unwrap().unwrap();
        assert_eq!(Lock::from_text(&bytes, &file).unwrap().as_ref(), Some(&read));
        assert_eq!(read, lock);
        read.write(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), bytes);
    }

    #[test]
    fn only_the_named_server_is_pinned() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolsmith.lock");
        lock().write(&file).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("pinned") && !Lock::read(&file).unwrap().unwrap().servers["demo"].pinned);
        let mut pinned = lock();
        pinned.pin("demo", vec![tool()]);
        pinned.write(&file).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().contains("\"pinned\": true"));
        assert_eq!(Lock::read(&file).unwrap().unwrap(), pinned);
        pinned.set("demo", vec![tool()]);
        assert_eq!(pinned, lock());
    }

    #[test]
    fn observations_are_kept_until_the_tool_declares_an_output_schema() {
        let observed = |lock: &Lock| lock.servers["demo"].tools["echo"].observed.is_some();
        let mut lock = lock();
        let tool_of = |lock: &mut Lock| lock.servers.remove("demo").unwrap().tools.remove("echo").unwrap();
        let seen = Observed { shape: Shape::Text("one\ntwo".to_owned()), content: Vec::new(), samples: 1 };
        let locked = LockedTool { observed: Some(seen), ..tool_of(&mut lock.clone()) };
        lock.servers.get_mut("demo").unwrap().tools.insert("echo".to_owned(), locked);
        let mut described = tool();
        described["description"] = json!("another description");
        assert!(!lock.servers["demo"].tools["echo"].is(&described));
        lock.set("demo", vec![described.clone()]);
        assert!(observed(&lock) && lock.servers["demo"].tools["echo"].is(&described));
        described["outputSchema"] = json!({ "type": "object" });
        lock.set("demo", vec![described]);
        assert!(!observed(&lock));
    }

    #[test]
    fn errors_in_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolsmith.lock");
        lock().write(&file).unwrap();
        let good = std::fs::read_to_string(&file).unwrap();
        let cases = [
            (String::new(), "line 1"),
            ("{ torn".to_owned(), "line 1"),
            ("[]".to_owned(), "is malformed"),
            (
                good.replace("\"version\": 1", "\"version\": 2"),
                "was written by a newer toolsmith: its version is 2",
            ),
            (good.replace("\"version\": 1", "\"version\": 0"), "has the version 0"),
            (
                good.replace("\"name\": \"echo\"", "\"name\": 1, \"name\": \"echo\""),
                "\"name\" appears twice at line 12 column",
            ),
            (good.replace("\"hash\"", "\"samples\""), "unknown field `samples`"),
            (good.replace("\"hash\": ", "\"hash\": \"\", \"hash\": "), "duplicate field `hash`"),
            (
                good.replace(
                    "\"hash\": ",
                    "\"observed\": { \"outputSchema\": 1, \"samples\": 1 }, \"hash\": ",
                ),
                "demo.echo: its observed output schema is not a schema",
            ),
            (
                good.replace(
                    "\"hash\": ",
                    "\"observed\": { \"outputSchema\": {}, \"text\": \"a\", \"samples\": 1 }, \"hash\": ",
                ),
                "demo.echo: observed must be either an `outputSchema` or a `text`",
            ),
            ("\u{1b}[31m".to_owned(), "line 1"),
            (good.replace("\"echo\": {", "\"eco\": {"), "demo.eco: the tool has another name"),
            (good.replace('…', "!"), "demo.echo: its hash is not that of the tool"),
            (good.replace("\"tools\"", "\"toolz\""), "unknown field `toolz`"),
            (
                r#"{ "version": 1, "servers": { "a": { "tools": {} }, "a": { "tools": {} } } }"#.to_owned(),
                "\"a\" appears twice",
            ),
        ];
        for (text, phrase) in cases {
            std::fs::write(&file, &text).unwrap();
            let error = Lock::read(&file).unwrap_err();
            assert_eq!(error.kind, LockErrorKind::Invalid);
            assert!(error.to_string().contains(phrase), "{phrase}: {error}");
        }
        let error = Lock::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is a directory"), "{error}");
        std::fs::write(&file, [0xff]).unwrap();
        assert!(Lock::read(&file).unwrap_err().to_string().contains("is not text"));
        std::fs::write(&file, good.replace("\"tools\"", "\"\\u001b[31m\"")).unwrap();
        assert!(!Lock::read(&file).unwrap_err().to_string().contains('\u{1b}'));
        std::fs::File::create(&file).unwrap().set_len(MAX_LOCK_BYTES + 1).unwrap();
        assert!(Lock::read(&file).unwrap_err().to_string().contains("has more than"));
    }

    #[test]
    fn every_listed_tool_can_be_locked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolsmith.lock");
        // As deep as serde_json reads, which is the limit for a server's tools too.
        let deep = (0..124).fold(json!(0.1), |inner, _| json!([inner]));
        let numbers = json!([1e300, -0.0, 1.7976931348623157e308, 5e-324, u64::MAX, 0.1, 123_456_789.123_4]);
        let tool = json!({ "name": "e\u{1b}\"", "inputSchema": { "default": deep, "enum": numbers }, "x": "\u{fffd}\u{1f600}" });
        let text = serde_json::to_string(&tool).unwrap();
        let lock = Lock::from_iter([(
            "s".to_owned(),
            LockedServer::new(vec![serde_json::from_str(&text).unwrap()]),
        )]);
        lock.write(&file).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(Lock::from_text(&written, &file).unwrap().as_ref(), Some(&lock));
        assert_eq!(Lock::read(&file).unwrap(), Some(lock));
    }

    #[test]
    fn locks_are_distinguished_from_lists() {
        let file = Path::new("somewhere");
        for other in ["", "[]", "{ torn", r#"{ "tools": [{ "servers": 1 }] }"#] {
            assert_eq!(Lock::from_text(other, file).unwrap(), None, "{other}");
        }
        for torn in [r#"{ "servers": {} }"#, r#"{ "servers": 1, "servers": 1, "version": 1 }"#] {
            assert!(Lock::from_text(torn, file).unwrap_err().to_string().contains("somewhere"), "{torn}");
        }
    }

    #[test]
    fn links_and_permissions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        lock().write(&link).unwrap();
        assert!(link.is_symlink());
        assert_eq!(Lock::read(&file).unwrap(), Some(lock()));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        let new = folder.path().join("new");
        std::fs::write(&new, "").unwrap();
        assert_eq!(mode(&file), mode(&new));
    }
}
