//! A table of real clients, by the name that they declare: what they show their models, and do with answers.

use std::time::Duration;

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
    /// The part of the instructions that its model reads, in characters; 0 for nothing.
    pub instructions_shown: usize,
    /// Its own limit on one call by default: on all of it, or on its time without progress.
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
    /// Whether its model may have only `exec`, in which `ALL_TOOLS` lists the tools and `tools` has them as functions.
    pub has_exec: bool,
    /// Whether structured content serves it: the code of its model gets that, and its model reads the texts anyway.
    pub takes_structured: bool,
}

/// Whether a client that declares questions has a person who answers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// As it declares: without a person, it declines or cancels.
    AsDeclared,
    /// A question ends the client's run.
    Never,
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
    has_exec: false,
    takes_structured: false,
};

/// No limit that was found.
pub const WHOLE: usize = usize::MAX;

/// The known clients. The first row with the name and version is used.
pub const CLIENTS: [ClientProfile; 9] = [
    // The models of `ask` and `chat`, or another process of this program.
    ClientProfile {
        title: "Toolsmith",
        name: "toolsmith",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        ..UNKNOWN
    },
    // Measured with 0.169 and 0.171: 13 of 14 models of its catalog get tools only through its own `exec`, with the
    // first 247 characters of the instructions. `tool_timeout_sec` is 300 by default. It lists tools once. A model
    // reads structured content instead of texts; code in `exec` gets `content`, `structuredContent` and `isError`. If
    // a server takes longer than about 1 s to list its tools and is not `required`, the first request lacks them.
    ClientProfile {
        title: "Codex",
        name: "codex-mcp-client",
        description_cap: WHOLE,
        instructions_shown: 247,
        call_limit: Some(Duration::from_secs(300)),
        asks_again: false,
        has_exec: true,
        ..UNKNOWN
    },
    // Its change log: from 2.1.84 on, descriptions and instructions are cut at 2 KB. Its programs: 2.1.295 is the last
    // version with 2 048 characters for a tool that is not deferred.
    ClientProfile { before: Some([2, 1, 296]), description_cap: 2_048, ..CLAUDE_CODE },
    CLAUDE_CODE,
    // Measured with 1.18.33. Progress extends the limit on a call. A model reads structured content instead of texts.
    ClientProfile {
        title: "opencode",
        name: "opencode",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        ..UNKNOWN
    },
    // Measured with 0.61.0: errors reach the model as the JSON of the whole result. 600 s are the default of `timeout`.
    ClientProfile {
        title: "Gemini CLI",
        name: "gemini-cli-mcp-client",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        call_limit: Some(Duration::from_secs(600)),
        prints_whole_result: true,
        ..UNKNOWN
    },
    // Measured with 0.24.4, which appends the server's name to its own: as Gemini CLI, but it lists tools once, and
    // ends a call after 300 s without progress, whatever its `timeout` is.
    ClientProfile {
        title: "Qwen Code",
        name: "qwen-cli-mcp-client",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        call_limit: Some(Duration::from_secs(300)),
        asks_again: false,
        prints_whole_result: true,
        ..UNKNOWN
    },
    // Measured with 1.0.102: no instructions, texts joined without a separator, no images. It lists tools once. Its
    // users report that it ends a call after 180 s.
    ClientProfile {
        title: "Copilot CLI",
        name: "copilot-cli",
        description_cap: WHOLE,
        instructions_shown: 0,
        call_limit: Some(Duration::from_secs(180)),
        asks_again: false,
        joins_text: true,
        drops_images: true,
        ..UNKNOWN
    },
    // Measured with 1.37.0: `goose run` declares questions, and ends at the first one. 300 s are the default of
    // `timeout`. It lists tools once. The code of its model gets structured content as an object, otherwise the texts
    // as a string; a model that calls the tool itself reads the texts in both cases.
    ClientProfile {
        title: "goose",
        name: "goose-cli",
        description_cap: WHOLE,
        instructions_shown: WHOLE,
        call_limit: Some(Duration::from_secs(300)),
        asks_again: false,
        has_person: Person::Never,
        takes_structured: true,
        ..UNKNOWN
    },
];

/// Measured with 2.1.332: 4 096 characters of a tool that is not deferred. `claude -p` lists tools once. A call may
/// last 28 hours, and 30 minutes without progress.
const CLAUDE_CODE: ClientProfile = ClientProfile {
    title: "Claude Code",
    name: "claude-code",
    description_cap: 4_096,
    instructions_shown: 2_048,
    call_limit: Some(Duration::from_secs(1_800)),
    asks_again: false,
    ..UNKNOWN
};

impl ClientProfile {
    /// The client with this `clientInfo.name` and version.
    pub fn of(name: &str, version: &str) -> &'static ClientProfile {
        let version = numbers(version);
        CLIENTS.iter().find(|row| row.is_named(name) && row.covers(version)).unwrap_or(&UNKNOWN)
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
            assert!(row.description_cap >= 2_000, "the fixed texts of a description need as much");
        }
    }

    /// The row of a client in docs/clients.md.
    fn documented(client: &ClientProfile) -> String {
        let characters = |count: usize| match count {
            0 => "none".to_owned(),
            WHOLE => "whole".to_owned(),
            count => count.to_string(),
        };
        let before = client.before.map(|[a, b, c]| format!(" before {a}.{b}.{c}")).unwrap_or_default();
        let list = if client.asks_again { "as servers become ready" } else { "once" };
        let limit = client.call_limit.map_or("none".to_owned(), |limit| format!("{} s", limit.as_secs()));
        let answers = [
            (client.prints_whole_result, "errors without the outcome in `_meta`"),
            (client.joins_text, "all texts in one part"),
            (client.drops_images, "the place of each image in words"),
            (client.takes_structured, "the outcome as structured content"),
        ];
        let answers: Vec<&str> = answers.iter().filter(|(is_so, _)| *is_so).map(|(_, text)| *text).collect();
        format!(
            "| {}{before} | {} | {} | {list} | {limit} | {} |",
            client.title,
            characters(client.description_cap),
            characters(client.instructions_shown),
            answers.join(", "),
        )
    }

    /// With `UPDATE_DOCS=1`, writes the table.
    #[test]
    fn the_documentation_lists_every_client() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/clients.md");
        let text = std::fs::read_to_string(page).unwrap();
        let head = "| client | description | instructions | list | limit | answers |\n\
                    | --- | --- | --- | --- | --- | --- |\n";
        let (before, table) = text.split_once(head).unwrap();
        let rest: String =
            table.lines().skip_while(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
        let rows = CLIENTS.iter().filter(|client| client.name != "toolsmith").chain([&UNKNOWN]);
        let rows: String = rows.map(|client| documented(client) + "\n").collect();
        let expected = format!("{before}{head}{rows}{rest}");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(page, &expected).unwrap();
        }
        assert_eq!(std::fs::read_to_string(page).unwrap(), expected, "run this test with UPDATE_DOCS=1");
    }
}
