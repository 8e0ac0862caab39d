//! Log events of a run: each has a name, a level, and a payload of bounded size.

use std::time::Duration;

use agent::{Compaction, Delta, Event, ToolResult, Usage};
use serde_json::{Map, Value, json};
use server::level::Level;
use server::recorder::Saved;

/// Maximum length of a text in a payload, in characters, and of its JSON, in bytes.
const LONGEST: usize = 4_000;

/// An event for the client's log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LogEvent {
    pub(super) level: Level,
    pub(super) event: &'static str,
    pub(super) payload: Value,
}

impl LogEvent {
    fn new(level: Level, event: &'static str, payload: Value) -> Self {
        LogEvent { level, event, payload }
    }

    /// The start of a run.
    pub(super) fn start(prompt: &str, inputs: &[String], beginning: RunStart<'_>) -> Self {
        let mut payload = json!({
            "prompt": cut(prompt),
            "inputs": inputs.iter().map(|path| cut(path)).collect::<Vec<_>>(),
            "model": beginning.model,
            "executionTimeoutSeconds": beginning.limit.map(|limit| limit.as_secs_f64()),
        });
        let further = [("conversation", beginning.conversation), ("parentRun", beginning.parent_run)];
        for (name, value) in further.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            payload[name] = Value::from(value);
        }
        LogEvent::new(Level::Info, "start", payload)
    }

    /// An event of a run, if it is logged. A model's text is logged when it is complete.
    pub(super) fn of(event: &Event<'_>) -> Option<Self> {
        Some(match event {
            Event::Delta(Delta::Retry { attempt, wait, why }) => {
                let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                let payload = json!({ "attempt": attempt, "waitMs": wait, "why": cut(why) });
                LogEvent::new(Level::Warning, "retry", payload)
            }
            Event::Delta(_) | Event::Message(..) => return None,
            Event::Thought(text) => LogEvent::new(Level::Debug, "thought", json!({ "text": cut(text) })),
            Event::Response(text) => LogEvent::new(Level::Info, "response", json!({ "text": cut(text) })),
            Event::ToolCall(call) => {
                let payload = json!({
                    "toolName": call.name, "toolCallId": call.id, "arguments": bounded(&call.arguments),
                });
                LogEvent::new(Level::Info, "tool_call", payload)
            }
            Event::ToolResult(result, took) => tool_result(result, *took),
            Event::Compaction(step) => compaction(*step),
        })
    }

    /// A message was stored.
    pub(super) fn saved(saved: &Saved) -> Self {
        let payload = json!({ "messageId": saved.id, "parentId": saved.parent, "role": saved.role.name() });
        LogEvent::new(Level::Info, "message_saved", payload)
    }

    /// The end of a run.
    pub(super) fn end(ended: RunEnd<'_>, turns: u32, usage: Usage, took: Duration) -> Self {
        let (level, status, error) = match ended {
            RunEnd::Answered => (Level::Info, "ok", None),
            RunEnd::Failed(error) => (Level::Error, "error", Some(cut(error))),
            RunEnd::Cancelled => (Level::Notice, "cancelled", None),
        };
        let mut payload = json!({
            "status": status,
            "turns": turns,
            "tokenUsage": { "input": usage.input, "output": usage.output, "cached": usage.cached },
            "ms": milliseconds(took),
        });
        if let (Some(error), Some(payload)) = (error, payload.as_object_mut()) {
            payload.insert("error".to_owned(), Value::from(error));
        }
        LogEvent::new(level, "end", payload)
    }

    /// A count of events that the client did not read in time.
    pub(super) fn left_out(count: u64) -> Self {
        LogEvent::new(Level::Warning, "left_out", json!({ "events": count }))
    }

    /// The `data` of a log message.
    pub(super) fn data(self, run: &str) -> Value {
        let members = [
            ("event".to_owned(), Value::from(self.event)),
            ("runId".to_owned(), Value::from(run)),
            ("payload".to_owned(), self.payload),
        ];
        Value::Object(Map::from_iter(members))
    }
}

/// The known facts at the start of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunStart<'a> {
    pub(super) model: &'a str,
    pub(super) limit: Option<Duration>,
    pub(super) conversation: Option<&'a str>,
    pub(super) parent_run: Option<&'a str>,
}

/// The end of a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum RunEnd<'a> {
    Answered,
    Failed(&'a str),
    Cancelled,
}

/// The conversation is summarized, or could not be.
fn compaction(step: Compaction<'_>) -> LogEvent {
    match step {
        Compaction::Begins { tokens, window } => LogEvent::new(
            Level::Info,
            "compaction_start",
            json!({ "tokens": tokens, "contextWindow": window }),
        ),
        Compaction::Done { messages, summary } => LogEvent::new(
            Level::Info,
            "compaction_end",
            json!({ "messages": messages, "summary": cut(summary) }),
        ),
        Compaction::Failed { why } => {
            LogEvent::new(Level::Warning, "compaction_failed", json!({ "error": cut(why) }))
        }
    }
}

fn tool_result(result: &ToolResult, took: Duration) -> LogEvent {
    let level = if result.is_error { Level::Warning } else { Level::Info };
    let payload = json!({
        "toolName": result.name,
        "toolCallId": result.id,
        "isError": result.is_error,
        "ms": milliseconds(took),
        "text": cut(&result.texts()),
    });
    LogEvent::new(level, "tool_result", payload)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The value, or its cut text if it is too large.
fn bounded(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= LONGEST { value.clone() } else { Value::from(cut(&text)) }
}

#[cfg(test)]
mod tests {
    use agent::{Block, Role, ToolCall};

    use super::*;

    #[test]
    fn payloads_are_bounded() {
        let long = "ü".repeat(LONGEST + 1);
        let arguments = json!({ "text": long });
        let call = ToolCall { id: "1".into(), name: "t".into(), arguments, signatures: Vec::new() };
        let logged = LogEvent::of(&Event::ToolCall(&call)).unwrap();
        assert!(logged.payload["arguments"].as_str().is_some_and(|text| text.ends_with('…')));
        let result = ToolResult { blocks: vec![Block::text(long)], ..ToolResult::of(&call, "", true) };
        let logged = LogEvent::of(&Event::ToolResult(&result, Duration::from_millis(1500))).unwrap();
        assert_eq!((logged.level, logged.payload["ms"].as_u64()), (Level::Warning, Some(1500)));
        assert_eq!(logged.payload["text"].as_str().map(|text| text.chars().count()), Some(LONGEST + 1));
    }

    #[test]
    fn levels_reflect_the_severity_of_events() {
        assert_eq!(LogEvent::of(&Event::Thought("x")).map(|logged| logged.level), Some(Level::Debug));
        assert_eq!(LogEvent::of(&Event::Response("x")).map(|logged| logged.level), Some(Level::Info));
        let retry = Delta::Retry { attempt: 1, wait: Duration::from_secs(1), why: "429" };
        assert_eq!(LogEvent::of(&Event::Delta(retry)).map(|logged| logged.level), Some(Level::Warning));
        assert_eq!(LogEvent::of(&Event::Delta(Delta::Text("x"))), None);
        let end = |ending| LogEvent::end(ending, 1, Usage::default(), Duration::ZERO);
        assert_eq!(end(RunEnd::Failed("why")).level, Level::Error);
        assert_eq!(end(RunEnd::Answered).payload.get("error"), None);
    }

    #[test]
    fn data_identifies_the_event_and_its_run() {
        let saved = Saved { id: "m2".into(), parent: Some("m1".into()), role: Role::User };
        let data = LogEvent::saved(&saved).data("ab12cd34");
        let payload = json!({ "messageId": "m2", "parentId": "m1", "role": "user" });
        assert_eq!(data, json!({ "event": "message_saved", "runId": "ab12cd34", "payload": payload }));
    }
}
