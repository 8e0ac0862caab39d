//! Notifications of a subscription (`subscriptions/listen`, MCP 2026-07-28). The sink sends only those that the client
//! subscribed to.

use answer::client_profile::ClientProfile;
use rmcp::service::SubscriptionSink;

use crate::client_host::ServerNotice;
use crate::definitions;
use crate::snapshot::Snapshot;

/// Notifies a subscriber of lists that differ between two snapshots.
pub(super) async fn notify_of_lists(
    sink: &SubscriptionSink,
    client: &ClientProfile,
    (before, now): (&Snapshot, &Snapshot),
) {
    // If the subscriber is gone, the subscription is cancelled.
    if definitions::lists_differ(before, now, client) {
        let _ = sink.notify_tool_list_changed().await;
    }
    let [prompts, resources] = &before.prompts_and_resources;
    if *prompts != now.prompts_and_resources[0] {
        let _ = sink.notify_prompt_list_changed().await;
    }
    if *resources != now.prompts_and_resources[1] {
        let _ = sink.notify_resource_list_changed().await;
    }
}

/// Forwards a server's notice to a subscriber.
pub(super) async fn notify_of(sink: &SubscriptionSink, notice: ServerNotice) {
    match notice {
        ServerNotice::ListChanged(mcp::ListKind::Prompts) => drop(sink.notify_prompt_list_changed().await),
        ServerNotice::ListChanged(mcp::ListKind::Resources) => {
            drop(sink.notify_resource_list_changed().await);
        }
        ServerNotice::ResourceUpdated(uri) => drop(sink.notify_resource_updated(uri).await),
        _ => {}
    }
}
