//! Keeps the outputs of one execution or direct call, and shares them with other replicas.

use futures::future::join_all;
use parking_lot::Mutex;

use crate::session::ClientSession;
use crate::state::ServerState;

/// The outputs of one execution or direct call.
pub(crate) struct KeptOutputs<'a> {
    state: &'a ServerState,
    owner: String,
    /// Whether the client may ask another replica for them.
    is_shared: bool,
    id: &'a str,
    addresses: Mutex<Vec<String>>,
}

impl<'a> KeptOutputs<'a> {
    pub(crate) fn new(state: &'a ServerState, session: &ClientSession, id: &'a str) -> Self {
        let (owner, is_shared) = (session.owner().into_owned(), !session.lasts());
        KeptOutputs { state, owner, is_shared, id, addresses: Mutex::default() }
    }

    /// Keeps a part; returns its address.
    pub(crate) fn keep(&self, part: &str, text: &str) -> String {
        let address = self.state.kept.keep(&self.owner, self.id, part, text);
        self.addresses.lock().push(address.clone());
        address
    }

    /// Writes all parts to the store of the replicas, before the client learns their addresses. The store reports its own
    /// failures; this replica has the parts in any case.
    pub(crate) async fn share(self) {
        let Some(shared) = self.state.shared.as_ref().filter(|_| self.is_shared) else { return };
        let addresses = self.addresses.into_inner();
        let writes = addresses.iter().filter_map(|address| {
            let text = self.state.kept.text(&self.owner, address)?;
            let owner = &self.owner;
            Some(async move { shared.keep(owner, address, &text).await })
        });
        for failed in join_all(writes).await.into_iter().filter_map(Result::err) {
            tracing::debug!(error = %failed, "an output is not shared with other replicas");
        }
    }
}
