//! Decides which label a tool gets, and why.

use std::fmt;

use serde_json::Value;

use super::words::Words;

/// Verbs of tools that only answer.
const READS: &[&str] = &[
    "browse", "check", "count", "describe", "download", "export", "fetch", "find", "get", "inspect", "list",
    "lookup", "query", "read", "search", "select", "show", "view",
];

/// Verbs of tools that send something or change it.
const CHANGES: &[&str] = &[
    "add",
    "append",
    "apply",
    "approve",
    "archive",
    "assign",
    "book",
    "buy",
    "cancel",
    "click",
    "close",
    "comment",
    "commit",
    "create",
    "delete",
    "deploy",
    "drop",
    "edit",
    "execute",
    "fill",
    "forward",
    "import",
    "insert",
    "install",
    "invite",
    "merge",
    "move",
    "navigate",
    "notify",
    "order",
    "patch",
    "pay",
    "post",
    "publish",
    "push",
    "put",
    "remove",
    "rename",
    "reply",
    "reschedule",
    "reserve",
    "run",
    "save",
    "schedule",
    "send",
    "set",
    "share",
    "submit",
    "transfer",
    "type",
    "update",
    "upload",
    "upsert",
    "withdraw",
    "write",
];

/// Nouns of what reaches the network: an address can carry data.
const WEB: &[&str] =
    &["browser", "crawl", "fetch", "http", "https", "internet", "scrape", "url", "web", "webpage", "website"];

/// Nouns of what others write.
const OTHERS: &[&str] = &[
    "calendar",
    "channel",
    "chat",
    "comment",
    "discussion",
    "document",
    "drive",
    "email",
    "event",
    "feed",
    "file",
    "gmail",
    "inbox",
    "invitation",
    "issue",
    "mail",
    "message",
    "notification",
    "page",
    "post",
    "rating",
    "review",
    "slack",
    "thread",
    "ticket",
    "transaction",
    "tweet",
];

/// Nouns of what belongs to the user or to the user's customers.
const PRIVATE: &[&str] = &[
    "account",
    "balance",
    "calendar",
    "channel",
    "chat",
    "contact",
    "credential",
    "customer",
    "database",
    "db",
    "document",
    "drive",
    "email",
    "employee",
    "env",
    "environment",
    "event",
    "file",
    "filesystem",
    "gmail",
    "iban",
    "inbox",
    "invoice",
    "key",
    "mail",
    "medical",
    "memory",
    "message",
    "note",
    "order",
    "passport",
    "password",
    "patient",
    "payment",
    "postgres",
    "profile",
    "salary",
    "secret",
    "slack",
    "sql",
    "sqlite",
    "token",
    "transaction",
    "user",
];

/// A label of the section `flows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Private,
    Untrusted,
    External,
}

impl Label {
    pub(super) const ALL: [Label; 3] = [Label::Private, Label::Untrusted, Label::External];

    pub(super) fn key(self) -> &'static str {
        match self {
            Label::Private => "private",
            Label::Untrusted => "untrusted",
            Label::External => "external",
        }
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Label::Private => "Answers that must not leave.",
            Label::Untrusted => "Answers that may contain instructions of others.",
            Label::External => "Calls that leave or change the world.",
        }
    }
}

/// The reason for a label. Has no text of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// An annotation of the tool.
    Claim(&'static str),
    /// A word in the tool's name.
    Tool(&'static str),
    /// A word in the server's name.
    Server(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Claim(hint) => write!(f, "claims {hint}"),
            Reason::Tool(word) => write!(f, "named \"{word}\""),
            Reason::Server(word) => write!(f, "server named \"{word}\""),
        }
    }
}

/// The reason why a tool gets a label, if it does.
pub(super) fn reason(label: Label, server: &Words, name: &Words, tool: &Value) -> Option<Reason> {
    let claims = |hint: &str| tool["annotations"][hint].as_bool();
    let reaches_others = || (claims("openWorldHint") == Some(true)).then_some(Reason::Claim("openWorldHint"));
    let noun = |list: &[&'static str]| {
        let of_server = || server.first_noun_in(list).map(Reason::Server);
        name.first_noun_in(list).map(Reason::Tool).or_else(of_server)
    };
    let verb = name.first_in(&[READS, CHANGES].concat());
    let change = verb.filter(|verb| CHANGES.contains(verb));
    let may_destroy = claims("readOnlyHint") != Some(true) && claims("destructiveHint") == Some(true);
    let has_answer = change.is_none();
    match label {
        Label::Private => noun(PRIVATE).filter(|_| has_answer),
        Label::Untrusted => {
            reaches_others().or_else(|| noun(WEB)).or_else(|| noun(OTHERS)).filter(|_| has_answer)
        }
        Label::External => change
            .map(Reason::Tool)
            .or_else(|| may_destroy.then_some(Reason::Claim("destructiveHint")))
            .or_else(reaches_others)
            .or_else(|| noun(WEB)),
    }
}
