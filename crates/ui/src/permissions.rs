//! The permissions: the permanent answers of the user, and the permissions in the configuration.

use config::{Glob, Server};
use gateway::permission::{AnsweredBy, CurrentServers, InForce, Remembered, RememberedAnswer};
use maud::{Markup, html};

use crate::access::Visitor;
use crate::action::Action;
use crate::configured::{Configured, address};
use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::servers::{self, Badge};
use crate::servers_one::permission;
use crate::shown;
use crate::text::{line, time};

/// Maximum number of answers that are shown.
const ANSWERS: usize = 1_000;

/// The page.
pub(crate) fn page(configured: &Configured, visitor: &Visitor) -> Document {
    let (remembered, wrong) = Remembered::read();
    let answers = remembered.answers();
    let current = CurrentServers::of(&configured.config, &remembered, &answers, configured.lists.clone());
    let body = html! {
        h1 { "Permissions" }
        h2 #answers { "Permanent answers" }
        @if let Some(wrong) = &wrong { p.error { (line(wrong)) } }
        @if answers.is_empty() {
            p { "You have allowed no tool permanently." }
        } @else {
            p { "Take one back: " code { "toolsmith permission revoke SERVER.TOOL" } }
            (answers_table(&answers, &current, visitor))
            @if answers.len() > ANSWERS { p { "There are more: " code { "toolsmith permission list" } } }
        }
        h2 #configuration { "Configuration" }
        @if configured.config.servers.is_empty() { p { "No usable servers are configured." } }
        @else { (rules(&configured.config.servers)) }
        @if !configured.config.deny.is_empty() {
            p { "Denied for all servers (" code { "globalSettings.deny" } "): " (globs(&configured.config.deny)) }
        }
        p { "Programs are approved for their text and their tools: " a href="programs" { "all programs" } }
    };
    layout::page("Permissions", Section::Permissions, body)
}

fn answers_table(answers: &[RememberedAnswer], current: &CurrentServers<'_>, visitor: &Visitor) -> Markup {
    html! {
        table.list.plain {
            thead {
                tr {
                    th scope="col" { "Tool" }
                    th scope="col" { "State" }
                    th scope="col" { "Since" }
                    th scope="col" { "Answered at" }
                    @if visitor.may_act() { th scope="col" { span.hidden { "Take back" } } }
                }
            }
            tbody { @for answer in answers.iter().take(ANSWERS) { (answer_row(answer, current.in_force(answer), visitor)) } }
        }
    }
}

fn answer_row(answer: &RememberedAnswer, state: InForce, visitor: &Visitor) -> Markup {
    let class = if state == InForce::Yes { "good" } else { "idle" };
    html! {
        tr {
            td.title {
                a href=(address("tool", &[("server", &answer.server), ("name", &answer.tool)])) {
                    code { bdi { (line(&format!("{}.{}", answer.server, answer.tool))) } }
                }
            }
            td data-label="State" { (Badge::new(class, state.meaning()).markup()) }
            td data-label="Since" {
                @match answer.since {
                    Some(since) => (time(since)),
                    None => "unknown",
                }
            }
            td data-label="Answered at" { (answer.by.map_or("unknown", by)) }
            @if visitor.may_act() { td { (take_back_form(answer, visitor)) } }
        }
    }
}

fn take_back_form(answer: &RememberedAnswer, visitor: &Visitor) -> Markup {
    html! {
        form action="take-back" method="post" {
            (visitor.field())
            @for (name, value) in [("server", &answer.server), ("tool", &answer.tool), ("identity", &answer.reached)] {
                input type="hidden" name=(name) value=(value);
            }
            (shown::field(&digest(answer)))
            button type="submit" {
                "Take back" span.hidden { " " (line(&format!("{}.{}", answer.server, answer.tool))) }
            }
        }
    }
}

/// A digest of an answer, which differs if the user has answered again since.
fn digest(answer: &RememberedAnswer) -> String {
    let since = answer.since.map_or_else(String::new, |since| since.to_string());
    shown::digest(&[
        &answer.server,
        &answer.tool,
        &answer.reached,
        &answer.hash,
        &since,
        answer.by.map_or("", by),
    ])
}

/// Takes back the answer that a form names, so that the user is asked again.
///
/// # Errors
/// If there is no such answer, it is not the one that the form showed, or the file can't be written.
pub(crate) fn take_back(action: &Action) -> Result<(), PageError> {
    let (server, tool) = (action.required("server")?, action.required("tool")?);
    let identity = action.required("identity")?;
    let (mut remembered, wrong) = Remembered::read();
    if let Some(wrong) = wrong {
        return Err(PageError::failed(wrong));
    }
    let is_named = |answer: &RememberedAnswer| {
        answer.server == server && answer.tool == tool && answer.reached == identity
    };
    let taken = remembered.take_back(|answer| is_named(answer) && shown::is_of(action, &digest(answer)))?;
    if taken.is_empty() && remembered.answers().iter().any(is_named) {
        return Err(shown::differs(&format!("the answer about {server}.{tool}")));
    }
    if taken.is_empty() {
        return Err(PageError::missing(format!(
            "no permanent answer is about {server}.{tool}; it was taken back before"
        )));
    }
    Ok(())
}

fn by(by: AnsweredBy) -> &'static str {
    match by {
        AnsweredBy::Terminal => "the terminal",
        AnsweredBy::Client => "a client",
        AnsweredBy::Page => "this page",
    }
}

/// The rules of each server, in the order in which they are tried.
fn rules(servers: &[Server]) -> Markup {
    html! {
        table.list.plain {
            thead {
                tr {
                    th scope="col" { "Server" }
                    th scope="col" { "Tools" }
                    th scope="col" { "Permission" }
                    th scope="col" { "From" }
                }
            }
            tbody {
                @for server in servers {
                    @for (glob, rule) in &server.permissions.rules {
                        (rule_row(server, glob.text(), permission(*rule)))
                    }
                    @let rest = if server.permissions.rules.is_empty() { "all" } else { "all others" };
                    (rule_row(server, rest, permission(server.permissions.otherwise)))
                }
            }
        }
    }
}

fn rule_row(server: &Server, tools: &str, permission: &str) -> Markup {
    let name = &server.connection.name;
    html! {
        tr {
            td.title { a href=(address("server", &[("name", name)])) { bdi { (line(name)) } } }
            td.arguments data-label="Tools" { bdi { (line(tools)) } }
            td data-label="Permission" { (permission) }
            td.arguments data-label="From" { (servers::source(&server.layer)) }
        }
    }
}

fn globs(globs: &[Glob]) -> Markup {
    html! { ul.names { @for glob in globs { li { code { bdi { (line(glob.text())) } } } } } }
}
