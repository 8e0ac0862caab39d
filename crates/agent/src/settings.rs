//! The settings of a model: its endpoint and its options.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

/// The settings of a model.
#[derive(Clone, PartialEq)]
pub struct ModelSettings {
    /// Its name in the configuration (`ref`).
    pub name: String,
    /// Its id at the provider.
    pub id: String,
    /// The API of its requests and replies.
    pub api: Api,
    /// The key; never shown. Local endpoints may need none.
    pub key: Option<String>,
    /// The base URL for the paths of the API; by default the provider's own.
    pub base_url: Option<String>,
    /// The maximum number of tokens in a conversation, if known.
    pub context_window: Option<u64>,
    /// Maximum number of tokens in one message.
    pub max_output: Option<u32>,
    /// Further options.
    pub generation: Generation,
    /// The effort of thinking before a reply; by default the provider's setting.
    pub thinking: Option<Thinking>,
    /// Time limit for a complete reply, including retries.
    pub timeout: Duration,
    /// The number of retries after a temporary failure (429, 5xx, network).
    pub retries: u32,
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ModelSettings");
        shown.field("name", &self.name).field("id", &self.id).field("api", &self.api).finish_non_exhaustive()
    }
}

/// An HTTP API for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, which many other providers support too.
    OpenAi,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Google's Gemini (`generateContent`).
    Gemini,
}

impl Api {
    /// All APIs, with their names in configurations.
    pub const ALL: [(Api, &'static str); 4] = [
        (Api::Anthropic, "anthropic"),
        (Api::OpenAi, "openai"),
        (Api::OpenAiResponses, "openai-responses"),
        (Api::Gemini, "gemini"),
    ];

    /// The API with this name in a configuration.
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

/// The effort that a model spends on thinking before it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// Not at all, if the model supports that.
    Off,
    /// A little.
    Low,
    /// More.
    Medium,
    /// A lot.
    High,
    /// At most this number of tokens.
    Tokens(u32),
}

/// Further options of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generation {
    /// The randomness of the choice of tokens.
    pub temperature: Option<f64>,
    /// The share of the most likely tokens to choose from.
    pub top_p: Option<f64>,
    /// Makes the choices repeatable, if the provider supports that.
    pub seed: Option<u64>,
    /// Texts at which the message ends.
    pub stop_sequences: Vec<String>,
    /// Members of the request's body that are sent unchanged.
    pub extra: Map<String, Value>,
}
