//! Runs the snippets in the tables of `fixtures/snippets` with `run` and `serve`, and checks their outcomes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use end_to_end::cache::json;
use end_to_end::harness::FAULT_SERVER;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

/// Snippets that are compiled concurrently.
const AT_ONCE: usize = 4;

/// A row of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    snippet: String,
    #[serde(default = "ok")]
    status: String,
    /// Its result.
    #[serde(default)]
    result: Value,
    /// The exact text of its result, if that matters.
    raw: Option<String>,
    /// The corrected lines.
    #[serde(default)]
    fixes: Vec<u64>,
    /// The number of calls it makes.
    calls: Option<u64>,
    /// Phrases in its error and diagnostics.
    #[serde(default)]
    says: Vec<String>,
    /// Phrases that must not be in them.
    #[serde(default)]
    silent: Vec<String>,
}

fn ok() -> String {
    "ok".to_owned()
}

impl Row {
    /// Describes a wrong outcome; `None` if it is as expected.
    fn wrong(&self, outcome: &Value) -> Option<String> {
        let lines = outcome["fixes"].as_array().into_iter().flatten().filter_map(|fix| fix["line"].as_u64());
        let fixes: Vec<u64> = lines.collect();
        let report = format!("{} {}", outcome["error"], outcome["diagnostics"]);
        // Undoes the JSON escaping.
        let report = report.replace("\\\"", "\"");
        let mut missing: Vec<&String> = self.says.iter().filter(|phrase| !report.contains(*phrase)).collect();
        missing.extend(self.silent.iter().filter(|phrase| report.contains(*phrase)));
        let is_result = match &self.raw {
            Some(raw) => strict_json::with_numbers(&outcome["result"].to_string()) == *raw,
            None => outcome["result"] == self.result,
        };
        let calls = self.calls.is_none_or(|calls| outcome["calls_total"] == calls);
        let is_right = outcome["status"] == self.status.as_str()
            && is_result
            && fixes == self.fixes
            && missing.is_empty()
            && calls;
        (!is_right).then(|| {
            format!(
                "{}:\n{}\n  {} {} {fixes:?} lacks, or should lack, {missing:?}\n  {report}\n",
                self.name, self.snippet, outcome["status"], outcome["result"]
            )
        })
    }
}

/// The rows of a table, whose names are unique.
fn table(name: &str) -> Vec<Row> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/snippets").join(name);
    let text = std::fs::read_to_string(&file).unwrap();
    let rows: Vec<Row> =
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "two rows have one name");
    rows
}

/// The server whose tools return what they are asked to.
fn lab() -> String {
    format!("mcpServers:\n  lab: {{ command: {FAULT_SERVER:?}, args: [values], trust: true }}\n")
}

/// Also the same server as `loose`, whose answers need not fit.
fn labs() -> String {
    format!(
        "{}  loose: {{ command: {FAULT_SERVER:?}, args: [values], trust: true, checkOutput: false }}\n",
        lab()
    )
}

#[track_caller]
fn assert_right(wrong: &[String], rows: usize) {
    let mut text = String::new();
    for one in wrong {
        writeln!(text, "{one}").unwrap();
    }
    assert!(wrong.is_empty(), "{} of {rows} are wrong:\n{text}", wrong.len());
}

#[test]
fn answers_table_by_run() {
    by_run(&table("answers.yaml"), &lab());
}

#[test]
fn answers_table_by_serve() {
    by_serve(&table("answers.yaml"), &lab());
}

#[test]
fn concurrency_table_by_run() {
    by_run(&table("concurrency.yaml"), DEMO);
}

#[test]
fn concurrency_table_by_serve() {
    by_serve(&table("concurrency.yaml"), DEMO);
}

#[test]
fn corrections_table_by_run() {
    by_run(&table("corrections.yaml"), DEMO);
}

#[test]
fn corrections_table_by_serve() {
    by_serve(&table("corrections.yaml"), DEMO);
}

#[test]
fn entries_table_by_run() {
    by_run(&table("entries.yaml"), DEMO);
}

#[test]
fn entries_table_by_serve() {
    by_serve(&table("entries.yaml"), DEMO);
}

#[test]
fn values_table_by_run() {
    by_run(&table("values.yaml"), &lab());
}

#[test]
fn values_table_by_serve() {
    by_serve(&table("values.yaml"), &lab());
}

#[test]
fn results_table_by_run() {
    by_run(&table("results.yaml"), &labs());
}

#[test]
fn results_table_by_serve() {
    by_serve(&table("results.yaml"), &labs());
}

#[test]
fn language_table_by_run() {
    by_run(&table("language.yaml"), DEMO);
}

#[test]
fn language_table_by_serve() {
    by_serve(&table("language.yaml"), DEMO);
}

#[test]
fn tokens_table_by_run() {
    by_run(&table("tokens.yaml"), DEMO);
}

#[test]
fn tokens_table_by_serve() {
    by_serve(&table("tokens.yaml"), DEMO);
}

fn by_run(rows: &[Row], config: &str) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = json(&row.snippet).config(config).done().outcome();
                    wrong.lock().extend(row.wrong(&outcome));
                }
            });
        }
    });
    assert_right(&wrong.into_inner(), rows.len());
}

fn by_serve(rows: &[Row], config: &str) {
    let mut server = Serve::new(config).start();
    server.shake_hands();
    let mut wrong = Vec::new();
    for (batch, rows) in rows.chunks(AT_ONCE).enumerate() {
        let id = |index: usize| 1 + batch * AT_ONCE + index;
        for (index, row) in rows.iter().enumerate() {
            server.send(&serde_json::json!({
                "jsonrpc": "2.0", "id": id(index), "method": "tools/call", "params": execute(&row.snippet),
            }));
        }
        for (index, row) in rows.iter().enumerate() {
            let answer = server
                .receive(&row.name, |message| message["id"] == id(index) && message["method"].is_null());
            wrong.extend(row.wrong(outcome_of(&answer)));
            // The text for models includes the warnings.
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or("");
            let unread = row.says.iter().filter(|phrase| row.status == "ok" && !text.contains(*phrase));
            wrong.extend(unread.map(|phrase| format!("{}: the text lacks {phrase:?}: {text}", row.name)));
            let fixes = outcome_of(&answer)["fixes"].as_array().cloned().unwrap_or_default();
            let line = |fix: &Value| {
                let after = fix["after"].as_str().unwrap_or("").trim();
                format!("corrected line {}: {after}", fix["line"])
            };
            let hidden = fixes.iter().map(line).filter(|line| !text.lines().any(|shown| shown == line));
            wrong.extend(hidden.map(|line| format!("{}: the text lacks {line:?}: {text}", row.name)));
        }
    }
    assert_right(&wrong, rows.len());
    server.close_input();
    assert_eq!(server.end(), Some(0));
}
