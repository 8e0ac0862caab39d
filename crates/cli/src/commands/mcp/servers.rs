//! `toolsmith mcp list`, `status`, `info` and `test`: lists servers and reports their state.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use config::{Config, LoadOptions, Needs, Server};
use execution::setup::{self, configure};
use futures::future::join_all;
use gateway::config_secrets;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::{Known, Pins};
use gateway::sessions::{Opened, Sessions, Unopened};
use gateway::tool_count::ToolCount;
use report::{Report, problems};
use serde_json::{Value, json};
use terminal::table::{short, show_table};
use terminal::{Masker, Terminal};

use super::support::{
    code, note_difference, print_json, remember, sandbox_in_words, sandbox_state, server_of, sessions,
};
use crate::arguments::{InspectArguments, OneArguments};

/// Maximum length of a server's texts that is shown, in characters.
const WORDS: usize = 2_000;

/// The configuration with all its servers, usable or not; explains why if there is none at all.
fn inspected(arguments: &InspectArguments, terminal: &Terminal) -> Result<Arc<Config>, Failure> {
    let mut options = arguments.options();
    if !options.strict {
        options.needs = Needs::Nothing;
    }
    let config = configure(&options)?;
    if let Some(why) = setup::without_any(&config) {
        terminal.note(&Report::from(why).for_terminal());
    }
    Ok(config)
}

pub(super) fn list(arguments: &InspectArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = inspected(arguments, terminal)?;
    if let Some(name) = arguments.name.as_ref().filter(|name| !config.has_entry(name)) {
        server_of(&config, name, arguments.scope)?;
    }
    let masker = config_secrets::masker(&config);
    let mut rows: Vec<Value> = config.servers.iter().map(|server| configured(server, &masker)).collect();
    rows.extend(config.absent.iter().map(|absent| {
        json!({ "id": absent.name, "transport": absent.transport, "enabled": absent.wrong.is_some(),
            "source": absent.layer.source(), "address": null, "timeout": null, "requestTimeout": null,
            "error": absent.wrong.as_deref().map(problems) })
    }));
    rows.retain(|row| arguments.name.as_ref().is_none_or(|name| row["id"] == **name));
    rows.sort_by_key(|row| row["id"].to_string());
    if arguments.output.json {
        print_json(&Value::from(rows), terminal);
        return Ok(exit_code::OK);
    }
    if rows.is_empty() {
        return Ok(exit_code::OK);
    }
    let columns = ["id", "transport", "source", "enabled", "timeout", "requestTimeout", "address"];
    show_table(
        terminal,
        &columns,
        rows.iter().map(|row| columns.iter().map(|column| cell(&row[*column])).collect()),
    );
    // Errors in entries were reported when the configuration was read.
    Ok(exit_code::OK)
}

/// Describes a server's entry, without secrets.
fn configured(server: &Server, masker: &Masker) -> Value {
    let connection = &server.connection;
    let address = match &connection.transport {
        mcp::Transport::Stdio(command) => {
            [&command.command].into_iter().chain(&command.args).cloned().collect::<Vec<_>>().join(" ")
        }
        mcp::Transport::Http(remote) | mcp::Transport::Sse(remote) => without_secrets(&remote.url),
        mcp::Transport::OpenApi(api) => without_secrets(&api.document),
        mcp::Transport::InProcess(_) => "within this process".to_owned(),
    };
    json!({ "id": connection.name, "transport": connection.transport.name(), "enabled": true, "source": server.layer.source(),
        "address": masker.mask(&mcp::keyring::shown(&address)), "timeout": mcp::limit_in_seconds(connection.connect_timeout),
        "requestTimeout": mcp::limit_in_seconds(connection.request_timeout), "error": null })
}

/// A URL without user, password, query and fragment, which may be secrets.
fn without_secrets(url: &str) -> String {
    let (address, query) = url.split_once(['?', '#']).map_or((url, ""), |(address, _)| (address, "?…"));
    let Some((scheme, rest)) = address.split_once("://") else { return format!("{address}{query}") };
    let (authority, path) = rest
        .split_once('/')
        .map_or((rest, String::new()), |(authority, path)| (authority, format!("/{path}")));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}{query}")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(is) => if *is { "yes" } else { "no" }.to_owned(),
        Value::String(text) => text.clone(),
        // 60 and not 60.0.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

/// A fact as a cell; the number of tools is that of the admitted ones, and of all if there are more.
fn shown(facts: &Value, key: &str) -> String {
    let count = |key: &str| facts[key].as_u64().and_then(|count| usize::try_from(count).ok());
    match (key, count("tools"), count("listedTools")) {
        ("sandbox", ..) => sandbox_in_words(&facts[key]),
        ("tools", Some(admitted), Some(listed)) => ToolCount { admitted, listed }.to_string(),
        _ => cell(&facts[key]),
    }
}

/// The result of connecting to a server.
pub(super) struct Tried {
    name: String,
    pub(super) opened: Result<Opened, Unopened>,
    ms: f64,
}

/// Connects to a server, and caches its tools.
async fn attempt(config: &Config, sessions: &Sessions, name: &str) -> Tried {
    let started = Instant::now();
    let opened = sessions.start(name).await;
    if let Ok(opened) = &opened {
        remember(config, name, opened, sessions.masker());
    }
    Tried { name: name.to_owned(), opened, ms: (started.elapsed().as_secs_f64() * 1e4).round() / 10.0 }
}

/// Connects to one server, and notes how its tools differ from the locked ones.
pub(super) async fn alone(
    config: &Arc<Config>,
    name: &str,
    pins: &Pins,
    terminal: &Terminal,
) -> Result<Tried, Failure> {
    let sessions = sessions(config, pins.clone(), terminal);
    let tried = attempt(config, &sessions, name).await;
    if let Ok(opened) = &tried.opened {
        note_difference(config, pins, name, &opened.tools, terminal);
    }
    sessions.close().await;
    Ok(tried)
}

/// Connects to all servers in parallel, and notes how their tools differ from the locked ones.
async fn all(config: &Arc<Config>, pins: &Pins, terminal: &Terminal) -> Result<Vec<Tried>, Failure> {
    let sessions = sessions(config, pins.clone(), terminal);
    let names = config.servers.iter().map(|server| &server.connection.name);
    let tried = join_all(names.map(|name| attempt(config, &sessions, name))).await;
    sessions.close().await;
    for Tried { name, opened, .. } in &tried {
        if let Ok(opened) = opened {
            note_difference(config, pins, name, &opened.tools, terminal);
        }
    }
    Ok(tried)
}

impl Tried {
    /// The result of a test as JSON.
    fn result(&self, config: &Config, pins: &Pins) -> Value {
        let facts = self.facts(config, pins);
        json!({ "id": self.name, "ok": self.works(), "ms": self.ms, "tools": facts["tools"], "error": facts["error"],
            "warnings": facts["warnings"] })
    }

    /// Prints the result of a test.
    fn print(&self, config: &Config, pins: &Pins, terminal: &Terminal) {
        let name = &self.name;
        match &self.opened {
            Ok(Opened { session, tools, warnings, .. }) => {
                warnings.iter().for_each(|warning| terminal.note(&format!("warning: {name}: {warning}")));
                let tools = ToolCount::of(config, pins, name, tools);
                let version = short(session.protocol_version(), WORDS);
                if self.works() {
                    terminal.print(&format!(
                        "{name}: ok, {}, protocol {version}, {} ms",
                        tools.tools(),
                        self.ms
                    ));
                }
            }
            Err(error) => {
                let text = error.report.for_terminal();
                // The line begins with the server's name already.
                let text = text.strip_prefix(&format!("MCP server `{name}`: ")).unwrap_or(&text);
                terminal.eprint(&format!("{name}: error: {text}"));
            }
        }
    }

    /// Whether it is connected and its tools could be listed.
    pub(super) fn works(&self) -> bool {
        self.opened.as_ref().is_ok_and(|opened| opened.is_whole)
    }

    fn state(&self) -> &'static str {
        match &self.opened {
            Ok(opened) if opened.is_whole => mcp::ConnectionState::Ready,
            Ok(_) => mcp::ConnectionState::Error,
            Err(error) if error.wants_login => mcp::ConnectionState::AuthRequired,
            Err(_) => mcp::ConnectionState::Error,
        }
        .name()
    }

    /// All facts as JSON, with the server's texts unchanged.
    fn facts(&self, config: &Config, pins: &Pins) -> Value {
        let server = config.server(&self.name);
        let source = server.map(|server| server.layer.source());
        let transport = server.map(|server| server.connection.transport.name());
        let tier = self.opened.as_ref().ok().and_then(|opened| opened.session.tier());
        let mut facts = json!({ "id": self.name, "transport": transport, "source": source, "enabled": true,
            "state": self.state(), "sandbox": server.map(|server| sandbox_state(server, tier)), "tools": null, "listedTools": null, "ms": self.ms, "error": null, "warnings": [] });
        match &self.opened {
            Ok(Opened { session, tools, warnings, .. }) => {
                let info = session.server_info();
                if self.works() {
                    let ToolCount { admitted, listed } = ToolCount::of(config, pins, &self.name, tools);
                    facts["tools"] = admitted.into();
                    facts["listedTools"] = listed.into();
                    facts["warnings"] = warnings.clone().into();
                } else {
                    facts["error"] = warnings.join("\n").into();
                }
                facts["protocolVersion"] = session.protocol_version().into();
                facts["serverInfo"] =
                    json!(info.map(|(name, version)| json!({ "name": name, "version": version })));
                facts["instructions"] = session.instructions().into();
                facts["capabilities"] = session.capabilities();
            }
            Err(error) => facts["error"] = error.report.for_model().into(),
        }
        facts
    }
}

pub(super) async fn status(arguments: &InspectArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = inspected(arguments, terminal)?;
    if let Some(name) = &arguments.name {
        let server = server_of(&config, name, arguments.scope)?;
        return one(&config, &server.connection.name, arguments.output.json, terminal).await;
    }
    let pins = Known::of(&config)?.pins;
    let tried = all(&config, &pins, terminal).await?;
    let mut rows: Vec<Value> = tried.iter().map(|tried| tried.facts(&config, &pins)).collect();
    rows.extend(config.absent.iter().map(|absent| {
        let state = if absent.wrong.is_some() { "error" } else { "disabled" };
        json!({ "id": absent.name, "transport": absent.transport, "source": absent.layer.source(),
            "enabled": absent.wrong.is_some(), "state": state, "sandbox": null, "tools": null,
            "error": absent.wrong.as_deref().map(problems) })
    }));
    rows.sort_by_key(|row| row["id"].to_string());
    if arguments.output.json {
        print_json(&Value::from(rows), terminal);
    } else if !rows.is_empty() {
        let columns = ["id", "transport", "source", "enabled", "state", "sandbox", "tools"];
        show_table(
            terminal,
            &columns,
            rows.iter().map(|row| columns.iter().map(|column| shown(row, column)).collect()),
        );
        // Errors in the other entries were reported when the configuration was read.
        for row in rows.iter().filter(|row| config.server(row["id"].as_str().unwrap_or_default()).is_some()) {
            let id = row["id"].as_str().unwrap_or_default();
            row["error"].as_str().iter().for_each(|error| terminal.eprint(&format!("{id}: {error}")));
            let warnings = row["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
            warnings.for_each(|warning| terminal.note(&format!("warning: {id}: {warning}")));
        }
    }
    let is_off = tried.is_empty() && config.absent.iter().all(|absent| absent.wrong.is_none());
    Ok(code(is_off || tried.iter().any(Tried::works)))
}

pub(super) async fn info(arguments: &OneArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = configure(&arguments.place.options())?;
    let name = &server_of(&config, &arguments.name, None)?.connection.name;
    one(&config, name, arguments.output.json, terminal).await
}

/// Prints everything about one server.
async fn one(config: &Arc<Config>, name: &str, as_json: bool, terminal: &Terminal) -> Result<u8, Failure> {
    let pins = Known::of(config)?.pins;
    let tried = alone(config, name, &pins, terminal).await?;
    let mut facts = tried.facts(config, &pins);
    if let Some(server) = config.server(name) {
        let entry = configured(server, &config_secrets::masker(config));
        ["address", "timeout", "requestTimeout"].iter().for_each(|key| facts[*key] = entry[*key].clone());
    }
    if as_json {
        print_json(&facts, terminal);
        return Ok(code(tried.works()));
    }
    let keys = [
        "id",
        "transport",
        "source",
        "address",
        "timeout",
        "requestTimeout",
        "state",
        "sandbox",
        "tools",
        "protocolVersion",
    ];
    let width = keys.iter().map(|key| key.len()).max().unwrap_or_default();
    let line = |key: &str, value: &str| terminal.print(&format!("{key:width$}  {}", short(value, WORDS)));
    for key in keys {
        line(key, &shown(&facts, key));
    }
    if let Ok(Opened { session, .. }) = &tried.opened {
        if let Some((name, version)) = session.server_info() {
            line("server", &format!("{name} {version} (reported by the server)"));
        }
        session.instructions().iter().for_each(|words| line("instructions", words));
    }
    for warning in facts["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        terminal.note(&format!("warning: {warning}"));
    }
    facts["error"].as_str().iter().for_each(|error| terminal.eprint(error));
    Ok(code(tried.works()))
}

pub(super) async fn test(arguments: &InspectArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = configure(&arguments.options())?;
    let pins = Known::of(&config)?.pins;
    let tried = match &arguments.name {
        Some(name) => {
            let server = server_of(&config, name, arguments.scope)?;
            vec![alone(&config, &server.connection.name, &pins, terminal).await?]
        }
        None => all(&config, &pins, terminal).await?,
    };
    if arguments.output.json {
        let mut results = tried.iter().map(|tried| tried.result(&config, &pins));
        let shown = match &arguments.name {
            Some(_) => results.next().unwrap_or_default(),
            None => Value::from_iter(results),
        };
        print_json(&shown, terminal);
    } else {
        tried.iter().for_each(|tried| tried.print(&config, &pins, terminal));
        if tried.is_empty() {
            terminal.note("there is no server to test");
        }
    }
    Ok(code(tried.iter().all(Tried::works)))
}

/// The note on a new entry that does not count here.
pub(super) fn another_entry(name: &str) -> String {
    format!(
        "{name} was not tried: this folder uses another entry with its name, or the file is not trusted; \
         `toolsmith mcp list` shows the entries in use"
    )
}

/// Connects to a server that was just added to a file, caches its tools, and says how many it has, or why it does not
/// answer.
pub(super) async fn answer_of_added(name: &str, file: &Path, terminal: &Terminal) -> Result<String, Failure> {
    let config = configure(&LoadOptions::default())?;
    let Some(server) = config.server(name).filter(|server| server.layer.file() == Some(file)) else {
        return Ok(another_entry(name));
    };
    let name = &server.connection.name;
    let pins = Known::of(&config)?.pins;
    let tried = alone(&config, name, &pins, terminal).await?;
    Ok(match &tried.opened {
        Ok(opened) if tried.works() => {
            format!("{name} answers, with {}", ToolCount::of(&config, &pins, name, &opened.tools).tools())
        }
        Ok(opened) => format!("warning: {name}: {}", opened.warnings.join("; ")),
        Err(error) => format!("warning: {}", error.report.for_terminal()),
    })
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn urls_are_shown_without_possible_secrets() {
        assert_eq!(without_secrets("https://user:pass@host:1/mcp?key=1#x"), "https://host:1/mcp?…");
        assert_eq!(without_secrets("http://host"), "http://host");
        assert_eq!(without_secrets("nonsense?a"), "nonsense?…");
    }
}
