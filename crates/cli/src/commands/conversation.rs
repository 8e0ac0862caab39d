//! `toolsmith conversation`: lists, prints, exports and deletes saved conversations.

mod json;
mod markdown;
mod reading;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agent::{Store, StoreError, Summary};
use config::Glob;
use execution::setup;
use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;
use system::calendar::minute;
use terminal::Terminal;
use terminal::table::{short, show_table};

use self::reading::{Page, Style};
use crate::arguments::{
    ConfigArguments, ConversationCommand, DeleteArguments, ExportArguments, ListArguments, PrintArguments,
    PruneArguments,
};
use crate::commands::exported_file::ExportedFile;

/// Matches the labels of subagents' conversations.
const SUBAGENTS: &str = "subagent:*";

/// Maximum length of a title in a table, in characters.
const TITLE: usize = 50;

/// Runs a subcommand of `conversation` and returns the exit code.
pub(crate) async fn run(command: &ConversationCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = match command {
        ConversationCommand::List(arguments) => list(arguments, &terminal).await,
        ConversationCommand::Print(arguments) => print(arguments, &terminal).await,
        ConversationCommand::Export(arguments) => export(arguments, &terminal).await,
        ConversationCommand::Delete(arguments) => delete(arguments, &terminal).await,
        ConversationCommand::Prune(arguments) => prune(arguments, &terminal).await,
    };
    flush(&terminal).await?;
    done.map(|()| exit_code::OK)
}

async fn flush(terminal: &Terminal) -> Result<(), Failure> {
    terminal.flush().await.map_err(Failure::output)
}

/// Opens the store, or returns the path of its file if that does not exist: these commands do not create it. Untrusted
/// project configurations are ignored, as in `ask` and `chat`.
fn existing(place: &ConfigArguments) -> Result<Result<Store, PathBuf>, Failure> {
    let config = setup::configure(&place.options().without_untrusted())?;
    let Some(file) = assistant::conversations::file(&config)? else {
        let message = "no conversations are kept: agent.conversations is false in the configuration";
        return Err(Failure::new(Kind::Conversation, message).with_code(exit_code::CONFIGURATION));
    };
    if !file.exists() {
        return Ok(Err(file));
    }
    Ok(Ok(Store::open(&file)?))
}

/// Opens the store, and fails if there is none.
fn with_conversations(place: &ConfigArguments) -> Result<Store, Failure> {
    existing(place)?.map_err(|file| {
        let failure = Failure::new(Kind::Conversation, none_yet(&file));
        failure.with_code(exit_code::CONFIGURATION).hint("start one: toolsmith chat")
    })
}

fn none_yet(file: &Path) -> String {
    format!("no conversations are kept in {} yet", file.display())
}

/// The failure for an unknown conversation or message, or for an error of the store.
fn wrong(error: StoreError) -> Failure {
    Failure::from(error).with_code(exit_code::CONFIGURATION)
}

async fn list(arguments: &ListArguments, terminal: &Terminal) -> Result<(), Failure> {
    let (mut summaries, file) = match existing(&arguments.place)? {
        Ok(store) => (store.list().await?, store.file().to_owned()),
        Err(file) => (Vec::new(), file),
    };
    let is_empty = summaries.is_empty();
    let label = arguments.subagents.then_some(SUBAGENTS).or(arguments.label.as_deref()).map(Glob::new);
    if let Some(label) = label {
        summaries.retain(|one| one.about.label.as_ref().is_some_and(|own| label.fits(own)));
    }
    if let Some(limit) = arguments.limit.and_then(|limit| usize::try_from(limit).ok()) {
        summaries.truncate(limit);
    }
    if arguments.json {
        let summaries: Vec<_> = summaries.iter().map(json::Conversation::of).collect();
        terminal.print(&json::json(&summaries, true)?);
    } else if is_empty {
        terminal.note(&none_yet(&file));
    } else if summaries.is_empty() {
        terminal.note("no conversation has this label");
    } else {
        let columns = ["id", "changed", "messages", "tokens", "label", "model", "title"];
        show_table(terminal, &columns, summaries.iter().map(row));
    }
    Ok(())
}

fn row(summary: &Summary) -> Vec<String> {
    vec![
        summary.id.clone(),
        minute(summary.changed),
        summary.messages.to_string(),
        summary.usage.total().to_string(),
        summary.about.label.clone().unwrap_or_default(),
        summary.about.model.clone(),
        short(&summary.title, TITLE),
    ]
}

async fn print(arguments: &PrintArguments, terminal: &Terminal) -> Result<(), Failure> {
    let store = with_conversations(&arguments.place)?;
    let summary = store.find(&arguments.id).await.map_err(wrong)?;
    let path = store.path(&summary.id, arguments.message.as_deref()).await.map_err(wrong)?;
    if arguments.json {
        terminal.print(&json::json(&json::Conversation::with(&summary, &path), true)?);
    } else if arguments.markdown {
        terminal.print(markdown::page(&summary, &path, arguments.full).trim_end());
    } else {
        let style = if terminal::stdout_has_colours() { Style::TERMINAL } else { Style::NONE };
        terminal.print_painted(Page::of(&summary, &path, arguments.full, style).trim_end());
    }
    let left_out = summary.messages.saturating_sub(u64::try_from(path.len()).unwrap_or(u64::MAX));
    if left_out > 0 {
        terminal.note(&format!(
            "left out {} of other branches; `toolsmith conversation export {}` prints all, and --to MESSAGE prints the \
             branch of a message",
            report::count(left_out, "message"),
            summary.id
        ));
    }
    Ok(())
}

async fn export(arguments: &ExportArguments, terminal: &Terminal) -> Result<(), Failure> {
    let (store, ids) = if arguments.ids.is_empty() {
        match existing(&arguments.place)? {
            Ok(store) => {
                let all = store.list().await?;
                (Some(store), all.into_iter().map(|summary| summary.id).collect())
            }
            Err(file) => {
                terminal.note(&none_yet(&file));
                (None, Vec::new())
            }
        }
    } else {
        (Some(with_conversations(&arguments.place)?), arguments.ids.clone())
    };
    let mut file = arguments.out.as_deref().map(ExportedFile::begin).transpose()?;
    for id in &ids {
        let Some(store) = &store else { break };
        let (summary, messages) = store.whole(id).await.map_err(wrong)?;
        let line = json::json(&json::Conversation::with(&summary, &messages), false)?;
        match &mut file {
            Some(file) => file.line(&line)?,
            None => {
                terminal.print(&line);
                // Flush, to hold only one conversation in memory at a time.
                flush(terminal).await?;
            }
        }
    }
    if let Some(file) = file {
        file.end(&report::count(ids.len(), "conversation"), terminal)?;
    }
    Ok(())
}

async fn delete(arguments: &DeleteArguments, terminal: &Terminal) -> Result<(), Failure> {
    let store = with_conversations(&arguments.place)?;
    for id in &arguments.ids {
        let found = store.find(id).await.map_err(wrong)?.id;
        // A deletion cannot be undone, so a prefix is not enough.
        if !found.eq_ignore_ascii_case(id) {
            return Err(Failure::command_line(format!(
                "{id} is not a full id; to delete that conversation, write {found}"
            )));
        }
    }
    let deleted = store.delete(&arguments.ids).await.map_err(wrong)?;
    report_deleted(&deleted, arguments.json, terminal)
}

async fn prune(arguments: &PruneArguments, terminal: &Terminal) -> Result<(), Failure> {
    let Ok(store) = existing(&arguments.place)? else {
        terminal.note("no conversation is that old");
        return report_deleted(&[], arguments.json, terminal);
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let before = now.as_millis().saturating_sub(arguments.older_than.as_millis());
    let deleted = store.prune(i64::try_from(before).unwrap_or(i64::MAX)).await?;
    if deleted.is_empty() {
        terminal.note("no conversation is that old");
    }
    report_deleted(&deleted, arguments.json, terminal)
}

fn report_deleted(deleted: &[Summary], as_json: bool, terminal: &Terminal) -> Result<(), Failure> {
    if as_json {
        let deleted: Vec<_> = deleted.iter().map(json::Conversation::of).collect();
        terminal.print_json(&json::json(&deleted, true)?);
        return Ok(());
    }
    for one in deleted {
        let messages = report::count(one.messages, "message");
        let words = [Some(one.title.as_str()), one.about.label.as_deref()];
        let words: Vec<_> = words.into_iter().flatten().filter(|word| !word.is_empty()).collect();
        terminal.print(&short(&format!("deleted {} ({messages}) {}", one.id, words.join(" · ")), 120));
    }
    Ok(())
}
