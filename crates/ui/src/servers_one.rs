//! One server: its entry, login and pins, and its tools as it sent them last.

use config::{Permission, Server};
use gateway::pins::Difference;
use gateway::tool_count::ToolCount;
use gateway::tool_list::ToolList;
use history::{LatestCalls, Reader};
use maud::{Markup, html};

use crate::configured::{Configured, address};
use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::query::Query;
use crate::servers;
use crate::text::{breakable, counted, line, lines, time};

/// Tools on a page.
const TOOLS: usize = 500;

/// Maximum length of a description in the list, in characters.
const ABOUT: usize = 200;

/// The page of the server that the query names.
///
/// # Errors
/// If there is none, or the history can't be read.
pub(crate) fn page(
    reader: Option<&Reader>,
    configured: &Configured,
    query: &Query,
) -> Result<Document, PageError> {
    let name =
        query.get("name").ok_or_else(|| PageError::wrong("the address names no server: add ?name=NAME"))?;
    let calls = servers::latest(reader)?;
    let config = &configured.config;
    let title = line(name);
    let body = if let Some(server) = config.server(name) {
        html! {
            h1 { bdi { (title) } " " (servers::state(server, configured).markup()) }
            (facts(server, configured, &calls))
            (pins(name, configured))
            (tools(name, configured, &calls, query)?)
        }
    } else {
        let absent = config.absent.iter().find(|absent| absent.name == name);
        let absent =
            absent.ok_or_else(|| PageError::missing(format!("the configuration has no server {name:?}")))?;
        html! {
            h1 { bdi { (title) } " " (servers::absence(absent).markup()) }
            dl.facts { div { dt { "From" } dd { (servers::source(&absent.layer)) } } }
            @match &absent.wrong {
                Some(wrong) => {
                    div.error role="note" { pre tabindex="0" { bdi { (breakable(&lines(&configured.masked(&report::problems(wrong))))) } } }
                }
                None => p { "Enable it: " code { "toolsmith mcp enable " bdi { (title) } } },
            }
        }
    };
    Ok(layout::page(&format!("{title} – server"), Section::Servers, body))
}

fn facts(server: &Server, configured: &Configured, calls: &LatestCalls) -> Markup {
    let connection = &server.connection;
    let name = &connection.name;
    let list = configured.lists.get(name);
    let count =
        list.map(|list| ToolCount::of(&configured.config, &configured.known.pins, name, list).tools());
    let (login, expires) = servers::login(server);
    let none = history::ToolCalls::default();
    let seconds = |limit| mcp::limit_in_seconds(limit).to_string();
    html! {
        dl.facts {
            div { dt { "Transport" } dd { (connection.transport.name()) } }
            div { dt { "Started as" } dd { code { bdi { (breakable(&line(&configured.masked(&server.target)))) } } } }
            div { dt { "From" } dd { (servers::source(&server.layer)) } }
            (sandbox(server))
            div { dt { "Tools" } dd { (count.unwrap_or_else(|| "unknown: the server was never listed".to_owned())) } }
            div { dt { "Login" } dd {
                (login)
                @if let Some(expires) = expires {
                    ", the token expires " (time(expires))
                }
            } }
            div { dt { "Last call" } dd { (servers::last_call(calls.server(name).unwrap_or(&none))) } }
            div { dt { "Time limits" } dd {
                "connecting " (seconds(connection.connect_timeout)) " s, request " (seconds(connection.request_timeout)) " s"
            } }
        }
        @if let Some(note) = &server.note { p { (line(note)) } }
        @if list.is_none() {
            p { "Ask it for its tools: " code { "toolsmith mcp tools " bdi { (line(name)) } } }
        }
    }
}

/// The files, network and other things that a local program may use.
fn sandbox(server: &Server) -> Markup {
    html! {
        div { dt { "Sandbox" } dd {
            (servers::confinement(server))
            @if let Some(sandbox) = &server.sandbox {
                @for (what, words) in sandbox.settings.in_words() { br; (what) ": " bdi { (breakable(&line(&words))) } }
            } @else if matches!(server.connection.transport, mcp::Transport::Stdio(_)) {
                ": it runs with your rights. To confine it: "
                code { "toolsmith mcp sandbox " bdi { (line(&server.connection.name)) } " --learn" }
            }
        } }
    }
}

/// The tools as accepted with `mcp lock`, and what differs.
fn pins(name: &str, configured: &Configured) -> Markup {
    let Some(list) = configured.lists.get(name) else { return html! {} };
    let differences: Vec<Difference> =
        configured.known.pins.differences(name, list, |tool| configured.config.admits(name, tool));
    html! {
        h2 #pins { "Pins" }
        @if differences.is_empty() {
            p { "Not pinned: changed tools are used as they are. Pin them: " code { "toolsmith mcp lock" } }
        }
        @for difference in &differences {
            @let file = line(&difference.file.display().to_string());
            @if difference.is_empty() {
                p { "As accepted in " code { bdi { (file) } } "." }
            } @else {
                div.error role="note" {
                    p { "Different from " code { bdi { (file) } } ". New and changed tools are held back:" }
                    pre tabindex="0" { bdi { (lines(&configured.masked(&difference.lines().join("\n")))) } }
                    p { "Accept them: " code { "toolsmith mcp lock --accept " bdi { (line(name)) } } }
                }
            }
        }
    }
}

fn tools(
    name: &str,
    configured: &Configured,
    calls: &LatestCalls,
    query: &Query,
) -> Result<Markup, PageError> {
    let Some(list) = configured.lists.get(name) else { return Ok(html! {}) };
    let begin = query.number("from")?.and_then(|from| usize::try_from(from).ok()).unwrap_or_default();
    let mut names: Vec<&str> = list.names().collect();
    names.sort_unstable();
    let (total, next) = (names.len(), begin.saturating_add(TOOLS));
    let shown = names.into_iter().skip(begin).take(TOOLS);
    let next = (next < total).then(|| next.to_string());
    Ok(html! {
        h2 #tools { "Tools" }
        p.summary { (counted(u64::try_from(total).unwrap_or(u64::MAX), "tool")) ". " (servers::counted(calls.counted)) }
        table.list.plain {
            thead {
                tr {
                    th scope="col" { "Tool" }
                    th scope="col" { "Permission" }
                    th scope="col" { "Called by" }
                    (servers::call_headings())
                }
            }
            tbody { @for tool in shown { (row(name, tool, list, configured, calls)) } }
        }
        @if let Some(next) = &next {
            nav.paging aria-label="Paging" {
                a rel="next" href=(address("server", &[("name", name), ("from", next)])) { "More" }
            }
        }
    })
}

fn row(name: &str, tool: &str, list: &ToolList, configured: &Configured, calls: &LatestCalls) -> Markup {
    let raw = list.tool(tool).unwrap_or_default();
    let about = raw["description"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
    let about: String = configured.masked(about).chars().take(ABOUT).collect();
    html! {
        tr {
            td.title {
                a href=(address("tool", &[("server", name), ("name", tool)])) { code { bdi { (line(tool)) } } }
                @if !about.is_empty() { span.tools { bdi { (line(&about)) } } }
            }
            td data-label="Permission" { (permission(configured.config.permission(name, tool))) }
            td data-label="Called by" { (place(name, tool, list, configured)) }
            (servers::call_cells(calls.tool(name, tool)))
        }
    }
}

/// A permission as the configuration writes it.
pub(crate) fn permission(permission: Permission) -> &'static str {
    match permission {
        Permission::Allow => "allow",
        Permission::Ask => "ask",
        Permission::AskEach => "ask-each",
        Permission::Deny => "deny",
    }
}

/// Returns the path that calls a tool.
pub(crate) fn place(server: &str, tool: &str, list: &ToolList, configured: &Configured) -> &'static str {
    let config = &configured.config;
    if !config.admits(server, tool) {
        "nobody: filtered out"
    } else if configured.known.pins.held(server, list).contains(tool) {
        "nobody: held back"
    } else if list.is_for_apps(tool) {
        "apps of its user interface only"
    } else if config.is_direct(server, tool) {
        "clients, directly"
    } else {
        "snippets"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_tools_are_on_several_pages() {
        let folder = tempfile::tempdir().unwrap();
        let tools: Vec<_> =
            (0..=TOOLS).map(|n| json!({ "name": format!("t{n:04}"), "description": "x" })).collect();
        let configured = Configured::of_tools(folder.path(), &tools);
        let shown = |query: &str| {
            page(None, &configured, &Query::of(Some(query)).unwrap()).map(|page| page.whole(0).into_string())
        };
        let first = shown("name=s").unwrap();
        assert_eq!(first.matches("href=\"tool?").count(), TOOLS);
        assert!(first.contains("server?name=s&amp;from=500") && first.contains("501 tools"), "{first}");
        let rest = shown("name=s&from=500").unwrap();
        assert!(
            rest.contains("t0500") && !rest.contains("t0499") && !rest.contains("rel=\"next\""),
            "{rest}"
        );
        assert!(shown("name=other").is_err() && shown("").is_err());
    }

    #[test]
    fn secrets_and_scripts_of_a_server_are_not_on_its_page() {
        let folder = tempfile::tempdir().unwrap();
        let hostile = "<script>alert(1)</script>";
        let tools = [json!({ "name": hostile, "description": format!("{hostile} secret-of-the-server") })];
        let configured = Configured::of_tools(folder.path(), &tools);
        let shown =
            page(None, &configured, &Query::of(Some("name=s")).unwrap()).unwrap().whole(0).into_string();
        assert!(!shown.contains("<script>") && !shown.contains("secret-of"), "{shown}");
        assert!(shown.contains("&lt;script&gt;") && shown.contains("program --key ${KEY}"), "{shown}");
    }
}
