//! The refusal of a call, as text and as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use flows::{Flow, FlowScope};
use report::{Kind, Report};
use runner::FailureKind;
use serde_json::{Value, json};

use super::question::QUESTION_TOOLS;
use super::requested_tool::RequestedTool;

/// Maximum tools named in a refusal's message; its evidence names all.
const TOOLS_NAMED: usize = 10;

/// A refused call or program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The tools, as `server.tool`.
    pub(crate) tools: Vec<String>,
    pub(crate) reason: Reason,
    /// The flows because of which a call was refused; empty if it needed permission without them.
    flows: Vec<Flow>,
    /// How long the answers count that were received.
    scope: FlowScope,
}

/// The reason for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The configuration denies it.
    Configuration,
    /// The user must be asked, but there is no terminal.
    NoTerminal,
    /// The user must be asked, but the client does not support elicitation.
    NoElicitation,
    /// The user must be asked, but the program that uses this as a library does not ask.
    NoCallback,
    /// The user refused.
    Refused,
    /// The client declined or cancelled the question, perhaps without its user.
    Declined,
    /// There are too many tools for one question.
    TooMany,
    /// The question was not answered within this time.
    Late(Duration),
    /// The question was not answered on the page of this process within this time.
    LateOnPage(Duration),
    /// Too many questions are already open.
    Busy,
}

impl Refusal {
    pub(super) fn of(tools: &[RequestedTool], reason: Reason) -> Self {
        let tools = tools.iter().map(RequestedTool::name).collect();
        Refusal { tools, reason, flows: Vec::new(), scope: FlowScope::default() }
    }

    /// The refusal of a call because of these flows.
    pub(super) fn of_flows(tool: &RequestedTool, reason: Reason, flows: Vec<Flow>, scope: FlowScope) -> Self {
        Refusal { flows, scope, ..Refusal::of(std::slice::from_ref(tool), reason) }
    }

    /// The flows because of which a call was refused.
    pub(super) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The kind of failure of the refused call.
    pub(crate) fn kind(&self) -> FailureKind {
        if self.flows.is_empty() { FailureKind::Denied } else { FailureKind::Flow }
    }

    /// Describes the refusal and its reason, with a fix.
    pub fn report(&self) -> Report {
        let shown = self.shown();
        let more = self.tools.len().saturating_sub(TOOLS_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = format!("{}{more}", shown.join(", "));
        let message = match self.reason {
            _ if !self.flows.is_empty() => format!("{names}: {}", self.why()),
            Reason::Configuration => format!("the configuration denies {names}"),
            Reason::Refused => format!("permission to call {names} was refused"),
            _ => format!("{names}: {}", self.why()),
        };
        self.hints(&shown).into_iter().fold(Report::new(Kind::Denied, message), Report::hint)
    }

    /// Describes the reason for refusing a call, with a fix, for readers who know which call it is.
    pub(crate) fn report_of_call(&self) -> Report {
        self.hints(&self.shown()).into_iter().fold(Report::new(Kind::Denied, self.why()), Report::hint)
    }

    /// The names of the tools, at most [`TOOLS_NAMED`].
    fn shown(&self) -> Vec<String> {
        self.tools.iter().take(TOOLS_NAMED).map(|name| printable::name(name).to_string()).collect()
    }

    /// The reason, without the tools.
    fn why(&self) -> String {
        match self.flows.is_empty() {
            true => self.why_not("permission is required"),
            false => {
                let (holder, sources) = (self.holder(), flows::sources(&self.flows));
                let required =
                    format!("the {holder} has received answers of {sources}, so permission is required");
                self.why_not(&required)
            }
        }
    }

    /// The holder of the answers that were received.
    fn holder(&self) -> &'static str {
        match self.scope {
            FlowScope::Program => "program",
            FlowScope::Session => "session",
        }
    }

    fn why_not(&self, required: &str) -> String {
        match self.reason {
            Reason::Configuration if !self.flows.is_empty() => {
                let (holder, sources) = (self.holder(), flows::sources(&self.flows));
                format!(
                    "the configuration denies it after answers of {sources}, which the {holder} has received"
                )
            }
            Reason::Configuration => "the configuration denies it".to_owned(),
            Reason::NoTerminal => format!("{required}, but there is no terminal to ask on"),
            Reason::NoElicitation => format!("{required}, but the user can't be asked through this client"),
            Reason::NoCallback => format!("{required}, but this program asks nobody"),
            Reason::Refused if !self.flows.is_empty() => format!("{required}, and the user refused it"),
            Reason::Refused => "the user refused permission".to_owned(),
            Reason::Declined => format!("{required}, and the client declined the question or cancelled it"),
            Reason::Late(limit) => format!(
                "the permission question got no answer within {} s (serve.questionTimeout)",
                limit.as_secs_f64()
            ),
            Reason::LateOnPage(limit) => format!(
                "the permission question got no answer within {} s (serve.questionTimeout) on the page of `toolsmith \
                 serve --ui`, where it was asked because this client does not support elicitation",
                limit.as_secs_f64()
            ),
            Reason::Busy => {
                format!(
                    "busy: {required}, but too many questions are already open; answer those, or try again later"
                )
            }
            Reason::TooMany => {
                format!("more than {QUESTION_TOOLS} tools need permission, too many for one question")
            }
        }
    }

    /// Describes how the user allows the tools, of which these names are shown.
    fn hints(&self, shown: &[String]) -> Vec<String> {
        if !self.flows.is_empty() {
            return self.hints_on_flows();
        }
        let allow: Vec<String> = shown.iter().map(|name| format!("--allow '{name}'")).collect();
        let allow = allow.join(" ");
        match self.reason {
            Reason::NoTerminal | Reason::TooMany => {
                let more = if self.tools.len() > shown.len() { " …" } else { "" };
                vec![format!(
                    "allow it with {allow}{more}, or with `trust: true` or `permissions` in the server's entry"
                )]
            }
            Reason::NoElicitation => vec![
                self.lines(),
                format!("or start the server with {allow}"),
                "or start it with --ui --allow-actions, and answer its questions on a page in your browser"
                    .to_owned(),
            ],
            Reason::Declined => vec![self.lines(), format!("or start the server with {allow}")],
            Reason::NoCallback => {
                let allow: Vec<String> = shown.iter().map(|name| format!(".allow({name:?})")).collect();
                vec![format!(
                    "build it with {}, or with .permission(…) to decide at each question",
                    allow.concat()
                )]
            }
            Reason::Late(_) | Reason::LateOnPage(_) => vec![
                "try again when the user can answer, or increase serve.questionTimeout".to_owned(),
                self.lines(),
            ],
            Reason::Configuration | Reason::Refused | Reason::Busy => Vec::new(),
        }
    }

    fn hints_on_flows(&self) -> Vec<String> {
        let place = match self.scope {
            FlowScope::Program => "another program",
            FlowScope::Session => "a new session",
        };
        let apart = format!("call it before those tools, or in {place} that does not call them");
        let later = "try again when the user can answer, or increase serve.questionTimeout".to_owned();
        match self.reason {
            Reason::Configuration | Reason::Refused | Reason::Busy | Reason::TooMany => vec![apart],
            Reason::NoTerminal | Reason::NoElicitation | Reason::NoCallback | Reason::Declined => {
                vec![apart, self.lines()]
            }
            Reason::Late(_) | Reason::LateOnPage(_) => vec![later, self.lines()],
        }
    }

    /// The hint with the configuration lines.
    fn lines(&self) -> String {
        format!("to allow it without a question, add to the configuration:\n{}", self.entries())
    }

    /// Configuration lines that allow the tools.
    pub(crate) fn entries(&self) -> String {
        if !self.flows.is_empty() {
            return self.rule();
        }
        let mut servers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for name in self.tools.iter().take(TOOLS_NAMED) {
            // Names of servers have no dots.
            let (server, tool) = name.split_once('.').unwrap_or((name, "*"));
            servers.entry(server).or_default().push(format!("{}: allow", json!(tool)));
        }
        let lines = servers.iter().map(|(server, tools)| {
            format!("  {server}: {{ permissions: {{ {} }} }}", printable::exact(&tools.join(", ")))
        });
        format!("mcpServers:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }

    /// The configuration line that allows the flows.
    fn rule(&self) -> String {
        let from: Vec<&str> = self.flows.iter().take(TOOLS_NAMED).map(|flow| flow.from.as_str()).collect();
        let rule = format!("{{ from: {}, to: {}, then: allow }}", json!(from), json!(self.tools));
        format!("flows: {{ rules: [{}] }}", printable::exact(&rule))
    }

    /// The refusal as JSON.
    pub(crate) fn evidence(&self) -> Value {
        let reason = match self.reason {
            Reason::Configuration => "configuration",
            Reason::NoTerminal => "no_terminal",
            Reason::NoElicitation => "no_elicitation",
            Reason::NoCallback => "no_callback",
            Reason::Refused => "refused",
            Reason::Declined => "declined",
            Reason::TooMany => "too_many",
            Reason::Late(_) | Reason::LateOnPage(_) => "unanswered",
            Reason::Busy => "busy",
        };
        let mut evidence = json!({ "tools": self.tools, "reason": reason });
        if !self.flows.is_empty() {
            evidence["flows"] = self.flows.iter().map(|flow| json!([flow.from, flow.to])).collect();
        }
        evidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASONS: [(Reason, &str); 10] = [
        (Reason::Configuration, "configuration"),
        (Reason::NoTerminal, "no_terminal"),
        (Reason::NoElicitation, "no_elicitation"),
        (Reason::NoCallback, "no_callback"),
        (Reason::Refused, "refused"),
        (Reason::Declined, "declined"),
        (Reason::TooMany, "too_many"),
        (Reason::Late(Duration::from_secs(7)), "unanswered"),
        (Reason::LateOnPage(Duration::from_secs(7)), "unanswered"),
        (Reason::Busy, "busy"),
    ];

    fn refusal(count: usize, reason: Reason) -> Refusal {
        let tools: Vec<RequestedTool> =
            (0..count).map(|number| RequestedTool::new("s", &format!("t{number}"), None)).collect();
        Refusal::of(&tools, reason)
    }

    #[test]
    fn a_refusal_names_its_reason_and_all_tools_in_its_evidence() {
        for (reason, word) in REASONS {
            let evidence = refusal(TOOLS_NAMED + 2, reason).evidence();
            assert_eq!(evidence["reason"], word);
            assert_eq!(evidence["tools"].as_array().map(Vec::len), Some(TOOLS_NAMED + 2));
        }
    }

    #[test]
    fn a_message_names_ten_tools_and_counts_the_others() {
        for (reason, _) in REASONS {
            let message = refusal(TOOLS_NAMED, reason).report().for_model();
            assert!(message.contains("s.t0, ") && message.contains("s.t9"), "{message}");
            assert!(!message.contains("more tools") || reason == Reason::TooMany, "{message}");
            assert!(!message.contains(" and ") || !message.contains(" more:"), "{message}");
            let message = refusal(TOOLS_NAMED + 2, reason).report().for_model();
            assert!(message.contains("s.t9 and 2 more") && !message.contains("s.t10"), "{message}");
        }
        let ends = |count| refusal(count, Reason::NoTerminal).report().for_model().contains("'s.t9' …");
        assert_eq!([ends(TOOLS_NAMED), ends(TOOLS_NAMED + 1)], [false, true]);
    }

    #[test]
    fn a_message_says_how_to_allow_the_tools() {
        for (reason, advice) in [
            (Reason::NoTerminal, "--allow 's.t0' --allow 's.t1',"),
            (Reason::TooMany, "--allow 's.t0' --allow 's.t1',"),
            (Reason::NoElicitation, "mcpServers:\n  s: { permissions: { \"t0\": allow, \"t1\": allow } }\n"),
            (Reason::Declined, "mcpServers:\n  s: { permissions: { \"t0\": allow, \"t1\": allow } }\n"),
            (Reason::Late(Duration::from_millis(1_500)), "within 1.5 s"),
            (Reason::Busy, "try again later"),
        ] {
            let message = refusal(2, reason).report().for_model();
            assert!(message.contains(advice), "{message}");
        }
    }
}
