//! Reads the tasks, and checks results. The header of `tasks.yaml` describes the format of a task.

use std::collections::BTreeMap;

use end_to_end::reductions::OUTCOME;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{looking::Lookup, site::SITE, workspace::ROOT};
use crate::product::Checked;

const LISTS: [&str; 3] =
    [include_str!("tasks.yaml"), include_str!("tasks-writing.yaml"), include_str!("tasks-private.yaml")];

/// A task.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub(super) id: String,
    /// The assignment, as a model receives it.
    pub(super) text: String,
    /// The snippet runs once for each of these.
    pub(super) runs: Vec<Expectation>,
    /// A text that a progress message must contain.
    progress: Option<String>,
    /// MIME types that the answer's content blocks must have.
    #[serde(default)]
    content: Vec<String>,
    /// Files of the workspace by path, with their content after the run.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// The expectation for one run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    /// The arguments passed with the snippet.
    #[serde(default)]
    pub(super) args: BTreeMap<String, String>,
    pub(super) result: Value,
    /// Tool calls after the run, with their expected answers.
    #[serde(default)]
    pub(super) after: Vec<Lookup>,
}

/// The answer to a request, such as a run.
pub(crate) struct RunResult {
    /// The answer: MCP's `CallToolResult`.
    pub(crate) answer: Value,
    /// The progress messages before the answer.
    pub(super) progress: Vec<String>,
}

impl RunResult {
    /// The outcome's status, or the whole answer if it contains no outcome.
    pub(super) fn status(&self) -> String {
        let status = self.answer["_meta"][OUTCOME]["status"].as_str();
        status.map_or_else(|| self.answer.to_string(), str::to_owned)
    }

    /// The texts of the answer as a model receives them, with type and MIME type in place of other content.
    pub(super) fn text(&self) -> String {
        let parts = self.answer["content"].as_array().map_or(&[][..], Vec::as_slice);
        let shown = |part: &Value| match part["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("[{} {}]", part["type"].as_str().unwrap_or("content"), mime(part)),
        };
        parts.iter().map(shown).collect::<Vec<_>>().join("\n")
    }

    /// The first line of the outcome's error that is not blank, if there is an error.
    pub(super) fn error_line(&self) -> Option<String> {
        let error = &self.answer["_meta"][OUTCOME]["error"]["message"];
        error.as_str().and_then(|text| text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned))
    }
}

fn mime(part: &Value) -> &str {
    part["mimeType"].as_str().or(part["resource"]["mimeType"].as_str()).unwrap_or_default()
}

impl Task {
    /// All tasks, in the order of the files.
    pub(super) fn all() -> Checked<Vec<Self>> {
        let mut tasks = Vec::new();
        for list in LISTS {
            let text = list.replace("{root}", ROOT).replace("{site}", SITE);
            let list: Vec<Self> = serde_saphyr::from_str(&text).map_err(|error| format!("tasks: {error}"))?;
            tasks.extend(list);
        }
        Ok(tasks)
    }

    /// The task with this id.
    pub(super) fn find(id: &str) -> Checked<Self> {
        let tasks = Self::all()?;
        let ids: Vec<_> = tasks.iter().map(|task| task.id.clone()).collect();
        let found = tasks.into_iter().find(|task| task.id == id);
        found.ok_or_else(|| format!("there is no task {id:?}; there are {}", ids.join(", ")))
    }

    /// Checks the result of a run. `read` reads a file of the workspace.
    ///
    /// # Errors
    /// If the result is wrong. The message contains the expectation: never show it to a model that solves the task.
    pub(super) fn check(
        &self,
        wanted: &Expectation,
        came: &RunResult,
        read: impl Fn(&str) -> Checked<String>,
    ) -> Checked<()> {
        if came.status() != "ok" {
            return Err(format!("{}\n{}", came.status(), came.text()));
        }
        let result = &came.answer["_meta"][OUTCOME]["result"];
        if !fits(&wanted.result, result) {
            return Err(format!("the result is {result} in place of {}", wanted.result));
        }
        if let Some(words) = &self.progress
            && !came.progress.iter().any(|message| message.contains(words))
        {
            return Err(format!("no progress tells {words:?}: {:?}", came.progress));
        }
        let parts = came.answer["content"].as_array().map_or(&[][..], Vec::as_slice);
        if let Some(missing) = self.content.iter().find(|kind| !parts.iter().any(|part| mime(part) == *kind))
        {
            return Err(format!("nothing of type {missing} stands beside the text"));
        }
        for (path, text) in &self.files {
            let is = read(path)?;
            if is.trim_end() != text.trim_end() {
                return Err(format!("{path} is {is:?} in place of {text:?}"));
            }
        }
        Ok(())
    }
}

/// Whether a value is the expected one. Numbers are compared by value, so 3 equals 3.0.
fn fits(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::Object(rule), _) if rule.keys().any(|key| key.starts_with('$')) => rule_fits(wanted, value),
        (Value::Object(wanted), Value::Object(value)) => {
            wanted.len() == value.len()
                && wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| fits(wanted, value)))
        }
        (Value::Array(wanted), Value::Array(value)) => {
            wanted.len() == value.len() && wanted.iter().zip(value).all(|(wanted, value)| fits(wanted, value))
        }
        (Value::Number(wanted), Value::Number(value)) => wanted.as_f64() == value.as_f64(),
        _ => wanted == value,
    }
}

/// Whether a value satisfies a rule (an object with a `$` key). No value satisfies an unknown rule.
fn rule_fits(rule: &Value, value: &Value) -> bool {
    if let (Some(near), Some(within)) = (rule["$near"].as_f64(), rule["within"].as_f64()) {
        return value.as_f64().is_some_and(|value| (value - near).abs() <= within);
    }
    if let Some(part) = rule["$contains"].as_str() {
        return value.as_str().is_some_and(|value| value.contains(part));
    }
    let (Some(wanted), Some(values)) = (rule["$set"].as_array(), value.as_array()) else { return false };
    let sorted = |values: &[Value]| {
        let mut texts: Vec<_> = values.iter().map(Value::to_string).collect();
        texts.sort_unstable();
        texts
    };
    sorted(wanted) == sorted(values)
}

/// Checks that the comparison can fail. If it accepted everything, all tasks would pass unnoticed.
pub(super) fn prove_comparison() -> Checked<()> {
    let cases = [
        (json!({ "a": 3 }), json!({ "a": 3.0 }), true),
        (json!({ "a": 3 }), json!({ "a": 3, "b": 4 }), false),
        (json!([1, 2]), json!([2, 1]), false),
        (json!({ "$set": ["x", "y"] }), json!(["y", "x"]), true),
        (json!({ "$set": ["x"] }), json!(["x", "x"]), false),
        (json!({ "$near": 1.5, "within": 0.01 }), json!(1.505), true),
        (json!({ "$near": 1.5, "within": 0.01 }), json!("1.5"), false),
        (json!({ "$contains": "ell" }), json!("hello"), true),
        (json!({ "$contains": "ell" }), json!("hallo"), false),
        (json!({ "$unknown": 1 }), json!({ "$unknown": 1 }), false),
    ];
    match cases.iter().find(|(wanted, value, holds)| fits(wanted, value) != *holds) {
        Some((wanted, value, _)) => Err(format!("the comparison of {value} with {wanted} is wrong")),
        None => Ok(()),
    }
}
