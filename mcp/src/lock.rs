//! `toolsmith.lock`: the tools of servers as they were seen, and what was observed of them.
//!
//! JSON with a version, sorted keys and a newline at its end, so that the same tools give the same bytes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the form; a file with a higher one was written by a newer program.
pub const LOCK_VERSION: u64 = 1;

/// Most bytes of a lock file that are read (64 MiB): four servers whose lists are as long as may be.
pub const MAX_LOCK_BYTES: u64 = 64 << 20;

/// What to do about a file that can't be used.
const REMEDY: &str = "delete it, and write it anew with `toolsmith mcp lock`";

/// The tools of servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lock {
    /// The servers by their names in the configuration.
    pub servers: BTreeMap<String, LockedServer>,
}

/// The tools of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedServer {
    /// The tools by name.
    #[serde(deserialize_with = "unique")]
    pub tools: BTreeMap<String, LockedTool>,
}

/// A tool as it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTool {
    /// `blake3:` and 64 hexadecimal digits: the hash of the tool as JSON with sorted keys and without spaces.
    pub hash: String,
    /// The tool as its server sent it.
    pub tool: Value,
    /// What was observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
}

/// What the answers of a tool without an output schema were like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Observed {
    /// A JSON Schema that all answers fit.
    pub output_schema: Value,
    /// How many answers there were.
    pub samples: u64,
}

/// Why a lock file can't be used: the file, the place, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("the lock file {} {what}", file.display())]
pub struct LockError {
    file: PathBuf,
    what: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u64,
    #[serde(deserialize_with = "unique")]
    servers: BTreeMap<String, LockedServer>,
}

impl Lock {
    /// The lock in a file; `None` where there is no file.
    ///
    /// # Errors
    /// Where the file can't be read, or is not what [`Lock::write`] wrote.
    pub fn read(file: &Path) -> Result<Option<Self>, LockError> {
        let unreadable = |error: std::io::Error| failed(file, format!("can't be read: {error}"));
        match std::fs::metadata(file) {
            Ok(metadata) if !metadata.is_file() => return Err(failed(file, "is not a file".to_owned())),
            Ok(metadata) if metadata.len() > MAX_LOCK_BYTES => {
                let length = metadata.len();
                return Err(failed(file, format!("has {length} bytes, over the limit of {MAX_LOCK_BYTES}")));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(file).map_err(unreadable)?;
        Lock::parse(&text).map(Some).map_err(|what| failed(file, format!("{what}\nhelp: {REMEDY}")))
    }

    /// The lock that a text is.
    fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        if let Ok(Versioned { version }) = serde_json::from_str(text)
            && version != LOCK_VERSION
        {
            return Err(format!(
                "has the version {version}; this program knows {LOCK_VERSION}, a newer one may know it"
            ));
        }
        let File { servers, .. } =
            serde_json::from_str(text).map_err(|error| format!("is not what it must be: {error}"))?;
        for (name, server) in &servers {
            for (tool, locked) in &server.tools {
                locked.check(tool).map_err(|what| format!("is wrong at {name}.{tool}: {what}"))?;
            }
        }
        Ok(Lock { servers })
    }

    /// Writes the file; readers see the old or the new one, never a part.
    ///
    /// # Errors
    /// Where the folder can't be written to.
    pub fn write(&self, file: &Path) -> Result<(), LockError> {
        let unwritable = |error: std::io::Error| failed(file, format!("can't be written: {error}"));
        let content = File { version: LOCK_VERSION, servers: self.servers.clone() };
        let mut text = serde_json::to_vec_pretty(&content).map_err(|error| unwritable(error.into()))?;
        text.push(b'\n');
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut temporary =
            tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(unwritable)?;
        temporary.write_all(&text).map_err(unwritable)?;
        readable(temporary.as_file()).map_err(unwritable)?;
        temporary.persist(file).map_err(|error| unwritable(error.error))?;
        Ok(())
    }

    /// Whether a text looks like a lock, and not like an answer to `tools/list`.
    #[must_use]
    pub fn is_lock(text: &str) -> bool {
        serde_json::from_str::<Value>(text).is_ok_and(|value| value.get("servers").is_some())
    }

    /// Sets the tools of a server. What was observed of one stays as long as it declares no output schema.
    pub fn set(&mut self, server: &str, tools: Vec<Value>) {
        let mut fresh = LockedServer::new(tools);
        if let Some(known) = self.servers.remove(server) {
            for (name, locked) in known.tools {
                if let Some(tool) = fresh.tools.get_mut(&name).filter(|tool| !tool.declares_output()) {
                    tool.observed = locked.observed;
                }
            }
        }
        self.servers.insert(server.to_owned(), fresh);
    }
}

impl FromIterator<(String, LockedServer)> for Lock {
    fn from_iter<T: IntoIterator<Item = (String, LockedServer)>>(servers: T) -> Self {
        Lock { servers: servers.into_iter().collect() }
    }
}

impl LockedServer {
    /// Tools as a server sent them; what has no name is left out.
    #[must_use]
    pub fn new(tools: Vec<Value>) -> Self {
        let named = |tool: Value| Some((tool.get("name")?.as_str()?.to_owned(), LockedTool::new(tool)));
        LockedServer { tools: tools.into_iter().filter_map(named).collect() }
    }
}

impl LockedTool {
    /// A tool as its server sent it.
    #[must_use]
    pub fn new(tool: Value) -> Self {
        LockedTool { hash: hash(&tool), tool, observed: None }
    }

    /// Whether a tool that a server sends now is still this one.
    #[must_use]
    pub fn is(&self, tool: &Value) -> bool {
        self.hash == hash(tool)
    }

    fn declares_output(&self) -> bool {
        self.tool.get("outputSchema").is_some()
    }

    fn check(&self, name: &str) -> Result<(), String> {
        if self.tool.get("name").and_then(Value::as_str) != Some(name) {
            return Err("the tool has another name".to_owned());
        }
        if !self.is(&self.tool) {
            return Err("its hash is not that of the tool, so somebody has changed it by hand".to_owned());
        }
        Ok(())
    }
}

/// The hash of a tool.
fn hash(tool: &Value) -> String {
    let mut canonical = tool.clone();
    canonical.sort_all_objects();
    format!("blake3:{}", blake3::hash(canonical.to_string().as_bytes()).to_hex())
}

fn failed(file: &Path, what: String) -> LockError {
    LockError { file: file.to_owned(), what }
}

/// A temporary file is its owner's alone; this one is for all that may read files here.
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// A map in which no key comes twice: the second one would be the only one that is seen.
fn unique<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Visitor<T>(std::marker::PhantomData<T>);
    impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Visitor<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = entries.next_entry::<String, T>()? {
                if map.insert(key.clone(), value).is_some() {
                    return Err(serde::de::Error::custom(format!("{key:?} is there twice")));
                }
            }
            Ok(map)
        }
    }
    deserializer.deserialize_map(Visitor(std::marker::PhantomData))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool() -> Value {
        json!({ "name": "echo", "description": "…", "inputSchema": { "type": "object" } })
    }

    fn lock() -> Lock {
        Lock::from_iter([("demo".to_owned(), LockedServer::new(vec![tool()]))])
    }

    #[test]
    fn what_is_written_is_read_and_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolsmith.lock");
        assert_eq!(Lock::read(&file).unwrap(), None);
        let mut lock = lock();
        let observed = Observed { output_schema: json!({ "type": "string" }), samples: 2 };
        lock.servers.get_mut("demo").unwrap().tools.get_mut("echo").unwrap().observed = Some(observed);
        lock.write(&file).unwrap();
        let bytes = std::fs::read_to_string(&file).unwrap();
        assert!(bytes.ends_with("}\n") && Lock::is_lock(&bytes));
        let read = Lock::read(&file).unwrap().unwrap();
        assert_eq!(read, lock);
        read.write(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), bytes);
    }

    #[test]
    fn observations_stay_until_the_tool_says_so_itself() {
        let observed = |lock: &Lock| lock.servers["demo"].tools["echo"].observed.is_some();
        let mut lock = lock();
        let tool_of = |lock: &mut Lock| lock.servers.remove("demo").unwrap().tools.remove("echo").unwrap();
        let seen = Observed { output_schema: json!(true), samples: 1 };
        let locked = LockedTool { observed: Some(seen), ..tool_of(&mut lock.clone()) };
        lock.servers.get_mut("demo").unwrap().tools.insert("echo".to_owned(), locked);
        let mut described = tool();
        described["description"] = json!("other words");
        assert!(!lock.servers["demo"].tools["echo"].is(&described));
        lock.set("demo", vec![described.clone()]);
        assert!(observed(&lock) && lock.servers["demo"].tools["echo"].is(&described));
        described["outputSchema"] = json!({ "type": "object" });
        lock.set("demo", vec![described]);
        assert!(!observed(&lock));
    }

    #[test]
    fn bad_files_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolsmith.lock");
        lock().write(&file).unwrap();
        let good = std::fs::read_to_string(&file).unwrap();
        let cases = [
            (String::new(), "line 1"),
            ("{ torn".to_owned(), "line 1"),
            ("[]".to_owned(), "is not what it must be"),
            (good.replace("\"version\": 1", "\"version\": 2"), "has the version 2"),
            (good.replace("\"echo\": {", "\"eco\": {"), "demo.eco: the tool has another name"),
            (good.replace('…', "!"), "demo.echo: its hash is not that of the tool"),
            (good.replace("\"tools\"", "\"toolz\""), "unknown field `toolz`"),
            (
                r#"{ "version": 1, "servers": { "a": { "tools": {} }, "a": { "tools": {} } } }"#.to_owned(),
                "\"a\" is there twice",
            ),
        ];
        for (text, phrase) in cases {
            std::fs::write(&file, &text).unwrap();
            let error = Lock::read(&file).unwrap_err().to_string();
            assert!(error.contains(phrase) && error.contains("help: delete it"), "{phrase}: {error}");
        }
        let error = Lock::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is not a file"), "{error}");
    }
}
