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
    let generatable = servers.iter().map(|Server { name, tools }| ServerTools {
        name,
        digest: format!("{} {name}", tools.len()),
        tools: Box::new(|| tools.clone()),
        source: None,
    });
    let catalog = Catalog::generate(&cache, generatable.collect(), [], style, |_, _| false);
    let definitions = Reference::new(Arc::new(catalog), &BTreeMap::new())?.definitions(budget);
    Ok(definitions.into_iter().next().map(|definition| definition.description).unwrap_or_default())
}
