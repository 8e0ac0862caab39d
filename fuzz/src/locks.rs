//! What must hold of the files that decide what is trusted and permitted, for any bytes: lock files, the record of
//! trusted projects, remembered answers. The body of the fuzz target; it panics where something does not hold.
//!
//! The ordinary tests run it as well, on the corpus and on bytes of their own: see `gateway/tests/locks.rs`.

use std::path::Path;

use gateway::fuzzing;
use mcp::{Lock, LockedTool};
use serde_json::Value;

/// Of which project it is asked whether it is trusted.
pub const PROJECT: (&str, &str, Option<&str>) =
    ("/p/toolsmith.yaml", "mcpServers: {}\n", Some("{ \"version\": 1, \"servers\": {} }\n"));

/// Of which tool it is asked whether it may be called: the server's identity, its name, its hash.
pub const TOOL: (&str, &str, &str) = ("5e1f", "echo", "blake3:0a");

/// Most bytes of an error: it is shown on a terminal.
const LONGEST_ERROR: usize = 2_000;

/// The first byte says which file: `l` is a lock file, `t` the record of trust, `p` the remembered answers.
pub fn locks(data: &[u8]) {
    match data.split_first() {
        Some((b'l', text)) => lock(text),
        Some((b't', record)) => trust(record),
        Some((b'p', answers)) => permissions(answers),
        _ => {}
    }
}

/// A lock file that is read says the same when it is written again, and pins each tool as it stands there and no other.
fn lock(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let file = Path::new("toolsmith.lock");
    let read = match Lock::parse(text, file) {
        Ok(read) => read,
        Err(error) => {
            let error = error.to_string();
            assert!(error.len() < LONGEST_ERROR, "{} bytes", error.len());
            assert!(!error.chars().any(|c| c.is_control() && c != '\n'), "{error:?}");
            return;
        }
    };
    assert!(Lock::from_text(text, file).is_ok_and(|lock| lock.as_ref() == Some(&read)));
    let again = Lock::parse(&read.to_text(), file).expect("what was written is read");
    assert_eq!(again, read);
    for (name, tool) in read.servers.values().flat_map(|server| &server.tools) {
        assert_eq!(tool.tool["name"], **name);
        assert_eq!(tool.hash, LockedTool::new(tool.tool.clone()).hash);
        let mut other = tool.tool.clone();
        other["name"] = Value::from(format!("{name}!"));
        assert!(tool.is(&tool.tool) && !tool.is(&other));
    }
}

/// A record trusts the project only if both of its hashes stand there, under its path.
fn trust(record: &[u8]) {
    let (path, config, lock) = PROJECT;
    let with = |lock| fuzzing::is_trusted(record, path, config, lock);
    let stands = |lock| {
        let right: Value = value(&fuzzing::record_of_trust(path, config, lock));
        let found = value(record);
        let same = |key: &str| found[key].get(path) == right[key].get(path);
        found["files"].get(path).is_some() && same("files") && same("locks")
    };
    for lock in [lock, None, Some("")] {
        assert!(!with(lock) || stands(lock), "trusted, with the lock file {lock:?}");
    }
    assert!(!fuzzing::is_trusted(record, path, "codeMode: {}\n", lock), "another configuration");
}

/// Answers let the tool be called only if its hash stands there under the server's identity, in the form of today.
fn permissions(answers: &[u8]) {
    let (identity, tool, hash) = TOOL;
    if fuzzing::is_allowed(answers, identity, tool, hash) {
        let found = value(answers);
        assert_eq!(found["version"], 2);
        assert_eq!(found["servers"][identity]["allow"][tool], hash);
    }
    for (identity, hash) in [("", hash), (identity, ""), ("5e2f", hash), (identity, "blake3:0b")] {
        let found = value(answers);
        let stands =
            !identity.is_empty() && !hash.is_empty() && found["servers"][identity]["allow"][tool] == hash;
        assert!(stands || !fuzzing::is_allowed(answers, identity, tool, hash), "{identity:?} {hash:?}");
    }
}

/// The JSON of bytes, the last of members of one name.
fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_default()
}
