//! Where conversations are stored.

use std::path::PathBuf;

use agent::Store;
use config::{Config, Conversations};
use gateway::failure::Failure;

/// The file's name in the user's state folder.
const FILE: &str = "conversations.db";

/// Opens the configured store, if conversations are kept. A caller that only runs a model can continue without it.
///
/// # Errors
/// Returns an error with a fix if the file is invalid.
pub fn store(config: &Config) -> Result<Option<Store>, Failure> {
    let Some(file) = file(config)? else { return Ok(None) };
    Ok(Some(Store::open(&file)?))
}

/// The configured file.
pub fn file(config: &Config) -> Result<Option<PathBuf>, Failure> {
    match &config.agent.conversations {
        Some(Conversations::Nowhere) => Ok(None),
        Some(Conversations::File(file)) => Ok(Some(file.clone())),
        None => {
            let folder = config::state_folder()?;
            Ok(Some(folder.join(FILE)))
        }
    }
}
