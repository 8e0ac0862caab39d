//! `toolsmith mcp tools`: lists tools with their permissions, and counts those left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Filter};
use execution::setup::configure;
use futures::future::join_all;
use gateway::cache;
use gateway::catalog;
use gateway::direct::Partition;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::{Known, Pins};
use gateway::tool_list::ToolList;
use gateway::tool_rows::{called_by, rows};
use gateway::unmatched;
use report::{Kind, Report};
use serde_json::{Value, json};
use terminal::Terminal;
use terminal::table::show_table;

use super::support::{note_difference, print_json, remember, server_of, sessions};
use crate::arguments::ToolsArguments;
use mcp::tool_members::{Members, kind_of};

type Lists = BTreeMap<String, Arc<ToolList>>;

pub(super) async fn list(arguments: &ToolsArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = configure(&arguments.inspect.options())?;
    let known = Known::of(&config)?;
    let servers = match &arguments.inspect.name {
        Some(name) => vec![server_of(&config, name, arguments.inspect.scope)?],
        None => config.servers.iter().collect(),
    };
    let names: Vec<&str> = servers.iter().map(|server| server.connection.name.as_str()).collect();
    let (lists, failures) = ask(&config, &known.pins, &names, terminal).await;
    if lists.is_empty()
        && arguments.inspect.output.json
        && let Some(all) = Report::joined(failures.clone())
    {
        return Err(all.into());
    }
    failures.iter().for_each(|failure| terminal.eprint(&failure.for_terminal()));
    if lists.is_empty() && !names.is_empty() {
        return Err(Failure::new(Kind::Server, "no server answered"));
    }
    let partition = partition(&config, &known.pins, &lists)?;
    if arguments.inspect.name.is_none() {
        let unmatched = unmatched::of_all(&config, &lists);
        let warnings = partition.warnings.iter().chain(&unmatched);
        warnings.for_each(|warning| terminal.note(&format!("warning: {warning}")));
    }
    let of = |(name, list): (&String, &Arc<ToolList>)| rows(&config, &known.pins, &partition, name, list);
    let servers: Vec<(String, Vec<Value>)> = lists.iter().map(|entry| (entry.0.clone(), of(entry))).collect();
    if arguments.inspect.output.json {
        let values = servers.iter().map(|(name, rows)| as_json(&config, name, rows, arguments));
        let errors: Vec<String> = failures.iter().map(Report::for_model).collect();
        let all = json!({ "servers": values.collect::<Vec<_>>(), "errors": errors, "reports": failures });
        print_json(&all, terminal);
    } else {
        servers.iter().for_each(|(name, rows)| show(&config, name, rows, arguments, terminal));
    }
    Ok(exit_code::OK)
}

/// Lists the tools of servers in parallel. Returns the lists, and the errors of the servers that failed.
async fn ask(config: &Arc<Config>, pins: &Pins, names: &[&str], terminal: &Terminal) -> (Lists, Vec<Report>) {
    let sessions = sessions(config, pins.clone(), terminal);
    let opened = join_all(names.iter().map(|name| sessions.start(name))).await;
    let (mut lists, mut failures) = (Lists::new(), Vec::new());
    for (name, opened) in names.iter().zip(opened) {
        match opened {
            Ok(opened) => {
                let warn = |warning: &String| terminal.note(&format!("warning: {name}: {warning}"));
                opened.warnings.iter().for_each(warn);
                note_difference(config, pins, name, &opened.tools, terminal);
                remember(config, name, &opened, sessions.masker());
                lists.insert((*name).to_owned(), opened.tools);
            }
            Err(error) => failures.push(error.report),
        }
    }
    sessions.close().await;
    (lists, failures)
}

/// Finds the direct tools and their names. These depend on all servers of the configuration; for servers that were not listed now, the
/// cached lists are used.
fn partition(config: &Config, pins: &Pins, lists: &Lists) -> Result<Partition, Failure> {
    let cache = cache::open(&config.cache)?;
    let mut all = lists.clone();
    for server in &config.servers {
        let name = &server.connection.name;
        if !all.contains_key(name)
            && let Some(list) = catalog::remembered(&cache, server)
        {
            all.insert(name.clone(), Arc::new(list));
        }
    }
    let held: BTreeMap<&String, _> = all.iter().map(|(name, list)| (name, pins.held(name, list))).collect();
    let tools = all.iter().flat_map(|(name, list)| {
        let held = held.get(name);
        list.names()
            .filter(move |tool| !held.is_some_and(|held| held.contains(*tool)))
            .map(|tool| (name.as_str(), tool))
    });
    let is_for_apps = |server: &str, tool: &str| all.get(server).is_some_and(|list| list.is_for_apps(tool));
    Ok(Partition::new(config, tools, is_for_apps))
}

fn is_left_out(row: &Value) -> bool {
    row["place"] == "filtered" || row["place"] == "held back"
}

fn shown<'a>(rows: &'a [Value], arguments: &ToolsArguments) -> Vec<&'a Value> {
    rows.iter().filter(|row| arguments.show_all || is_left_out(row) == arguments.show_filtered).collect()
}

fn mode(config: &Config, server: &str) -> String {
    let globs = |globs: &[config::Glob]| globs.iter().map(config::Glob::text).collect::<Vec<_>>().join(", ");
    match config.server(server).map(|server| &server.filter) {
        None | Some(Filter::All) => "all".to_owned(),
        Some(Filter::Only(names)) => format!("enabledTools: {}", globs(names)),
        Some(Filter::Without(names)) => format!("disabledTools: {}", globs(names)),
    }
}

fn as_json(config: &Config, server: &str, rows: &[Value], arguments: &ToolsArguments) -> Value {
    let out = rows.iter().filter(|row| is_left_out(row)).count();
    json!({ "id": server, "filter": mode(config, server), "total": rows.len(), "admitted": rows.len() - out,
        "filtered": out, "tools": shown(rows, arguments) })
}

fn show(config: &Config, server: &str, rows: &[Value], arguments: &ToolsArguments, terminal: &Terminal) {
    let out = rows.iter().filter(|row| is_left_out(row)).count();
    let (total, admitted) = (report::count(rows.len(), "tool"), rows.len() - out);
    let mode = mode(config, server);
    terminal.print(&format!("{server}: {total}, {admitted} admitted, {out} left out (filter: {mode})"));
    let cells = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let place = called_by(row);
        vec![
            text("name"),
            text("permission"),
            place,
            members(&row["inputSchema"]),
            output(row),
            text("description"),
        ]
    };
    let shown = shown(rows, arguments);
    if !shown.is_empty() {
        let columns = ["tool", "permission", "called by", "input", "output", "description"];
        show_table(terminal, &columns, shown.iter().map(|row| cells(row)));
    }
    for row in shown.into_iter().filter(|_| arguments.schema) {
        let schema = |member: &str| serde_json::to_string_pretty(&row[member]).unwrap_or_default();
        terminal.print(&format!("\n{server}.{}", printable::name(row["name"].as_str().unwrap_or_default())));
        terminal.print(&format!("input: {}", schema("inputSchema")));
        if !row["outputSchema"].is_null() {
            terminal.print(&format!("output: {}", schema("outputSchema")));
        }
    }
}

/// The names and types of a schema's members; required ones are marked with an asterisk.
fn members(schema: &Value) -> String {
    let members = Members::of(schema);
    if members.named.is_empty() && !schema["properties"].is_object() {
        return "any".to_owned();
    }
    let member = |(name, schema): &(&str, &Value)| {
        let mark = if members.required.contains(name) { "*" } else { "" };
        match kind_of(schema) {
            Some(kind) => format!("{name}{mark}: {kind}"),
            None => format!("{name}{mark}"),
        }
    };
    members.named.iter().map(member).collect::<Vec<_>>().join(", ")
}

fn output(row: &Value) -> String {
    if row["outputSchema"].is_null() { "text".to_owned() } else { members(&row["outputSchema"]) }
}
