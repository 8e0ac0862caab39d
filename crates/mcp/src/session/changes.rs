//! Notifications to a long-lived session: changed lists, and the end of the connection.

use std::time::Duration;

use rmcp::{
    model::{ServerNotification, SubscriptionFilter},
    service::ServiceError,
};
use tokio::time::sleep;

use super::Session;
use crate::{
    error::{Error, Phase},
    host::{ListKind, Notice},
};

/// Interval between checks whether the connection has ended: the library has no notification for that.
const CLOSED_INTERVAL: Duration = Duration::from_millis(100);

/// The wait before a subscription that has ended is renewed, and the limit on renewals.
const SUBSCRIBE_WAIT: Duration = Duration::from_secs(5);
const MAX_SUBSCRIPTIONS: usize = 60;

impl Session {
    /// Waits until the connection has ended.
    pub async fn closed(&self) {
        while !self.is_closed() {
            sleep(CLOSED_INTERVAL).await;
        }
    }

    /// Returns the reason why the connection has ended.
    pub async fn why_closed(&self) -> Error {
        self.ended(Phase::Request("the next request")).await
    }

    /// Whether the server declares that it announces changes of its tools (`tools.listChanged`). One without a handshake
    /// announces them only to subscribers ([`Session::listen_for_changes`]).
    pub fn declares_tool_changes(&self) -> bool {
        let tools = self.inner.server.capabilities.tools.as_ref();
        tools.and_then(|tools| tools.list_changed).unwrap_or(false)
    }

    /// Notifies the host of changed lists for the whole session. Servers with a handshake send notifications anyway, so
    /// there is nothing to do; at the others this subscribes (`subscriptions/listen`, MCP 2026-07-28). Returns only
    /// when the connection has ended.
    pub async fn listen_for_changes(&self) -> Error {
        if self.is_stateless() && self.declares_tool_changes() {
            for _ in 0..MAX_SUBSCRIPTIONS {
                // If a server supports no subscriptions, its list is read when needed.
                let Err(ServiceError::TransportClosed) = self.listen_once().await else {
                    sleep(SUBSCRIBE_WAIT).await;
                    continue;
                };
                break;
            }
        }
        self.closed().await;
        self.why_closed().await
    }

    /// Subscribes to changes of a resource for the whole session; the host is notified of them.
    ///
    /// # Errors
    /// Returns an error if the server rejects the subscription.
    pub async fn subscribe(&self, uri: &str) -> Result<(), Error> {
        if self.inner.server.protocol_version.has_initialize() {
            let parameters = vec![("uri".into(), self.encode(uri)?)];
            return self.ask(self.plain("resources/subscribe", parameters)).await.map(drop);
        }
        self.check_subject("resources/subscribe")?;
        let filter = SubscriptionFilter::builder().resource_subscriptions([uri.to_owned()]).build();
        let (peer, client) = (self.inner.peer.clone(), self.inner.client.clone());
        let listening = tokio::spawn(async move {
            // A server without subscriptions sends no changes.
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(notification)) = subscription.next().await {
                if let ServerNotification::ResourceUpdatedNotification(updated) = notification {
                    client.notify(&Notice::ResourceUpdated(updated.params.uri));
                }
            }
        });
        let mut subscriptions = self.inner.subscriptions.lock();
        if let Some(before) = subscriptions.insert(uri.to_owned(), listening.abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    /// Ends the subscription to a resource.
    ///
    /// # Errors
    /// Returns an error if the server rejects the request.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), Error> {
        if self.inner.server.protocol_version.has_initialize() {
            let parameters = vec![("uri".into(), self.encode(uri)?)];
            return self.ask(self.plain("resources/unsubscribe", parameters)).await.map(drop);
        }
        let mut subscriptions = self.inner.subscriptions.lock();
        if let Some(listening) = subscriptions.remove(uri) {
            listening.abort();
        }
        Ok(())
    }

    async fn listen_once(&self) -> Result<(), ServiceError> {
        let filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed()
            .build();
        let mut subscription = self.inner.peer.listen(filter).await?;
        // Changes between reading the list and the subscription were not notified.
        self.inner.client.notify(&Notice::ListChanged(ListKind::Tools));
        while let Some(notification) = subscription.next().await? {
            let list = match notification {
                ServerNotification::ToolListChangedNotification(_) => ListKind::Tools,
                ServerNotification::ResourceListChangedNotification(_) => ListKind::Resources,
                ServerNotification::PromptListChangedNotification(_) => ListKind::Prompts,
                _ => continue,
            };
            self.inner.client.notify(&Notice::ListChanged(list));
        }
        Ok(())
    }
}
