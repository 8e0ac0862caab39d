//! The tasks, and whether a result is right. `tasks.yaml` says at its head what may stand in the lists of them.

use std::collections::BTreeMap;

use end_to_end::reductions::OUTCOME;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{looking::Lookup, site::SITE, workspace::ROOT};
use crate::product::Checked;

const LISTS: [&str; 3] =
    [include_str!("tasks.yaml"), include_str!("tasks-writing.yaml"), include_str!("tasks-private.yaml")];

/// One task.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub(super) id: String,
    /// What is asked for, in plain words.
    pub(super) text: String,
    /// The snippet is run once for each of these.
    pub(super) runs: Vec<Expectation>,
    /// What is in a message of progress that must have been told.
    progress: Option<String>,
    /// MIME types of what must stand beside the text.
    #[serde(default)]
    content: Vec<String>,
    /// What must then stand in files of the workspace.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// What is wanted of one run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    /// What comes with the snippet.
    #[serde(default)]
    pub(super) args: BTreeMap<String, String>,
    pub(super) result: Value,
    /// What servers must say after it.
    #[serde(default)]
    pub(super) after: Vec<Lookup>,
}

/// What came of one run.
pub(crate) struct RunResult {
    /// The answer: MCP's `CallToolResult`.
    pub(crate) answer: Value,
    /// The messages of progress before it.
    pub(super) progress: Vec<String>,
}

impl RunResult {
    /// The status of the outcome; the answer itself, where it is none.
    pub(super) fn status(&self) -> String {
        let status = self.answer["_meta"][OUTCOME]["status"].as_str();
        status.map_or_else(|| self.answer.to_string(), str::to_owned)
    }

    /// The texts of the answer, as a model gets them; of anything else, what it is.
    pub(super) fn text(&self) -> String {
        let parts = self.answer["content"].as_array().map_or(&[][..], Vec::as_slice);
        let shown = |part: &Value| match part["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("[{} {}]", part["type"].as_str().unwrap_or("content"), mime(part)),
        };
        parts.iter().map(shown).collect::<Vec<_>>().join("\n")
    }

    /// The first line that says what went wrong, if anything did.
    pub(super) fn error_line(&self) -> Option<String> {
        let error = &self.answer["_meta"][OUTCOME]["error"]["message"];
        let line = |text: &str| text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned);
        error.as_str().and_then(line)
    }
}

fn mime(part: &Value) -> &str {
    part["mimeType"].as_str().or(part["resource"]["mimeType"].as_str()).unwrap_or_default()
}

impl Task {
    /// All of them, in their order.
    pub(super) fn all() -> Checked<Vec<Self>> {
        let mut tasks = Vec::new();
        for list in LISTS {
            let text = list.replace("{root}", ROOT).replace("{site}", SITE);
            let list: Vec<Self> = serde_saphyr::from_str(&text).map_err(|error| format!("tasks: {error}"))?;
            tasks.extend(list);
        }
        Ok(tasks)
    }

    /// One of them.
    pub(super) fn find(id: &str) -> Checked<Self> {
        let tasks = Self::all()?;
        let ids: Vec<_> = tasks.iter().map(|task| task.id.clone()).collect();
        let found = tasks.into_iter().find(|task| task.id == id);
        found.ok_or_else(|| format!("there is no task {id:?}; there are {}", ids.join(", ")))
    }

    /// Whether what came of a run is right; if not, why.
    ///
    /// # Errors
    /// What is wrong. It tells what was wanted, so whoever solves the task must not see it.
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

/// Whether a value is what was wanted. Numbers are compared by value, so that 3 is 3.0.
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

/// The same, where something else than equality is wanted. A rule that is unknown fits nothing.
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

/// Shows that the comparison can fail, since a harness whose checks always pass looks the same.
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
