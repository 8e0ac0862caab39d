//! The texts that models read about tools, as `toolsmith serve` sends them.

use std::collections::BTreeMap;
use std::sync::Arc;

use codegen::{Server, Style};
use gateway::failure::Failure;
use gateway::reference::Reference;
use runner::{Cache, Catalog, ServerTools};

/// The description of `execute_code` for these servers, of about `budget` tokens.
pub(super) fn description(servers: &[Server], style: &Style, budget: usize) -> Result<String, Failure> {
    // A separate cache, because nothing else uses what is generated here.
    let folder = system::private::temporary().map_err(Failure::system)?;
    let cache = Cache::open(folder.path(), runner::DEFAULT_SIZE)?;
    let reference = reference(servers, &BTreeMap::new(), style, &cache)?;
    let definitions = reference.definitions(budget);
    Ok(definitions.into_iter().next().map(|definition| definition.description).unwrap_or_default())
}

/// The texts about the tools of these servers; `about` has a line about each server, by its name.
pub(crate) fn reference(
    servers: &[Server],
    about: &BTreeMap<String, String>,
    style: &Style,
    cache: &Cache,
) -> Result<Reference, Failure> {
    let generatable = servers.iter().map(|Server { name, tools }| ServerTools {
        name,
        digest: format!("{} {name}", tools.len()),
        tools: Box::new(|| tools.clone()),
        source: None,
    });
    let catalog = Catalog::generate(cache, generatable.collect(), [], style, |_, _| false);
    Ok(Reference::new(Arc::new(catalog), about)?)
}
