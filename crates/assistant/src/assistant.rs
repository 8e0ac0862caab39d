//! A model as the configuration describes it, with its prompt, limits and tools.

mod content;
pub(crate) mod inputs;
mod names;
mod prompt;
mod tools;

use agent::{CHARACTERS_PER_TOKEN, ContextWindow, Limits, ModelSettings, Provider};
use config::{Config, Model};
use gateway::failure::Failure;
use report::Kind;

pub(crate) use self::prompt::Prompt;
pub(crate) use self::tools::Tools;

/// A model that is ready to use.
pub(crate) struct Assistant {
    /// The model.
    pub(crate) model: Provider,
    /// Its entry in the configuration.
    pub(crate) entry: Model,
    /// The limits of a run.
    pub(crate) limits: Limits,
    /// The prompt that its conversations begin with.
    pub(crate) prompt: Prompt,
}

impl Assistant {
    /// The model `name`, or the default.
    ///
    /// # Errors
    /// If there is no such model, its key is missing, or its prompt can't be read.
    pub(crate) fn of(config: &Config, name: Option<&str>) -> Result<Self, Failure> {
        let entry = entry(config, name)?.clone();
        let model = Provider::new(settings(&entry)?)
            .map_err(|error| Failure::new(Kind::Model, error.to_string()).caused_by(error))?;
        let limits = limits(config, &entry);
        let prompt = Prompt::read(config.system_prompt.as_deref())?;
        Ok(Assistant { model, entry, limits, prompt })
    }
}

/// Advice for a configuration without models.
const EXAMPLE: &str = "add one to your configuration, such as `models: [{ ref: claude, type: anthropic, \
                       id: claude-sonnet-4-5, api_key_env: ANTHROPIC_API_KEY }]`";

/// The configuration's entry of a model.
fn entry<'a>(config: &'a Config, name: Option<&str>) -> Result<&'a Model, Failure> {
    let known = || {
        let names: Vec<_> = config.models.iter().map(|model| model.reference.as_str()).collect();
        if names.is_empty() {
            "none are configured".to_owned()
        } else {
            format!("available: {}", names.join(", "))
        }
    };
    let advised = |failure: Failure| if config.models.is_empty() { failure.hint(EXAMPLE) } else { failure };
    let name = match name.or(config.model.as_deref()) {
        Some(name) => name,
        None if config.models.len() == 1 => &config.models[0].reference,
        None => {
            let message = match config.models.is_empty() {
                true => "no model is configured".to_owned(),
                false => format!(
                    "no model is selected; write `defaults: {{ model: REF }}`, where REF is the `ref` of a model under `models` ({})",
                    known()
                ),
            };
            return Err(advised(Failure::new(Kind::Model, message)));
        }
    };
    config.models.iter().find(|model| model.reference == name).ok_or_else(|| {
        let message = format!("there is no model {name:?} under `models`; {}", known());
        advised(Failure::new(Kind::Model, message))
    })
}

/// The provider's settings, with the key from the environment.
fn settings(model: &Model) -> Result<ModelSettings, Failure> {
    let key = match &model.api_key_env {
        None => None,
        Some(name) => match std::env::var(name) {
            Ok(key) if !key.trim().is_empty() => Some(key),
            _ => {
                return Err(Failure::new(
                    Kind::Model,
                    format!(
                        "the model {} needs its key in the environment variable {name}, which is not set",
                        model.reference
                    ),
                )
                .hint(format!("set it in the environment: export {name}=…")));
            }
        },
    };
    Ok(ModelSettings {
        name: model.reference.clone(),
        id: model.id.clone(),
        api: model.api,
        key,
        base_url: model.base_url.clone().map(String::from),
        context_window: model.context_window,
        max_output: model.max_output,
        generation: model.generation.clone(),
        thinking: model.thinking,
        timeout: model.timeout,
        retries: model.retries,
    })
}

fn limits(config: &Config, model: &Model) -> Limits {
    let agent = &config.agent;
    Limits {
        turns: agent.max_turns,
        tokens: agent.max_tokens,
        time: agent.timeout,
        result_characters: agent.result_tokens.saturating_mul(CHARACTERS_PER_TOKEN),
        parallel_calls: agent.parallel_calls,
        corrections: config.subagent.as_ref().map_or(0, |subagent| subagent.max_corrections),
        context_window: model
            .context_window
            .map(|size| ContextWindow { size, reply: model.max_output.map(u64::from) }),
    }
}
