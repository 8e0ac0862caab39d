//! A host that records which lists have changed, and forwards everything.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::Notify;

use crate::host::{Host, ListKind, Notice, QuestionError};

pub(super) struct Watching {
    inner: Arc<dyn Host>,
    tools: Notify,
    resources: Notify,
    prompts: Notify,
}

impl Watching {
    pub(super) fn new(inner: Arc<dyn Host>) -> Self {
        Self { inner, tools: Notify::new(), resources: Notify::new(), prompts: Notify::new() }
    }

    /// Waits until the list has changed since the last call.
    pub(super) async fn changed(&self, list: ListKind) {
        self.of(list).notified().await;
    }

    fn of(&self, list: ListKind) -> &Notify {
        match list {
            ListKind::Tools => &self.tools,
            ListKind::Resources => &self.resources,
            ListKind::Prompts => &self.prompts,
        }
    }
}

impl Host for Watching {
    fn elicits(&self) -> bool {
        self.inner.elicits()
    }

    fn elicits_by_url(&self) -> bool {
        self.inner.elicits_by_url()
    }

    fn samples(&self) -> bool {
        self.inner.samples()
    }

    fn shows_apps(&self) -> bool {
        self.inner.shows_apps()
    }

    fn elicit<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        self.inner.elicit(server, parameters)
    }

    fn sample<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        self.inner.sample(server, parameters)
    }

    fn notice(&self, server: &str, notice: &Notice) {
        if let Notice::ListChanged(list) = notice {
            self.of(*list).notify_one();
        }
        self.inner.notice(server, notice);
    }
}
