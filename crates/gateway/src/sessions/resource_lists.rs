//! The resources that servers have listed, and the server that an address belongs to.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use runner::FoundResource;

use crate::resources::fits_template;

/// Resources by server.
pub(super) type Lists = BTreeMap<String, Arc<[FoundResource]>>;

/// The most recently listed resources of servers.
#[derive(Default)]
pub(super) struct ResourceLists(Mutex<Lists>);

impl ResourceLists {
    /// The resources of all servers that were asked.
    pub(super) fn known(&self) -> Lists {
        self.lists().clone()
    }

    /// Replaces the lists of these servers.
    pub(super) fn extend(&self, lists: &Lists) {
        self.lists().extend(lists.clone());
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock()
    }
}

/// Several servers match an address. The message is for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{uri:?} matches several servers: {}; name one with .server(…)", .servers.join(", "))]
pub(super) struct AmbiguousResource {
    uri: String,
    servers: Vec<String>,
}

/// The only server that lists an address, or else the only one with a matching template.
///
/// # Errors
/// If several match.
pub(super) fn owner(lists: &Lists, uri: &str) -> Result<Option<String>, AmbiguousResource> {
    let exact = |found: &FoundResource| !found.is_template && found.uri == uri;
    let by_template = |found: &FoundResource| found.is_template && fits_template(&found.uri, uri);
    let fits: [&dyn Fn(&FoundResource) -> bool; 2] = [&exact, &by_template];
    for fits in fits {
        let owners = lists.iter().filter(|(_, list)| list.iter().any(fits)).map(|(server, _)| server);
        let mut servers: Vec<String> = owners.cloned().collect();
        if servers.len() > 1 {
            return Err(AmbiguousResource { uri: uri.to_owned(), servers });
        }
        if let Some(only) = servers.pop() {
            return Ok(Some(only));
        }
    }
    Ok(None)
}

/// The addresses of resources, without templates.
pub(super) fn addresses<'a>(
    lists: impl Iterator<Item = &'a Arc<[FoundResource]>>,
) -> impl Iterator<Item = &'a str> {
    let resources = lists.flat_map(|list| list.iter()).filter(|found| !found.is_template);
    resources.map(|found| found.uri.as_str())
}
