//! Runs the snippets in the tables of `fixtures/snippets` with `run` and `serve`, and checks their outcomes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use end_to_end::cache::json;
use end_to_end::harness::FAULT_SERVER;
use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
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

#[test]
fn the_table_of_answers() {
    check("answers.yaml", &lab());
}

#[test]
fn the_table_of_concurrency() {
    check("concurrency.yaml", DEMO);
}

#[test]
fn the_table_of_corrections() {
    check("corrections.yaml", DEMO);
}

#[test]
fn the_table_of_entries() {
    check("entries.yaml", DEMO);
}

#[test]
fn the_table_of_values() {
    check("values.yaml", &lab());
}

#[test]
fn the_table_of_results() {
    check("results.yaml", &labs());
}

#[test]
fn the_table_of_the_language() {
    check("language.yaml", DEMO);
}

#[test]
fn the_table_of_tokens() {
    check("tokens.yaml", DEMO);
}

/// Checks each row with both commands: one compiles it, and the other one then finds its program in the cache.
#[track_caller]
fn check(name: &str, config: &str) {
    let rows = table(name);
    let (even, odd): (Vec<_>, Vec<_>) = rows.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    let mut server = Serve::new(config).start();
    server.shake_hands();
    let mut wrong = Vec::new();
    for (run, served) in [(&even, &odd), (&odd, &even)] {
        std::thread::scope(|scope| {
            let by_run = scope.spawn(|| by_run(run, config));
            wrong.extend(by_serve(served, &mut server));
            wrong.extend(by_run.join().unwrap());
        });
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    server.close_input();
    assert_eq!(server.end(), Some(0));
}

/// Runs the snippets with `run`, and describes wrong outcomes.
fn by_run(rows: &[(usize, &Row)], config: &str) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((_, row)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = json(&row.snippet).config(config).done().outcome();
                    wrong.lock().extend(row.wrong(&outcome));
                }
            });
        }
    });
    wrong.into_inner()
}

/// Runs the snippets with `serve`, and describes wrong outcomes and texts for models.
fn by_serve(rows: &[(usize, &Row)], server: &mut Server) -> Vec<String> {
    let mut wrong = Vec::new();
    for rows in rows.chunks(AT_ONCE) {
        for (index, row) in rows {
            server.send(&serde_json::json!({
                "jsonrpc": "2.0", "id": index + 1, "method": "tools/call", "params": execute(&row.snippet),
            }));
        }
        for (index, row) in rows {
            let is_answer = |message: &Value| message["id"] == index + 1 && message["method"].is_null();
            let answer = server.receive(&row.name, is_answer);
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
    wrong
}
