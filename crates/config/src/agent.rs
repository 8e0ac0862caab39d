//! The parts of a configuration that define models, agents and subagents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent::{Api, Generation, Thinking};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::key_macros::{Kind, Merge, record, section};
use super::key_types::{Address, Count, FilePath, InvalidValue, Number, Seconds, Size, VariableName, text};
use super::placed::AsWritten;
use super::problems::check_server_name;

record! {
    /// A model.
    Model from ModelForm {
        /// The name used in this configuration.
        #[serde(rename = "ref")]
        reference: Name,
        /// The name shown to users.
        display_name: Option<String>,
        /// The provider's name for the model.
        id: Name,
        /// The provider's API: anthropic (Messages), openai (Chat Completions, also of other providers),
        /// openai-responses or gemini.
        #[serde(rename = "type")]
        api: ApiName,
        /// The environment variable with the API key. Servers don't inherit it.
        api_key_env: Option<VariableName>,
        /// The base address of the API, such as http://127.0.0.1:11434/v1 (default: the provider's).
        base_url: Option<Address>,
        /// Size of the context window, in tokens.
        context_window: Option<Count<u64>>,
        /// Maximum tokens of one message (default: the provider's).
        max_output: Option<Count<u32>>,
        /// Further parameters of each request.
        #[serde(rename = "generationParams", default)]
        generation: GenerationForm,
        /// How much the model thinks before it answers: off, low, medium, high, or a number of tokens.
        thinking: Option<ThinkingName>,
        /// Time limit of one reply including retries, in seconds.
        timeout: Seconds = Duration::from_secs(600),
        /// How often a request is repeated after a temporary failure.
        retries: Number<u32> = 4,
    }
}

/// The models of all layers, by `ref`; a model of a stronger layer replaces the weaker layer's as a whole.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Models(Vec<ModelForm>);

impl Models {
    /// The environment variables with API keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|model| model.api_key_env.clone().value())
    }
}

impl Merge for Models {
    fn over(self, mut weaker: Self) -> Self {
        weaker.0.retain(|model| self.0.iter().all(|other| other.reference != model.reference));
        weaker.0.extend(self.0);
        weaker.0.sort_by(|a, b| a.reference.0.cmp(&b.reference.0));
        weaker
    }
}

impl Kind for Models {
    type Value = Vec<Model>;

    fn value(self) -> Vec<Model> {
        self.0.value()
    }
}

/// Further parameters of each request to a model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct GenerationForm {
    /// Sampling temperature: higher values give more varied text.
    temperature: Option<f64>,
    /// Samples only from the most likely tokens, up to this total probability.
    top_p: Option<f64>,
    /// Makes sampling repeatable, if the provider supports it.
    seed: Option<u64>,
    /// Texts at which the model stops.
    stop_sequences: Vec<String>,
    /// Further members of the request's body, sent unchanged.
    extra: BTreeMap<String, Value>,
}

impl Kind for GenerationForm {
    type Value = Generation;

    fn value(self) -> Generation {
        Generation {
            temperature: self.temperature,
            top_p: self.top_p,
            seed: self.seed,
            stop_sequences: self.stop_sequences,
            extra: self.extra.into_iter().collect(),
        }
    }
}

record! {
    /// A subagent: a model with its tools, served as one tool.
    #[serde(rename_all = "camelCase")]
    Subagent from SubagentForm {
        /// The tool's name.
        name: ToolName,
        /// The tool's description.
        description: Description,
        /// A file with the JSON Schema of its answers.
        #[serde(rename = "outputSchemaPath")]
        output_schema: Option<FilePath>,
        /// How many answers that don't fit the schema are returned to the model for correction.
        max_corrections: Number<u32> = 0,
    }
}

section! {
    /// Limits on a model's work.
    #[serde(rename_all = "camelCase")]
    Agent from AgentForm {
        /// Maximum model requests for one task.
        max_turns: Count<u32> = 100,
        /// Maximum tokens of one task, input and output together (default: no limit).
        max_tokens: Option<Count<u64>>,
        /// Time limit of one task, in seconds (default 1800 for subagents, no limit for interactive use).
        timeout: Option<Seconds>,
        /// Approximate limit on the tokens of a tool's result that the model reads.
        result_tokens: Count<usize> = 20_000,
        /// Maximum tool calls of one message that run at once.
        parallel_calls: Count<usize> = 8,
        /// Maximum tasks of a subagent that run at once; more wait.
        max_tasks: Count<usize> = 64,
        /// Maximum size of an input file.
        input_size: Size<u64, 1> = 10 << 20,
        /// Maximum number of Toolsmith processes above this one: subagents that call subagents, servers that start servers.
        max_depth: Count<u32> = 5,
        /// The file for conversations, relative to the folder of this file; `false` disables it (default: a file in
        /// your state folder).
        conversations: Option<Conversations>,
    }
}

/// Where conversations are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "AsWritten<FilePath>")]
#[schemars(with = "String")]
pub enum Conversations {
    /// In this file.
    File(PathBuf),
    /// Conversations are not kept.
    Nowhere,
}

impl From<AsWritten<FilePath>> for Conversations {
    fn from(file: AsWritten<FilePath>) -> Self {
        match file.written.as_str() {
            "false" => Conversations::Nowhere,
            _ => Conversations::File(file.value()),
        }
    }
}

impl Kind for Conversations {
    type Value = Self;

    fn value(self) -> Self {
        self
    }
}

text! {
    /// A name that is not empty.
    Name(String) by not_empty;
    /// The name of an API.
    ApiName(Api) by api;
    /// How much a model thinks.
    ThinkingName(Thinking) by thinking;
    /// A name that a tool of a server may have.
    ToolName(String) by tool_name;
    /// The description of a tool.
    Description(String) by description;
}

fn not_empty(name: &str) -> Result<String, InvalidValue> {
    if name.is_empty() {
        Err(InvalidValue::of("the name is empty; write a name"))
    } else {
        Ok(name.to_owned())
    }
}

fn api(name: &str) -> Result<Api, InvalidValue> {
    Api::of(name).ok_or_else(|| {
        let known: Vec<_> = Api::ALL.iter().map(|(_, name)| *name).collect();
        InvalidValue(format!(
            "unknown model type {name:?}; write one of {} (openai with a base_url for compatible providers)",
            known.join(", ")
        ))
    })
}

fn thinking(text: &str) -> Result<Thinking, InvalidValue> {
    match text {
        "off" | "false" => Ok(Thinking::Off),
        "low" => Ok(Thinking::Low),
        "medium" => Ok(Thinking::Medium),
        "high" => Ok(Thinking::High),
        _ => match text.parse() {
            Ok(tokens) if tokens > 0 => Ok(Thinking::Tokens(tokens)),
            _ => {
                let why =
                    format!("unknown value {text:?}; write off, low, medium, high, or a number of tokens");
                Err(InvalidValue(why))
            }
        },
    }
}

/// The rule is that of server names: models limit the names of tools.
fn tool_name(name: &str) -> Result<String, &'static str> {
    match check_server_name(name) {
        Ok(()) => Ok(name.to_owned()),
        Err(_) => Err("the name of a subagent must have 1 to 64 letters, digits, `_` or `-`"),
    }
}

fn description(text: &str) -> Result<String, InvalidValue> {
    if text.trim().is_empty() {
        return Err(InvalidValue::of("the description is empty; say what the subagent does"));
    }
    Ok(text.to_owned())
}
