//! Asks the user during `setup`: whether a client may call tools without asking, and which servers to trust.

use clients::{Client, ClientScope, Entry};
use config::{ConfigLayer, layers};
use gateway::failure::Failure;
use gateway::terminal_prompter;
use report::{Kind, Report};
use serde_json::{Map, Value as Json};
use terminal::say;

use super::check::command_of;
use crate::arguments::SetupArguments;
use crate::commands::mcp::edit::trusting::{self, asks};

/// A client's decision about calls by default, if its entry has a setting for that.
fn default_of(client: Client) -> Option<String> {
    let calls = &client.profile().calls;
    calls.key.map(|_| format!("{} {}", client.word(), calls.default))
}

/// Asks whether the client may call tools without asking, if its entry has a setting for that.
pub(super) async fn ask_for_approval(arguments: &SetupArguments, client: Client, entry: &mut Entry) {
    let Some(default) = default_of(client).filter(|_| !entry.is_approved) else { return };
    let Some(user) = terminal_prompter::of_command() else {
        return report_approval(arguments, client, entry);
    };
    report(&format!("{default}; Toolsmith's own permissions still apply to the calls of snippets"));
    let question = format!("Allow {} to call the tools of {} without asking?", client.word(), arguments.name);
    entry.is_approved = user.confirm(&question).await;
}

/// Reports how to let the client call without asking, if its entry has a setting for that.
pub(super) fn report_approval(arguments: &SetupArguments, client: Client, entry: &Entry) {
    if let Some(default) = default_of(client).filter(|_| !entry.is_approved) {
        let command = command_of(arguments, client);
        let note = Report::new(Kind::Denied, default)
            .hint(format!("to allow its calls without asking: {command} --approve"));
        report(&note.for_terminal());
    }
}

/// Asks which servers of the user's own configuration to trust.
pub(super) async fn ask_for_trust(arguments: &SetupArguments) -> Result<(), Failure> {
    let servers = trusting::untrusted()?;
    let [client] = arguments.clients[..] else { return report_all(arguments, &servers) };
    if servers.is_empty() {
        return Ok(());
    }
    let Some(user) = terminal_prompter::of_command() else {
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        let again = if arguments.scope == ClientScope::Project { " --scope project" } else { "" };
        let client = client.word();
        let message = format!(
            "there is no terminal to ask which servers to trust, so calls to tools of {} need your permission",
            names.join(", ")
        );
        let first = names.first().copied().unwrap_or_default();
        let note = Report::new(Kind::Trust, message)
            .hint(format!("to trust one: toolsmith setup {client}{again} --trust {first}"));
        report(&note.for_terminal());
        return Ok(());
    };
    let mut names = Vec::new();
    for server in servers {
        report(&server.description);
        if user.confirm("Allow calls to its tools without asking?").await {
            names.push(server.name);
        }
    }
    if names.is_empty() { Ok(()) } else { trust(&names) }
}

/// Reports the servers whose calls need permission: for several clients the user is asked only once, about the files.
fn report_all(arguments: &SetupArguments, servers: &[trusting::Untrusted]) -> Result<(), Failure> {
    if let Some(first) = servers.first() {
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        let client =
            arguments.clients.first().map(|client| format!(" {}", client.word())).unwrap_or_default();
        let message = format!("calls to tools of {} need your permission", names.join(", "));
        let note = Report::new(Kind::Trust, message)
            .hint(format!("to trust one: toolsmith setup{client} --trust {}", first.name));
        report(&note.for_terminal());
    }
    Ok(())
}

/// Allows calls to the tools of these servers.
pub(super) fn trust(names: &[String]) -> Result<(), Failure> {
    let file = trusting::trust(names)?;
    report(&format!(
        "calls to tools of {} are now allowed without asking, in {}",
        names.join(", "),
        file.display()
    ));
    Ok(())
}

/// Reports the servers of the named configuration whose calls need permission. That file is not changed.
pub(super) fn report_untrusted(layer: &ConfigLayer) -> Result<(), Failure> {
    let layers = layers::alone(layer)?;
    let trees = layers.documents.iter().map(|document| document.tree.to_json());
    let servers: Map<String, Json> =
        trees.filter_map(|tree| tree.get("mcpServers")?.as_object().cloned()).flatten().collect();
    let untrusted = servers.iter().filter(|(_, entry)| entry.as_object().is_some_and(asks));
    let mut names: Vec<_> = untrusted.map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let (false, Some(file)) = (names.is_empty(), layer.file()) {
        report(&format!(
            "calls to tools of {} need your permission: to trust a server, add `trust: true` to its entry in {}",
            names.join(", "),
            file.display()
        ));
    }
    Ok(())
}

/// Asks once before files are changed, unless the user has passed `--yes`.
///
/// # Errors
/// If the user declines, or there is no terminal to ask on.
pub(crate) async fn ask_to_change(yes: bool, question: &str, command: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let user = terminal_prompter::of_command().ok_or_else(|| {
        let message = "nothing is changed: there is no terminal to ask on";
        Failure::command_line(message)
            .hint(format!("to change the files without a question: {command} --yes"))
    })?;
    if user.confirm(question).await { Ok(()) } else { Err(Failure::command_line("nothing is changed")) }
}

fn report(text: &str) {
    say(format_args!("toolsmith: {text}\n"));
}
