//! The configuration as pages show it, with what is known of its servers. No server is started.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, LoadOptions, Needs};
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::tool_list::ToolList;
use gateway::{cache, catalog, config_secrets};
use runner::Cache;
use terminal::Masker;
use url::form_urlencoded;

use crate::error::PageError;

/// The configuration, read for one page.
pub(crate) struct Configured {
    pub(crate) config: Config,
    pub(crate) cache: Cache,
    /// The tools' entries in the lock files.
    pub(crate) known: Known,
    /// The tools that servers sent last, by server.
    pub(crate) lists: BTreeMap<String, Arc<ToolList>>,
    /// Masks the secrets of the configuration.
    pub(crate) masker: Masker,
}

impl Configured {
    /// Reads the configuration, the lock files and the cached tool lists.
    ///
    /// # Errors
    /// If one of them can't be read.
    pub(crate) fn read(options: &LoadOptions) -> Result<Self, PageError> {
        // A page shows also servers that can't be used.
        let options = LoadOptions { strict: false, needs: Needs::Nothing, ..options.clone() };
        let config = config::load(&options.without_untrusted()).map_err(Failure::from)?;
        let cache = cache::open(&config.cache)?;
        let known = Known::of(&config)?;
        let lists = catalog::known_lists(&cache, &config);
        let masker = config_secrets::masker(&config);
        Ok(Configured { config, cache, known, lists, masker })
    }

    /// A text of a server or of the configuration, without secrets.
    pub(crate) fn masked(&self, text: &str) -> String {
        self.masker.mask(text).into_owned()
    }
}

impl From<Failure> for PageError {
    fn from(failure: Failure) -> Self {
        PageError::failed(failure.report.for_terminal())
    }
}

/// The address of a page with these fields.
pub(crate) fn address(page: &str, fields: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields);
    format!("{page}?{}", query.finish())
}

#[cfg(test)]
impl Configured {
    /// A configuration with the server `s`, which has these tools, and a cache in `folder`.
    pub(crate) fn of_tools(folder: &std::path::Path, tools: &[serde_json::Value]) -> Self {
        let connection = mcp::ServerConfig::stdio("s", "program", ["--key", "secret-of-the-server"]);
        let server = config::Server::new(connection, "program --key ${KEY}".to_owned());
        Configured {
            config: Config { servers: vec![server], ..Config::default() },
            cache: Cache::open(folder, runner::DEFAULT_SIZE).expect("a cache in a temporary folder"),
            known: Known::default(),
            lists: BTreeMap::from([("s".to_owned(), Arc::new(ToolList::new(tools)))]),
            masker: Masker::new(&["secret-of-the-server".to_owned()]),
        }
    }
}
