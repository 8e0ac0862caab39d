//! The layers of a configuration: where they are, which are there, and how the stronger override the weaker.
//!
//! A project's file is inert until its very bytes are trusted (`trust`); what a layer says is checked by `validation` and
//! `server`.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::key_macros::{Kind as _, Merge as _};
use super::locks::{self, LOCK, LockFile};
use super::protected;
use super::server::Merged;
use super::source::{self, Document, Entry, SERVERS_VARIABLE, Source};
use super::top_level::{File, Settings};
use super::{Absent, CodeMode, Config, ConfigLayer, Error, Server, server, text, validation};
use crate::trust::{self, ProjectFiles, Trust};

/// The names that a configuration may have in the user's folder, and in a project's `.toolsmith`.
const NAMES: [&str; 3] = ["config.yaml", "config.yml", "config.json"];

/// The names that it may have in a project's folder.
const PROJECT_NAMES: [&str; 3] = ["toolsmith.yaml", "toolsmith.yml", "toolsmith.json"];

/// The layers that are there, the weakest first.
#[derive(Debug, Default)]
pub struct Layers {
    /// The configurations as they are written, the weakest first.
    pub documents: Vec<Document>,
    /// The lock files that hold for them.
    pub(super) locks: Vec<LockFile>,
    /// What is to be told of layers that are not taken.
    pub notes: Vec<String>,
    /// What a person has to do before the project's file is taken.
    pub(super) untrusted: Option<String>,
}

/// What becomes of a project's file that is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Untrusted {
    /// It is an error.
    Refused,
    /// It is read all the same, to be looked at.
    Shown,
    /// It is left out, and reported.
    LeftOut,
}

/// The user's file, if there is one.
pub fn user_file() -> Result<Option<PathBuf>, Error> {
    let Some(folder) = super::user_folder() else { return Ok(None) };
    only(NAMES.iter().map(|name| folder.join(name)))
}

/// The file of the project in `folder`, if there is one.
pub fn project_file(folder: &Path) -> Result<Option<PathBuf>, Error> {
    let beside = PROJECT_NAMES.iter().map(|name| folder.join(name));
    only(beside.chain(NAMES.iter().map(|name| folder.join(".toolsmith").join(name))))
}

/// The configuration of the project that a lock file belongs to, if there is one.
pub fn project_of_lock(lock: &Path) -> Option<PathBuf> {
    if lock.file_name()? != LOCK {
        return None;
    }
    let folder = std::path::absolute(lock).ok()?.parent()?.to_owned();
    let is_inner = folder.file_name().is_some_and(|name| name == ".toolsmith");
    let found = if is_inner { project_file(folder.parent()?) } else { project_file(&folder) };
    found.ok().flatten().filter(|project| project.with_file_name(LOCK) == folder.join(LOCK))
}

/// Which configuration is loaded, and how strictly.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// A file on top of the user's and the project's.
    pub file: Option<PathBuf>,
    /// Whether a wrong entry of a server is an error, in place of a server that is left out.
    pub strict: bool,
}

/// All files that a configuration may stand in, whether they are there or not.
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

/// The one of several files that is there.
fn only(files: impl Iterator<Item = PathBuf>) -> Result<Option<PathBuf>, Error> {
    // What is there and can't be looked at is told when it is read.
    let mut there = files.filter(|file| file.symlink_metadata().is_ok());
    match (there.next(), there.next()) {
        // Nobody has named it: to read it would be to wait for whoever writes.
        (Some(pipe), None) if pipe.metadata().is_ok_and(|found| found.file_type().is_fifo()) => {
            Err(Error(format!(
                "the configuration {} is a pipe\nhelp: remove it, or name it with --config",
                pipe.display()
            )))
        }
        (first, None) => Ok(first),
        (first, Some(second)) => Err(Error(format!(
            "there are two configurations, {} and {}\nhelp: keep one of them",
            first.unwrap_or_default().display(),
            second.display()
        ))),
    }
}

/// Reads the layers that the arguments, the folder and the environment name.
pub fn gather(options: &LoadOptions) -> Result<Layers, Error> {
    gather_with(options, Untrusted::Refused)
}

/// The same to look at: a project's file is read whether it is trusted or not.
pub fn gather_to_look_at(options: &LoadOptions) -> Result<Layers, Error> {
    gather_with(options, Untrusted::Shown)
}

/// The same without a project's file that is not trusted, which is reported.
pub(super) fn gather_trusted(options: &LoadOptions) -> Result<Layers, Error> {
    gather_with(options, Untrusted::LeftOut)
}

/// Reads one file alone.
pub fn alone(layer: &ConfigLayer) -> Result<Layers, Error> {
    let mut layers = Layers::default();
    layers.read(layer)?;
    Ok(layers)
}

fn gather_with(options: &LoadOptions, untrusted: Untrusted) -> Result<Layers, Error> {
    let mut layers = Layers::default();
    // The user's pins hold whatever other layers there are, and whether the user has a file or not.
    if let Some(path) = locks::place(&ConfigLayer::Demo) {
        layers.locks.push(LockFile::read(path)?);
    }
    if let Some(file) = user_file()? {
        layers.read(&ConfigLayer::User(file))?;
    }
    let folder = std::env::current_dir().map_err(|error| {
        Error(format!("the working folder is not known: {error}\nhelp: go to another one"))
    })?;
    let project = project_file(&folder)?;
    let project = project.filter(|file| !options.file.as_ref().is_some_and(|named| is_same(named, file)));
    match project {
        Some(file) if untrusted == Untrusted::Shown => layers.with_lock(&ConfigLayer::Project(file))?,
        Some(file) => layers.project(file, options.file.is_some(), untrusted)?,
        None => {}
    }
    if let Some(file) = &options.file {
        layers.with_lock(&ConfigLayer::Named(file.clone()))?;
    }
    if let Some(value) = std::env::var_os(SERVERS_VARIABLE).filter(|value| !value.is_empty()) {
        let text = value.into_string().map_err(|_| {
            Error(format!("{SERVERS_VARIABLE} is no UTF-8 text\nhelp: write a JSON list of servers into it"))
        })?;
        layers.documents.push(source::read(&ConfigLayer::Environment, &text)?);
    }
    locks::assign(&mut layers.locks, &layers.documents);
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

    /// Reads a layer's file, and the lock file beside it.
    fn with_lock(&mut self, layer: &ConfigLayer) -> Result<(), Error> {
        self.read(layer)?;
        if let Some(path) = locks::place(layer) {
            locks::add(&mut self.locks, LockFile::read(path)?);
        }
        Ok(())
    }

    /// The project's file with its lock file, if what is read here is what was trusted.
    fn project(&mut self, file: PathBuf, another_is_named: bool, untrusted: Untrusted) -> Result<(), Error> {
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
                format!("is not trusted any more: its lock file {lock} has changed since it was trusted")
            }
        };
        let shown = file.display();
        if untrusted == Untrusted::LeftOut {
            self.untrusted = Some(format!(
                "The configuration {shown} {what} and is left out: ask the person to type `toolsmith trust` in its folder."
            ));
            return Ok(());
        }
        if another_is_named {
            self.notes
                .push(format!("{shown} {what}, and is left out (`toolsmith trust` shows what it says)"));
            return Ok(());
        }
        Err(Error(format!(
            "the configuration of this folder, {shown}, {what}\n\
             help: look at what it starts and loosens, and agree to it: toolsmith trust\n\
             help: without a terminal: toolsmith trust --show, and then toolsmith trust --yes\n\
             help: or use another one: --config FILE"
        )))
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

    /// Everything that is wrong, by layers and places.
    pub fn problems(&self) -> Vec<String> {
        let (settings, mut wrong) = self.settings();
        for document in &self.documents {
            for entry in document.entries.iter().filter(|entry| !entry.only_disables()) {
                let problems = server::server(&document.source, entry, &settings, validation::environment)
                    .err()
                    .unwrap_or_default();
                wrong.extend(problems.iter().map(|problem| document.source.tell(problem)));
            }
        }
        wrong
    }

    /// The paths that programs may not write to, though a layer says so.
    pub fn refused(&self) -> Vec<String> {
        let protected = protected::places(self.documents.iter().map(|document| &document.source.layer));
        let refused = self
            .documents
            .iter()
            .flat_map(|document| protected::refused(document, &protected, &validation::writable(document)));
        refused.collect()
    }

    /// What is wrong with the entry of a server.
    pub(crate) fn wrong(&self, document: &Document, entry: &Entry) -> Option<String> {
        let problems =
            server::server(&document.source, entry, &self.settings().0, validation::environment).err()?;
        Some(told(&document.source, &problems))
    }

    /// The settings of all layers together, and everything that is wrong with them.
    fn settings(&self) -> (Merged, Vec<String>) {
        let (mut merged, mut wrong, mut model_keys) = (File::default(), Vec::new(), BTreeSet::new());
        let mut named = None;
        for document in &self.documents {
            let (stronger, problems) = validation::settings(document);
            wrong.extend(problems.iter().map(|problem| document.source.tell(problem)));
            model_keys.extend(stronger.models.keys());
            named = stronger.defaults.model.as_ref().map(|model| document.source.at(model.place)).or(named);
            merged = stronger.over(merged);
        }
        let settings = merged.value();
        if let (Some(model), Some(place)) = (&settings.defaults.model, named)
            && settings.models.iter().all(|known| known.reference != *model)
        {
            let message = "defaults.model names no model; write the ref of one that stands under `models`";
            wrong.push(format!("{place}: {model:?}: {message}"));
        }
        (Merged { settings, model_keys }, wrong)
    }

    /// The transport of a server that is switched off, from the strongest layer that knows it.
    fn transport(&self, name: &str) -> Option<&'static str> {
        let entries = self.documents.iter().rev().flat_map(|document| &document.entries);
        entries
            .filter(|entry| entry.name == name && !entry.only_disables())
            .find_map(|entry| server::transport_name(entry))
    }

    /// The configuration of all layers together. Servers that are wrong are absent; it may have none at all.
    pub(super) fn merge(self) -> Result<Config, Error> {
        let (settings, wrong) = self.settings();
        if !wrong.is_empty() {
            return Err(Error(wrong.join("\n")));
        }
        // It overrides every entry: it is for one look at what goes wrong.
        let debug = std::env::var("TOOLSMITH_MCP_DEBUG").is_ok_and(|value| value == "1" || value == "true");
        let (mut servers, mut absent) = (Vec::new(), Vec::new());
        for (document, entry) in self.entries() {
            let without = |wrong| Absent {
                name: entry.name.clone(),
                transport: self.transport(&entry.name),
                layer: document.source.layer.clone(),
                wrong,
            };
            if entry.is_disabled() {
                absent.push(without(None));
                continue;
            }
            match server::server(&document.source, entry, &settings, validation::environment) {
                Ok(mut server) => {
                    server.connection.debug |= debug;
                    servers.push(server);
                }
                Err(problems) => absent.push(without(Some(told(&document.source, &problems)))),
            }
        }
        Ok(self.configuration(settings.settings, servers, absent))
    }

    fn configuration(self, settings: Settings, servers: Vec<Server>, absent: Vec<Absent>) -> Config {
        let mut warnings = self.notes;
        warnings.extend(self.untrusted.clone());
        let layers: Vec<ConfigLayer> =
            self.documents.into_iter().map(|document| document.source.layer).collect();
        let mut code_mode = CodeMode::from(settings.code_mode);
        code_mode.grants.protected = protected::places(layers.iter());
        let conversations = settings.agent.conversations.as_ref();
        code_mode.grants.protected.extend(protected::kept(&settings.serve, conversations));
        Config {
            servers,
            absent,
            deny: settings.global_settings.deny,
            direct_names: settings.direct_names,
            code_mode,
            serve: settings.serve,
            cache: settings.cache,
            layers,
            locks: self.locks,
            models: settings.models,
            model: settings.defaults.model,
            system_prompt: settings.defaults.system_prompt_path,
            agent: settings.agent,
            subagent: settings.subagent,
            warnings,
            untrusted: self.untrusted,
        }
    }
}

/// What is wrong with the entry of a server by itself, whatever its variables will hold.
pub fn wrong_as_written(document: &Document, name: &str) -> Option<String> {
    let entry = document.entries.iter().find(|entry| entry.name == name && !entry.only_disables())?;
    let checked = server::server(&document.source, entry, &Merged::default(), validation::or_something);
    checked.err().map(|problems| told(&document.source, &problems))
}

/// All that is wrong, as one text.
fn told(source: &Source, problems: &[super::decode::Problem]) -> String {
    problems.iter().map(|problem| source.tell(problem)).collect::<Vec<_>>().join("\n")
}
