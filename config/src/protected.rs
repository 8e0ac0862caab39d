//! Toolsmith's own files and folders, which no program may write to: what it is told to do, and what it keeps.

use std::path::PathBuf;

use runner::{Grants, Protected};

use super::agent::Conversations;
use super::decode::Problem;
use super::source::Document;
use super::tree::Place;
use super::{ConfigLayer, Serve, cache_folder, locks, state_folder, user_folder};

/// The places of Toolsmith, with the files of these layers.
pub(super) fn places<'a>(layers: impl Iterator<Item = &'a ConfigLayer>) -> Vec<Protected> {
    const DECIDES: &str = "which decides what is started, trusted and permitted";
    let mut places = Vec::new();
    places.extend(
        user_folder().map(|folder| Protected::new(folder, "Toolsmith's folder of configurations", DECIDES)),
    );
    let state = state_folder().ok();
    places.extend(state.map(|folder| Protected::new(folder, "Toolsmith's state folder", DECIDES)));
    for layer in layers {
        let file = layer.file().map(|file| Protected::new(file, "the configuration", DECIDES));
        let lock = locks::place(layer).map(|file| {
            Protected::new(file, "the place of the lock file", "which decides what tools are held to")
        });
        places.extend(file.into_iter().chain(lock));
    }
    places
}

/// Files that Toolsmith writes where a configuration says so.
pub(super) fn kept(serve: &Serve, conversations: Option<&Conversations>) -> Vec<Protected> {
    const KEPT: &str = "which programs must not rewrite";
    let audit = serve.audit.as_ref().map(|audit| Protected::new(&audit.file, "the audit log", KEPT));
    let conversations = match conversations {
        Some(Conversations::File(file)) => Some(Protected::new(file, "the file of conversations", KEPT)),
        _ => None,
    };
    audit.into_iter().chain(conversations).collect()
}

/// What is wrong with the paths that a layer lets programs write to. Starts nothing, so that a toolchain that only its
/// compiler knows is left to the execution.
pub(super) fn refused(
    document: &Document,
    protected: &[Protected],
    paths: &[(Place, PathBuf)],
) -> Vec<String> {
    // Without a cache nothing runs, and that is told where it is needed.
    let Ok(cache) = cache_folder() else { return Vec::new() };
    let refused = paths.iter().filter_map(|(place, path)| {
        let grants = Grants { write: vec![path.clone()], protected: protected.to_vec(), ..Grants::default() };
        let error = grants.check(&cache, None).err()?;
        let message = format!("{}; {}", error.message(), error.advice().unwrap_or_default());
        Some(document.source.tell(&Problem { place: *place, message }))
    });
    refused.collect()
}
