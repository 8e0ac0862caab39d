//! Toolsmith's own files and folders, which no program may write to: its configuration and its state.

use std::path::{Path, PathBuf};

use runner::{Grants, Protected};

use super::agent::Conversations;
use super::decode::Problem;
use super::folders::state_path;
use super::folders::{bundles_path, project_programs};
use super::source::Document;
use super::tree::Place;
use super::{ConfigLayer, Serve, cache_folder, locks, user_folder};

/// The protected paths of Toolsmith, and the files of these layers.
pub(super) fn places<'a>(layers: impl Iterator<Item = &'a ConfigLayer>) -> Vec<Protected> {
    const DECIDES: &str = "which decides what is started, trusted and permitted";
    const EXECUTED: &str = "which later runs execute";
    let mut places = Vec::new();
    places.extend(
        user_folder().map(|folder| Protected::new(folder, "Toolsmith's configuration folder", DECIDES)),
    );
    let state = state_path().ok();
    places.extend(state.map(|folder| Protected::new(folder, "Toolsmith's state folder", DECIDES)));
    places
        .extend(bundles_path().ok().map(|folder| Protected::new(folder, "the folder of bundles", EXECUTED)));
    for layer in layers {
        let file = layer.file().map(|file| Protected::new(file, "the configuration", DECIDES));
        let lock = locks::place(layer)
            .map(|file| Protected::new(file, "the lock file", "which decides which tools are accepted"));
        let folder = layer.file().and_then(Path::parent).filter(|_| matches!(layer, ConfigLayer::Project(_)));
        let programs = folder.map(project_programs);
        let programs = programs.map(|folder| Protected::new(folder, "the project's programs", EXECUTED));
        places.extend(file.into_iter().chain(lock).chain(programs));
    }
    places
}

/// Files that Toolsmith writes at configured paths.
pub(super) fn kept(serve: &Serve, conversations: Option<&Conversations>) -> Vec<Protected> {
    const KEPT: &str = "which programs must not rewrite";
    let audit = serve.audit.as_ref().map(|audit| Protected::new(&audit.file, "the audit log", KEPT));
    let conversations = match conversations {
        Some(Conversations::File(file)) => Some(Protected::new(file, "the conversations file", KEPT)),
        _ => None,
    };
    audit.into_iter().chain(conversations).collect()
}

/// The errors in a layer's write paths. Does not start the compiler, so a toolchain that only the compiler knows is
/// checked at the execution.
pub(super) fn refused(
    document: &Document,
    protected: &[Protected],
    paths: &[(Place, PathBuf)],
) -> Vec<report::Problem> {
    // Without a cache nothing runs; that error is reported where the cache is needed.
    let Ok(cache) = cache_folder() else { return Vec::new() };
    let refused = paths.iter().filter_map(|(place, path)| {
        let grants = Grants { write: vec![path.clone()], protected: protected.to_vec(), ..Grants::default() };
        let error = grants.check(&cache, None).err()?;
        let message = format!("{error}; {}", error.advice().unwrap_or_default());
        Some(document.source.located(&Problem { place: *place, message }))
    });
    refused.collect()
}
