//! Sends the full events of a run to the root process of all agents, without waiting for delivery.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agent::{Event, EventKind, EventPoster, SubagentEvent, Usage};
use serde_json::Value;
use server::definitions::EXECUTE;
use server::snapshot::Settings;
use system::calendar::timestamp;

use super::events::RunEnd;

/// Sends the events of one run.
pub(super) struct EventForwarder {
    poster: Arc<EventPoster>,
    settings: Arc<Settings>,
    name: String,
    run: String,
    parent_run: Option<String>,
}

impl EventForwarder {
    pub(super) fn new(
        poster: Arc<EventPoster>,
        settings: Arc<Settings>,
        name: &str,
        run: &str,
        parent_run: Option<&str>,
    ) -> Self {
        let parent_run = parent_run.map(str::to_owned);
        EventForwarder { poster, settings, name: name.to_owned(), run: run.to_owned(), parent_run }
    }

    /// Reports the start of the run.
    pub(super) fn start(&self, prompt: &str, limit: Duration) {
        let limit = Some(limit.as_secs_f64());
        self.post(SubagentEvent {
            execution_timeout_seconds: limit,
            ..self.of(EventKind::SubagentStart, prompt)
        });
    }

    /// Reports an event of the run.
    pub(super) fn event(&self, event: &Event<'_>) {
        match event {
            Event::Thought(text) => self.post(self.of(EventKind::ThoughtTrace, text)),
            Event::ToolCall(call) => self.post(SubagentEvent {
                tool_name: Some(call.name.clone()),
                tool_call_id: Some(call.id.clone()),
                execution_timeout_seconds: self.limit_of(&call.name, &call.arguments),
                ..self.of(EventKind::ToolCall, &payload(&call.name, &call.arguments))
            }),
            Event::ToolResult(result, _) => self.post(SubagentEvent {
                tool_name: Some(result.name.clone()),
                tool_call_id: Some(result.id.clone()),
                is_error: result.is_error,
                ..self.of(EventKind::ToolResult, &result.texts())
            }),
            Event::Delta(_) | Event::Response(_) | Event::Message(..) | Event::Compaction(_) => {}
        }
    }

    /// Reports the end of the run, with the `answer` if there is one.
    pub(super) fn end(&self, ending: RunEnd<'_>, answer: Option<&str>, usage: Usage) {
        let (payload, is_error) = match ending {
            RunEnd::Answered => (answer.unwrap_or_default(), false),
            RunEnd::Failed(why) => (why, true),
            RunEnd::Cancelled => ("cancelled", true),
        };
        self.post(SubagentEvent {
            is_error,
            token_usage: Some(usage),
            ..self.of(EventKind::SubagentEnd, payload)
        });
    }

    fn of(&self, kind: EventKind, payload: &str) -> SubagentEvent {
        SubagentEvent {
            kind,
            subagent_name: self.name.clone(),
            subagent_run_id: self.run.clone(),
            parent_run_id: self.parent_run.clone(),
            timestamp: timestamp(SystemTime::now()),
            tool_name: None,
            tool_call_id: None,
            payload: self.settings.masker.mask(payload).into_owned(),
            is_error: false,
            execution_timeout_seconds: None,
            token_usage: None,
        }
    }

    /// The time limit of an execution, in seconds.
    fn limit_of(&self, tool: &str, arguments: &Value) -> Option<f64> {
        let configured = self.settings.config.code_mode.timeout.as_secs_f64();
        (tool == EXECUTE).then(|| arguments.get("timeout").and_then(Value::as_f64).unwrap_or(configured))
    }

    fn post(&self, event: SubagentEvent) {
        self.poster.post(event);
    }
}

/// The arguments of a call in readable form: a snippet as plain text.
fn payload(tool: &str, arguments: &Value) -> String {
    match arguments.get("code").and_then(Value::as_str) {
        Some(code) if tool == EXECUTE => code.to_owned(),
        _ => arguments.to_string(),
    }
}
