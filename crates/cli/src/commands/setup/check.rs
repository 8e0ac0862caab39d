//! `toolsmith setup --check`: starts the entry in a client's file as the client does, and reports what its model sees.
//!
//! `setup` itself and `doctor` print one line for each client instead of all findings.

mod finding;
mod served;

use std::path::Path;
use std::time::Duration;

use answer::client_profile::ClientProfile;
use clap::ValueEnum as _;
use clients::import::is_toolsmith;
use clients::namespaces::{self, NAMESPACES};
use clients::place::is_installed;
use clients::profile::{Key, Profile};
use clients::version::{self, UnknownVersion};
use clients::{Client, ClientFile, ClientScope, Entry, Place, State};
use config::{Error, command_line};
use futures::future::join_all;
use gateway::exit_code;
use gateway::failure::Failure;
use semver::Version;
use serde_json::Value as Json;
use terminal::{Terminal, say_note};

use self::finding::{Finding, Kind};
use crate::arguments::SetupArguments;

/// The limits of a check.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// The time limit for the start and the list.
    limit: Duration,
    /// Whether to ask the programs of all clients for their versions, and not only where the version matters. Programs
    /// on Node take a second for that.
    versions: bool,
    /// Whether a project's entry may start other commands than `setup` without options writes.
    is_trusted: bool,
}

/// With `--check`: an entry for a container may have to load its image.
const PATIENT: Effort = Effort { limit: Duration::from_secs(60), versions: true, is_trusted: false };

/// At the end of `setup`, which has written or compared the entry, and in `doctor`, which reads only the user's own
/// files.
const SHORT: Effort = Effort { limit: Duration::from_secs(30), versions: false, is_trusted: true };

/// The value of `clientInfo.version` for a client whose version is not known.
const NO_VERSION: &str = "0.0.0";

/// The findings about a client that has the entry.
pub(crate) struct Checked {
    client: Client,
    version: Option<Version>,
    /// The command that prints all findings.
    command: String,
    /// The file and the section with the entry.
    place: String,
    findings: Vec<Finding>,
}

impl Checked {
    /// Whether the client's model sees the tools.
    pub(crate) fn is_seen(&self) -> bool {
        self.findings.iter().all(|finding| finding.kind != Kind::Missing)
    }

    /// The client with its version, if that is known.
    pub(crate) fn title(&self) -> String {
        let version = self.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
        format!("{}{version}", self.client.word())
    }

    /// One line: what the model sees, or why it sees nothing.
    pub(crate) fn summary(&self) -> String {
        let of_kind = |kind| self.findings.iter().filter(move |finding| finding.kind == kind);
        let texts = |kind| of_kind(kind).map(|finding| finding.text.as_str()).collect::<Vec<_>>().join("; ");
        if !self.is_seen() {
            return format!("its model does not see the tools: {}", texts(Kind::Missing));
        }
        let tool = self.findings.iter().find(|finding| finding.name == "tool" && finding.kind != Kind::Ok);
        let tool = tool.map_or("its model sees execute_code whole", |finding| finding.text.as_str());
        match of_kind(Kind::Note).count() {
            0 => tool.to_owned(),
            notes => {
                let notes = report::count(notes, "note");
                format!("{tool}; {notes}: {}", self.command)
            }
        }
    }

    /// All findings.
    fn lines(&self) -> Vec<String> {
        let width = self.findings.iter().map(|finding| finding.name.len()).max().unwrap_or_default();
        let mut lines = vec![format!("{}: {}", self.title(), self.place)];
        for Finding { kind, name, text } in &self.findings {
            let word = match kind {
                Kind::Ok => "ok",
                Kind::Note => "note",
                Kind::Missing => "missing",
            };
            lines.push(format!("  {word:<7}  {name:<width$}  {}", printable::prose(text)));
        }
        lines
    }
}

/// Checks the named clients, or all installed ones that have the entry, and returns the exit code.
pub(super) async fn check(arguments: &SetupArguments) -> Result<u8, Failure> {
    let (name, scope) = (arguments.name.as_str(), arguments.scope);
    let checked = if arguments.clients.is_empty() {
        all(name, scope, PATIENT).await
    } else {
        let checks = arguments.clients.iter().map(async |client| {
            one(*client, name, scope, PATIENT).await?.ok_or_else(|| {
                let word = client.word();
                Failure::command_line(format!("{word} has no entry {name}"))
                    .hint(format!("to add it: {}", command(*client, name, scope)))
                    .hint("to name another entry: --name NAME")
            })
        });
        join_all(checks).await.into_iter().collect::<Result<_, _>>()?
    };
    if checked.is_empty() {
        return Err(Failure::command_line(format!("no installed client has an entry {name}"))
            .hint("to add it: toolsmith setup"));
    }
    let terminal = Terminal::new(false, false);
    checked.iter().flat_map(Checked::lines).for_each(|line| terminal.print(&line));
    terminal.flush().await.map_err(Failure::output)?;
    Ok(if checked.iter().all(Checked::is_seen) { exit_code::OK } else { exit_code::RUNTIME })
}

/// Checks all installed clients that have the entry, for `doctor`.
pub(crate) async fn check_installed() -> Vec<Checked> {
    all("toolsmith", ClientScope::User, SHORT).await
}

/// Reports one line for each of the clients.
pub(super) async fn report(arguments: &SetupArguments, clients: &[Client]) {
    let checks = clients.iter().map(|client| one(*client, &arguments.name, arguments.scope, SHORT));
    for checked in join_all(checks).await {
        match checked {
            Ok(Some(checked)) => {
                say_note(format_args!(
                    "toolsmith: checked {}: {}\n",
                    checked.title(),
                    printable::prose(&checked.summary())
                ));
            }
            Ok(None) => {}
            Err(error) => say_note(format_args!("toolsmith: {error}\n")),
        }
    }
}

/// Checks all installed clients that have the entry. An unreadable file is a finding.
async fn all(name: &str, scope: ClientScope, effort: Effort) -> Vec<Checked> {
    let installed = Client::value_variants().iter().copied().filter(|client| is_installed(*client));
    let in_scope =
        installed.filter(|client| scope == ClientScope::User || !client.profile().project.is_empty());
    let checks = in_scope.map(async |client| {
        one(client, name, scope, effort).await.unwrap_or_else(|error| {
            let findings = vec![Finding::new(Kind::Missing, "file", error.to_string())];
            let (command, place) =
                (command(client, name, scope) + " --check", client.profile().section.join("."));
            Some(Checked { client, version: None, command, place, findings })
        })
    });
    join_all(checks).await.into_iter().flatten().collect()
}

/// Checks a client. `None` if it does not have the entry.
async fn one(
    client: Client,
    name: &str,
    scope: ClientScope,
    effort: Effort,
) -> Result<Option<Checked>, Error> {
    let file = ClientFile::open(client, &Place::of(client, scope)?)?;
    let Some(entry) = file.entries()?.remove(name) else { return Ok(None) };
    let profile = client.profile();
    let version = version::of(profile, effort.versions || profile.is_versioned).await;
    let of_entry = OfEntry { client, name, scope, entry: &entry, version: version.as_ref(), file: &file };
    let findings = of_entry.findings(effort).await?;
    let place = format!("{}, {}.{name}", file.path.display(), file.section());
    let command = command(client, name, scope) + " --check";
    Ok(Some(Checked { client, version: version.ok(), command, place, findings }))
}

/// The command that adds the entry, or what it lacks.
pub(super) fn command(client: Client, name: &str, scope: ClientScope) -> String {
    let scope = if scope == ClientScope::Project { " --scope project" } else { "" };
    let name = if name == "toolsmith" { String::new() } else { format!(" --name {name}") };
    format!("toolsmith setup {}{scope}{name}", client.word())
}

/// The command that changes the entry of these arguments again.
pub(super) fn command_of(arguments: &SetupArguments, client: Client) -> String {
    let command = command(client, &arguments.name, arguments.scope);
    let config = arguments.config.as_ref().map(|config| config.display().to_string());
    config.map_or(command.clone(), |config| {
        format!("{command} {}", command_line("--config", std::iter::once(config.as_str())))
    })
}

/// An entry, and the client that reads it.
struct OfEntry<'a> {
    client: Client,
    name: &'a str,
    scope: ClientScope,
    entry: &'a Json,
    /// The client's version, or why it is not known.
    version: Result<&'a Version, &'a UnknownVersion>,
    file: &'a ClientFile,
}

impl OfEntry<'_> {
    fn profile(&self) -> &'static Profile {
        self.client.profile()
    }

    /// All findings. An entry that is disabled or not ours is not started.
    async fn findings(&self, effort: Effort) -> Result<Vec<Finding>, Error> {
        if let Some(why) = self.unstarted(effort)? {
            return Ok(vec![Finding::new(Kind::Missing, "entry", why)]);
        }
        let version = self.version.map_or(NO_VERSION.to_owned(), Version::to_string);
        let shown = ClientProfile::of(self.profile().client_info, &version);
        let served = served::start(self.profile(), self.name, self.entry, version, effort.limit).await;
        let mut findings = match &served {
            Ok(served) => served.findings(shown),
            Err(why) => vec![Finding::new(Kind::Missing, "start", why.to_string())],
        };
        findings.extend(self.keys(served.is_ok_and(|served| served.is_always_loaded()))?);
        findings.extend(self.namespace(&self.file.namespaces()?)?);
        findings.push(self.calls()?);
        Ok(findings)
    }

    /// Returns the reason why the entry must not be started, if there is one. The file of a project may come from
    /// someone else.
    fn unstarted(&self, effort: Effort) -> Result<Option<String>, Error> {
        let is = |key: &str, value: bool| self.entry.get(key) == Some(&Json::Bool(value));
        if is("disabled", true) || is("enabled", false) {
            return Ok(Some("the entry is disabled, and is not started".to_owned()));
        }
        if !is_toolsmith(self.entry) {
            return Ok(Some("the entry does not start `toolsmith serve`, and is not started".to_owned()));
        }
        if self.scope == ClientScope::User {
            return Ok(None);
        }
        let own = self.own(self.config().filter(|_| effort.is_trusted))?;
        if (effort.is_trusted || own.is_same(self.entry)) && own.has_variables_of(self.entry) {
            return Ok(None);
        }
        let written = command(self.client, self.name, self.scope);
        Ok(Some(format!(
            "the project's entry is not started: it may come from someone else, and `{written}` would write another one"
        )))
    }

    /// The entry that `setup` would write.
    fn own(&self, config: Option<&str>) -> Result<Entry, Error> {
        let version = self.version.cloned().map_err(Clone::clone);
        Entry::for_version(self.client, self.name, config.map(Path::new), version)
    }

    /// The configuration that the entry names.
    fn config(&self) -> Option<&str> {
        let form = &self.profile().form;
        let args = self.entry.get(form.args.unwrap_or(form.command)).and_then(Json::as_array)?;
        args.iter().filter_map(Json::as_str).skip_while(|arg| *arg != "--config").nth(1)
    }

    /// The command that writes this entry.
    fn command(&self) -> String {
        let mut command = command(self.client, self.name, self.scope);
        if let Some(config) = self.config() {
            command = format!("{command} {}", command_line("--config", std::iter::once(config)));
        }
        command
    }

    /// The command that adds what the entry lacks. `None` if `setup` would not change it.
    fn addition(&self) -> Result<Option<String>, Error> {
        let state = self.file.state(self.name, &self.own(self.config())?)?;
        Ok(matches!(state, State::Incomplete(_)).then(|| self.command()))
    }

    /// The keys that the entry lacks. A server may ask Claude Code itself to load its tools always.
    fn keys(&self, is_always_loaded: bool) -> Result<Vec<Finding>, Error> {
        let addition = self.addition()?;
        let file = self.file.path.display();
        let lacks = |key: &&Key| match self.entry.get(key.name) {
            None => true,
            Some(value) => key.shows && !key.value.is_met_by(value, self.name),
        };
        let finding = |key: &Key| {
            let shows = key.shows && !(is_always_loaded && key.name == "alwaysLoad");
            let Key { name, without, value, .. } = key;
            let value = value.json(self.name);
            let remedy = match (&addition, self.entry.get(key.name)) {
                (Some(command), None) => format!("to add it: {command}"),
                _ => format!("set it to {value} in {file}"),
            };
            let text = format!("`{name}` is not {value} in the entry: without it, {without}; {remedy}");
            Finding::new(if shows { Kind::Missing } else { Kind::Note }, "key", text)
        };
        let accepted = self.profile().keys.iter().filter(|key| key.is_accepted_by(self.version.ok()));
        Ok(accepted.filter(lacks).map(finding).collect())
    }

    /// Whether Codex lists the namespace of the server's tools, as far as its version can.
    fn namespace(&self, listed: &[String]) -> Result<Option<Finding>, Error> {
        let Some(key) = self.profile().namespaces.as_ref() else { return Ok(None) };
        let namespace = namespaces::of_server(self.name);
        let (is_listed, word) = (listed.contains(&namespace), self.client.word());
        let path = NAMESPACES;
        let (kind, text) = match (key.is_accepted_by(self.version.ok()), self.version) {
            (true, _) if is_listed => (Kind::Ok, format!("{path} has {namespace:?}")),
            (true, _) => {
                let remedy = match self.addition()? {
                    Some(command) => format!("to add it: {command}"),
                    None => format!("add it in {}", self.file.path.display()),
                };
                let text =
                    format!("{path} does not have {namespace:?}: without it, {}; {remedy}", key.without);
                (Kind::Missing, text)
            }
            (false, Ok(version)) if !listed.is_empty() => {
                let text =
                    format!("{word} {version} does not start with {path}; update it, or remove the list");
                (Kind::Missing, text)
            }
            (false, Ok(version)) => (Kind::Ok, format!("{word} {version} needs no list of namespaces")),
            (false, Err(why)) => {
                let state = if is_listed { "has" } else { "does not have" };
                let text = format!("{why}, so its version is not known; {path} {state} {namespace:?}");
                (if is_listed { Kind::Ok } else { Kind::Note }, text)
            }
        };
        Ok(Some(Finding::new(kind, "namespace", text)))
    }

    /// Whether the client calls without asking, and which setting allows it.
    fn calls(&self) -> Result<Finding, Error> {
        let calls = &self.profile().calls;
        let ok = |text: String| Ok(Finding::new(Kind::Ok, "calls", text));
        let approval = calls.key.map(|(key, value)| (key, value.json(self.name)));
        if let Some((key, value)) = &approval
            && self.entry.get(*key) == Some(value)
        {
            return ok(format!("without asking: `{key}` is {value} in the entry"));
        }
        if let Some(item) = self.file.allowed_in_list(self.name) {
            return ok(format!("without asking: {item}"));
        }
        if calls.are_allowed {
            return ok(calls.default.to_owned());
        }
        let advice = match &approval {
            Some(_) if self.own(self.config())?.is_same(self.entry) => {
                format!("{} --approve", self.command())
            }
            Some((key, value)) => format!("set `{key}` to {value} in {}", self.file.path.display()),
            None => calls.advice.replace("{name}", self.name),
        };
        Ok(Finding::new(Kind::Note, "calls", format!("{}; to allow calls: {advice}", calls.default)))
    }
}
