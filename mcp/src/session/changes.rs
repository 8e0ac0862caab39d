//! What a lasting session learns without asking: that a list has changed, that the connection has ended.

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
