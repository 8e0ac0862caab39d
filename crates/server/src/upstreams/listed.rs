//! Caches the last tool lists, so that an unchanged list is neither built nor held in memory twice.

use std::collections::HashMap;
use std::sync::Arc;

use mcp::Tool;
use parking_lot::{Mutex, MutexGuard};
use runner::Cache;

use config::Server;
use gateway::catalog;
use gateway::tool_list::ToolList;

/// The last list of each server.
pub(super) struct Listed {
    /// Whether the lists are for clients that show views.
    shows_apps: bool,
    /// By the identity of the server.
    last: Mutex<HashMap<String, Last>>,
}

struct Last {
    /// The tools that the list was built from, unless it was remembered.
    source: Option<Arc<Vec<Tool>>>,
    list: Arc<ToolList>,
}

impl Listed {
    pub(super) fn new(shows_apps: bool) -> Self {
        Listed { shows_apps, last: Mutex::default() }
    }

    /// The list for the tools that a server has answered; stored if it is new.
    pub(super) fn answered(&self, cache: &Cache, server: &Server, tools: &Arc<Vec<Tool>>) -> Arc<ToolList> {
        let mut last = self.last();
        let identity = catalog::identity(server);
        let is_same = |last: &Last| last.source.as_ref().is_some_and(|source| Arc::ptr_eq(source, tools));
        let known = match last.remove(&identity) {
            Some(known) if is_same(&known) => known.list,
            known => {
                let list = ToolList::of(tools);
                match known.filter(|known| known.list.digest() == list.digest()) {
                    Some(known) => known.list,
                    None => {
                        // A list that can't be stored is requested again the next time.
                        let _ = catalog::remember_for(self.shows_apps, cache, server, &list);
                        Arc::new(list)
                    }
                }
            }
        };
        last.insert(identity, Last { source: Some(Arc::clone(tools)), list: Arc::clone(&known) });
        known
    }

    /// The list from the server's last connection.
    pub(super) fn remembered(&self, cache: &Cache, server: &Server) -> Option<Arc<ToolList>> {
        let mut last = self.last();
        let identity = catalog::identity(server);
        if let Some(known) = last.get(&identity) {
            return Some(Arc::clone(&known.list));
        }
        let list = Arc::new(catalog::remembered_for(self.shows_apps, cache, server)?);
        last.insert(identity, Last { source: None, list: Arc::clone(&list) });
        Some(list)
    }

    /// Removes the lists of all other servers.
    pub(super) fn retain(&self, servers: &[Server]) {
        let identities: Vec<String> = servers.iter().map(catalog::identity).collect();
        self.last().retain(|identity, _| identities.contains(identity));
    }

    fn last(&self) -> MutexGuard<'_, HashMap<String, Last>> {
        self.last.lock()
    }
}
