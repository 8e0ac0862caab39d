//! The layers of a configuration: finding, reading and merging them.
//!
//! A project's file has no effect until its exact bytes are trusted (`trust`). `validation` and `server` check the
//! contents of a layer.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use report::Problem;

use super::history;
use super::key_macros::{Kind as _, Merge as _};
use super::load_options::{LoadOptions, Untrusted};
use super::locks::{self, LOCK, LockFile};
use super::protected;
use super::server::Merged;
use super::source::{self, Document, Entry, SERVERS_VARIABLE, Source};
use super::top_level::{File, Settings};
use super::{Absent, CodeMode, Config, ConfigLayer, Error, ErrorKind, Server, server, text, validation};
use crate::trust::{self, ProjectFiles, Trust};

/// Names of a configuration in the user's folder and in a project's `.toolsmith`.
const NAMES: [&str; 3] = ["config.yaml", "config.yml", "config.json"];

/// Names of a configuration in a project's folder.
const PROJECT_NAMES: [&str; 3] = ["toolsmith.yaml", "toolsmith.yml", "toolsmith.json"];

/// The layers that exist, weakest first.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// The configurations as written, weakest first.
    pub documents: Vec<Document>,
    /// The lock files in force for them.
    pub(super) locks: Vec<LockFile>,
    /// Notes about layers that are skipped.
    pub notes: Vec<String>,
    /// The step that the user has to take before the project's file is used.
    pub(super) untrusted: Option<String>,
}

/// The user's file, if it exists.
pub fn user_file() -> Result<Option<PathBuf>, Error> {
    let Some(folder) = super::user_folder() else { return Ok(None) };
    system::private::check_settings(&folder)
        .map_err(|error| super::folders::unusable("configuration", &folder, error, "XDG_CONFIG_HOME"))?;
    only(NAMES.iter().map(|name| folder.join(name)))
}

/// The file of the project in `folder`, if it exists.
pub fn project_file(folder: &Path) -> Result<Option<PathBuf>, Error> {
    let inside = PROJECT_NAMES.iter().map(|name| folder.join(name));
    only(inside.chain(NAMES.iter().map(|name| folder.join(".toolsmith").join(name))))
}

/// The configuration of the project that a lock file belongs to, if it exists.
pub fn project_of_lock(lock: &Path) -> Option<PathBuf> {
    if lock.file_name()? != LOCK {
        return None;
    }
    let folder = std::path::absolute(lock).ok()?.parent()?.to_owned();
    let is_inner = folder.file_name().is_some_and(|name| name == ".toolsmith");
    let found = if is_inner { project_file(folder.parent()?) } else { project_file(&folder) };
    found.ok().flatten().filter(|project| project.with_file_name(LOCK) == folder.join(LOCK))
}

/// The variable that names a configuration file, as `--config` does.
const FILE_VARIABLE: &str = "TOOLSMITH_CONFIG";

/// The configuration file that the environment names.
pub fn file_of_environment() -> Option<PathBuf> {
    std::env::var_os(FILE_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// All possible paths of configuration files, existing or not.
pub fn candidates(options: &LoadOptions) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        options.file.iter().filter_map(|file| std::path::absolute(file).ok()).collect();
    files.extend(super::user_folder().iter().flat_map(|folder| NAMES.map(|name| folder.join(name))));
    if let Ok(folder) = std::env::current_dir() {
        files.extend(PROJECT_NAMES.map(|name| folder.join(name)));
        files.extend(NAMES.map(|name| folder.join(".toolsmith").join(name)));
    }
    files
}

/// The one of these files that exists.
fn only(files: impl Iterator<Item = PathBuf>) -> Result<Option<PathBuf>, Error> {
    // A file that exists but can't be accessed is reported when it is read.
    let mut there = files.filter(|file| file.symlink_metadata().is_ok());
    match (there.next(), there.next()) {
        // Reading it could block for ever.
        (Some(pipe), None) if pipe.metadata().is_ok_and(|found| found.file_type().is_fifo()) => {
            let message = format!("the configuration {} is a pipe", pipe.display());
            Err(Error::new(message).hint("remove it: a configuration is a file"))
        }
        (first, None) => Ok(first),
        (first, Some(second)) => {
            let (first, second) = (first.unwrap_or_default(), second.display());
            let message = format!("there are two configurations, {} and {second}", first.display());
            Err(Error::new(message).hint("keep one of them"))
        }
    }
}

/// Reads one file alone.
pub fn alone(layer: &ConfigLayer) -> Result<Layers, Error> {
    let mut layers = Layers::default();
    layers.read(layer)?;
    Ok(layers)
}

/// Reads the layers that the arguments, the folder and the environment name.
pub fn gather(options: &LoadOptions) -> Result<Layers, Error> {
    let mut layers = Layers::default();
    // The user's pins are in force with any other layers, and without a configuration file of the user.
    if let Some(path) = locks::place(&ConfigLayer::Environment) {
        layers.locks.push(LockFile::read(path)?);
    }
    if let Some(file) = user_file()? {
        layers.read(&ConfigLayer::User(file))?;
    }
    let folder = std::env::current_dir().map_err(|error| {
        Error::new(format!("the working folder can't be determined: {error}"))
            .caused_by(error)
            .hint("change to another folder")
    })?;
    let project = project_file(&folder)?;
    let project = project.filter(|file| !options.file.as_ref().is_some_and(|named| is_same(named, file)));
    match project {
        Some(file) if options.untrusted == Untrusted::Shown => {
            layers.with_lock(&ConfigLayer::Project(file))?;
        }
        Some(file) => layers.project(file, options)?,
        None => {}
    }
    if let Some(file) = &options.file {
        layers.with_lock(&ConfigLayer::Named(file.clone()))?;
    }
    if let Some(value) = std::env::var_os(SERVERS_VARIABLE).filter(|value| !value.is_empty()) {
        let text = value.into_string().map_err(|_| {
            Error::new(format!("{SERVERS_VARIABLE} is not UTF-8 text"))
                .hint("set it to a JSON list of servers")
        })?;
        layers.documents.push(source::read(&ConfigLayer::Environment, &text)?);
    }
    locks::assign(&mut layers.locks, &layers.documents);
    if let Some(only) = options.servers_of {
        let others = layers.documents.iter_mut().filter(|document| !only.has(&document.source.layer));
        others.for_each(|document| document.entries.clear());
    }
    Ok(layers)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

impl Layers {
    fn read(&mut self, layer: &ConfigLayer) -> Result<(), Error> {
        let text = text::read(layer.file().unwrap_or(Path::new("")))?;
        self.documents.push(source::read(layer, &text)?);
        Ok(())
    }

    /// Reads a layer's file, and the lock file next to it.
    fn with_lock(&mut self, layer: &ConfigLayer) -> Result<(), Error> {
        self.read(layer)?;
        if let Some(path) = locks::place(layer) {
            locks::add(&mut self.locks, LockFile::read(path)?);
        }
        Ok(())
    }

    /// Reads the project's file and lock file, if their contents are trusted.
    fn project(&mut self, file: PathBuf, options: &LoadOptions) -> Result<(), Error> {
        let text = text::read(&file)?;
        let lock = LockFile::read(file.with_file_name(LOCK))?;
        let what = match trust::of(&file, ProjectFiles::new(&text, lock.text.as_deref()))? {
            Trust::Given => {
                self.documents.push(source::read(&ConfigLayer::Project(file), &text)?);
                locks::add(&mut self.locks, lock);
                return Ok(());
            }
            Trust::Missing => "is not trusted yet".to_owned(),
            Trust::Changed => "has changed since it was trusted".to_owned(),
            Trust::LockChanged => {
                let lock = lock.path.display();
                format!("is no longer trusted: its lock file {lock} has changed since it was trusted")
            }
        };
        let shown = file.display();
        if options.untrusted == Untrusted::LeftOut {
            self.untrusted = Some(format!(
                "The configuration {shown} {what} and is left out: ask the user to run `toolsmith trust` in its folder."
            ));
            return Ok(());
        }
        if options.file.is_some() {
            self.notes.push(format!("{shown} {what}, and is left out (`toolsmith trust` shows it)"));
            return Ok(());
        }
        Err(Error::new(format!("the configuration of this folder, {shown}, {what}"))
            .kind(ErrorKind::Trust)
            .hint("review what it starts and which settings it weakens, then trust it: toolsmith trust")
            .hint("without a terminal: toolsmith trust --show, then toolsmith trust --yes")
            .hint("or name another configuration: --config FILE"))
    }

    /// The strongest entry of each server, by name.
    pub(crate) fn entries(&self) -> Vec<(&Document, &Entry)> {
        let mut strongest = std::collections::BTreeMap::new();
        for document in &self.documents {
            for entry in &document.entries {
                strongest.insert(entry.name.as_str(), (document, entry));
            }
        }
        strongest.into_values().collect()
    }

    /// Every error, by layer, line and column.
    pub fn problems(&self) -> Vec<Problem> {
        let (settings, mut wrong) = self.settings();
        for document in &self.documents {
            for entry in document.entries.iter().filter(|entry| !entry.only_disables()) {
                let problems = self.server(document, entry, &settings).err().unwrap_or_default();
                wrong.extend(problems.iter().map(|problem| document.source.located(problem)));
            }
        }
        self.sort(&mut wrong);
        wrong
    }

    /// Sorts problems by layer, weakest first, then by line and column.
    pub fn sort(&self, problems: &mut [Problem]) {
        problems.sort_by_key(|problem| {
            let place = problem.place.as_ref()?;
            let layer = self.documents.iter().position(|document| document.source.name() == place.file);
            Some((layer, place.line, place.column))
        });
    }

    /// The place of a key outside the servers, in the strongest layer that sets it.
    pub fn place(&self, path: &[&str]) -> Option<report::Place> {
        let of = |document: &Document| {
            let node = path.iter().try_fold(&document.tree, |node, key| node.get(key))?;
            Some(document.source.place(node.place))
        };
        self.documents.iter().rev().find_map(of)
    }

    /// Where `globalSettings.enabled: false` switches MCP off.
    fn switch_off(&self, settings: &Settings) -> Option<String> {
        let place = self.place(&["globalSettings", "enabled"])?;
        (!settings.global_settings.enabled).then(|| format!("{}:{}", place.file, place.line))
    }

    /// The configured write paths that programs must not write to, with reasons.
    pub fn refused(&self) -> Vec<Problem> {
        let protected = protected::places(self.documents.iter().map(|document| &document.source.layer));
        let refused = self
            .documents
            .iter()
            .flat_map(|document| protected::refused(document, &protected, &validation::writable(document)));
        refused.collect()
    }

    /// The error in a server's entry.
    pub(crate) fn wrong(&self, document: &Document, entry: &Entry) -> Option<Vec<Problem>> {
        let problems = self.server(document, entry, &self.settings().0).err()?;
        Some(located(&document.source, &problems))
    }

    /// The server that an entry describes, or every error in it.
    fn server(
        &self,
        document: &Document,
        entry: &Entry,
        settings: &Merged,
    ) -> Result<Server, Vec<super::decode::Problem>> {
        let of = |document: &Document, entry: &Entry| {
            server::server(&document.source, entry, settings, validation::environment)
        };
        let server = of(document, entry)?;
        let is_project = |document: &Document| matches!(document.source.layer, ConfigLayer::Project(_));
        if !is_project(document) {
            return Ok(server);
        }
        // A project may confine its servers, and replace those of the user, but not unconfine them.
        let weaker = self.documents.iter().take_while(|other| !is_project(other));
        let users = weaker.flat_map(|weaker| weaker.entries.iter().map(move |entry| (weaker, entry)));
        let users = users.filter(|(_, users)| users.name == entry.name && !users.only_disables());
        let users = users.filter_map(|(weaker, users)| of(weaker, users).ok()?.sandbox).last();
        if users.is_some_and(|users| server.sandbox.as_ref().is_none_or(|own| own.settings != users.settings))
        {
            const MESSAGE: &str = "your own configuration confines the server of this name (`sandbox`), which a project \
                                   can't change; give this one another name, or the same `sandbox`";
            let place = entry.node.get("sandbox").map_or(entry.place, |node| node.place);
            return Err(vec![super::decode::Problem { place, message: MESSAGE.to_owned() }]);
        }
        Ok(server)
    }

    /// The merged settings of all layers, and every error in them.
    fn settings(&self) -> (Merged, Vec<Problem>) {
        let (mut merged, mut wrong, mut model_keys) = (File::default(), Vec::new(), BTreeSet::new());
        let mut named = None;
        for document in &self.documents {
            let (mut stronger, mut problems) = validation::settings(document);
            if let ConfigLayer::Project(_) = &document.source.layer {
                problems.extend(history::of_project(document, &mut stronger.history, &merged.history));
            }
            wrong.extend(problems.iter().map(|problem| document.source.located(problem)));
            model_keys.extend(stronger.models.keys());
            named = stronger.defaults.model.as_ref().map(|model| document.source.line(model.place)).or(named);
            merged = stronger.over(merged);
        }
        let settings = merged.value();
        if let (Some(model), Some(place)) = (&settings.defaults.model, named)
            && settings.models.iter().all(|known| known.reference != *model)
        {
            let known: Vec<&str> = settings.models.iter().map(|known| known.reference.as_str()).collect();
            let advice = match known.is_empty() {
                true => "add it under `models`".to_owned(),
                false => format!("write the `ref` of a model under `models`: {}", known.join(", ")),
            };
            wrong.push(Problem::at(place, format!("defaults.model names no model: {model:?}; {advice}")));
        }
        let mut protected = protected::places(self.documents.iter().map(|document| &document.source.layer));
        protected.extend(protected::kept(&settings.serve, settings.agent.conversations.as_ref()));
        (Merged { settings, model_keys, protected }, wrong)
    }

    /// The transport of a disabled server, from the strongest layer that has it.
    fn transport(&self, name: &str) -> Option<&'static str> {
        let entries = self.documents.iter().rev().flat_map(|document| &document.entries);
        entries
            .filter(|entry| entry.name == name && !entry.only_disables())
            .find_map(|entry| server::transport_name(entry))
    }

    /// Merges all layers. Servers with errors become absent; the result may have no server.
    pub(super) fn merge(self) -> Result<Config, Error> {
        let (settings, wrong) = self.settings();
        if !wrong.is_empty() {
            return Err(Error::of(wrong));
        }
        // The variable overrides every entry: it is for debugging one run.
        let debug = std::env::var("TOOLSMITH_MCP_DEBUG").is_ok_and(|value| value == "1" || value == "true");
        let off = self.switch_off(&settings.settings);
        let (mut servers, mut absent) = (Vec::new(), Vec::new());
        for (document, entry) in self.entries() {
            let without = |wrong| Absent {
                name: entry.name.clone(),
                transport: self.transport(&entry.name),
                layer: document.source.layer.clone(),
                wrong,
            };
            if entry.is_disabled() || off.is_some() {
                absent.push(without(None));
                continue;
            }
            match self.server(document, entry, &settings) {
                Ok(mut server) => {
                    server.connection.debug |= debug;
                    servers.push(server);
                }
                Err(problems) => absent.push(without(Some(located(&document.source, &problems)))),
            }
        }
        let config = self.configuration(settings, servers, absent);
        Ok(Config { switched_off: off, ..config })
    }

    fn configuration(self, merged: Merged, servers: Vec<Server>, absent: Vec<Absent>) -> Config {
        let Merged { settings, protected, .. } = merged;
        let mut warnings = self.notes;
        warnings.extend(self.untrusted.clone());
        let layers: Vec<ConfigLayer> =
            self.documents.into_iter().map(|document| document.source.layer).collect();
        let mut code_mode = CodeMode::from(settings.code_mode);
        code_mode.grants.protected = protected;
        Config {
            servers,
            absent,
            deny: settings.global_settings.deny,
            flows: settings.flows,
            direct_names: settings.direct_names,
            code_mode,
            serve: settings.serve,
            cache: settings.cache,
            history: settings.history,
            stats: settings.global_settings.stats,
            registry: settings.global_settings.registry,
            layers,
            locks: self.locks,
            models: settings.models,
            model: settings.defaults.model,
            system_prompt: settings.defaults.system_prompt_path,
            agent: settings.agent,
            subagent: settings.subagent,
            warnings,
            untrusted: self.untrusted,
            switched_off: None,
            access: None,
        }
    }
}

/// The error in a server's entry, whether or not its variables are set.
pub fn wrong_as_written(document: &Document, name: &str) -> Option<Vec<Problem>> {
    let entry = document.entries.iter().find(|entry| entry.name == name && !entry.only_disables())?;
    let checked = server::server(&document.source, entry, &Merged::default(), validation::or_something);
    checked.err().map(|problems| located(&document.source, &problems))
}

fn located(source: &Source, problems: &[super::decode::Problem]) -> Vec<Problem> {
    problems.iter().map(|problem| source.located(problem)).collect()
}

#[cfg(test)]
mod tests;
