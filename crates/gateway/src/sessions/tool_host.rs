//! The requests of programs to their host: sessions, permissions, calls, lookups and resources.

use std::collections::BTreeSet;

use config::Permission;
use futures::FutureExt;
use futures::future::BoxFuture;
use runner::{Answer, CallFailure, FailureKind, Question, Refusal, SessionError, ToolHost};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Sessions;
use crate::permission::Refusal as Refused;
use crate::resources::LIST;

impl ToolHost for Sessions {
    fn questions(&self) -> Option<tokio::sync::watch::Receiver<usize>> {
        Some(self.host.questions())
    }

    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
        let opening = self.start(server);
        async move {
            let opened =
                opening.await.map_err(|error| SessionError::Unavailable(error.report.for_model()))?;
            match self.expected.get(server) {
                Some(expected) if !self.pinned.contains_key(server) && *expected != opened.tools => {
                    Err(SessionError::ToolsChanged(server.to_owned()))
                }
                _ => Ok(()),
            }
        }
        .boxed()
    }

    fn permit<'a>(&'a self, tools: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>> {
        async move {
            let policy = self.policy();
            let policy = policy.map_err(|CallFailure { message, .. }| Refusal {
                message,
                evidence: serde_json::json!({}),
            })?;
            let matters =
                |(server, tool): &&(String, String)| policy.holds(server, tool) != Permission::Allow;
            let mut manifest = Vec::new();
            for (server, tool) in tools.iter().filter(matters) {
                // The user is asked about the tool of the session that will be used.
                let _ = self.usable(server).await;
                manifest.push(self.requested(server, tool));
            }
            let flows = policy.possible_flows(tools);
            let decided = policy.decide(&manifest, flows, &self.answers).await;
            decided.map_err(|refusal| Refusal {
                message: refusal.report().for_model(),
                evidence: refusal.evidence(),
            })
        }
        .boxed()
    }

    fn permit_call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>> {
        self.decide_call(server, tool, arguments, Refused::report_of_call).boxed()
    }

    fn look_up<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        let nothing = || {
            let message = "no tools can be looked up here".to_owned();
            Err(CallFailure { kind: FailureKind::Unavailable, message })
        };
        async move {
            if let Question::Resources { server, query } = question {
                let found = self.resources(server.as_deref(), query.as_deref()).await?;
                // Names and descriptions are a server's data.
                let servers: BTreeSet<&str> = found.iter().map(|found| found.server.as_str()).collect();
                let policy = self.policy()?;
                servers.into_iter().for_each(|server| policy.received(server, LIST));
                return serde_json::value::to_raw_value(&found).map_err(|error| CallFailure {
                    kind: FailureKind::Protocol,
                    message: error.to_string(),
                });
            }
            self.lookup.as_ref().map_or_else(nothing, |lookup| lookup.answer(question))
        }
        .boxed()
    }

    fn find_resource<'a>(
        &'a self,
        uri: &'a str,
        server: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, CallFailure>> {
        self.server_of(uri, server).boxed()
    }

    fn permit_read<'a>(&'a self, server: &'a str, uri: &'a str) -> BoxFuture<'a, Result<(), CallFailure>> {
        self.may_read(server, uri).boxed()
    }

    fn read_resource<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        self.read(server, uri).boxed()
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
        mut meta: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        let transport = self.config.server(server).map(|server| &server.connection.transport);
        let is_over_http = matches!(transport, Some(mcp::Transport::Http(_) | mcp::Transport::Sse(_)));
        meta.extend(self.passed_on.meta(is_over_http));
        self.call_with(server, tool, arguments, meta).boxed()
    }
}
