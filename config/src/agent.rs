//! The parts of a configuration that say which models there are, and how agents and subagents work with them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent::{Api, Generation, Thinking};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::key_macros::{Kind, Merge, record, section};
use super::key_types::{Address, Count, FilePath, Number, Seconds, Size, VariableName, text};
use super::placed::AsWritten;
use super::problems::check_server_name;

record! {
    /// A model.
    Model from ModelForm {
        /// What it is called here.
        #[serde(rename = "ref")]
        reference: Name,
        /// What it is called for people.
        display_name: Option<String>,
        /// What its provider calls it.
        id: Name,
        /// The API that it is asked by: anthropic (Messages), openai (Chat Completions, also of other providers),
        /// openai-responses or gemini.
        #[serde(rename = "type")]
        api: ApiName,
        /// The environment variable with its key. Servers don't inherit it.
        api_key_env: Option<VariableName>,
        /// The address that the API's paths are put behind, such as http://127.0.0.1:11434/v1 (default: the provider's
        /// own).
        base_url: Option<Address>,
        /// How many tokens a conversation may have.
        context_window: Option<Count<u64>>,
        /// Most tokens of one message (default: the provider's own).
        max_output: Option<Count<u32>>,
        /// What it is asked for besides.
        #[serde(rename = "generationParams", default)]
        generation: GenerationForm,
        /// How much it thinks before it speaks: off, low, medium, high, or a number of tokens.
        thinking: Option<ThinkingName>,
        /// Longest time of one reply with all its attempts, in seconds.
        timeout: Seconds = Duration::from_secs(600),
        /// How often a request that failed for a while is made again.
        retries: Number<u32> = 4,
    }
}

/// The models of all layers, by their `ref`s; a stronger layer's replaces a weaker's as a whole.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Models(Vec<ModelForm>);

impl Models {
    /// The variables with keys.
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

/// What a model is asked for besides.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct GenerationForm {
    /// How much chance there is in its choice of words.
    temperature: Option<f64>,
    /// From which share of likely words it chooses.
    top_p: Option<f64>,
    /// Makes its choices repeatable, where the provider can.
    seed: Option<u64>,
    /// Texts that end its message.
    stop_sequences: Vec<String>,
    /// Members of the request's body that are sent as they are.
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
    /// A subagent: one tool for others.
    #[serde(rename_all = "camelCase")]
    Subagent from SubagentForm {
        /// The tool's name.
        name: ToolName,
        /// The tool's description.
        description: Description,
        /// A file with the JSON Schema of its answers.
        #[serde(rename = "outputSchemaPath")]
        output_schema: Option<FilePath>,
        /// How many answers that don't fit the schema go back to the model.
        max_corrections: Number<u32> = 0,
    }
}

section! {
    /// Within what bounds a model works.
    #[serde(rename_all = "camelCase")]
    Agent from AgentForm {
        /// How often the model is asked for one task.
        max_turns: Count<u32> = 100,
        /// How many tokens one task may cost, read and written (default: no limit).
        max_tokens: Option<Count<u64>>,
        /// Longest time of one task, in seconds (default 1800 for subagents, no limit for people).
        timeout: Option<Seconds>,
        /// Tokens of a tool's result that the model gets to read, about.
        result_tokens: Count<usize> = 20_000,
        /// How many tools of one message run at once.
        parallel_calls: Count<usize> = 8,
        /// How many tasks of a subagent run at once; further ones wait.
        max_tasks: Count<usize> = 64,
        /// Most bytes of an input file.
        input_size: Size<u64, 1> = 10 << 20,
        /// How deep subagents may call subagents.
        max_depth: Count<u32> = 5,
        /// The file with the conversations, from the folder of this file on; `false` keeps none. By default it is in
        /// your state folder.
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
    /// Nowhere.
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
    /// What a tool does.
    Description(String) by description;
}

fn not_empty(name: &str) -> Result<String, String> {
    if name.is_empty() { Err("the name is empty; write one".to_owned()) } else { Ok(name.to_owned()) }
}

fn api(name: &str) -> Result<Api, String> {
    Api::of(name).ok_or_else(|| {
        let known: Vec<_> = Api::ALL.iter().map(|(_, name)| *name).collect();
        format!(
            "the type {name:?} of a model is not known; write one of {} (openai with a base_url for compatible providers)",
            known.join(", ")
        )
    })
}

fn thinking(text: &str) -> Result<Thinking, String> {
    match text {
        "off" | "false" => Ok(Thinking::Off),
        "low" => Ok(Thinking::Low),
        "medium" => Ok(Thinking::Medium),
        "high" => Ok(Thinking::High),
        _ => match text.parse() {
            Ok(tokens) if tokens > 0 => Ok(Thinking::Tokens(tokens)),
            _ => Err(format!("{text:?} is not known; write off, low, medium, high, or a number of tokens")),
        },
    }
}

/// As a server's: models limit the names of tools.
fn tool_name(name: &str) -> Result<String, String> {
    let checked = check_server_name(name);
    checked
        .map_err(|message| message.replace("a server's name", "the name of a subagent"))
        .map(|()| name.to_owned())
}

fn description(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("the description is empty; say what the subagent does".to_owned());
    }
    Ok(text.to_owned())
}
