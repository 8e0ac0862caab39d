//! What the models say, and when.

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
    /// How many answers were given.
    #[serde(skip)]
    given: AtomicUsize,
    /// How many requests have come.
    #[serde(skip, default = "nobody")]
    come: watch::Sender<usize>,
}

fn nobody() -> watch::Sender<usize> {
    watch::channel(0).0
}

/// Which requests a rule is for.
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

/// What a model says, or how it fails.
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

/// A tool that is called.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
    #[serde(default)]
    pub(crate) id: String,
    /// Where the tool is offered in a namespace (`openai-responses`).
    #[serde(default)]
    pub(crate) namespace: Option<String>,
}

impl Call {
    /// The arguments as they are written.
    pub(crate) fn written(&self) -> String {
        match &self.arguments {
            Value::Null => "{}".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// What an answer costs.
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

/// Why an answer ends, where it is neither whole nor waits for tools.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stop {
    Length,
    Refusal,
}

/// What goes wrong on the way.
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

    /// The next answer of the first rule that fits, as soon as enough have come.
    pub(crate) async fn answer(&self, asked: &ModelRequest) -> Option<Answer> {
        let rule = self.rules.iter().find(|rule| rule.when.fits(asked))?;
        rule.come.send_modify(|count| *count += 1);
        let mut come = rule.come.subscribe();
        come.wait_for(|count| *count >= rule.together).await.ok()?;
        let number = rule.given.fetch_add(1, Ordering::Relaxed).min(rule.answers.len() - 1);
        rule.answers.get(number).cloned()
    }
}

impl When {
    fn fits(&self, asked: &ModelRequest) -> bool {
        let holds = |part: &Option<String>, text: &str| part.as_ref().is_none_or(|part| text.contains(part));
        let is = |wanted: &Option<String>, text: &str| wanted.as_ref().is_none_or(|wanted| wanted == text);
        holds(&self.user, &asked.user)
            && holds(&self.first_user, &asked.first_user)
            && holds(&self.system, &asked.system)
            && holds(&self.result, asked.result())
            && is(&self.result_of, asked.result_of())
            && (!self.no_result || asked.results.is_empty())
            && self.turn.is_none_or(|turn| turn == asked.turn)
            && self.offers.as_ref().is_none_or(|tool| asked.tools.contains(tool))
            && is(&self.model, &asked.model)
            && is(&self.api, asked.api.name())
    }
}
