//! The settings of one layer, checked, and how a stronger layer's outdo a weaker's.
//!
//! Reading them off a file is left to `check`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::agent::{AgentForm, Model, SubagentForm};
use super::code_mode::CodeModeForm;
use super::section::Merge as _;
use super::serve::ServeForm;
use super::{DirectNames, Glob};

/// What a layer sets.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) timeout: Option<Duration>,
    pub(super) request_timeout: Option<Duration>,
    pub(super) debug: Option<bool>,
    /// Of all layers: what the user denies, no project brings back.
    pub(super) deny: Vec<Glob>,
    pub(super) direct_names: Option<DirectNames>,
    pub(super) code_mode: CodeModeForm,
    pub(super) serve: ServeForm,
    /// Bytes of the cache.
    pub(super) cache_size: Option<u64>,
    pub(super) models: Vec<Model>,
    /// The variables with keys of all models, those that are outdone included.
    pub(super) model_keys: BTreeSet<String>,
    /// The default model, and where it is named.
    pub(super) model: Option<(String, String)>,
    pub(super) system_prompt: Option<PathBuf>,
    pub(super) agent: AgentForm,
    pub(super) subagent: Option<SubagentForm>,
}

impl Settings {
    /// These, and the weaker ones where they say nothing.
    pub(super) fn over(self, weaker: Settings) -> Settings {
        let mut deny = weaker.deny;
        deny.extend(self.deny);
        let mut models = weaker.models;
        models.retain(|model| self.models.iter().all(|other| other.reference != model.reference));
        models.extend(self.models);
        models.sort_by(|a, b| a.reference.cmp(&b.reference));
        Settings {
            timeout: self.timeout.or(weaker.timeout),
            request_timeout: self.request_timeout.or(weaker.request_timeout),
            debug: self.debug.or(weaker.debug),
            deny,
            direct_names: self.direct_names.or(weaker.direct_names),
            code_mode: self.code_mode.over(weaker.code_mode),
            serve: self.serve.over(weaker.serve),
            cache_size: self.cache_size.or(weaker.cache_size),
            models,
            model_keys: self.model_keys.into_iter().chain(weaker.model_keys).collect(),
            model: self.model.or(weaker.model),
            system_prompt: self.system_prompt.or(weaker.system_prompt),
            agent: self.agent.over(weaker.agent),
            subagent: self.subagent.or(weaker.subagent),
        }
    }
}
