//! Opens the cache with the configured settings.

use config::CacheSettings;
use runner::Cache;

use crate::failure::Failure;

/// Opens the cache in the user's folder.
///
/// # Errors
/// If the folder can't be determined or used.
pub fn open(settings: &CacheSettings) -> Result<Cache, Failure> {
    let folder = config::cache_folder()?;
    Ok(Cache::open(&folder, settings.size)?)
}
