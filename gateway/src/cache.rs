//! Opening the cache as the configuration describes it.

use config::CacheSettings;
use runner::Cache;

use crate::failure::Failure;

/// Opens the cache in the user's folder.
///
/// # Errors
/// Where the folder is not known, or can't be used.
pub fn open(settings: &CacheSettings) -> Result<Cache, Failure> {
    let folder = config::cache_folder().map_err(Failure::configuration)?;
    Cache::open(&folder, settings.size).map_err(Failure::host)
}
