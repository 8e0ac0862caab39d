//! `toolsmith config schema|check|show`: inspects configurations without starting a server.

use std::fmt::Write as _;

use config::layers::{self, Layers};
use config::{ConfigLayer, Error, LoadOptions, schema, show};
use gateway::exit_code;
use gateway::failure::Failure;
use terminal::Terminal;

use crate::arguments::{CheckArguments, ConfigCommand, ShowArguments};

/// Runs a subcommand of `config` and returns the exit code.
pub(crate) async fn run(command: &ConfigCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let code = match command {
        ConfigCommand::Schema => {
            terminal.print(&serde_json::to_string_pretty(&schema::schema()).map_err(Failure::host)?);
            exit_code::OK
        }
        ConfigCommand::Check(arguments) => check(arguments, &terminal),
        ConfigCommand::Show(arguments) => show(arguments, &terminal)?,
    };
    terminal.flush().await.map_err(|error| Failure::host(format!("the output can't be written: {error}")))?;
    Ok(code)
}

fn check(arguments: &CheckArguments, terminal: &Terminal) -> u8 {
    let problems = |layers: Result<Layers, Error>| match layers {
        Ok(layers) => layers.problems().into_iter().chain(layers.refused()).collect(),
        Err(error) => vec![error.to_string()],
    };
    let problems: Vec<String> = if arguments.files.is_empty() {
        problems(layers::gather_to_look_at(&LoadOptions::default()))
    } else {
        let files = arguments.files.iter();
        files.flat_map(|file| problems(layers::alone(&ConfigLayer::Named(file.clone())))).collect()
    };
    problems.iter().for_each(|problem| terminal.print(problem));
    match problems.len() {
        0 => {
            terminal.note("no problems");
            exit_code::OK
        }
        1 => {
            terminal.note("1 problem");
            exit_code::CONFIGURATION
        }
        number => {
            terminal.note(&format!("{number} problems"));
            exit_code::CONFIGURATION
        }
    }
}

fn show(arguments: &ShowArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let layers = layers::gather(&arguments.place.options()).map_err(Failure::configuration)?;
    let shown = show::shown(&layers);
    if arguments.json {
        terminal.print_json(&serde_json::to_string_pretty(&shown).map_err(Failure::host)?);
        return Ok(exit_code::OK);
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "layers, later ones override earlier ones:");
    if shown.layers.is_empty() {
        let _ = writeln!(
            text,
            "  none: the built-in demo server is used\n  add a server: toolsmith mcp add NAME -- COMMAND"
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
