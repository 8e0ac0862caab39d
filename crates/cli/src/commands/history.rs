//! `toolsmith history`: lists, shows, compares, repeats, exports and deletes the executions that are kept.

mod diff;
mod show;

use std::collections::BTreeMap;

use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use history::shown::{duration, from};
use history::{Differences, Execution, Filter, HistoryError, Page, Reader, Summary};
use report::Kind;
use system::calendar::minute;
use terminal::Terminal;
use terminal::table::{short, show_table};

use crate::arguments::{
    HistoryCommand, HistoryDeleteArguments, HistoryDiffArguments, HistoryExportArguments,
    HistoryListArguments, HistoryRerunArguments, HistoryShowArguments, NamedProgram, RunArguments,
    RunProgramArguments, RunProgramOptions,
};
use crate::commands::exported_file::ExportedFile;

/// Length of an id in a list, in characters: enough to be unique among some thousands.
const ID: usize = 8;

/// Maximum length of a title in a list, in characters.
const TITLE: usize = 50;

/// Executions that are exported from one reading of the file.
const EXPORTED: usize = 100;

/// Runs a subcommand other than `rerun`, and returns the exit code.
pub(crate) async fn run(command: &HistoryCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = match command {
        HistoryCommand::List(arguments) => list(arguments, &terminal),
        HistoryCommand::Show(arguments) => show(arguments, &terminal),
        HistoryCommand::Diff(arguments) => diff(arguments, &terminal),
        // It is a run, see `again`.
        HistoryCommand::Rerun(_) => Ok(()),
        HistoryCommand::Export(arguments) => export(arguments, &terminal).await,
        HistoryCommand::Delete(arguments) => delete(arguments, &terminal).await,
    };
    terminal.flush().await.map_err(Failure::output)?;
    done.map(|()| exit_code::OK)
}

/// Opens the history; `None` if there is none.
fn existing() -> Result<Option<Reader>, Failure> {
    Ok(Reader::open(&history::file()?)?)
}

/// Opens the history, and fails if there is none.
pub(super) fn with_executions() -> Result<Reader, Failure> {
    let missing = || {
        Failure::new(Kind::History, none_yet())
            .with_code(exit_code::CONFIGURATION)
            .hint("run a snippet: toolsmith run FILE; the history keeps it unless `history.enabled` is false")
    };
    existing()?.ok_or_else(missing)
}

fn none_yet() -> String {
    match history::file() {
        Ok(file) => format!("no executions are kept in {} yet", file.display()),
        Err(_) => "no executions are kept yet".to_owned(),
    }
}

/// The failure for an unknown execution, or for an error of the file.
pub(super) fn wrong(error: HistoryError) -> Failure {
    Failure::from(error).with_code(exit_code::CONFIGURATION)
}

fn list(arguments: &HistoryListArguments, terminal: &Terminal) -> Result<(), Failure> {
    let page = Page { limit: usize::try_from(arguments.limit).unwrap_or(usize::MAX), before: None };
    let filter = arguments.filter.filter();
    let reader = existing()?;
    let found = reader.as_ref().map(|reader| reader.list(&filter, page)).transpose()?.unwrap_or_default();
    if arguments.json {
        terminal.print_json(&serde_json::to_string(&found).map_err(Failure::system)?);
    } else if reader.is_none() {
        terminal.note(&none_yet());
    } else if found.is_empty() {
        let all = Filter::default();
        terminal.note(if filter == all {
            "no executions are kept"
        } else {
            "no execution fits these options"
        });
    } else {
        let columns = ["id", "begun", "status", "calls", "time", "from", "tokens", "title"];
        show_table(terminal, &columns, found.iter().map(row));
    }
    Ok(())
}

fn row(summary: &Summary) -> Vec<String> {
    vec![
        summary.id.chars().take(ID).collect(),
        minute(summary.begun),
        summary.status.clone(),
        summary.calls.to_string(),
        summary.total_ms.map(duration).unwrap_or_default(),
        from(summary),
        (summary.tokens.code + summary.tokens.answer).to_string(),
        short(&title(summary), TITLE),
    ]
}

/// The first line of a snippet; for a saved program, after its name.
fn title(summary: &Summary) -> String {
    match &summary.program {
        Some(program) => format!("{program}: {}", summary.title),
        None => summary.title.clone(),
    }
}

fn show(arguments: &HistoryShowArguments, terminal: &Terminal) -> Result<(), Failure> {
    let reader = with_executions()?;
    let id = match &arguments.id {
        Some(id) => id.clone(),
        None => match reader.latest()? {
            Some(latest) => latest.id,
            None => return Err(Failure::new(Kind::History, none_yet()).with_code(exit_code::CONFIGURATION)),
        },
    };
    let execution = reader.execution(&id).map_err(wrong)?;
    if arguments.json {
        terminal.print_json(&json(&execution)?);
    } else {
        terminal.print(show::page(&execution).trim_end());
    }
    Ok(())
}

fn json(execution: &Execution) -> Result<String, Failure> {
    serde_json::to_string(execution).map_err(Failure::system)
}

fn diff(arguments: &HistoryDiffArguments, terminal: &Terminal) -> Result<(), Failure> {
    let reader = with_executions()?;
    let (old, new) =
        (reader.execution(&arguments.old).map_err(wrong)?, reader.execution(&arguments.new).map_err(wrong)?);
    let differences = Differences::between(&old, &new);
    if arguments.json {
        terminal.print_json(&serde_json::to_string(&differences).map_err(Failure::system)?);
    } else if differences.is_empty() {
        terminal.note("the executions do not differ");
    } else {
        terminal.print(diff::text(&differences).trim_end());
    }
    Ok(())
}

/// A command line that runs an execution again.
pub(crate) enum Again {
    Snippet(RunArguments),
    Program(RunProgramArguments),
}

/// The command line that runs the snippet or the program of an execution again.
pub(crate) fn again(arguments: HistoryRerunArguments) -> Result<Again, Failure> {
    let execution = with_executions()?.execution(&arguments.id).map_err(wrong)?;
    match execution.summary.program.clone() {
        Some(program) => program_again(program, execution, arguments).map(Again::Program),
        None => snippet_again(execution, arguments).map(Again::Snippet),
    }
}

/// Runs the program of this name, as it is now, with the kept arguments.
fn program_again(
    program: String,
    execution: Execution,
    arguments: HistoryRerunArguments,
) -> Result<RunProgramArguments, Failure> {
    let HistoryRerunArguments { place, json, timeout, args, permission, .. } = arguments;
    let id = execution.summary.id;
    let by_hand = format!("run it with arguments of your own: toolsmith program run {program} --help");
    if !args.is_empty() {
        let message = format!("{id} ran the program {program}, which has typed arguments instead of --arg");
        return Err(Failure::command_line(message).hint(by_hand));
    }
    let kept = match execution.arguments {
        None => Some("{}".to_owned()),
        Some(kept) => kept.value.map(|value| value.to_string()).filter(|text| !text.contains("***")),
    };
    let Some(args) = kept else {
        let message = format!("the arguments of {id} are not kept");
        return Err(Failure::new(Kind::History, message)
            .hint(by_hand)
            .hint("to keep arguments from now on: `history: { arguments: full }` in your configuration"));
    };
    let options = RunProgramOptions { place, json, args: Some(args), timeout, permission };
    Ok(RunProgramArguments { options, program: NamedProgram::Words(vec![program]) })
}

fn snippet_again(execution: Execution, arguments: HistoryRerunArguments) -> Result<RunArguments, Failure> {
    let HistoryRerunArguments { id, place, json, timeout, args, permission } = arguments;
    if !execution.code_is_whole {
        return Err(Failure::new(
            Kind::History,
            format!("the snippet of {} contained a secret, which is not kept", execution.summary.id),
        )
        .hint(format!("write the snippet to a file, and run that: toolsmith history show {id}")));
    }
    let mut all: BTreeMap<String, String> = match execution.arguments {
        None => BTreeMap::new(),
        Some(kept) => {
            match kept.value.and_then(|value| serde_json::from_value(value).ok()) {
                Some(all) if !has_masked(&all) => all,
                _ if !args.is_empty() => BTreeMap::new(),
                _ => {
                    let message = format!("the arguments of {} are not kept", execution.summary.id);
                    return Err(Failure::new(Kind::History, message)
                    .hint("give all of them again: --arg KEY=VALUE")
                    .hint("to keep arguments from now on: `history: { arguments: full }` in your configuration"));
                }
            }
        }
    };
    all.extend(args);
    Ok(RunArguments {
        code: Some(execution.code),
        file: None,
        crate_folder: None,
        replay: None,
        place,
        json,
        check: false,
        timeout,
        args: all.into_iter().collect(),
        permission,
    })
}

/// Whether a secret was masked in an argument.
fn has_masked(arguments: &BTreeMap<String, String>) -> bool {
    arguments.values().any(|value| value.contains("***"))
}

async fn export(arguments: &HistoryExportArguments, terminal: &Terminal) -> Result<(), Failure> {
    let reader = if arguments.ids.is_empty() { existing()? } else { Some(with_executions()?) };
    let mut file = arguments.out.as_deref().map(ExportedFile::begin).transpose()?;
    let mut count = 0;
    let Some(reader) = reader else {
        terminal.note(&none_yet());
        return Ok(());
    };
    let (filter, mut before) = (arguments.filter.filter(), None);
    let mut ids = arguments.ids.clone();
    loop {
        if arguments.ids.is_empty() {
            let page = reader.list(&filter, Page { limit: EXPORTED, before })?;
            before = page.last().map(|last| last.number);
            ids = page.into_iter().map(|summary| summary.id).collect();
        }
        for id in &ids {
            let line = json(&reader.execution(id).map_err(wrong)?)?;
            match &mut file {
                Some(file) => file.line(&line)?,
                None => {
                    terminal.print(&line);
                    // Flush, to hold only one execution in memory at a time.
                    terminal.flush().await.map_err(Failure::output)?;
                }
            }
            count += 1;
        }
        if ids.is_empty() || !arguments.ids.is_empty() {
            break;
        }
    }
    if let Some(file) = file {
        file.end(&report::count(count, "execution"), terminal)?;
    }
    Ok(())
}

async fn delete(arguments: &HistoryDeleteArguments, terminal: &Terminal) -> Result<(), Failure> {
    let filter = arguments.filter.filter();
    let chooses = filter != Filter::default();
    if arguments.ids.is_empty() && !chooses && !arguments.all {
        return Err(Failure::command_line("nothing says which executions to delete")
            .hint("name them by id, choose them with an option such as --until 30d, or write --all"));
    }
    if !arguments.ids.is_empty() && chooses {
        return Err(Failure::command_line("executions are deleted either by id or by the other options")
            .hint("run the command twice"));
    }
    let mut reader = with_executions()?;
    for id in &arguments.ids {
        let found = reader.find(id).map_err(wrong)?;
        // A deletion can't be undone, so a prefix is not enough.
        if !found.eq_ignore_ascii_case(id) {
            return Err(Failure::command_line(format!(
                "{id} is not a full id; to delete that execution, write {found}"
            )));
        }
    }
    let deleted = if arguments.ids.is_empty() {
        let count = reader.count(&filter)?;
        if count > 0 && !arguments.yes {
            confirm(count).await?;
        }
        reader.delete_all(&filter)?
    } else {
        let ids: Vec<String> = arguments.ids.iter().map(|id| id.to_ascii_lowercase()).collect();
        reader.delete(&ids)?
    };
    terminal.note(&format!("deleted {}", report::count(deleted, "execution")));
    Ok(())
}

/// Asks before many executions are deleted.
async fn confirm(count: usize) -> Result<(), Failure> {
    let user = terminal_prompter::of_command().ok_or_else(|| {
        Failure::new(Kind::History, "there is no terminal to ask on")
            .hint("to delete the executions without a question, add --yes")
    })?;
    if user.confirm(&format!("Delete {}?", report::count(count, "execution"))).await {
        return Ok(());
    }
    Err(Failure::new(Kind::Cancelled, "the executions are kept"))
}
