//! The script: which rule answers which request.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::request::ModelRequest;

/// A script.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    when: When,
    answers: Vec<Answer>,
    #[serde(default)]
    together: usize,
    /// Number of answers used.
    #[serde(skip)]
    used: AtomicUsize,
    /// Number of matching requests so far.
    #[serde(skip, default = "no_requests")]
    arrived: watch::Sender<usize>,
}

fn no_requests() -> watch::Sender<usize> {
    watch::channel(0).0
}

/// The requests that a rule matches.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct When {
    user: Option<String>,
    first_user: Option<String>,
    system: Option<String>,
    result: Option<String>,
    result_of: Option<String>,
    no_result: bool,
    turn: Option<usize>,
    offers: Option<String>,
    model: Option<String>,
    api: Option<String>,
}

/// A model's answer or failure.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Answer {
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: Usage,
    pub(crate) stop: Option<Stop>,
    pub(crate) delay: u64,
    pub(crate) pause: u64,
    pub(crate) status: Option<u16>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) message: Option<String>,
    pub(crate) fault: Option<Fault>,
}

/// A tool call.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
    #[serde(default)]
    pub(crate) id: String,
    /// The tool's namespace, if any (`openai-responses`).
    #[serde(default)]
    pub(crate) namespace: Option<String>,
}

impl Call {
    /// The arguments as sent.
    pub(crate) fn written(&self) -> String {
        match &self.arguments {
            Value::Null => "{}".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// The token usage of an answer.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Usage { input: 10, output: 5, cached: 0 }
    }
}

/// The stop reason of an incomplete answer.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stop {
    Length,
    Refusal,
}

/// A fault during transmission.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    Cut,
    Malformed,
    Error,
    NoEnd,
}

impl Script {
    pub(crate) fn read(file: &str) -> Result<Self, Box<dyn Error>> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let script: Script = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        match script.rules.iter().find(|rule| rule.answers.is_empty()) {
            Some(_) => Err(format!("{file}: a rule has no answers").into()),
            None => Ok(script),
        }
    }

    /// The next answer of the first matching rule, once enough requests have arrived.
    pub(crate) async fn answer(&self, request: &ModelRequest) -> Option<Answer> {
        let rule = self.rules.iter().find(|rule| rule.when.matches(request))?;
        rule.arrived.send_modify(|count| *count += 1);
        let mut arrived = rule.arrived.subscribe();
        arrived.wait_for(|count| *count >= rule.together).await.ok()?;
        let number = rule.used.fetch_add(1, Ordering::Relaxed).min(rule.answers.len() - 1);
        rule.answers.get(number).cloned()
    }
}

impl When {
    fn matches(&self, request: &ModelRequest) -> bool {
        let holds = |part: &Option<String>, text: &str| part.as_ref().is_none_or(|part| text.contains(part));
        let is =
            |expected: &Option<String>, text: &str| expected.as_ref().is_none_or(|expected| expected == text);
        holds(&self.user, &request.user)
            && holds(&self.first_user, &request.first_user)
            && holds(&self.system, &request.system)
            && holds(&self.result, request.result())
            && is(&self.result_of, request.result_of())
            && (!self.no_result || request.results.is_empty())
            && self.turn.is_none_or(|turn| turn == request.turn)
            && self.offers.as_ref().is_none_or(|tool| request.tools.contains(tool))
            && is(&self.model, &request.model)
            && is(&self.api, request.api.name())
    }
}
