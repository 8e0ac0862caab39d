//! `toolsmith permission`: lists the permanent answers to questions about permissions, and takes them back.

use config::Glob;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::permission::{AnsweredBy, CurrentServers, Remembered, RememberedAnswer};
use gateway::{cache, catalog};
use report::Kind;
use serde_json::{Value, json};
use system::calendar::{minute, of_milliseconds};
use terminal::Terminal;
use terminal::table::show_table;

use crate::arguments::{ListPermissionsArguments, PermissionCommand, RevokeArguments};

/// Runs a subcommand of `permission` and returns the exit code.
pub(crate) async fn run(command: &PermissionCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    match command {
        PermissionCommand::List(arguments) => list(arguments, &terminal)?,
        PermissionCommand::Revoke(arguments) => revoke(arguments, &terminal)?,
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

/// The remembered answers.
fn remembered() -> Result<Remembered, Failure> {
    match Remembered::read() {
        (remembered, None) => Ok(remembered),
        (_, Some(wrong)) => Err(Failure::new(Kind::Trust, wrong)),
    }
}

fn list(arguments: &ListPermissionsArguments, terminal: &Terminal) -> Result<(), Failure> {
    let config = execution::setup::configure(&arguments.place.options().without_untrusted())?;
    let remembered = remembered()?;
    let answers = remembered.answers();
    let lists = catalog::known_lists(&cache::open(&config.cache)?, &config);
    let current = CurrentServers::of(&config, &remembered, &answers, lists);
    if arguments.output.json {
        let all: Vec<Value> = answers.iter().map(|answer| as_json(answer, &current)).collect();
        terminal.print_json(&Value::from(all).to_string());
    } else if answers.is_empty() {
        terminal.note("you have allowed no tool permanently");
    } else {
        let unknown = || "unknown".to_owned();
        let row = |answer: &RememberedAnswer| {
            vec![
                name(answer),
                answer.since.map_or_else(unknown, minute),
                answer.by.map_or_else(unknown, |by| by.word().to_owned()),
                current.in_force(answer).meaning().to_owned(),
            ]
        };
        show_table(terminal, &["tool", "since", "answered at", "state"], answers.iter().map(row));
    }
    Ok(())
}

fn name(answer: &RememberedAnswer) -> String {
    format!("{}.{}", answer.server, answer.tool)
}

fn as_json(answer: &RememberedAnswer, current: &CurrentServers<'_>) -> Value {
    json!({ "server": answer.server, "tool": answer.tool, "since": answer.since.map(of_milliseconds),
        "answeredAt": answer.by.map(AnsweredBy::word), "state": current.in_force(answer).word() })
}

fn revoke(arguments: &RevokeArguments, terminal: &Terminal) -> Result<(), Failure> {
    let globs: Vec<Glob> = arguments.tools.iter().map(|glob| Glob::new(glob)).collect();
    let mut remembered = remembered()?;
    // A name that matches nothing is probably misspelt: then nothing is taken back.
    let known: Vec<String> = remembered.answers().iter().map(name).collect();
    if let Some(unknown) = globs.iter().find(|glob| !known.iter().any(|name| glob.fits(name))) {
        let failure = Failure::command_line(format!("no permanent answer is about {:?}", unknown.text()));
        let failure = match snippet::nearest(unknown.text(), known.iter().map(String::as_str)).first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure,
        };
        return Err(failure.hint("`toolsmith permission list` lists the answers"));
    }
    let taken =
        remembered.take_back(|answer| arguments.all || globs.iter().any(|glob| glob.fits(&name(answer))))?;
    if arguments.output.json {
        let taken: Vec<Value> =
            taken.iter().map(|answer| json!({ "server": answer.server, "tool": answer.tool })).collect();
        terminal.print_json(&json!({ "revoked": taken }).to_string());
        return Ok(());
    }
    let mut names: Vec<String> = taken.iter().map(|answer| printable::name(&name(answer))).collect();
    names.dedup();
    let what = report::count(taken.len(), "answer");
    terminal.note(&if names.is_empty() {
        "there was no answer to take back".to_owned()
    } else {
        format!("took back {what}: {}", names.join(", "))
    });
    Ok(())
}
