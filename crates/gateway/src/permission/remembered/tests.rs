//! The file of remembered answers: merging, versions, errors, and taking back.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn requested(reached: &str, tool: &str, hash: &str) -> RequestedTool {
    let reached = reached.into();
    RequestedTool { server: "s".into(), tool: tool.into(), hash: hash.into(), reached, claims: Vec::new() }
}

fn read_in(home: &Path) -> (Remembered, Option<String>) {
    Remembered::read_in(&home.join("toolsmith"), Some(&home.join("state")))
}

#[test]
fn answers_cover_one_tool_of_one_server() {
    let home = tempfile::tempdir().unwrap();
    let (mut one, wrong) = read_in(home.path());
    assert_eq!(wrong, None);
    let (mut other, _) = read_in(home.path());
    one.add(&[requested("x", "a", "1")], AnsweredBy::Terminal).unwrap();
    other.add(&[requested("x", "b", "2"), requested("", "c", "1")], AnsweredBy::Terminal).unwrap();
    let (read, wrong) = read_in(home.path());
    assert_eq!(wrong, None);
    assert!(read.has(&requested("x", "a", "1")) && read.has(&requested("x", "b", "2")));
    assert!(!read.has(&requested("y", "a", "1")), "a server with another connection");
    assert!(!read.has(&requested("x", "a", "2")), "a tool that has changed");
    assert!(!read.has(&requested("x", "a", "")) && !read.has(&requested("x", "c", "")));
    assert!(!read.has(&requested("", "c", "1")), "an unknown server");
    let mode = std::fs::metadata(home.path().join("toolsmith").join(FILE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn without_a_key_nothing_is_saved() {
    let home = tempfile::tempdir().unwrap();
    let (mut remembered, _) = Remembered::read_in(home.path(), None);
    let error = remembered.add(&[requested("x", "a", "1")], AnsweredBy::Terminal).unwrap_err();
    assert!(matches!(error, SaveError::Key(_)), "{error}");
    assert!(error.to_string().contains("for this time only"), "{error}");
    assert!(!home.path().join(FILE).exists());
}

#[test]
fn an_invalid_file_is_reported_and_left_unchanged() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("toolsmith").join(FILE);
    std::fs::create_dir(home.path().join("toolsmith")).unwrap();
    for text in [
        "",
        "{}",
        "[1]",
        r#"{ "version": 4, "servers": {} }"#,
        r#"{ "version": 2, "servers": {}, "x": 1 }"#,
        r#"{ "version": 2, "version": 2, "servers": {} }"#,
        r#"{ "version": 2, "servers": { "h": { "name": "a", "allow": { "t": "1", "\u0074": "2" } } } }"#,
    ] {
        std::fs::write(&file, text).unwrap();
        let (mut read, wrong) = read_in(home.path());
        assert!(wrong.is_some_and(|wrong| wrong.contains(FILE)), "{text}");
        assert!(read.add(&[requested("x", "a", "1")], AnsweredBy::Terminal).is_err(), "{text}");
        assert_eq!(retire_older_in(&home.path().join("toolsmith")), None);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn an_older_version_grants_nothing_and_is_renamed_once() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("toolsmith");
    std::fs::create_dir(&folder).unwrap();
    let text = r#"{ "version": 1, "servers": { "x": { "name": "s", "allow": { "a": "1" } } } }"#;
    std::fs::write(folder.join(FILE), text).unwrap();
    let (read, wrong) = read_in(home.path());
    assert!(wrong.is_none() && !read.has(&requested("x", "a", "1")));
    assert!(retire_older_in(&folder).unwrap().contains("older version"));
    assert_eq!(retire_older_in(&folder), None);
    assert_eq!(std::fs::read_to_string(folder.join("permissions.json.1")).unwrap(), text);
}

#[test]
fn an_answer_without_an_identity_or_a_hash_allows_nothing() {
    let text = r#"{ "version": 2, "servers": {
        "": { "name": "s", "allow": { "t": "1" } }, "x": { "name": "s", "allow": { "t": "" } } } }"#;
    let content = Content::parse(text.as_bytes()).unwrap().unwrap();
    assert!(!content.has("", "t", "1") && !content.has("x", "t", ""));
}

#[test]
fn only_identified_tools_are_saved() {
    let home = tempfile::tempdir().unwrap();
    let (mut remembered, _) = read_in(home.path());
    remembered
        .add(
            &[requested("", "a", "1"), requested("x", "b", ""), requested("x", "c", "2")],
            AnsweredBy::Terminal,
        )
        .unwrap();
    let text = std::fs::read(home.path().join("toolsmith").join(FILE)).unwrap();
    let saved: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(saved["version"], VERSION);
    let answer = &saved["servers"]["x"]["allow"]["c"];
    assert_eq!((&answer["hash"], &answer["by"]), (&"2".into(), &"terminal".into()));
    assert!(answer["since"].as_i64().is_some_and(|since| since > 1_700_000_000_000), "{answer}");
    assert_eq!(saved["servers"].as_object().unwrap().len(), 1);
    assert_eq!(saved["servers"]["x"]["allow"].as_object().unwrap().len(), 1);
}

#[test]
fn answers_of_version_2_are_valid_and_their_time_is_unknown() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("toolsmith");
    std::fs::create_dir(&folder).unwrap();
    let text = r#"{ "version": 2, "servers": { "x": { "name": "s", "allow": { "a": "1" } } } }"#;
    std::fs::write(folder.join(FILE), text).unwrap();
    let (mut read, wrong) = read_in(home.path());
    assert!(wrong.is_none() && read.has(&requested("x", "a", "1")));
    assert_eq!(retire_older_in(&folder), None);
    read.add(&[requested("x", "b", "2")], AnsweredBy::Page).unwrap();
    let answers = read_in(home.path()).0.answers();
    let shown: Vec<_> =
        answers.iter().map(|answer| (answer.tool.as_str(), answer.since.is_some(), answer.by)).collect();
    assert_eq!(shown, [("a", false, None), ("b", true, Some(AnsweredBy::Page))]);
}

#[test]
fn an_answer_that_is_taken_back_allows_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (mut one, _) = read_in(home.path());
    assert_eq!(one.take_back(|_| true).unwrap(), []);
    let (mut other, _) = read_in(home.path());
    one.add(&[requested("x", "a", "1"), requested("x", "b", "2")], AnsweredBy::Terminal).unwrap();
    other.add(&[requested("y", "a", "1")], AnsweredBy::Terminal).unwrap();
    let taken = one.take_back(|answer| answer.tool == "a").unwrap();
    let reached: BTreeSet<&str> = taken.iter().map(|answer| answer.reached.as_str()).collect();
    assert_eq!(reached, BTreeSet::from(["x", "y"]), "also what another process has added");
    let (read, _) = read_in(home.path());
    assert!(!read.has(&requested("x", "a", "1")) && !read.has(&requested("y", "a", "1")));
    assert!(read.has(&requested("x", "b", "2")));
    assert_eq!(
        (one.answers(), one.take_back(|answer| answer.tool == "a").unwrap()),
        (read.answers(), vec![])
    );
}

#[test]
fn an_invalid_file_is_not_written_when_an_answer_is_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("toolsmith").join(FILE);
    std::fs::create_dir(home.path().join("toolsmith")).unwrap();
    std::fs::write(&file, "{").unwrap();
    let error = read_in(home.path()).0.take_back(|_| true).unwrap_err();
    assert!(error.to_string().contains(FILE), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
}
