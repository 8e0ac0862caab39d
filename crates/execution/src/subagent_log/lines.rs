//! Formats events of subagents as lines for the user.

use agent::{EventKind, SubagentEvent};

/// Maximum length of a payload in one line, in characters.
const SHORT: usize = 160;

/// An event in one line, or followed by its whole payload if `verbose`; without a line end.
pub(super) fn lines(event: &SubagentEvent, verbose: bool) -> String {
    let who = format!("[{} {}]", event.subagent_name, event.subagent_run_id);
    let (what, payload) = (what(event), event.payload.trim());
    if payload.is_empty() {
        return format!("{who} {what}");
    }
    if verbose {
        let indented = payload.lines().map(|line| format!("\n{who}   {line}"));
        return format!("{who} {what}{}", indented.collect::<String>());
    }
    format!("{who} {what}: {}", short(payload))
}

fn what(event: &SubagentEvent) -> String {
    let tool = event.tool_name.as_deref().unwrap_or("a tool");
    let cost = || {
        let usage = event.token_usage?;
        Some(format!(" ({} tokens read, {} written)", usage.input, usage.output))
    };
    match (event.kind, event.is_error) {
        (EventKind::SubagentStart, _) => "begins".to_owned(),
        (EventKind::SubagentEnd, false) => format!("is done{}", cost().unwrap_or_default()),
        (EventKind::SubagentEnd, true) => format!("has failed{}", cost().unwrap_or_default()),
        (EventKind::ToolCall, _) => format!("calls {tool}"),
        (EventKind::ToolResult, false) => format!("{tool} answers"),
        (EventKind::ToolResult, true) => format!("{tool} fails"),
        (EventKind::ThoughtTrace, _) => "thinks".to_owned(),
    }
}

/// The beginning of a payload, in one line.
fn short(payload: &str) -> String {
    let line = payload.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use agent::Usage;

    use super::*;

    fn event(kind: EventKind, payload: &str) -> SubagentEvent {
        SubagentEvent {
            kind,
            subagent_name: "reviewer".to_owned(),
            subagent_run_id: "ab12".to_owned(),
            parent_run_id: None,
            timestamp: String::new(),
            tool_name: Some("read".to_owned()),
            tool_call_id: None,
            payload: payload.to_owned(),
            is_error: false,
            execution_timeout_seconds: None,
            token_usage: Some(Usage { input: 10, output: 2, cached: 0 }),
        }
    }

    #[test]
    fn an_event_is_one_line_unless_verbose() {
        let called = event(EventKind::ToolCall, "{\n  \"path\": \"a\"\n}");
        assert_eq!(lines(&called, false), "[reviewer ab12] calls read: { \"path\": \"a\" }");
        assert_eq!(
            lines(&called, true),
            "[reviewer ab12] calls read\n[reviewer ab12]   {\n[reviewer ab12]     \"path\": \"a\"\n[reviewer ab12]   }"
        );
        let ended = event(EventKind::SubagentEnd, "");
        assert_eq!(lines(&ended, false), "[reviewer ab12] is done (10 tokens read, 2 written)");
        let long = lines(&event(EventKind::ThoughtTrace, &"ü ".repeat(500)), false);
        assert!(long.ends_with('…') && long.chars().count() < 200, "{long}");
    }
}
