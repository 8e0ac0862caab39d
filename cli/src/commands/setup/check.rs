//! `toolsmith setup --check`: starts the entry in a client's file as the client does, and reports what its model sees.
//!
//! `setup` itself and `doctor` print one line for each client instead of all findings.

mod finding;
mod served;

use std::time::Duration;

use clap::ValueEnum as _;
use config::Error;
use futures::future::join_all;
use gateway::exit_code;
use gateway::failure::Failure;
use semver::Version;
use serde_json::Value as Json;
use server::client_profile::ClientProfile;
use terminal::{Terminal, say_note};
use tokio::time::timeout;

use self::finding::{Finding, Kind};
use super::client::{Key, NAMESPACES, Profile, Syntax};
use super::file::ClientFile;
use super::place::{Place, is_installed};
use super::{namespaces, version};
use crate::arguments::{Client, ClientScope, SetupArguments};

/// How much time a check may take.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// The time limit for the start and the list.
    limit: Duration,
    /// Whether to ask the programs of all clients for their versions, and not only where the version matters. Programs on
    /// Node take a second for that.
    versions: bool,
}

/// With `--check`: an entry for a container may have to load its image.
const PATIENT: Effort = Effort { limit: Duration::from_secs(60), versions: true };

/// At the end of `setup` and in `doctor`.
const SHORT: Effort = Effort { limit: Duration::from_secs(30), versions: false };

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
    let mut checked = Vec::new();
    if arguments.clients.is_empty() {
        checked = all(name, scope, PATIENT).await;
    } else {
        for client in &arguments.clients {
            let one = one(*client, name, scope, PATIENT).await?;
            checked.push(one.ok_or_else(|| {
                let word = client.word();
                Failure::command_line(format!("{word} has no entry {name}"))
                    .hint(format!("to add it: toolsmith setup {word}"))
                    .hint("to name another entry: --name NAME")
            })?);
        }
    }
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

/// Reports one line for each client whose file was changed.
pub(super) async fn report(arguments: &SetupArguments, changed: &[Client]) {
    let checks = changed.iter().map(|client| one(*client, &arguments.name, arguments.scope, SHORT));
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
            let (command, place) = (command(client, name, scope), client.profile().section.join("."));
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
    let Effort { limit, versions } = effort;
    let version = if versions || profile.is_versioned { version::of(profile).await } else { None };
    let named = version.as_ref().map_or(NO_VERSION.to_owned(), Version::to_string);
    let shown = ClientProfile::of(profile.client_info, &named);
    let served = timeout(limit, served::start(profile, name, &entry, named, limit));
    let served =
        served.await.unwrap_or_else(|_| Err(format!("no tools were listed within {} s", limit.as_secs())));
    let mut findings = match &served {
        Ok(served) => served.findings(shown),
        Err(why) => vec![Finding::new(Kind::Missing, "start", why.clone())],
    };
    let of_entry = OfEntry { client, profile, name, entry: &entry, version: version.as_ref() };
    findings.extend(of_entry.keys(served.is_ok_and(|served| served.is_always_loaded())));
    findings.extend(of_entry.namespace(&file.namespaces()?));
    findings.push(of_entry.calls());
    let place = format!("{}, {}.{name}", file.path.display(), file.section());
    Ok(Some(Checked { client, version, command: command(client, name, scope), place, findings }))
}

fn command(client: Client, name: &str, scope: ClientScope) -> String {
    let scope = if scope == ClientScope::Project { " --scope project" } else { "" };
    let name = if name == "toolsmith" { String::new() } else { format!(" --name {name}") };
    format!("toolsmith setup {}{scope}{name} --check", client.word())
}

/// An entry, and the client that reads it.
struct OfEntry<'a> {
    client: Client,
    profile: &'static Profile,
    name: &'a str,
    entry: &'a Json,
    version: Option<&'a Version>,
}

impl OfEntry<'_> {
    /// The keys that the entry lacks. A server may ask Claude Code itself to load its tools always.
    fn keys(&self, is_always_loaded: bool) -> Vec<Finding> {
        let is_off = self.entry.get("disabled") == Some(&Json::Bool(true))
            || self.entry.get("enabled") == Some(&Json::Bool(false));
        let off = is_off.then(|| Finding::new(Kind::Missing, "entry", "the entry is disabled"));
        let accepted = self.profile.keys.iter().filter(|key| key.is_accepted_by(self.version));
        let lacks = |key: &&Key| match self.entry.get(key.name) {
            None => true,
            Some(value) => key.shows && *value != key.value.json(self.name),
        };
        let finding = |key: &Key| {
            let shows = key.shows && !(is_always_loaded && key.name == "alwaysLoad");
            let text = format!(
                "`{}` is not {} in the entry: without it, {}; to add it: toolsmith setup {}",
                key.name,
                key.value.json(self.name),
                key.without,
                self.client.word()
            );
            Finding::new(if shows { Kind::Missing } else { Kind::Note }, "key", text)
        };
        off.into_iter().chain(accepted.filter(lacks).map(finding)).collect()
    }

    /// Whether Codex lists the namespace of the server's tools, as far as its version can.
    fn namespace(&self, listed: &[String]) -> Option<Finding> {
        let key = self.profile.namespaces.as_ref()?;
        let namespace = namespaces::of_server(self.name);
        let (is_listed, word) = (listed.contains(&namespace), self.client.word());
        let path = NAMESPACES;
        Some(match (key.is_accepted_by(self.version), self.version) {
            (true, _) if is_listed => {
                Finding::new(Kind::Ok, "namespace", format!("{path} has {namespace:?}"))
            }
            (true, _) => {
                let text = format!(
                    "{path} does not have {namespace:?}: without it, {}; to add it: toolsmith setup {word}",
                    key.without
                );
                Finding::new(Kind::Missing, "namespace", text)
            }
            (false, Some(version)) if !listed.is_empty() => {
                let text =
                    format!("{word} {version} does not start with {path}; update it, or remove the list");
                Finding::new(Kind::Missing, "namespace", text)
            }
            (false, Some(version)) => {
                Finding::new(Kind::Ok, "namespace", format!("{word} {version} needs no list of namespaces"))
            }
            (false, None) => {
                let state = if is_listed { "has" } else { "does not have" };
                let text = format!(
                    "{word} is not in PATH, so its version is not known; {path} {state} {namespace:?}"
                );
                Finding::new(if is_listed { Kind::Ok } else { Kind::Note }, "namespace", text)
            }
        })
    }

    /// Whether the client calls without asking, and which setting allows it.
    fn calls(&self) -> Finding {
        let calls = &self.profile.calls;
        let ok = |text: String| Finding::new(Kind::Ok, "calls", text);
        if let Some((key, value)) = calls.key
            && self.entry.get(key) == Some(&value.json(self.name))
        {
            return ok(format!("without asking: `{key}` is {} in the entry", value.json(self.name)));
        }
        if let Some(allowed) = self.allowed_in_list() {
            return ok(allowed);
        }
        if calls.are_allowed {
            return ok(calls.default.to_owned());
        }
        let advice = match calls.key {
            Some(_) => format!("toolsmith setup {} --approve", self.client.word()),
            None => calls.advice.replace("{name}", self.name),
        };
        Finding::new(Kind::Note, "calls", format!("{}; to allow calls: {advice}", calls.default))
    }

    /// The item of the client's list that allows the calls.
    fn allowed_in_list(&self) -> Option<String> {
        let (location, path, items) = self.profile.calls.list.as_ref()?;
        let file = location.path().ok()?;
        let text = system::file::read(&file, super::file::LIMIT).ok()??;
        let content = super::text::meaning(std::str::from_utf8(&text).ok()?, Syntax::Json).ok()?;
        let list =
            path.iter().try_fold(&Json::Object(content), |value, part| value.get(part))?.as_array()?.clone();
        let mut items = items.iter().map(|item| item.replace("{name}", self.name));
        let item = items.find(|item| list.iter().any(|allowed| allowed == item))?;
        Some(format!("without asking: {item} is in {} of {}", path.join("."), file.display()))
    }
}
