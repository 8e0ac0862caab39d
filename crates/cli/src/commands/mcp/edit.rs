//! `toolsmith mcp add|import|remove|enable|disable`: changes the servers of a configuration file.
//!
//! The crate `clients` changes the file, and reads other clients' files.

mod bundle;
mod offer;
pub(crate) mod trusting;
mod values;
mod words;

use std::path::PathBuf;
use std::time::Duration;

use clients::edit::{Change, Editable, Entry, Scope};
use clients::file_lock::hold;
use clients::import::{of_client, read};
use clients::{ClientFile, ClientScope, Place};
use config::{Permission, command_line, split_command};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use report::{Kind, Problem, Report, problems};
use serde_json::{Map, Value as Json, json};

use crate::arguments::{
    AccessArguments, AddArguments, DestinationArguments, ImportArguments, NamedArguments, OAuthArguments,
    TransportArgument,
};
use crate::usage_hints::words;
use bundle::Base;
use offer::Offered;
use values::Values;
pub(crate) use words::describe;
pub(super) use words::report;

/// A server that was added.
pub(crate) struct Added {
    /// The changed file.
    pub(crate) file: PathBuf,
    /// Whether it is from a bundle.
    pub(crate) is_bundle: bool,
}

/// Adds a server.
pub(crate) async fn add(arguments: &AddArguments) -> Result<Added, Failure> {
    let mut file = Editable::open(arguments.destination.scope)?;
    let taken = taken(&file, [arguments.name.as_str()].into_iter())?;
    refuse_taken(&taken, &arguments.destination, &file)?;
    let replaced = file.entry(&arguments.name)?;
    let words: Vec<String> = words().collect();
    without_separator(arguments, &words).iter().for_each(|note| report(note));
    let Base { mut entry, values, unpacked } = base(arguments).await?;
    put_settings(arguments, &mut entry);
    if arguments.destination.access.sandbox && !entry.iter().any(|(key, _)| key == "command") {
        return Err(Failure::command_line("--sandbox confines a local program, and this server has a URL")
            .hint("leave out --sandbox"));
    }
    entry.extend(access(&arguments.destination.access, &[(arguments.name.clone(), entry.clone())]).await);
    if unpacked.is_none() {
        entry.extend(confinement(&arguments.destination.access, &entry));
    }
    change(&mut file, &arguments.name, &Change::Set(entry))?;
    values.store().await?;
    save(&file)?;
    let is_bundle = unpacked.is_some();
    if let Some(unpacked) = unpacked {
        unpacked.keep();
    }
    if let Some(replaced) = &replaced {
        bundle::remove_of(replaced);
    }
    report_added(&arguments.name, &file, arguments.destination.scope);
    Ok(Added { file: file.path, is_bundle })
}

/// Imports the servers of another client and returns the exit code.
pub(crate) async fn import(arguments: &ImportArguments) -> Result<u8, Failure> {
    let imported = match arguments.from {
        Some(client) => {
            let file = ClientFile::open(client, &Place::of(client, ClientScope::User)?)?;
            file.must_exist()?;
            of_client(client, &file.path, &file.content()?, &file.entries()?)?
        }
        None => read(&arguments.file)?,
    };
    let mut file = Editable::open(arguments.destination.scope)?;
    let taken = taken(&file, imported.servers.iter().map(|(name, _)| name.as_str()))?;
    refuse_taken(&taken, &arguments.destination, &file)?;
    for note in &imported.notes {
        report(&printable::prose(note));
    }
    let access = access(&arguments.destination.access, &imported.servers).await;
    let (mut names, mut programs) = (Vec::new(), Vec::new());
    for (name, entry) in &imported.servers {
        let before = file.text.clone();
        let confinement = confinement(&arguments.destination.access, entry);
        let whole = entry.iter().cloned().chain(access.clone()).chain(confinement).collect();
        file.change(name, &Change::Set(whole))?;
        match file.wrong(name)? {
            Some(wrong) => {
                let wrong = problems(&wrong);
                report(&format!("{name}: left out, because its entry would be invalid:\n{wrong}"));
                file.text = before;
            }
            None => {
                names.push(name.as_str());
                programs.extend(is_foreign_program(entry).then_some(name.as_str()));
            }
        }
    }
    if names.is_empty() {
        let message = format!("{} is unchanged: no server could be imported", file.path.display());
        return Err(Failure::command_line(message));
    }
    save(&file)?;
    report_added(&names.join(", "), &file, arguments.destination.scope);
    if let Some(text) = of_rights(&programs, arguments.destination.access.sandbox) {
        report(&text);
    }
    Ok(exit_code::OK)
}

/// The key that confines a new server, if it is a local program and the user wants that.
pub(crate) fn confinement(arguments: &AccessArguments, entry: &Entry) -> Option<(String, Json)> {
    let is_program = entry.iter().any(|(key, _)| key == "command");
    (arguments.sandbox && is_program).then(|| ("sandbox".to_owned(), json!(true)))
}

/// Whether an entry starts a program other than this one, and is not disabled.
pub(crate) fn is_foreign_program(entry: &Entry) -> bool {
    let command = entry.iter().find(|(key, _)| key == "command").and_then(|(_, value)| value.as_str());
    let is_off = entry.iter().any(|(key, value)| key == "enabled" && *value == json!(false));
    !is_off && command.is_some_and(|command| !config::is_this_program(command))
}

/// A note whether these servers are confined, with the next step.
pub(crate) fn of_rights(programs: &[&str], is_confined: bool) -> Option<String> {
    let first = programs.first()?;
    let (state, step) = match is_confined {
        true => ("confined", "find the grants that one needs"),
        false => ("not confined", "confine one"),
    };
    let note = Report::new(Kind::Configuration, format!("{state}: {}", programs.join(", ")));
    Some(note.hint(format!("to {step}: toolsmith mcp sandbox {first} --learn")).for_terminal())
}

/// Reports new servers, and in which folders they count if the user has not said so.
fn report_added(names: &str, file: &Editable, scope: Option<Scope>) {
    report(&format!("added {names} to {}", file.path.display()));
    if scope.is_none() && file.is_of_project() {
        report("it counts only in this folder; for all folders: --scope user");
    }
}

/// Removes a server and returns the exit code.
pub(crate) fn remove(arguments: &NamedArguments) -> Result<u8, Failure> {
    let mut file = Editable::open(arguments.scope)?;
    let Some(entry) = file.entry(&arguments.name)? else {
        return Err(unknown(&file, &arguments.name, Some("remove")));
    };
    file.change(&arguments.name, &Change::Remove)?;
    save(&file)?;
    bundle::remove_of(&entry);
    report(&format!("removed {} from {}", arguments.name, file.path.display()));
    Ok(exit_code::OK)
}

/// Enables or disables a server and returns the exit code.
pub(crate) fn switch(arguments: &NamedArguments, enabled: bool) -> Result<u8, Failure> {
    let name = &arguments.name;
    let mut file = Editable::open(arguments.scope)?;
    let entry = file.entry(name)?;
    // An entry that only disables the server of a lower layer.
    let is_switch = entry
        .as_ref()
        .and_then(Json::as_object)
        .is_some_and(|entry| entry.len() == 1 && entry.get("enabled") == Some(&Json::Bool(false)));
    let change = match &entry {
        Some(_) if is_switch && enabled => Change::Remove,
        Some(_) => Change::Enabled(enabled),
        None if !enabled && file.is_of_project() && users_has(name)? => {
            Change::Set(vec![("enabled".to_owned(), Json::Bool(false))])
        }
        None => {
            let command = if enabled { "enable" } else { "disable" };
            return Err(unknown(&file, name, Some(command)));
        }
    };
    file.change(name, &change)?;
    save(&file)?;
    let done = if enabled { "enabled" } else { "disabled" };
    report(&format!("{done} {name} in {}", file.path.display()));
    Ok(exit_code::OK)
}

/// Whether the user's own file has a server.
fn users_has(name: &str) -> Result<bool, Failure> {
    let file = Editable::open(Scope::User)?;
    Ok(file.entry(name)?.is_some())
}

/// The error for a server that the file lacks. If the file of the other scope has it, the advice is to type the command
/// with that scope.
fn unknown(file: &Editable, name: &str, command: Option<&str>) -> Failure {
    let failure = Failure::command_line(format!("{} has no server {name}", file.path.display()));
    let (other, word) =
        if file.is_of_project() { (Scope::User, "user") } else { (Scope::Project, "project") };
    match (command, Editable::open(other)) {
        (Some(command), Ok(other)) if other.entry(name).is_ok_and(|entry| entry.is_some()) => {
            let other = other.path.display();
            failure.hint(format!("{other} has it: toolsmith mcp {command} {name} --scope {word}"))
        }
        // Only the advice depends on the other file.
        _ => failure.hint("`toolsmith config show` lists the servers and their files"),
    }
}

/// The names that the file already uses.
fn taken<'a>(file: &Editable, names: impl Iterator<Item = &'a str>) -> Result<Vec<&'a str>, Failure> {
    let mut taken = Vec::new();
    for name in names {
        if file.entry(name)?.is_some() {
            taken.push(name);
        }
    }
    Ok(taken)
}

fn refuse_taken(taken: &[&str], destination: &DestinationArguments, file: &Editable) -> Result<(), Failure> {
    if taken.is_empty() || destination.replace {
        return Ok(());
    }
    let (names, place) = (taken.join(", "), file.path.display());
    let message = format!("{place} already has {names}, and is unchanged");
    Err(Failure::command_line(message).hint("replace existing servers: --replace"))
}

/// Changes the entry, and fails if the configuration would be invalid.
pub(super) fn change(file: &mut Editable, name: &str, change: &Change) -> Result<(), Failure> {
    file.change(name, change)?;
    match file.wrong(name)? {
        Some(wrong) => {
            let mut all = vec![Problem::new("the file is unchanged, because the entry would be invalid:")];
            all.extend(wrong);
            Err(Report::of(Kind::Configuration, all).into())
        }
        None => Ok(()),
    }
}

pub(crate) fn save(file: &Editable) -> Result<(), Failure> {
    // If two processes change the file at once, the later one finds that it has changed.
    let _held = file.path.parent().filter(|folder| folder.is_dir()).map(|_| hold(&file.path)).transpose()?;
    if let Some(note) = file.save()? {
        report(&note);
    }
    Ok(())
}

/// The command or the address of the new server: the arguments', or those that a registry describes, with the values
/// that were asked for.
async fn base(arguments: &AddArguments) -> Result<Base, Failure> {
    let plain = |entry, values| Base { entry, values, unpacked: None };
    let (name, offer) = (&arguments.name, &arguments.offer);
    if let Some(source) = &offer.registry {
        return match offer::offered(name, source, offer).await? {
            Offered::Server(entry, values) => Ok(plain(entry, values)),
            Offered::Bundle(address) => bundle::of_registry(name, &address, &offer.values).await,
        };
    }
    match &arguments.line[..] {
        [only] if bundle::is_bundle(only) => bundle::of_line(name, only, offer).await,
        _ => Ok(plain(target_entry(arguments)?, Values::default())),
    }
}

/// The place of a document in an entry: an address or a variable as it is, and a file of this folder by its whole path,
/// because paths in an entry begin at the folder of its file.
fn document_place(document: &str) -> String {
    let is_other = document.contains("://") || document.starts_with("${");
    let path = std::path::absolute(document).ok().filter(|_| !is_other);
    path.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| document.to_owned())
}

/// The command or the address in the arguments.
fn target_entry(arguments: &AddArguments) -> Result<Entry, Failure> {
    let mut entry = Entry::new();
    let mut put = |key: &str, value: Json| entry.push((key.to_owned(), value));
    let (command, args, url) = target(arguments);
    let (command, args) = in_words(command, args, arguments.cwd.as_deref());
    let transport = match (arguments.transport, &command, &url) {
        _ if arguments.openapi.is_some() => None,
        (Some(TransportArgument::Stdio), ..) | (None, Some(_), _) => Some("stdio"),
        (Some(TransportArgument::Sse), ..) => Some("sse"),
        (Some(TransportArgument::Http), ..) => Some("http"),
        (None, None, Some(url)) => mcp::is_event_stream(url).then_some("sse"),
        (None, None, None) => {
            return Err(Failure::command_line("a server needs a command or a URL")
                .hint("toolsmith mcp add NAME -- COMMAND ARGUMENTS…")
                .hint("toolsmith mcp add NAME --url https://…")
                .hint("toolsmith mcp add NAME --openapi FILE"));
        }
    };
    if let Some(transport) = transport {
        put("type", json!(transport));
    }
    if let Some(document) = &arguments.openapi {
        put("openapi", json!(document_place(document)));
    }
    if let Some(command) = command {
        put("command", json!(command));
    }
    if !args.is_empty() {
        put("args", json!(args));
    }
    if let Some(folder) = &arguments.cwd {
        put("cwd", json!(folder));
    }
    if let Some(url) = url {
        put("url", json!(url));
    }
    Ok(entry)
}

/// Adds the other settings of the arguments to an entry.
fn put_settings(arguments: &AddArguments, entry: &mut Entry) {
    put_pairs(entry, "env", &arguments.env);
    put_pairs(entry, "headers", &arguments.headers);
    let mut put = |key: &str, value: Json| entry.push((key.to_owned(), value));
    if let Some(oauth) = oauth(&arguments.oauth) {
        put("oauth", oauth);
    }
    if let Some(time) = arguments.timeout {
        put("timeout", seconds(time));
    }
    if let Some(time) = arguments.request_timeout {
        put("requestTimeout", seconds(time));
    }
    if let Some(enabled) = arguments.enabled {
        put("enabled", json!(enabled));
    }
}

/// Adds pairs to a key that may have some already.
fn put_pairs(entry: &mut Entry, key: &str, pairs: &[(String, String)]) {
    if pairs.is_empty() {
        return;
    }
    let pairs = pairs.iter().map(|(name, value)| (name.clone(), json!(value)));
    match entry.iter_mut().find(|(other, _)| other == key) {
        Some((_, Json::Object(there))) => there.extend(pairs),
        _ => {
            // Variables stand before the folder and the address, headers behind them.
            let is_behind = |other: &str| key == "env" && matches!(other, "cwd" | "url");
            let place = entry.iter().position(|(other, _)| is_behind(other)).unwrap_or(entry.len());
            entry.insert(place, (key.to_owned(), Json::Object(pairs.collect())));
        }
    }
}

/// The command with its arguments, or the URL: an address alone after the name is one.
fn target(arguments: &AddArguments) -> (Option<String>, Vec<String>, Option<String>) {
    let is_address = |word: &str| word.starts_with("https://") || word.starts_with("http://");
    match &arguments.line[..] {
        [only] if is_address(only) => (None, Vec::new(), Some(only.clone())),
        [command, args @ ..] => (Some(command.clone()), args.to_vec(), None),
        [] => (arguments.command.clone(), arguments.args.clone(), arguments.url.clone()),
    }
}

/// A note on options behind a command that `--` does not separate: they are the command's, and may be meant for `mcp
/// add`.
fn without_separator(arguments: &AddArguments, words: &[String]) -> Option<String> {
    let (command, args) = arguments.line.split_first()?;
    let option = args.iter().find(|word| word.starts_with('-'))?;
    if words.iter().any(|word| word == "--") {
        return None;
    }
    let (name, before) = (&arguments.name, args.iter().take_while(|word| *word != option));
    // Values of later options may be secret.
    let line = command_line(command, before.map(String::as_str));
    let option = option.split('=').next().unwrap_or_default();
    Some(format!(
        "{option} belongs to {command}; write options of `mcp add` before the name, and `--` before the command: \
         toolsmith mcp add {name} -- {line} …"
    ))
}

/// Splits a command that is one text with its arguments, and reports that.
fn in_words(
    command: Option<String>,
    args: Vec<String>,
    folder: Option<&str>,
) -> (Option<String>, Vec<String>) {
    let split = command.as_deref().filter(|_| args.is_empty());
    let Some((program, words)) = split.and_then(|command| split_command(command, folder)) else {
        return (command, args);
    };
    report(&format!("the command is {program:?}, with the arguments {words:?}"));
    (Some(program), words)
}

fn oauth(arguments: &OAuthArguments) -> Option<Json> {
    let given = [
        ("scope", &arguments.scopes),
        ("client_id", &arguments.client_id),
        ("client_secret", &arguments.client_secret),
        ("private_key", &arguments.private_key),
        ("private_key_file", &arguments.private_key_file),
        ("key_id", &arguments.key_id),
        ("authorization_url", &arguments.authorization_url),
        ("token_url", &arguments.token_url),
        ("registration_url", &arguments.registration_url),
        ("client_metadata_url", &arguments.client_metadata_url),
        ("grant", &arguments.grant),
    ];
    let given = given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), json!(value.as_ref()?))));
    let given: Map<String, Json> = given.collect();
    (!given.is_empty()).then_some(Json::Object(given))
}

fn seconds(time: Duration) -> Json {
    if time.subsec_nanos() == 0 { json!(time.as_secs()) } else { json!(time.as_secs_f64()) }
}

/// The permission of new servers: from the arguments, or from the user's answer, or `ask`.
pub(crate) async fn access(arguments: &AccessArguments, servers: &[(String, Entry)]) -> Entry {
    let entry = |key: &str, value: Json| vec![(key.to_owned(), value)];
    if arguments.trust {
        return entry("trust", json!(true));
    }
    if let Some(permission) = arguments.permission {
        return entry("permission", json!(permission));
    }
    if let Some(user) = terminal_prompter::of_command() {
        servers.iter().for_each(|(name, entry)| report(&describe(name, entry)));
        let tools = if servers.len() == 1 { "its tools" } else { "their tools" };
        if user.confirm(&format!("Allow calls to {tools} without asking?")).await {
            return entry("trust", json!(true));
        }
    }
    entry("permission", json!(Permission::Ask))
}
