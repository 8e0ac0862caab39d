//! The bounds on texts, on the age of executions, and on the size of the file.

use rusqlite::Connection;

use super::*;

#[tokio::test]
async fn output_is_cut_to_its_bound_and_short_parts_stay_whole() {
    let fixture = Fixture::with(config::History { output: 1_000, ..config::History::default() });
    let execution = fixture.begin("e1", "1");
    let mut ended = outcome(Status::Ok);
    ended.result = Some(raw(&json!("r".repeat(5_000))));
    ended.stdout = "ö".repeat(5_000);
    ended.stderr = "short".to_owned();
    ended.content = vec![raw(&json!({ "type": "text", "text": "t" }))];
    execution.end(execution.ending(&ended), "");
    // The bound is not within the secret that the text is cut in.
    let second = fixture.begin("e2", "1");
    ended.stdout = format!("{}{SECRET}{}", "x".repeat(990), "y".repeat(40_000));
    (ended.result, ended.stderr, ended.content) = (None, String::new(), Vec::new());
    second.end(second.ending(&ended), "");
    fixture.flush().await;

    let found = fixture.reader().execution("e1").unwrap().outcome;
    assert_eq!(found["stderr"], json!({ "text": "short", "bytes": 5 }));
    assert_eq!(found["content"][0]["value"]["text"], "t");
    let cut = |part: &str| {
        assert_eq!(found[part]["cut"], true, "{part}");
        found[part]["text"].as_str().unwrap().len()
    };
    let whole = cut("result") + cut("stdout") + 5 + r#"{"text":"t","type":"text"}"#.len();
    assert!((990..=1_000).contains(&whole), "{whole}");
    assert_eq!((&found["result"]["bytes"], &found["stdout"]["bytes"]), (&json!(5_002), &json!(10_000)));
    let second = fixture.reader().execution("e2").unwrap().outcome;
    let text = second["stdout"]["text"].as_str().unwrap();
    assert!(text.starts_with("xxx") && text.ends_with("x***yyyyyyy") && text.len() == 1_000, "{text}");
}

/// A text that the index does not shrink.
fn random(number: usize) -> String {
    (0..1_500).map(|word| format!("{:x} ", word * 7_919 + number * 104_729)).collect()
}

#[tokio::test]
async fn a_holder_with_more_than_half_makes_place_for_itself() {
    let fixture = Fixture::with(config::History { size: 4 << 20, ..config::History::default() });
    let kept = |subject: &str, number: usize| {
        let mut execution = new(&format!("{subject}{number:04}"), &random(number));
        execution.requester.subject = Some(subject.to_owned());
        let execution = fixture.history.begin(execution, &fixture.settings, Masker::default());
        execution.end(execution.ending(&outcome(Status::Ok)), "");
    };
    for number in 0..20 {
        kept("bob", number);
    }
    for number in 100..500 {
        kept("ann", number);
        if number % 20 == 0 {
            fixture.flush().await;
        }
    }
    fixture.flush().await;
    let left = fixture.reader().list(&Filter::default(), Page::ALL).unwrap();
    let of = |subject: &str| left.iter().filter(|summary| summary.id.starts_with(subject)).count();
    assert_eq!(of("bob"), 20, "of {}", left.len());
    assert!((20..300).contains(&of("ann")), "{}", of("ann"));
}

#[tokio::test]
async fn the_oldest_executions_make_place_and_the_file_keeps_its_bound() {
    let size = 4 << 20;
    let fixture = Fixture::with(config::History { size, ..config::History::default() });
    for number in 0..200 {
        let execution = fixture.begin(&format!("e{number:04}"), &random(number));
        let mut ended = outcome(Status::Ok);
        ended.stdout = random(number + 1_000);
        execution.end(execution.ending(&ended), "");
        if number % 20 == 0 {
            fixture.flush().await;
            assert!(fixture.size() <= size, "{number}: {}", fixture.size());
        }
    }
    fixture.flush().await;
    assert!(fixture.size() <= size, "{}", fixture.size());
    let left = fixture.reader().list(&Filter::default(), Page::ALL).unwrap();
    assert_eq!(left[0].id, "e0199");
    assert!((10..150).contains(&left.len()), "{}", left.len());
    let numbers: Vec<i64> = left.iter().map(|summary| summary.number).collect();
    assert!(numbers.is_sorted_by(|a, b| *a == b + 1), "only the oldest are gone: {numbers:?}");
}

#[tokio::test]
async fn runs_one_after_the_other_leave_a_short_log() {
    let fixture = Fixture::new();
    let (file, code) = (fixture.file(), "// A snippet\n".repeat(4_000));
    for number in 0..60 {
        let history = start(&file, &fixture.settings);
        let id = format!("e{number:04}");
        let execution = history.begin(new(&id, &code), &fixture.settings, Masker::default());
        let ended = outcome(Status::Ok);
        execution.end(execution.ending(&ended), "");
        history.flush(Duration::from_secs(60)).await;
        let log = std::fs::metadata(file.with_extension("db-wal")).unwrap().len();
        assert!(log <= 1 << 20, "after {number}: {log}");
    }
    assert_eq!(fixture.reader().list(&Filter::default(), Page::ALL).unwrap().len(), 60);
}

impl Fixture {
    /// Changes the file behind the back of its processes.
    fn change(&self, sql: &str) {
        Connection::open(self.file()).unwrap().execute_batch(sql).unwrap();
    }
}

#[tokio::test]
async fn old_executions_are_deleted_and_those_of_killed_processes_are_interrupted() {
    let fixture = Fixture::new();
    for id in ["old", "new", "running"] {
        let execution = fixture.begin(id, "let searched = 1;");
        if id == "running" {
            std::mem::forget(execution);
        } else {
            execution.end(execution.ending(&outcome(Status::Ok)), "");
        }
    }
    fixture.flush().await;
    let status = |id: &str| fixture.reader().execution(id).map(|found| found.summary.status).ok();
    assert_eq!(status("running").as_deref(), Some("running"));
    fixture.change("UPDATE processes SET seen = 7");
    assert_eq!(status("running").as_deref(), Some("interrupted"));
    let interrupted = Filter { status: Some("interrupted".to_owned()), ..Filter::default() };
    assert_eq!(fixture.reader().count(&interrupted).unwrap(), 1);
    let month = 31_i64 * 86_400_000;
    fixture.change(&format!("UPDATE executions SET begun = begun - {month} WHERE id = 'old'"));

    // Another process finds them when it starts to write.
    let other = start(&fixture.file(), &fixture.settings);
    drop(other.begin(new("other", "2"), &fixture.settings, Masker::default()));
    other.flush(Duration::from_secs(60)).await;
    assert_eq!([status("old"), status("new")], [None, Some("ok".to_owned())]);
    let found = fixture.reader().execution("running").unwrap().summary;
    assert_eq!((found.status.as_str(), found.ended), ("interrupted", Some(7)));
    let text = Filter { text: Some("searched".to_owned()), ..interrupted };
    assert_eq!(fixture.reader().count(&text).unwrap(), 1);
}

#[tokio::test]
async fn many_calls_are_counted_but_not_all_listed() {
    let fixture = Fixture::new();
    let execution = fixture.begin("e1", "1");
    for number in 0..2_100 {
        call(
            &execution,
            number,
            &json!({ "n": 1 }),
            Ok(&json!({ "content": [{ "type": "text", "text": "x" }] })),
        );
    }
    fixture.flush().await;
    let found = fixture.reader().execution("e1").unwrap();
    assert_eq!((found.calls_made.len(), found.summary.calls), (2_000, 2_100));
    let each = codegen::tokens(r#"{"n":1}"#) + codegen::tokens("x");
    assert_eq!(found.summary.tokens.direct, u64::try_from(2_100 * each).unwrap());
}
