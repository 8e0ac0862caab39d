//! Forwards questions of a subagent's tools to the client that called it.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::QuestionError;
use serde_json::Value;
use server::caller::Caller;

/// The client that called the subagent.
pub(super) struct CallingClient(pub(super) Arc<Caller>);

impl CallingClient {
    async fn ask(&self, method: &'static str, parameters: Value) -> Result<Value, QuestionError> {
        self.0.ask(method, parameters).await.map_err(|unanswered| QuestionError::Client(Box::new(unanswered)))
    }
}

impl mcp::Host for CallingClient {
    fn elicits(&self) -> bool {
        self.0.abilities.elicits
    }

    fn elicits_by_url(&self) -> bool {
        self.0.abilities.elicits_by_url
    }

    fn samples(&self) -> bool {
        self.0.abilities.samples
    }

    fn elicit<'a>(&'a self, _: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, QuestionError>> {
        self.ask("elicitation/create", parameters).boxed()
    }

    fn sample<'a>(&'a self, _: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, QuestionError>> {
        self.ask("sampling/createMessage", parameters).boxed()
    }
}
