//! The servers of the configuration: their state, and how their tools were called lately.

use config::{Absent, ConfigLayer, Server};
use gateway::tool_count::ToolCount;
use history::shown::duration;
use history::{LatestCalls, Reader, ToolCalls};
use maud::{Markup, html};

use crate::configured::{Configured, address};
use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::text::{breakable, count, line, time};

/// The number of calls that are counted.
const CALLS: u32 = 50_000;

/// The page.
///
/// # Errors
/// If the history can't be read.
pub(crate) fn page(reader: Option<&Reader>, configured: &Configured) -> Result<Document, PageError> {
    let calls = latest(reader)?;
    let config = &configured.config;
    let mut rows: Vec<(&str, Markup)> = config
        .servers
        .iter()
        .map(|server| (server.connection.name.as_str(), usable(server, configured, &calls)))
        .collect();
    rows.extend(config.absent.iter().map(|absent| (absent.name.as_str(), unusable(absent, &calls))));
    rows.sort_by_key(|(name, _)| *name);
    let body = html! {
        h1 { "Servers" }
        @if let Some(why) = &config.untrusted { p.error { (line(why)) } }
        @if let Some(place) = &config.switched_off { p.error { "All servers are switched off in " (line(place)) "." } }
        @if rows.is_empty() {
            p { "No servers are configured. Add one: " code { "toolsmith mcp add" } }
        } @else {
            p.summary { (counted(calls.counted)) }
            table.list.plain {
                thead {
                    tr {
                        th scope="col" { "Server" }
                        th scope="col" { "State" }
                        th scope="col" { "Transport" }
                        th scope="col" { "Sandbox" }
                        th scope="col" { "From" }
                        th.number scope="col" { "Tools" }
                        th scope="col" { "Login" }
                        (call_headings())
                    }
                }
                tbody { @for (_, row) in &rows { (row) } }
            }
        }
    };
    Ok(layout::page("Servers", Section::Servers, body))
}

/// Reads the latest calls of the tools.
///
/// # Errors
/// If the history can't be read.
pub(crate) fn latest(reader: Option<&Reader>) -> Result<LatestCalls, PageError> {
    Ok(reader.map(|reader| reader.latest_calls(CALLS)).transpose()?.unwrap_or_default())
}

/// Names the calls that the numbers count.
pub(crate) fn counted(calls: usize) -> String {
    let shown = count(u64::try_from(calls).unwrap_or(u64::MAX));
    match u32::try_from(calls) {
        Ok(0) => "The history has no calls yet.".to_owned(),
        Ok(CALLS) => format!("Calls: the latest {shown} of the history."),
        _ => format!("Calls: all {shown} of the history."),
    }
}

/// The source of a server's entry.
pub(crate) fn source(layer: &ConfigLayer) -> String {
    match layer.file() {
        Some(file) => line(&format!("{} {}", layer.name(), file.display())),
        None => layer.name().to_owned(),
    }
}

/// The headings of [`call_cells`].
pub(crate) fn call_headings() -> Markup {
    html! {
        th.number scope="col" { "Calls" }
        th.number scope="col" { "Failures" }
        th.number scope="col" { "Median" }
        th.number scope="col" { "95 %" }
        th scope="col" { "Last call" }
    }
}

/// Shows the number of calls and their duration.
pub(crate) fn call_cells(calls: Option<&ToolCalls>) -> Markup {
    let none = ToolCalls::default();
    let calls = calls.unwrap_or(&none);
    html! {
        td.number data-label="Calls" { (count(calls.calls)) }
        td.number data-label="Failures" { (count(calls.failures)) }
        td.number data-label="Median" { (calls.p50_ms.map(duration).unwrap_or_default()) }
        td.number data-label="95 %" { (calls.p95_ms.map(duration).unwrap_or_default()) }
        td data-label="Last call" { (last_call(calls)) }
    }
}

/// The latest call, with its execution.
pub(crate) fn last_call(calls: &ToolCalls) -> Markup {
    let Some(last) = &calls.last else { return html! { "none" } };
    html! {
        a href=(address("execution", &[("id", &last.execution)])) { (time(last.begun)) }
        @if let Some(error) = &last.error { " " span.failed { (line(&error.replace('_', " "))) } }
    }
}

/// A state in a few words, with the class of its colour.
#[derive(Clone, Copy)]
pub(crate) struct Badge {
    class: &'static str,
    words: &'static str,
}

impl Badge {
    pub(crate) fn new(class: &'static str, words: &'static str) -> Self {
        Badge { class, words }
    }

    pub(crate) fn markup(self) -> Markup {
        html! { span class=(format!("badge {}", self.class)) { (self.words) } }
    }
}

/// The state of a usable server.
pub(crate) fn state(server: &Server, configured: &Configured) -> Badge {
    let name = &server.connection.name;
    let Some(list) = configured.lists.get(name) else { return Badge::new("idle", "enabled, never listed") };
    if configured.known.pins.held(name, list).is_empty() {
        Badge::new("good", "enabled")
    } else {
        Badge::new("busy", "tools held back")
    }
}

/// The state of an entry that can't be used.
pub(crate) fn absence(absent: &Absent) -> Badge {
    if absent.wrong.is_some() { Badge::new("bad", "invalid") } else { Badge::new("idle", "disabled") }
}

fn usable(server: &Server, configured: &Configured, calls: &LatestCalls) -> Markup {
    let connection = &server.connection;
    let name = &connection.name;
    let pins = &configured.known.pins;
    let tools = configured.lists.get(name).map(|list| ToolCount::of(&configured.config, pins, name, list));
    let (login, _) = login(server);
    html! {
        tr {
            td.title { (link(name)) }
            td data-label="State" { (state(server, configured).markup()) }
            td data-label="Transport" { (connection.transport.name()) }
            td data-label="Sandbox" { (confinement(server)) }
            td.arguments data-label="From" { (breakable(&source(&server.layer))) }
            td.number data-label="Tools" { (tools.map_or_else(|| "unknown".to_owned(), |tools| tools.to_string())) }
            td data-label="Login" { (login) }
            (call_cells(calls.server(name)))
        }
    }
}

fn unusable(absent: &Absent, calls: &LatestCalls) -> Markup {
    html! {
        tr {
            td.title { (link(&absent.name)) }
            td data-label="State" { (absence(absent).markup()) }
            td data-label="Transport" { (absent.transport.unwrap_or("unknown")) }
            td data-label="Sandbox" { "–" }
            td.arguments data-label="From" { (breakable(&source(&absent.layer))) }
            td.number data-label="Tools" { "–" }
            td data-label="Login" { "–" }
            (call_cells(calls.server(&absent.name)))
        }
    }
}

/// Whether a server is confined, in a few words.
pub(crate) fn confinement(server: &Server) -> &'static str {
    match (&server.connection.transport, &server.sandbox) {
        (mcp::Transport::Stdio(_), Some(_)) => "confined",
        (mcp::Transport::Stdio(_), None) => "not confined",
        _ => "–",
    }
}

fn link(name: &str) -> Markup {
    html! { a href=(address("server", &[("name", name)])) { bdi { (line(name)) } } }
}

/// Whether a login is kept, in a few words, and when it expires. Tokens are never shown.
pub(crate) fn login(server: &Server) -> (String, Option<i64>) {
    match mcp::kept_login(&server.connection) {
        Ok(None) => ("none".to_owned(), None),
        Ok(Some(kept)) => {
            let expires =
                kept.expires.and_then(|at| i64::try_from(at).ok()).map(|at| at.saturating_mul(1_000));
            let words = if kept.is_renewed { "kept, renewed by itself" } else { "kept" };
            (words.to_owned(), expires)
        }
        Err(error) => (format!("unusable: {}", line(&error.to_string())), None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn servers_are_listed_with_their_state() {
        let folder = tempfile::tempdir().unwrap();
        let mut configured = Configured::of_tools(folder.path(), &[json!({ "name": "t" })]);
        let absent = |name: &str, wrong| Absent {
            name: name.to_owned(),
            transport: None,
            layer: ConfigLayer::Environment,
            wrong,
        };
        configured.config.absent = vec![absent("a", None), absent("z", Some(Vec::new()))];
        let text = page(None, &configured).unwrap().whole(0).into_string();
        let places = ["disabled", "enabled<", "invalid", "</table>"].map(|word| text.find(word).unwrap());
        assert!(places.is_sorted(), "{text}");
        configured.lists.clear();
        assert!(page(None, &configured).unwrap().whole(0).into_string().contains("enabled, never listed"));
    }

    #[test]
    fn the_number_of_counted_calls_is_stated() {
        assert_eq!(counted(0), "The history has no calls yet.");
        assert_eq!(counted(7), "Calls: all 7 of the history.");
        assert!(counted(50_000).starts_with("Calls: the latest 50"));
    }
}
