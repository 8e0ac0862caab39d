//! Why a call may not be made, in words and for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::question::QUESTION_TOOLS;
use super::requested_tool::RequestedTool;

/// Most tools that a refusal's message names; its evidence names all.
const TOOLS_TOLD: usize = 10;

/// Why a call may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The tools, as `server.tool`.
    pub(crate) tools: Vec<String>,
    pub(crate) reason: Reason,
}

/// Who refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The configuration denies it.
    Configuration,
    /// Somebody must be asked, and there is nobody.
    NoTerminal,
    /// Somebody must be asked, and the client has no elicitation to do so.
    NoElicitation,
    /// A person said no.
    Person,
    /// There are too many tools for a question.
    TooMany,
    /// Nobody answered within this time.
    Late(Duration),
    /// Too many questions are open already.
    Busy,
}

impl Refusal {
    pub(super) fn of(tools: &[RequestedTool], reason: Reason) -> Self {
        Refusal { tools: tools.iter().map(RequestedTool::name).collect(), reason }
    }

    /// In words for a person or a model, with what to do.
    pub fn message(&self) -> String {
        let shown: Vec<String> =
            self.tools.iter().take(TOOLS_TOLD).map(|name| printable::name(name)).collect();
        let more = self.tools.len().saturating_sub(TOOLS_TOLD);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = format!("{}{more}", shown.join(", "));
        let allow: Vec<String> = shown.iter().map(|name| format!("--allow '{name}'")).collect();
        let help = format!(
            "\nhelp: allow it with {}{}, or in the configuration with `trust: true` or `permissions` of the server",
            allow.join(" "),
            if more.is_empty() { "" } else { " …" }
        );
        match self.reason {
            Reason::Configuration => format!("the configuration denies {names}"),
            Reason::NoTerminal => {
                format!("{names}: permission must be asked for, and there is no terminal to ask on{help}")
            }
            Reason::NoElicitation => {
                let entries = self.entries();
                format!(
                    "{names}: permission must be asked for, and this client has no elicitation to ask a person by\n\
                     help: if you agree to it, add to the configuration:\n{entries}\n\
                     help: or start the server with {}",
                    allow.join(" ")
                )
            }
            Reason::Person => format!("permission to call {names} was refused"),
            Reason::Late(limit) => format!(
                "{names}: nobody answered the question for permission within {} s (serve.questionTimeout)\n\
                 help: try again when somebody can answer, set serve.questionTimeout to more seconds, or allow it in \
                 the configuration with `trust: true` or `permissions` of the server",
                limit.as_secs_f64()
            ),
            Reason::Busy => format!(
                "{names}: busy: permission must be asked for, and too many questions are open already; answer those, or \
                 try again later"
            ),
            Reason::TooMany => {
                format!(
                    "{names}: more than {QUESTION_TOOLS} tools need permission, too many for a question{help}"
                )
            }
        }
    }

    /// The lines of a configuration that allow the tools.
    pub(crate) fn entries(&self) -> String {
        let mut servers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for name in self.tools.iter().take(TOOLS_TOLD) {
            // Names of servers have no dots.
            let (server, tool) = name.split_once('.').unwrap_or((name, "*"));
            servers.entry(server).or_default().push(format!("{}: allow", json!(tool)));
        }
        let lines = servers.iter().map(|(server, tools)| {
            format!("  {server}: {{ permissions: {{ {} }} }}", printable::exact(&tools.join(", ")))
        });
        format!("mcpServers:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }

    /// The same for programs.
    pub(crate) fn evidence(&self) -> Value {
        let reason = match self.reason {
            Reason::Configuration => "configuration",
            Reason::NoTerminal => "no_terminal",
            Reason::NoElicitation => "no_elicitation",
            Reason::Person => "refused",
            Reason::TooMany => "too_many",
            Reason::Late(_) => "unanswered",
            Reason::Busy => "busy",
        };
        json!({ "tools": self.tools, "reason": reason })
    }
}
