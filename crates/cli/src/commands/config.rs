//! `toolsmith config`: inspects configurations, and proposes sections. Only `suggest` starts servers.

use std::fmt::Write as _;
use std::path::Path;

use config::{layers, schema, show};
use execution::setup::configure;
use flows::suggestion::{Offer, suggestion};
use gateway::cache;
use gateway::discovery::Discovery;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::terminal_host::TerminalHost;
use report::{Kind, Report};
use serde_json::{Value, json};
use terminal::Terminal;

use crate::arguments::{
    CheckArguments, ConfigCommand, Section, ServersArguments, ShowArguments, SuggestArguments,
};

/// Runs a subcommand of `config` and returns the exit code.
pub(crate) async fn run(command: &ConfigCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let code = match command {
        ConfigCommand::Schema => {
            terminal.print(&serde_json::to_string_pretty(&schema::schema()).map_err(Failure::system)?);
            exit_code::OK
        }
        ConfigCommand::Check(arguments) => check(arguments, &terminal)?,
        ConfigCommand::Show(arguments) => show(arguments, &terminal)?,
        ConfigCommand::Suggest(SuggestArguments { section: Section::Flows, place }) => {
            suggest_flows(place, &terminal).await?
        }
    };
    terminal.flush().await.map_err(Failure::output)?;
    Ok(code)
}

fn check(arguments: &CheckArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let mut notes = Vec::new();
    let reports: Vec<Report> = if arguments.files.is_empty() {
        found(None, &mut notes)
    } else {
        arguments.files.iter().flat_map(|file| found(Some(file), &mut notes)).collect()
    };
    if arguments.json {
        let checked = json!({ "ok": reports.is_empty(), "problems": reports, "notes": notes });
        terminal.print_json(&checked.to_string());
    } else {
        reports.iter().for_each(|report| terminal.print(&report.for_terminal()));
        notes.iter().for_each(|note| terminal.note(note));
        match reports.len() {
            0 if notes.is_empty() => terminal.note("no problems"),
            0 => {}
            number => terminal.note(&report::count(number, "problem")),
        }
    }
    Ok(if reports.is_empty() { exit_code::OK } else { exit_code::CONFIGURATION })
}

/// The problems of a file, or of all layers. Adds what the user should know although it is no problem to `notes`.
fn found(file: Option<&Path>, notes: &mut Vec<String>) -> Vec<Report> {
    match config::check(file) {
        Ok(checked) => {
            let further = assistant::check::problems(&checked);
            notes.extend(checked.notes);
            let problems = checked.problems.into_iter().chain(further);
            problems.map(|problem| Report::of(Kind::Configuration, vec![problem])).collect()
        }
        Err(error) => vec![Report::from(error)],
    }
}

fn show(arguments: &ShowArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let layers = layers::gather(&arguments.place.options())?;
    let shown = show::shown(&layers);
    if arguments.output.json {
        terminal.print_json(&serde_json::to_string_pretty(&shown).map_err(Failure::system)?);
        return Ok(exit_code::OK);
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "layers, later ones override earlier ones:");
    if shown.layers.is_empty() {
        let _ = writeln!(
            text,
            "  none: no MCP servers are configured\n  add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…\n  \
             use the servers of another client: toolsmith adopt CLIENT"
        );
    }
    for layer in &shown.layers {
        let file = layer.file.as_deref().unwrap_or("TOOLSMITH_MCP_SERVERS");
        let _ = writeln!(text, "  {:<12} {file}", layer.layer);
    }
    for server in &shown.servers {
        let _ =
            writeln!(text, "server {} ({}, {}, {}):", server.name, server.state, server.layer, server.place);
        for (key, value) in server.entry.as_object().into_iter().flatten() {
            let _ = writeln!(text, "  {key}: {value}");
        }
        if let Some(wrong) = &server.wrong {
            let _ = writeln!(text, "  {}", wrong.replace('\n', "\n  "));
        }
    }
    for (name, setting) in &shown.settings {
        let place = setting.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
        let _ = writeln!(text, "{name}: {} ({}{place})", setting.value, setting.layer);
    }
    terminal.print(text.trim_end());
    for note in &layers.notes {
        terminal.note(note);
    }
    Ok(exit_code::OK)
}

/// Prints labels for the tools that programs and clients can call.
async fn suggest_flows(place: &ServersArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = configure(&place.options())?;
    let cache = cache::open(&config.cache)?;
    let mut discovery = Discovery::new(&config, TerminalHost::at(terminal), cache, Known::of(&config)?);
    let discovered = discovery.discover().await;
    let offers: Vec<Offer<'_>> = config
        .servers
        .iter()
        .filter_map(|server| {
            let server = server.connection.name.as_str();
            let list = discovery.lists().list(server)?;
            let is_admitted = |tool: &Value| config.admits(server, tool["name"].as_str().unwrap_or_default());
            Some(Offer { server, tools: list.tools().filter(is_admitted).collect() })
        })
        .collect();
    discovery.sessions.close().await;
    discovered?;
    terminal.print(suggestion(&offers).trim_end());
    Ok(exit_code::OK)
}
