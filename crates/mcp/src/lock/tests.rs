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
            good.replace("\"hash\": ", "\"observed\": { \"outputSchema\": 1, \"samples\": 1 }, \"hash\": "),
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
    let lock =
        Lock::from_iter([("s".to_owned(), LockedServer::new(vec![serde_json::from_str(&text).unwrap()]))]);
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
