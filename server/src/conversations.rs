//! Where conversations are kept.

use std::path::PathBuf;

use agent::Store;
use config::{Config, Conversations};
use gateway::failure::Failure;

/// The file's name, in the user's state folder.
const FILE: &str = "conversations.db";

/// The store that the configuration names, if any is to be kept. Whoever only runs a model may go on without it.
///
/// # Errors
/// What is wrong with the file, and what to do.
pub fn store(config: &Config) -> Result<Option<Store>, Failure> {
    let Some(file) = file(config)? else { return Ok(None) };
    Store::open(&file).map(Some).map_err(Failure::host)
}

/// The file that the configuration names.
pub fn file(config: &Config) -> Result<Option<PathBuf>, Failure> {
    match &config.agent.conversations {
        Some(Conversations::Nowhere) => Ok(None),
        Some(Conversations::File(file)) => Ok(Some(file.clone())),
        None => {
            let folder = config::state_folder().map_err(Failure::configuration)?;
            Ok(Some(folder.join(FILE)))
        }
    }
}
