//! What real clients show their models, and what they do with answers: one table by the name that a client declares.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::Implementation;
use rmcp::service::RequestContext;

/// A client, as far as it matters for what it is served. What is unknown has the cautious value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientProfile {
    /// Its name for users.
    pub title: &'static str,
    /// Its `clientInfo.name`, or how that begins if a `-` and something variable follow.
    pub name: &'static str,
    /// The first version for which this row is no longer true.
    pub before: Option<[u64; 3]>,
    /// Maximum length of a tool's description that its model reads whole, in characters.
    pub description_cap: usize,
    /// How much of the instructions its model reads, in characters; 0 for nothing.
    pub instructions_shown: usize,
    /// Its own limit on one call by default, if progress does not extend it.
    pub call_limit: Option<Duration>,
    /// Whether it lists the tools again when they have changed.
    pub asks_again: bool,
    /// Whether a question reaches a person if it declares that it supports questions.
    pub has_person: Person,
    /// Whether its model reads the whole result as JSON if that is an error.
    pub prints_whole_result: bool,
    /// Whether it joins text parts without a separator.
    pub joins_text: bool,
    /// Whether it drops images.
    pub drops_images: bool,
    /// Whether its model or the model's program can reach each tool only through code of the client.
    pub code_mode: CodeMode,
}

/// Whether a client that declares questions has a person who answers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// As it declares: without a person, it declines or cancels.
    AsDeclared,
    /// A question ends the client's run.
    Never,
}

/// A client's own code mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeMode {
    /// It has none.
    None,
    /// It may be on: a program of the model gets the whole result. Otherwise the model reads structured content instead
    /// of the other content.
    Results,
    /// It may be on: a program of the model gets the structured content if there is one. Otherwise the model reads the
    /// other content, whether or not there is structured content.
    Structured,
}

/// A client of which nothing is known.
pub const UNKNOWN: ClientProfile = ClientProfile {
    title: "any other client",
    name: "",
    before: None,
    description_cap: 4_000,
    instructions_shown: 247,
    call_limit: None,
    asks_again: true,
    has_person: Person::AsDeclared,
    prints_whole_result: false,
    joins_text: false,
    drops_images: false,
    code_mode: CodeMode::None,
};

/// No limit that was found.
const WHOLE: usize = usize::MAX;

/// The known clients. The first row with the name and version is used.
pub const CLIENTS: [ClientProfile; 8] = [
    // Measured with 0.169 and 0.171: 13 of 14 models of its catalog get tools only through its own `exec`, with the first
    // 247 characters of the instructions. `tool_timeout_sec` is 300 by default. It lists tools once.
    ClientProfile {
        title: "Codex",
        name: "codex-mcp-client",
        description_cap: WHOLE,
        instructions_shown: 247,
        call_limit: Some(Duration::from_secs(300)),
        asks_again: false,
        code_mode: CodeMode::Results,
        ..UNKNOWN
    },
    // Its change log: from 2.1.84 on, descriptions and instructions are cut at 2 KB. Its programs: 2.1.295 is the last
    // version with 2 048 characters for a tool that is not deferred.
    ClientProfile { before: Some([2, 1, 296]), description_cap: 2_048, ..CLAUDE_CODE },
    CLAUDE_CODE,
    // Measured with 1.18.33. Progress extends the limit on a call. With its experimental code mode, the model's program
    // gets structured content, or the joined texts; without, the model reads structured content instead of the texts.
    ClientProfile {
        title: "opencode",
        name: "opencode",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        code_mode: CodeMode::Results,
        ..UNKNOWN
    },
    // Measured with 0.61.0: errors reach the model as the JSON of the whole result, and 600 s are the default of `timeout`.
    ClientProfile {
        title: "Gemini CLI",
        name: "gemini-cli-mcp-client",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        call_limit: Some(Duration::from_secs(600)),
        prints_whole_result: true,
        ..UNKNOWN
    },
    // Measured with 0.24.4, which appends the server's name to its own: as Gemini CLI, but it lists tools once.
    ClientProfile {
        title: "Qwen Code",
        name: "qwen-cli-mcp-client",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        call_limit: Some(Duration::from_secs(600)),
        asks_again: false,
        prints_whole_result: true,
        ..UNKNOWN
    },
    // Measured with 1.0.102: no instructions, texts joined without a separator, no images. It lists tools once.
    ClientProfile {
        title: "Copilot CLI",
        name: "copilot-cli",
        description_cap: WHOLE,
        instructions_shown: 0,
        asks_again: false,
        joins_text: true,
        drops_images: true,
        ..UNKNOWN
    },
    // Measured with 1.37.0: `goose run` declares questions, and ends at the first one. 300 s are the default of `timeout`.
    // It lists tools once.
    ClientProfile {
        title: "goose",
        name: "goose-cli",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        call_limit: Some(Duration::from_secs(300)),
        asks_again: false,
        has_person: Person::Never,
        code_mode: CodeMode::Structured,
        ..UNKNOWN
    },
];

/// Measured with 2.1.332: 4 096 characters of a tool that is not deferred. A call may last 28 hours, and 30 minutes
/// without progress.
const CLAUDE_CODE: ClientProfile = ClientProfile {
    title: "Claude Code",
    name: "claude-code",
    description_cap: 4_096,
    instructions_shown: 2_048,
    ..UNKNOWN
};

impl ClientProfile {
    /// The client with this `clientInfo.name` and version.
    pub fn of(name: &str, version: &str) -> &'static ClientProfile {
        let version = numbers(version);
        CLIENTS.iter().find(|row| row.is_named(name) && row.covers(version)).unwrap_or(&UNKNOWN)
    }

    /// The client that declares this.
    pub(crate) fn of_implementation(client: Option<&Implementation>) -> &'static ClientProfile {
        client.map_or(&UNKNOWN, |client| Self::of(&client.name, &client.version))
    }

    /// The client that sent a request.
    pub(crate) fn of_request(context: &RequestContext<RoleServer>) -> &'static ClientProfile {
        Self::of_implementation(context.client_info().as_ref())
    }

    fn is_named(&self, name: &str) -> bool {
        name.strip_prefix(self.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Whether the row is true for a version. An unreadable one may be old.
    fn covers(&self, version: Option<[u64; 3]>) -> bool {
        self.before.is_none_or(|end| version.is_none_or(|version| version < end))
    }
}

/// The three numbers of a version; what follows them does not matter.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.split(|character: char| !character.is_ascii_digit());
    let mut next = || parts.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_known_by_name_and_version() {
        for (name, version, title, cap) in [
            ("claude-code", "2.1.332", "Claude Code", 4_096),
            ("claude-code", "2.1.296-beta.1", "Claude Code", 4_096),
            ("claude-code", "2.1.295", "Claude Code", 2_048),
            ("claude-code", "1.0.12 (Claude Code)", "Claude Code", 2_048),
            ("claude-code", "unknown", "Claude Code", 2_048),
            ("codex-mcp-client", "0.171.0", "Codex", WHOLE),
            ("qwen-cli-mcp-client-toolsmith", "0.0.1", "Qwen Code", WHOLE),
            ("claude-codex", "1.0.0", "any other client", 4_000),
            ("", "", "any other client", 4_000),
        ] {
            let client = ClientProfile::of(name, version);
            assert_eq!((client.title, client.description_cap), (title, cap), "{name} {version}");
        }
    }

    #[test]
    fn every_row_can_be_found() {
        for row in &CLIENTS {
            let version =
                row.before.map_or("999999.0.0".to_owned(), |[a, b, c]| format!("{a}.{b}.{}", c - 1));
            assert_eq!(ClientProfile::of(row.name, &version), row);
        }
    }
}
