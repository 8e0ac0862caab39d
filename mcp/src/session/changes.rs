//! What a lasting session learns without asking: that a list has changed, that the connection has ended.

use std::{sync::PoisonError, time::Duration};

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

/// How often is looked whether the connection has ended: the library tells nobody.
const CLOSED_INTERVAL: Duration = Duration::from_millis(100);

/// The wait before a subscription that has ended is made again, and how often that may be.
const SUBSCRIBE_WAIT: Duration = Duration::from_secs(5);
const MAX_SUBSCRIPTIONS: usize = 60;

impl Session {
    /// Returns when the connection has ended.
    pub async fn closed(&self) {
        while !self.is_closed() {
            sleep(CLOSED_INTERVAL).await;
        }
    }

    /// Why the connection has ended.
    pub async fn why_closed(&self) -> Error {
        self.ended(Phase::Request("the next request")).await
    }

    /// Tells the host of changed lists for as long as the session lasts. Servers with a handshake tell them by
    /// themselves, so there is nothing to do; the others are asked to (`subscriptions/listen`, MCP 2026-07-28). Returns
    /// only when the connection has ended.
    pub async fn listen_for_changes(&self) -> Error {
        let capabilities = &self.inner.server.capabilities;
        let tools = capabilities.tools.as_ref().and_then(|tools| tools.list_changed).unwrap_or(false);
        if !self.inner.server.protocol_version.has_initialize() && tools {
            for _ in 0..MAX_SUBSCRIPTIONS {
                // A server that does not let itself be listened to is asked for its list when it is needed.
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

    /// Asks to be told of changes of a resource, for as long as the session lasts; the host is told of them.
    ///
    /// # Errors
    /// Why the server does not take it.
    pub async fn subscribe(&self, uri: &str) -> Result<(), Error> {
        if self.inner.server.protocol_version.has_initialize() {
            let parameters = vec![("uri".into(), self.encode(uri)?)];
            return self.ask(self.plain("resources/subscribe", parameters)).await.map(drop);
        }
        let filter = SubscriptionFilter::builder().resource_subscriptions([uri.to_owned()]).build();
        let (peer, client) = (self.inner.peer.clone(), self.inner.client.clone());
        let listening = tokio::spawn(async move {
            // A server that does not let itself be listened to tells nothing.
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(notification)) = subscription.next().await {
                if let ServerNotification::ResourceUpdatedNotification(updated) = notification {
                    client.tell(&Notice::ResourceUpdated(updated.params.uri));
                }
            }
        });
        let mut subscriptions = self.inner.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = subscriptions.insert(uri.to_owned(), listening.abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    /// Asks to be told no more of a resource.
    ///
    /// # Errors
    /// Why the server does not take it.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), Error> {
        if self.inner.server.protocol_version.has_initialize() {
            let parameters = vec![("uri".into(), self.encode(uri)?)];
            return self.ask(self.plain("resources/unsubscribe", parameters)).await.map(drop);
        }
        let mut subscriptions = self.inner.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
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
        // What has changed since the list was read, before anybody listened, was told to nobody.
        self.inner.client.tell(&Notice::ListChanged(ListKind::Tools));
        while let Some(notification) = subscription.next().await? {
            let list = match notification {
                ServerNotification::ToolListChangedNotification(_) => ListKind::Tools,
                ServerNotification::ResourceListChangedNotification(_) => ListKind::Resources,
                ServerNotification::PromptListChangedNotification(_) => ListKind::Prompts,
                _ => continue,
            };
            self.inner.client.tell(&Notice::ListChanged(list));
        }
        Ok(())
    }
}
