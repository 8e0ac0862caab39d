//! Checks a configuration as a whole, without starting anything.

use std::path::Path;

use report::Problem;

use super::layers;
use super::trust::{self, ProjectFiles, Trust};
use super::{
    Config, ConfigLayer, Error, LOCK, LoadOptions, Needs, Untrusted, checked, file_of_environment, locks,
    text,
};

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// Every error: those that [`load`](super::load) reports, and those of servers that it skips.
    pub problems: Vec<Problem>,
    /// Facts that the user should know although they are no errors.
    pub notes: Vec<String>,
    /// The configuration, if it has no error.
    pub config: Option<Config>,
    /// The layers, which know the places of keys.
    pub layers: layers::Layers,
}

/// Checks a file, or all layers if none is named.
///
/// # Errors
/// If a layer can't be read, or if all its servers have errors.
pub fn check(file: Option<&Path>) -> Result<Checked, Error> {
    let named = file.map(Path::to_owned);
    let layers = match &named {
        Some(file) => layers::alone(&ConfigLayer::Named(file.clone()))?,
        None => layers::gather(&LoadOptions { file: file_of_environment(), ..shown() })?,
    };
    let problems = [layers.problems(), layers.refused()].concat();
    let mut notes = Vec::new();
    if named.is_none() {
        notes.extend(untrusted()?);
        if layers.documents.is_empty() {
            notes.push("there is no configuration file; `toolsmith mcp add` writes one".to_owned());
        }
    }
    let config = if problems.is_empty() { Some(usable(named.as_deref(), layers.clone())?) } else { None };
    Ok(Checked { problems, notes, config, layers })
}

/// The merged configuration, which needs a server, a model, or other settings only.
fn usable(file: Option<&Path>, layers: layers::Layers) -> Result<Config, Error> {
    let is_alone = file.is_some();
    let config = layers.merge()?;
    // A file without servers is complete if it has models for `ask` and `chat`, or if another layer has servers.
    let is_complete = !config.servers.is_empty() || !config.models.is_empty() || config.layers.is_empty();
    if is_complete || !is_alone {
        return checked(config, &LoadOptions { needs: Needs::Nothing, ..LoadOptions::default() });
    }
    let options = LoadOptions { file: file.map(Path::to_owned), ..shown() };
    checked(layers::gather(&options)?.merge()?, &options)?;
    Ok(config)
}

fn shown() -> LoadOptions {
    LoadOptions { untrusted: Untrusted::Shown, ..LoadOptions::default() }
}

/// Names the project's file if it has no effect because it is not trusted.
fn untrusted() -> Result<Option<String>, Error> {
    let Some(file) =
        std::env::current_dir().ok().map(|folder| layers::project_file(&folder)).transpose()?.flatten()
    else {
        return Ok(None);
    };
    let lock = locks::text(&file.with_file_name(LOCK))?;
    let state = trust::of(&file, ProjectFiles::new(&text::read(&file)?, lock.as_deref()))?;
    let why = match state {
        Trust::Given => return Ok(None),
        Trust::Missing => "is not trusted yet",
        Trust::Changed => "has changed since it was trusted",
        Trust::LockChanged => "is no longer trusted, because its lock file has changed",
    };
    Ok(Some(format!("{} {why}, and has no effect until you trust it: toolsmith trust", file.display())))
}
