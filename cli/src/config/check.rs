//! The rules that the values of one layer must keep, and what they mean.
//!
//! Every broken rule is told, not only the first. Servers' entries are checked by `server`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::agent::Model;
use super::checker::{Checker, MOST_ENTRIES, globs};
use super::confinement::LEAST_MEMORY;
use super::decode::{At, Problem, decode};
use super::form::{CodeModeEntry, DirectNamesEntry, File};
use super::section::Kind;
use super::settings::{CodeModeSettings, Settings};
use super::source::Document;
use super::tree::{Node, Place};
use super::{ConfigLayer, DirectNames};

/// Most characters of a tool's description in its signature.
pub(crate) const LONGEST_DESCRIPTION: usize = 10_000;

/// What variables hold in the environment.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The same, and something that fits most places for those that are not set: to check what is to be used later.
pub(super) fn or_something(name: &str) -> Option<String> {
    environment(name).or_else(|| Some("https://variable.invalid".to_owned()))
}

/// What a layer sets, and what is wrong with it outside its servers.
pub(super) fn settings(document: &Document) -> (Settings, Vec<Problem>) {
    let (file, mut problems) = decoded(document);
    let checker = Checker::new(&document.source, environment);
    let settings = checker.settings(document, &file);
    problems.extend(checker.done());
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    (settings, problems)
}

/// Everything but the servers. It is decoded where it is needed: reading looks nothing up that a file names.
fn decoded(document: &Document) -> (File, Vec<Problem>) {
    let mut problems = Vec::new();
    let file = decode(&document.tree, document.source.surroundings(environment), &mut problems);
    (file, problems)
}

/// The paths that a layer lets programs write to, with their places.
pub(super) fn writable(document: &Document) -> Vec<(Place, PathBuf)> {
    let checker = Checker::new(&document.source, environment);
    let file = decoded(document).0;
    let sandbox = file.code_mode.sandbox.or(file.defaults.code_mode.sandbox);
    sandbox.map(|sandbox| checker.writable(&sandbox.value)).unwrap_or_default()
}

impl Checker<'_> {
    fn settings(&self, document: &Document, file: &File) -> Settings {
        if let Some(version) = file.version.as_ref().filter(|version| version.value != "1.0") {
            self.tell(version, &format!("version {:?} is not known; write \"1.0\"", version.value));
        }
        if let Some(entry) = document.entries.get(MOST_ENTRIES) {
            let place = At { place: entry.place, value: () };
            self.tell(&place, &format!("there are more than {MOST_ENTRIES} servers, which is the limit"));
        }
        let global = &file.global_settings;
        let seconds = |time: &Option<At<f64>>| time.as_ref().and_then(|time| self.keep(self.seconds(time)));
        let model = file.defaults.model.as_ref();
        let models: Vec<Model> = file.models.iter().cloned().map(Kind::value).collect();
        Settings {
            timeout: seconds(&global.timeout),
            request_timeout: seconds(&global.request_timeout),
            debug: global.debug,
            deny: globs(&global.deny),
            direct_names: file.direct_names.map(Into::into),
            code_mode: self.code_mode(document, file),
            serve: file.serve.clone(),
            cache_size: file.cache.size.as_ref().and_then(|size| self.keep(self.cache_size(size))),
            model_keys: models.iter().filter_map(|model| model.api_key_env.clone()).collect(),
            models,
            model: model.map(|model| (model.value.clone(), self.source.at(model.place))),
            system_prompt: file.defaults.system_prompt_path.clone().value(),
            agent: file.agent.clone(),
            subagent: file.subagent.clone(),
        }
    }

    fn code_mode(&self, document: &Document, file: &File) -> CodeModeSettings {
        let (top, below) = (&file.code_mode, &file.defaults.code_mode);
        let nodes = (
            document.tree.get("codeMode"),
            document.tree.get("defaults").and_then(|defaults| defaults.get("codeMode")),
        );
        if let (Some(top), Some(below)) = nodes {
            self.agree(top, below);
        }
        let entry = CodeModeEntry {
            enabled: top.enabled.clone().or(below.enabled.clone()),
            excluded_tools: top.excluded_tools.clone().or(below.excluded_tools.clone()),
            dependencies: top.dependencies.clone().or(below.dependencies.clone()),
            timeout: top.timeout.clone().or(below.timeout.clone()),
            max_timeout: top.max_timeout.clone().or(below.max_timeout.clone()),
            memory: top.memory.clone().or(below.memory.clone()),
            sandbox: top.sandbox.clone().or(below.sandbox.clone()),
            install_target: top.install_target.clone().or(below.install_target.clone()),
            description_length: top.description_length.clone().or(below.description_length.clone()),
        };
        self.checked_code_mode(&entry)
    }

    /// A key that stands both under `codeMode` and under `defaults` must say the same.
    fn agree(&self, top: &Node, below: &Node) {
        for (key, node) in below.entries() {
            if top.get(&key.text).is_some_and(|other| other.to_json() != node.to_json()) {
                let place = At { place: node.place, value: () };
                let name = &key.text;
                let message = format!(
                    "codeMode.{name} is something else at the top level; keep it there, and remove it here"
                );
                self.tell(&place, &message);
            }
        }
    }

    fn checked_code_mode(&self, entry: &CodeModeEntry) -> CodeModeSettings {
        let mut settings = CodeModeSettings {
            enabled: entry.enabled.as_ref().map(|enabled| enabled.value),
            excluded: entry.excluded_tools.as_ref().map(|names| globs(&names.value)),
            dependencies: entry.dependencies.as_ref().map(|crates| self.dependencies(&crates.value)),
            install_target: entry.install_target.as_ref().map(|install| install.value),
            ..CodeModeSettings::default()
        };
        let sandbox = entry.sandbox.as_ref().map(|sandbox| &sandbox.value);
        if let Some(sandbox) = sandbox {
            self.sandbox(sandbox, &mut settings);
        }
        const TWICE: &str = "this is set under sandbox as well; keep one of them";
        if let Some(timeout) = &entry.timeout {
            if sandbox.is_some_and(|sandbox| sandbox.wall_clock.is_some()) {
                self.tell(timeout, &TWICE.replace("sandbox", "sandbox.wallClock"));
            }
            settings.timeout = self.keep(self.seconds(timeout));
        }
        if let Some(memory) = &entry.memory {
            if sandbox.is_some_and(|sandbox| sandbox.memory.is_some()) {
                self.tell(memory, &TWICE.replace("sandbox", "sandbox.memory"));
            }
            settings.memory = self.keep(self.size(memory, LEAST_MEMORY));
        }
        if let Some(longest) = &entry.max_timeout {
            settings.max_timeout = self.keep(self.seconds(longest));
            if settings.timeout.zip(settings.max_timeout).is_some_and(|(time, longest)| time > longest) {
                self.tell(longest, "maxTimeout is less than the timeout; write at least as much");
            }
        }
        if let Some(length) = &entry.description_length {
            settings.description = self.keep(self.description_length(length));
        }
        settings
    }

    fn dependencies(&self, crates: &BTreeMap<String, At<String>>) -> BTreeMap<String, String> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        for (name, version) in crates {
            if name.is_empty() || name.len() > 64 || !name.chars().all(word) {
                self.tell(version, &format!("{name:?} is no name of a crate; write NAME: \"VERSION\""));
            }
            let part = |c: char| c.is_ascii_alphanumeric() || ".,<>=^~*+- ".contains(c);
            if version.value.trim().is_empty() || version.value.len() > 64 || !version.value.chars().all(part)
            {
                let message =
                    format!("{:?} is no version; write one such as \"1\" or \"0.8.2\"", version.value);
                self.tell(version, &message);
            }
        }
        crates.iter().map(|(name, version)| (name.clone(), version.value.clone())).collect()
    }

    /// The cache is the user's, and other projects use it too.
    fn cache_size(&self, value: &At<String>) -> Result<u64, Problem> {
        if matches!(self.source.layer, ConfigLayer::Project(_)) {
            let message = "a project can't set cache.size, because all projects share the cache; \
                           set it in your own configuration, or in a file that --config names";
            return Err(self.wrong(value, message));
        }
        self.size(value, runner::LEAST_SIZE)
    }

    fn description_length(&self, value: &At<u64>) -> Result<usize, Problem> {
        let length = usize::try_from(value.value).ok().filter(|length| *length <= LONGEST_DESCRIPTION);
        length.ok_or_else(|| {
            self.wrong(value, &format!("{} is too long; write at most {LONGEST_DESCRIPTION}", value.value))
        })
    }
}

impl From<DirectNamesEntry> for DirectNames {
    fn from(entry: DirectNamesEntry) -> Self {
        match entry {
            DirectNamesEntry::Plain => DirectNames::Plain,
            DirectNamesEntry::At => DirectNames::At,
            DirectNamesEntry::Prefix => DirectNames::Prefix,
            DirectNamesEntry::Namespace => DirectNames::Namespace,
        }
    }
}
