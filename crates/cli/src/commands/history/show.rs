//! One execution as a page of text.

use std::fmt::Write as _;

use history::shown::{duration, from, kept};
use history::{Call, Execution, PhaseStart, Question, Summary, Tokens};
use runner::size;
use serde_json::Value;
use system::calendar::of_milliseconds;
use terminal::table::table;

/// The page.
pub(super) fn page(execution: &Execution) -> String {
    let summary = &execution.summary;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name:<10} {value}");
        }
    };
    line("execution", summary.id.clone());
    line("begun", of_milliseconds(summary.begun));
    line("program", summary.program.clone().unwrap_or_default());
    line("from", from(summary));
    line("folder", summary.folder.clone());
    line("status", status(summary));
    line("time", time(execution));
    line("phases", phases(&execution.phases));
    line("tokens", tokens(summary));
    line("arguments", execution.arguments.as_ref().map(arguments).unwrap_or_default());
    let manifest = strings(&execution.outcome["manifest"]);
    line("manifest", manifest.join(", "));
    strings(&execution.outcome["flows"]).into_iter().for_each(|flow| line("can carry", flow.to_owned()));
    line("sandbox", sandbox(execution));
    let masked = if execution.code_is_whole { "" } else { " (secrets are masked)" };
    section(&mut text, &format!("snippet{masked}"), &execution.code);
    if !execution.calls_made.is_empty() {
        let columns = ["call", "at", "asked", "time", "tool", "result", "tokens", "arguments"];
        section(&mut text, "calls", &table(&columns, execution.calls_made.iter().map(call)));
    }
    if !execution.questions.is_empty() {
        let columns = ["at", "waited", "about", "tools", "answer", "by"];
        section(&mut text, "questions", &table(&columns, execution.questions.iter().map(question)));
        for asked in execution.questions.iter().filter(|question| question.about == "call") {
            section(&mut text, &format!("question at {}", duration(asked.asked_ms)), &asked.text);
        }
    }
    for (name, part) in
        [("error", "error"), ("result", "result"), ("output", "stdout"), ("standard error", "stderr")]
    {
        section(&mut text, name, &kept(&execution.outcome[part]));
    }
    let content = execution.outcome["content"].as_array().into_iter().flatten();
    content.for_each(|part| section(&mut text, "content", &kept(part)));
    let diagnostics = execution.outcome["diagnostics"].as_array().into_iter().flatten();
    let rendered: Vec<&str> = diagnostics.filter_map(|one| one["rendered"].as_str()).collect();
    section(&mut text, "compiler", rendered.join("\n").trim_end());
    text
}

fn section(text: &mut String, name: &str, body: &str) {
    if !body.is_empty() {
        let _ = writeln!(text, "\n{name}:");
        body.lines().for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
    }
}

fn status(summary: &Summary) -> String {
    let checked = if summary.check_only { " (only compiled)" } else { "" };
    let kind = summary.error_kind.as_ref().filter(|kind| **kind != summary.status);
    let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    format!("{}{kind}{checked}", summary.status)
}

fn time(execution: &Execution) -> String {
    let total = execution.summary.total_ms.map(duration).unwrap_or_default();
    let outcome = &execution.outcome;
    let cpu = outcome["cpu_ms"].as_f64().filter(|ms| *ms > 0.0);
    let cpu = cpu.map(|ms| format!(", {} of processor time", duration(ms))).unwrap_or_default();
    let cached = if outcome["cached"] == true { ", compiled before" } else { "" };
    format!("{total}{cpu}{cached}")
}

/// Each phase with the time of its start.
fn phases(phases: &[PhaseStart]) -> String {
    let phase = |start: &PhaseStart| format!("{} at {}", start.phase, duration(start.at_ms));
    phases.iter().map(phase).collect::<Vec<_>>().join(", ")
}

fn tokens(summary: &Summary) -> String {
    let Tokens { code, answer, direct } = summary.tokens;
    let saved = if summary.is_ok() { format!(": saved {}", summary.tokens.saved()) } else { String::new() };
    format!("snippet {code}, answer {answer}; direct calls {direct}{saved}")
}

fn arguments(arguments: &history::Arguments) -> String {
    match (&arguments.value, &arguments.text) {
        (Some(value), _) => value.to_string(),
        (None, Some(text)) => format!("{text}…"),
        (None, None) => format!("{} bytes, hash {}", arguments.bytes, short_hash(&arguments.hash)),
    }
}

fn short_hash(hash: &str) -> String {
    hash.chars().take(12).collect()
}

fn sandbox(execution: &Execution) -> String {
    let report = &execution.outcome["sandbox"];
    let Some(tier) = report["tier"].as_str().filter(|tier| !tier.is_empty()) else { return String::new() };
    let layers = strings(&report["layers"]).join(", ");
    let refused = strings(&report["refused"]);
    let refused =
        if refused.is_empty() { String::new() } else { format!("; refused {}", refused.join(", ")) };
    format!("{tier} ({layers}){refused}")
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn call(call: &Call) -> Vec<String> {
    let asked = call.sent_ms.map(|sent| sent - call.began_ms).filter(|asked| *asked >= 1.0);
    let begun = call.sent_ms.unwrap_or(call.began_ms);
    let result = match (&call.error, call.ok) {
        (Some(error), _) => error.clone(),
        (None, Some(true)) => size(usize::try_from(call.bytes).unwrap_or(usize::MAX)),
        (None, Some(false)) => "failed".to_owned(),
        (None, None) => "not ended".to_owned(),
    };
    let cached = call.cached_age_ms.map_or("", |_| ", cached");
    vec![
        call.number.to_string(),
        duration(call.began_ms),
        asked.map(duration).unwrap_or_default(),
        call.ended_ms.map(|ended| duration(ended - begun)).unwrap_or_default(),
        if call.server.is_empty() { call.tool.clone() } else { format!("{}.{}", call.server, call.tool) },
        format!("{result}{cached}"),
        call.direct_tokens.to_string(),
        call.arguments.as_ref().map(arguments).unwrap_or_default(),
    ]
}

fn question(question: &Question) -> Vec<String> {
    vec![
        duration(question.asked_ms),
        question.answered_ms.map(|answered| duration(answered - question.asked_ms)).unwrap_or_default(),
        question.about.clone(),
        question.tools.join(", "),
        question.answer.clone().unwrap_or_else(|| "withdrawn".to_owned()),
        question.answered_by.clone().unwrap_or_default(),
    ]
}
