//! The settings of one layer, checked, and how a stronger layer's outdo a weaker's.
//!
//! Reading them off a file is left to `check`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use super::agent::{AgentForm, Model, SubagentForm};
use super::section::Merge as _;
use super::serve::ServeForm;
use super::{CodeMode, DirectNames, Glob};

/// What a layer sets.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) timeout: Option<Duration>,
    pub(super) request_timeout: Option<Duration>,
    pub(super) debug: Option<bool>,
    /// Of all layers: what the user denies, no project brings back.
    pub(super) deny: Vec<Glob>,
    pub(super) direct_names: Option<DirectNames>,
    pub(super) code_mode: CodeModeSettings,
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

/// What a layer sets of the code mode.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeModeSettings {
    pub(super) enabled: Option<bool>,
    pub(super) excluded: Option<Vec<Glob>>,
    pub(super) dependencies: Option<BTreeMap<String, String>>,
    pub(super) timeout: Option<Duration>,
    pub(super) max_timeout: Option<Duration>,
    pub(super) memory: Option<u64>,
    pub(super) output: Option<usize>,
    pub(super) cpu_seconds: Option<u64>,
    pub(super) threads: Option<u64>,
    pub(super) scratch: Option<u64>,
    pub(super) read: Option<Vec<PathBuf>>,
    pub(super) write: Option<Vec<PathBuf>>,
    pub(super) confinement: Option<sandbox::Confinement>,
    pub(super) install_target: Option<bool>,
    pub(super) description: Option<usize>,
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

impl CodeModeSettings {
    fn over(self, weaker: CodeModeSettings) -> CodeModeSettings {
        CodeModeSettings {
            enabled: self.enabled.or(weaker.enabled),
            excluded: self.excluded.or(weaker.excluded),
            dependencies: self.dependencies.or(weaker.dependencies),
            timeout: self.timeout.or(weaker.timeout),
            max_timeout: self.max_timeout.or(weaker.max_timeout),
            memory: self.memory.or(weaker.memory),
            output: self.output.or(weaker.output),
            cpu_seconds: self.cpu_seconds.or(weaker.cpu_seconds),
            threads: self.threads.or(weaker.threads),
            scratch: self.scratch.or(weaker.scratch),
            read: self.read.or(weaker.read),
            write: self.write.or(weaker.write),
            confinement: self.confinement.or(weaker.confinement),
            install_target: self.install_target.or(weaker.install_target),
            description: self.description.or(weaker.description),
        }
    }

    /// With the defaults for what no layer says.
    pub(super) fn code_mode(self) -> CodeMode {
        let mut code_mode = CodeMode::default();
        code_mode.enabled = self.enabled.unwrap_or(code_mode.enabled);
        code_mode.excluded = self.excluded.unwrap_or_default();
        code_mode.dependencies = self.dependencies.unwrap_or_default();
        code_mode.timeout = self.timeout.unwrap_or(code_mode.timeout);
        code_mode.max_timeout = self.max_timeout.unwrap_or(code_mode.max_timeout).max(code_mode.timeout);
        let limits = &mut code_mode.limits;
        limits.memory = self.memory.unwrap_or(limits.memory);
        limits.output = self.output.unwrap_or(limits.output);
        limits.cpu_seconds = self.cpu_seconds.unwrap_or(limits.cpu_seconds);
        limits.threads = self.threads.unwrap_or(limits.threads);
        code_mode.grants.scratch = self.scratch;
        code_mode.grants.read = self.read.unwrap_or_default();
        code_mode.grants.write = self.write.unwrap_or_default();
        code_mode.confinement = self.confinement.unwrap_or_default();
        code_mode.install_target = self.install_target.unwrap_or(code_mode.install_target);
        code_mode.style.description = self.description.unwrap_or(code_mode.style.description);
        code_mode
    }
}
