//! How a model is reached, and how it is asked.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

/// A model that can be asked.
#[derive(Clone, PartialEq)]
pub struct ModelSettings {
    /// What it is called in the configuration (`ref`).
    pub name: String,
    /// What its provider calls it.
    pub id: String,
    /// Whose documentation its requests and answers follow.
    pub api: Api,
    /// The key; never shown. Local endpoints may need none.
    pub key: Option<String>,
    /// The address that the paths of the API are put behind; the provider's own without it.
    pub base_url: Option<String>,
    /// How many tokens a conversation may have, where that is known.
    pub context_window: Option<u64>,
    /// Most tokens of one message.
    pub max_output: Option<u32>,
    /// What is asked for besides.
    pub generation: Generation,
    /// How much it thinks before it speaks; the provider's default without it.
    pub thinking: Option<Thinking>,
    /// Longest time until a reply is whole, with the requests that are made again.
    pub timeout: Duration,
    /// How often a request that failed for a while (429, 5xx, network) is made again.
    pub retries: u32,
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ModelSettings");
        shown.field("name", &self.name).field("id", &self.id).field("api", &self.api).finish_non_exhaustive()
    }
}

/// A way to ask models over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, which many others offer as well.
    OpenAi,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Google's Gemini (`generateContent`).
    Gemini,
}

impl Api {
    /// All of them, with their names in configurations.
    pub const ALL: [(Api, &'static str); 4] = [
        (Api::Anthropic, "anthropic"),
        (Api::OpenAi, "openai"),
        (Api::OpenAiResponses, "openai-responses"),
        (Api::Gemini, "gemini"),
    ];

    /// By the name in a configuration.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Api::ALL.iter().find(|(_, known)| *known == name).map(|(api, _)| *api)
    }

    /// The name in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        Api::ALL.iter().find(|(api, _)| *api == self).map_or("", |(_, name)| name)
    }
}

/// How much a model thinks before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// Not at all, where the model can do without.
    Off,
    /// A little.
    Low,
    /// More.
    Medium,
    /// Much.
    High,
    /// Up to so many tokens.
    Tokens(u32),
}

/// What a model is asked for besides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generation {
    /// How much chance there is in its choice of words.
    pub temperature: Option<f64>,
    /// From which share of likely words it chooses.
    pub top_p: Option<f64>,
    /// Makes its choices repeatable, where the provider can.
    pub seed: Option<u64>,
    /// Texts that end its message.
    pub stop_sequences: Vec<String>,
    /// Members of the request's body that are sent as they are.
    pub extra: Map<String, Value>,
}
