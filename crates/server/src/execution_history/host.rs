//! Records the questions of servers to the user or to a model, and their answers.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::session_host::SessionHost;
use history::{Asked, RecordedExecution};
use mcp::{Host, Notice, QuestionError};
use serde_json::Value;
use terminal::Notifier;
use tokio::sync::watch;

use crate::client_host::asks_for_visit;

/// Maximum length of a question that is kept, in characters.
const TEXT: usize = 2_000;

/// Passes everything on to another host, and records questions.
struct RecordedHost {
    host: Arc<dyn SessionHost>,
    execution: RecordedExecution,
    /// The answerer of forms: `terminal`, `client` or `page`.
    by: &'static str,
}

/// A host that records the questions of servers with an execution, if it is kept.
pub fn recorded(
    host: Arc<dyn SessionHost>,
    execution: Option<&RecordedExecution>,
    by: &'static str,
) -> Arc<dyn SessionHost> {
    match execution {
        Some(execution) => Arc::new(RecordedHost { host, execution: execution.clone(), by }),
        None => host,
    }
}

impl RecordedHost {
    /// Records a question, and its answer by this one when that is there.
    async fn record(
        &self,
        (server, text): (&str, &Value),
        by: &'static str,
        answer: impl Future<Output = Result<Value, QuestionError>>,
        word: fn(&Value) -> &'static str,
    ) -> Result<Value, QuestionError> {
        let text = text.as_str().unwrap_or_default().chars().take(TEXT).collect();
        let number = self.execution.asked(Asked { about: "server", tools: vec![server.to_owned()], text });
        let answer = answer.await;
        match &answer {
            Ok(answer) => self.execution.answered(number, word(answer), by),
            Err(_) => self.execution.answered(number, "unanswered", "nobody"),
        }
        answer
    }
}

/// The action of an `ElicitResult` (MCP).
fn action(answer: &Value) -> &'static str {
    match answer["action"].as_str() {
        Some("accept") => "accept",
        Some("decline") => "decline",
        _ => "cancel",
    }
}

impl SessionHost for RecordedHost {
    fn questions(&self) -> watch::Receiver<usize> {
        self.host.questions()
    }

    fn notifier(&self) -> Notifier {
        self.host.notifier()
    }

    fn shows_waits(&self) -> bool {
        self.host.shows_waits()
    }
}

impl Host for RecordedHost {
    fn elicits(&self) -> bool {
        self.host.elicits()
    }

    fn elicits_by_url(&self) -> bool {
        self.host.elicits_by_url()
    }

    fn samples(&self) -> bool {
        self.host.samples()
    }

    fn elicit<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        async move {
            let text = parameters["message"].clone();
            // The page shows forms only.
            let by = if self.by == "page" && asks_for_visit(&parameters) { "client" } else { self.by };
            self.record((server, &text), by, self.host.elicit(server, parameters), action).await
        }
        .boxed()
    }

    fn sample<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        async move {
            let text = parameters["systemPrompt"].clone();
            // Only clients have a model.
            self.record((server, &text), "client", self.host.sample(server, parameters), |_| "sampled").await
        }
        .boxed()
    }

    fn shows_stderr(&self) -> bool {
        self.host.shows_stderr()
    }

    fn notice(&self, server: &str, notice: &Notice) {
        self.host.notice(server, notice);
    }
}
