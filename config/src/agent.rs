//! The parts of a configuration that say which models there are, and how agents and subagents work with them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent::{Api, Generation, Thinking};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::checker::Checker;
use super::decode::{At, Problem};

/// A model.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    /// What it is called here.
    #[serde(rename = "ref")]
    reference: At<String>,
    /// What it is called for people.
    #[serde(alias = "displayName")]
    display_name: Option<String>,
    /// What its provider calls it.
    id: At<String>,
    /// The API that it is asked by: anthropic (Messages), openai (Chat Completions, also of other providers),
    /// openai-responses or gemini.
    #[serde(rename = "type")]
    api: At<String>,
    /// The environment variable with its key. Servers don't inherit it.
    #[serde(alias = "apiKeyEnv")]
    pub(super) api_key_env: Option<At<String>>,
    /// The address that the API's paths are put behind, such as http://127.0.0.1:11434/v1 (default: the provider's own).
    #[serde(alias = "baseUrl")]
    base_url: Option<At<String>>,
    /// How many tokens a conversation may have.
    #[serde(alias = "contextWindow")]
    context_window: Option<At<u64>>,
    /// Most tokens of one message (default: the provider's own).
    #[serde(alias = "maxOutput")]
    max_output: Option<At<u64>>,
    /// What it is asked for besides.
    #[serde(rename = "generationParams", alias = "generation_params")]
    generation: Option<GenerationEntry>,
    /// How much it thinks before it speaks: off, low, medium, high, or a number of tokens.
    thinking: Option<At<String>>,
    /// Longest time of one reply with all its attempts, in seconds (default 600).
    timeout: Option<At<f64>>,
    /// How often a request that failed for a while is made again (default 4).
    retries: Option<At<u64>>,
}

/// What a model is asked for besides.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct GenerationEntry {
    /// How much chance there is in its choice of words.
    temperature: Option<f64>,
    /// From which share of likely words it chooses.
    #[serde(alias = "top_p")]
    top_p: Option<f64>,
    /// Makes its choices repeatable, where the provider can.
    seed: Option<u64>,
    /// Texts that end its message.
    #[serde(alias = "stop_sequences")]
    stop_sequences: Vec<String>,
    /// Members of the request's body that are sent as they are.
    extra: BTreeMap<String, Value>,
}

/// A subagent: one tool for others.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SubagentEntry {
    /// The tool's name.
    name: At<String>,
    /// The tool's description.
    description: At<String>,
    /// A file with the JSON Schema of its answers.
    output_schema_path: Option<At<String>>,
    /// How many answers that don't fit the schema go back to the model (default 0).
    max_corrections: Option<At<u64>>,
}

/// Within what bounds a model works.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct AgentEntry {
    /// How often the model is asked for one task (default 100).
    max_turns: Option<At<u64>>,
    /// How many tokens one task may cost, read and written (default: no limit).
    max_tokens: Option<At<u64>>,
    /// Longest time of one task, in seconds (default 1800 for subagents, no limit for people).
    timeout: Option<At<f64>>,
    /// Tokens of a tool's result that the model gets to read, about (default 20000).
    result_tokens: Option<At<u64>>,
    /// How many tools of one message run at once (default 8).
    parallel_calls: Option<At<u64>>,
    /// How many tasks of a subagent run at once (default 64); further ones wait.
    max_tasks: Option<At<u64>>,
    /// Most bytes of an input file, such as 10MiB (the default).
    input_size: Option<At<String>>,
    /// How deep subagents may call subagents (default 5).
    max_depth: Option<At<u64>>,
    /// The file with the conversations, from the folder of this file on; `false` keeps none. By default it is in your
    /// state folder.
    conversations: Option<At<String>>,
}

/// A model that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What it is called in the configuration.
    pub reference: String,
    /// What it is called for people.
    pub display_name: Option<String>,
    /// What its provider calls it.
    pub id: String,
    /// The API that it is asked by.
    pub api: Api,
    /// The environment variable with its key.
    pub api_key_env: Option<String>,
    /// The address that the API's paths are put behind.
    pub base_url: Option<String>,
    /// How many tokens a conversation may have.
    pub context_window: Option<u64>,
    /// Most tokens of one message.
    pub max_output: Option<u32>,
    /// What it is asked for besides.
    pub generation: Generation,
    /// How much it thinks before it speaks.
    pub thinking: Option<Thinking>,
    /// Longest time of one request.
    pub timeout: Duration,
    /// How often a request that failed for a while is made again.
    pub retries: u32,
}

/// A subagent: one tool for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// Its name: that of its one tool.
    pub name: String,
    /// What it is for, as clients read it.
    pub description: String,
    /// The file with the JSON Schema of its answers.
    pub output_schema: Option<PathBuf>,
    /// How many answers that don't fit the schema go back to the model.
    pub max_corrections: u32,
}

/// What a layer sets of the bounds.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentSettings {
    max_turns: Option<u32>,
    max_tokens: Option<u64>,
    timeout: Option<Duration>,
    result_tokens: Option<usize>,
    parallel_calls: Option<usize>,
    max_tasks: Option<usize>,
    input_size: Option<u64>,
    max_depth: Option<u32>,
    conversations: Option<Conversations>,
}

/// Within what bounds a model works.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// How often the model is asked for one task.
    pub max_turns: u32,
    /// How many tokens one task may cost.
    pub max_tokens: Option<u64>,
    /// Longest time of one task, where the configuration says it.
    pub timeout: Option<Duration>,
    /// Tokens of a tool's result that the model gets to read, about.
    pub result_tokens: usize,
    /// How many tools of one message run at once.
    pub parallel_calls: usize,
    /// How many tasks of a subagent run at once.
    pub max_tasks: usize,
    /// Most bytes of an input file.
    pub input_size: u64,
    /// How deep subagents may call subagents.
    pub max_depth: u32,
    /// Where conversations are kept.
    pub conversations: Conversations,
}

/// Where conversations are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Conversations {
    /// In the user's state folder.
    #[default]
    Default,
    /// In this file.
    File(PathBuf),
    /// Nowhere.
    Nowhere,
}

impl Default for Agent {
    fn default() -> Self {
        Agent {
            max_turns: 100,
            max_tokens: None,
            timeout: None,
            result_tokens: 20_000,
            parallel_calls: 8,
            max_tasks: 64,
            input_size: 10 << 20,
            max_depth: 5,
            conversations: Conversations::Default,
        }
    }
}

impl AgentSettings {
    pub(super) fn over(self, weaker: AgentSettings) -> AgentSettings {
        AgentSettings {
            max_turns: self.max_turns.or(weaker.max_turns),
            max_tokens: self.max_tokens.or(weaker.max_tokens),
            timeout: self.timeout.or(weaker.timeout),
            result_tokens: self.result_tokens.or(weaker.result_tokens),
            parallel_calls: self.parallel_calls.or(weaker.parallel_calls),
            max_tasks: self.max_tasks.or(weaker.max_tasks),
            input_size: self.input_size.or(weaker.input_size),
            max_depth: self.max_depth.or(weaker.max_depth),
            conversations: self.conversations.or(weaker.conversations),
        }
    }

    /// With the defaults for what no layer says.
    pub(super) fn agent(self) -> Agent {
        let default = Agent::default();
        Agent {
            max_turns: self.max_turns.unwrap_or(default.max_turns),
            max_tokens: self.max_tokens,
            timeout: self.timeout,
            result_tokens: self.result_tokens.unwrap_or(default.result_tokens),
            parallel_calls: self.parallel_calls.unwrap_or(default.parallel_calls),
            max_tasks: self.max_tasks.unwrap_or(default.max_tasks),
            input_size: self.input_size.unwrap_or(default.input_size),
            max_depth: self.max_depth.unwrap_or(default.max_depth),
            conversations: self.conversations.unwrap_or_default(),
        }
    }
}

impl Checker<'_> {
    pub(super) fn model(&self, entry: &At<ModelEntry>) -> Option<Model> {
        let model = &entry.value;
        for (name, value) in [("ref", &model.reference), ("id", &model.id)] {
            if value.value.is_empty() {
                self.tell(value, &format!("the {name} of a model is empty; write one"));
            }
        }
        if let Some(name) = &model.api_key_env {
            self.keep(self.variable(&name.value, name));
        }
        let api = self.keep(self.api(&model.api));
        let base_url = match &model.base_url {
            Some(url) => Some(self.keep(self.address(url))?.into()),
            None => None,
        };
        let seconds = model.timeout.as_ref().and_then(|time| self.keep(self.seconds(time)));
        Some(Model {
            reference: model.reference.value.clone(),
            display_name: model.display_name.clone(),
            id: model.id.value.clone(),
            api: api?,
            api_key_env: model.api_key_env.as_ref().map(|name| name.value.clone()),
            base_url,
            context_window: model
                .context_window
                .as_ref()
                .and_then(|tokens| self.keep(self.at_least_one(tokens))),
            max_output: self.number(&model.max_output),
            generation: model.generation.clone().map(Into::into).unwrap_or_default(),
            thinking: model.thinking.as_ref().and_then(|thinking| self.keep(self.thinking(thinking))),
            timeout: seconds.unwrap_or(Duration::from_secs(600)),
            retries: model.retries.as_ref().map_or(4, |count| u32::try_from(count.value).unwrap_or(u32::MAX)),
        })
    }

    fn api(&self, name: &At<String>) -> Result<Api, Problem> {
        Api::of(&name.value).ok_or_else(|| {
            let known: Vec<_> = Api::ALL.iter().map(|(_, name)| *name).collect();
            let message = format!(
                "the type {:?} of a model is not known; write one of {} (openai with a base_url for compatible providers)",
                name.value,
                known.join(", ")
            );
            self.wrong(name, &message)
        })
    }

    fn thinking(&self, thinking: &At<String>) -> Result<Thinking, Problem> {
        match thinking.value.as_str() {
            "off" | "false" => Ok(Thinking::Off),
            "low" => Ok(Thinking::Low),
            "medium" => Ok(Thinking::Medium),
            "high" => Ok(Thinking::High),
            text => match text.parse() {
                Ok(tokens) if tokens > 0 => Ok(Thinking::Tokens(tokens)),
                _ => {
                    let message =
                        format!("{text:?} is not known; write off, low, medium, high, or a number of tokens");
                    Err(self.wrong(thinking, &message))
                }
            },
        }
    }

    /// A number of at least one; what is beyond reach is as much as can be.
    fn number(&self, number: &Option<At<u64>>) -> Option<u32> {
        let number = number.as_ref().and_then(|number| self.keep(self.at_least_one(number)))?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    }

    pub(super) fn subagent(&self, entry: &SubagentEntry) -> Result<Subagent, Problem> {
        // As a server's: it becomes a tool's name, which models limit.
        if let Err(message) = super::checker::check_server_name(&entry.name.value) {
            let message = message.replace("a server's name", "the name of a subagent");
            return Err(self.wrong(&entry.name, &message));
        }
        if entry.description.value.trim().is_empty() {
            return Err(
                self.wrong(&entry.description, "the description is empty; say what the subagent does")
            );
        }
        let corrections = entry.max_corrections.as_ref().map_or(0, |count| count.value);
        Ok(Subagent {
            name: entry.name.value.clone(),
            description: entry.description.value.clone(),
            output_schema: self.path(&entry.output_schema_path),
            max_corrections: u32::try_from(corrections).unwrap_or(u32::MAX),
        })
    }

    pub(super) fn agent(&self, entry: &AgentEntry) -> AgentSettings {
        let count =
            |count: &Option<At<u64>>| self.number(count).and_then(|count| usize::try_from(count).ok());
        let size = entry.input_size.as_ref().and_then(|size| self.keep(self.size(size, 1)));
        let conversations = match entry.conversations.as_ref().map(|file| file.value.as_str()) {
            None => None,
            Some("false") => Some(Conversations::Nowhere),
            Some(_) => self.path(&entry.conversations).map(Conversations::File),
        };
        AgentSettings {
            max_turns: self.number(&entry.max_turns),
            max_tokens: entry.max_tokens.as_ref().and_then(|tokens| self.keep(self.at_least_one(tokens))),
            timeout: entry.timeout.as_ref().and_then(|time| self.keep(self.seconds(time))),
            result_tokens: count(&entry.result_tokens),
            parallel_calls: count(&entry.parallel_calls),
            max_tasks: count(&entry.max_tasks),
            input_size: size,
            max_depth: self.number(&entry.max_depth),
            conversations,
        }
    }

    /// A path from the folder of this file on.
    pub(super) fn path(&self, path: &Option<At<String>>) -> Option<PathBuf> {
        path.as_ref().and_then(|path| Some(self.source.folder.join(self.keep(self.expand(path))?)))
    }
}

impl From<GenerationEntry> for Generation {
    fn from(entry: GenerationEntry) -> Self {
        Generation {
            temperature: entry.temperature,
            top_p: entry.top_p,
            seed: entry.seed,
            stop_sequences: entry.stop_sequences,
            extra: entry.extra.into_iter().collect(),
        }
    }
}
