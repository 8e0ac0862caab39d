//! Tests of the log as a whole, with real files.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

use super::line::LINE;
use super::*;

const WHO: Who<'_> = Who {
    subject: None,
    issuer: None,
    client: Some("agent\n{\"event\":\"forged\"}"),
    version: Some("1.2"),
    session: Some("s-1"),
    transport: "stdio",
    address: None,
};

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn masker() -> Masker {
    Masker::new(&["secret-secret".to_owned(), "1234567890".to_owned()])
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn end(execution: &str) -> Record<'_> {
    Record::ExecutionEnd {
        execution,
        status: "ok",
        error: None,
        calls: 0,
        calls_refused: None,
        refused_tools: &[],
        ms: 1.5,
    }
}

fn call(arguments: Option<Arguments>) -> Record<'static> {
    Record::CallBegin { execution: "e", call: 1, server: "s", tool: "t", who: None, arguments }
}

#[test]
fn records_are_lines_of_json_in_a_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/audit.jsonl");
    let audit = Audit::open(&path, ArgumentsKept::default()).unwrap();
    let begin = Record::ExecutionBegin {
        execution: "e-1",
        who: WHO,
        snippet_blake3: blake3::hash(b"1 + 1").to_hex().to_string(),
        snippet_bytes: 5,
        arguments: None,
        check_only: false,
    };
    let tools = ["demo.add".to_owned()];
    let question = "Allow demo.add with secret-secret?";
    let approval =
        Record::Approval { execution: "e-1", question, answer: Answer::Session, tools: &tools, flows: &[] };
    for record in [&begin, &approval, &end("e-1")] {
        audit.record(record, &masker()).unwrap();
    }
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    let lines = lines(&path);
    let names: Vec<&Value> = lines.iter().map(|line| &line["event"]).collect();
    assert_eq!(
        names,
        ["execution_begin", "approval", "execution_end"],
        "a client's name can't forge a record"
    );
    assert_eq!(lines[0]["who"]["client"], WHO.client.unwrap());
    assert_eq!(lines[0]["who"]["transport"], "stdio");
    assert_eq!(lines[1]["question"], "Allow demo.add with ***?");
    assert_eq!(lines[1]["answer"], "session");
    let time = lines[2]["time"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
}

#[test]
fn arguments_are_kept_as_configured_and_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = raw(&json!({ "q": "with \u{1}secret-secret", "n": 7 }));
    let kept = |kept| {
        let path = folder.path().join(format!("{kept:?}"));
        let audit = Audit::open(&path, kept).unwrap();
        audit.record(&call(audit.arguments(&arguments, &masker())), &masker()).unwrap();
        lines(&path)[0]["arguments"].clone()
    };
    assert_eq!(kept(ArgumentsKept::None), Value::Null);
    let hash = blake3::hash(arguments.get().as_bytes()).to_hex().to_string();
    let hashed = json!({ "bytes": arguments.get().len(), "blake3": hash });
    assert_eq!(kept(ArgumentsKept::Hash), hashed);
    let mut full = hashed;
    full["value"] = json!({ "n": 7, "q": "with \u{1}***" });
    assert_eq!(kept(ArgumentsKept::Full), full);
}

#[test]
fn secrets_are_masked_in_names_numbers_and_escapes_too() {
    let full = |text: &str| {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let kept = Arguments::of(&raw, ArgumentsKept::Full, &masker()).unwrap();
        serde_json::to_string(&kept).unwrap()
    };
    for text in [
        r#"{"secret-secret":1}"#,
        r#"{"a":1234567890}"#,
        r#"{"a":"\u0073ecret-secret"}"#,
        &format!(r#"{{"a":"{}secret-secret"}}"#, "x".repeat(Arguments::KEPT - 12)),
    ] {
        let logged = full(text);
        assert!(!logged.contains("secret-s") && !logged.contains("1234567890"), "{text}: {logged}");
    }
}

#[test]
fn numbers_that_would_change_are_kept_as_text() {
    let text = r#"{"a":9007199254740993.0,"b":[1e5,-0]}"#;
    let raw = RawValue::from_string(text.to_owned()).unwrap();
    let kept = serde_json::to_value(Arguments::of(&raw, ArgumentsKept::Full, &masker())).unwrap();
    assert_eq!((&kept["cut"], &kept["value"]), (&json!(text), &Value::Null));
    let secret = RawValue::from_string(r#"{"a":1e5,"b":"\u0073ecret-secret"}"#.to_owned()).unwrap();
    let kept = serde_json::to_string(&Arguments::of(&secret, ArgumentsKept::Full, &masker())).unwrap();
    assert!(!kept.contains("secret-s"), "{kept}");
}

#[test]
fn every_line_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let audit = Audit::open(&path, ArgumentsKept::Full).unwrap();
    let long = "\u{1}x".repeat(50_000);
    let tools: Vec<String> = (0..5_000).map(|number| format!("{number}{}", "\u{1}x".repeat(200))).collect();
    let who = Who { client: Some(&long), version: Some(&long), session: Some(&long), ..WHO };
    let large = json!({ "a": "y".repeat(20_000) });
    let huge = json!({ "a": "z".repeat(1 << 20) });
    let small = json!({ "a": "w".repeat(Arguments::KEPT - 8) });
    for arguments in [&large, &huge, &small] {
        let arguments = audit.arguments(&raw(arguments), &masker());
        let record = Record::CallBegin {
            execution: &long,
            call: 1,
            server: &long,
            tool: &long,
            who: Some(who),
            arguments: arguments.clone(),
        };
        audit.record(&record, &masker()).unwrap();
        audit.record(&call(arguments), &masker()).unwrap();
    }
    let answer = Answer::Nobody;
    let approval =
        Record::Approval { execution: &long, question: &long, answer, tools: &tools, flows: &tools };
    audit.record(&approval, &masker()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.lines().all(|line| line.len() < LINE),
        "{:?}",
        text.lines().map(str::len).collect::<Vec<_>>()
    );
    let lines = lines(&path);
    assert!(lines[1]["arguments"]["cut"].as_str().unwrap().ends_with("y…"));
    assert_eq!(lines[3]["arguments"]["cut"], "…", "long ones are only hashed");
    assert_eq!(lines[5]["arguments"]["value"], small);
    let tools = lines[6]["tools"].as_array().unwrap();
    assert_eq!(tools.last().unwrap(), "… 4984 more", "{} tools", tools.len());
}

#[test]
fn files_are_made_private_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("target"), "").unwrap();
    symlink(at("target"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    fs::write(at("twice"), "").unwrap();
    fs::hard_link(at("twice"), at("second")).unwrap();
    for (name, reason) in [
        ("link", "symbolic link"),
        ("dangling", "symbolic link"),
        ("folder", ""),
        ("pipe", "not a regular file"),
        ("twice", "second name"),
    ] {
        let failure = Audit::open(&at(name), ArgumentsKept::Hash).unwrap_err();
        assert!(failure.to_string().contains(reason) && !failure.hints.is_empty(), "{name}: {failure:?}");
    }
    assert!(!at("nowhere").exists());
    if rustix::process::geteuid().is_root() {
        fs::write(at("foreign"), "").unwrap();
        std::os::unix::fs::chown(at("foreign"), Some(65534), None).unwrap();
        let failure = Audit::open(&at("foreign"), ArgumentsKept::Hash).unwrap_err();
        assert!(failure.to_string().contains("another user"), "{failure:?}");
    }
    fs::set_permissions(at("target"), fs::Permissions::from_mode(0o644)).unwrap();
    Audit::open(&at("target"), ArgumentsKept::Hash).unwrap();
    assert_eq!(fs::metadata(at("target")).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_rotated_log_is_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let (path, rotated) = (folder.path().join("audit"), folder.path().join("audit.1"));
    let audit = Audit::open(&path, ArgumentsKept::Hash).unwrap();
    audit.record(&end("first"), &masker()).unwrap();
    fs::rename(&path, &rotated).unwrap();
    audit.record(&end("second"), &masker()).unwrap();
    assert_eq!(lines(&rotated)[0]["execution"], "first");
    assert_eq!(lines(&path)[0]["execution"], "second");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    fs::remove_file(&path).unwrap();
    symlink(&rotated, &path).unwrap();
    let error = audit.record(&end("third"), &masker()).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(lines(&rotated).len(), 1, "a link was followed");
}

#[test]
fn an_incomplete_line_does_not_corrupt_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    fs::write(&path, "{\"time\":\"20").unwrap();
    let audit = Audit::open(&path, ArgumentsKept::Hash).unwrap();
    audit.record(&end("first"), &masker()).unwrap();
    audit.record(&end("second"), &masker()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(serde_json::from_str::<Value>(lines[1]).unwrap()["execution"], "first");
}

#[test]
fn a_full_disk_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let audit = Audit::open(&path, ArgumentsKept::Hash).unwrap();
    // Writes to this device fail as on a full disk.
    let full = fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
    audit.file.lock().replace_file(full);
    let error = audit.record(&end("first"), &masker()).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::StorageFull);
    assert!(error.to_string().contains("can't be written"));
}

#[test]
fn several_writers_leave_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let audit = Audit::open(&path, ArgumentsKept::Hash).unwrap();
            std::thread::spawn(move || {
                let execution = format!("{writer}-{}", "x".repeat(3_000));
                (0..200).for_each(|_| audit.record(&end(&execution), &Masker::default()).unwrap());
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(lines(&path).len(), 800);
}
