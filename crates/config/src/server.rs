//! Checks a server's entry, and builds the server that it describes.
//!
//! Each error is reported with its place and makes the server absent; the other servers remain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runner::Protected;
use server_sandbox::Confinement;

use super::command_text::split_command;
use super::decode::{Lookup, Problem, decode};
use super::key_macros::Kind as _;
use super::key_types::{self, Expanded, InvalidValue};
use super::placed::{AsWritten, At};
use super::problems::{Checker, MAX_ENTRIES, check_server_name};
use super::server_form::{Grant, OAuthChoice, OAuthForm, ServerForm, ServerType};
use super::source::{Entry, Source};
use super::top_level::Settings;
use super::tree::{Node, Value};
use super::{ConfigLayer, Error, Filter, Permission, Rules, Server, confinement, own_program, variables};

/// The merged settings of all layers, outside their servers.
#[derive(Debug, Clone, Default)]
pub(super) struct Merged {
    pub(super) settings: Settings,
    /// The environment variables with API keys of all models, including models that a stronger layer replaces.
    pub(super) model_keys: BTreeSet<String>,
    /// Toolsmith's own places, which confined processes may not write to.
    pub(super) protected: Vec<Protected>,
}

impl Merged {
    /// Confines a server.
    pub(super) fn confinement(
        &self,
        server: &str,
        settings: server_sandbox::Settings,
    ) -> Result<Confinement, Error> {
        confinement::of_server(server, settings, self.settings.code_mode.sandbox.minimum, &self.protected)
    }
}

/// The server that an entry describes, or every error in it.
pub(super) fn server(
    source: &Source,
    entry: &Entry,
    merged: &Merged,
    lookup: Lookup,
) -> Result<Server, Vec<Problem>> {
    let mut problems = Vec::new();
    let form: ServerForm = decode(&entry.node, source.surroundings(lookup), &mut problems);
    if let Value::Null(_) = entry.node.value {
        let message = "the entry is empty; write `command: PROGRAM`, or `url: ADDRESS`".to_owned();
        problems.push(Problem { place: entry.place, message });
    }
    let checks = Checks { source, entry, merged, lookup, checker: Checker::default() };
    let server = checks.server(form, &problems);
    problems.extend(checks.checker.done());
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    match server {
        Some(server) if problems.is_empty() => Ok(server),
        _ => Err(problems),
    }
}

/// A name cut to a bounded length.
fn short(name: &str) -> String {
    let mut short: String = name.chars().take(80).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}

/// The transport of an entry, if it can be determined.
pub(super) fn transport_name(entry: &Entry) -> Option<&'static str> {
    let node = &entry.node;
    match node.get("type").or(node.get("transport")).and_then(Node::text) {
        Some("stdio") => Some("stdio"),
        Some("http") => Some("http"),
        Some("sse") => Some("sse"),
        Some("openapi") => Some("openapi"),
        Some(_) => None,
        None if is_given(node, "command") => Some("stdio"),
        None if is_given(node, "openapi") => Some("openapi"),
        None => node.get("url").filter(|_| is_given(node, "url")).and_then(Node::text).map(of_address),
    }
}

/// The transport of an address whose transport is not named.
fn of_address(address: &str) -> &'static str {
    if mcp::is_event_stream(address) { "sse" } else { "http" }
}

/// Whether a key has any value.
fn is_given(node: &Node, key: &str) -> bool {
    node.get(key).is_some_and(|value| !matches!(value.value, Value::Null(_)))
}

/// The checks of an entry.
struct Checks<'a> {
    source: &'a Source,
    entry: &'a Entry,
    merged: &'a Merged,
    lookup: Lookup,
    checker: Checker,
}

impl Checks<'_> {
    fn server(&self, form: ServerForm, problems: &[Problem]) -> Option<Server> {
        let name = &self.entry.name;
        if let Err(error) = check_server_name(name) {
            self.report_entry(&format!("mcpServers.{}: {error}", short(name)));
        }
        self.checker.no_secrets(self.entry.node.get("roots"));
        self.checker.no_secrets(self.entry.node.get("sandbox"));
        for (key, node) in self.entry.node.get("oauth").map_or(&[][..], Node::entries) {
            let may = ["scope", "client_id", "client_secret", "private_key", "key_id"];
            let camel = ["clientId", "clientSecret", "privateKey", "keyId"];
            if !may.iter().chain(&camel).any(|name| *name == key.text) {
                self.checker.no_secrets(Some(node));
            }
        }
        let kind = self.transport(&form, problems);
        let sandbox = self.confinement(&form);
        let filter = self.filter(&form);
        let transport = kind.and_then(|kind| {
            self.only_for(kind);
            match kind {
                ServerType::Stdio => self.command(&form, sandbox.as_ref()).map(mcp::Transport::Stdio),
                ServerType::Http => self.remote(&form).map(mcp::Transport::Http),
                ServerType::Sse => self.remote(&form).map(mcp::Transport::Sse),
                ServerType::OpenApi => self.api(&form, &filter).map(mcp::Transport::OpenApi),
            }
        });
        let permissions = self.permissions(&form);
        let target = target(&form);
        let note = words(&form).map(|(program, words)| self.note(&form, &program, &words));
        let keys = form.value();
        let global = &self.merged.settings.global_settings;
        let mut connection = mcp::ServerConfig::new(name, transport?);
        connection.connect_timeout = keys.timeout.unwrap_or(global.timeout);
        connection.request_timeout = keys.request_timeout.unwrap_or(global.request_timeout);
        connection.tool_timeouts = keys.tool_timeouts;
        connection.ping_interval = keys.ping_interval.unwrap_or(global.ping_interval);
        connection.roots = keys.roots;
        connection.debug = keys.debug.unwrap_or(global.debug);
        Some(Server {
            connection,
            filter,
            permissions,
            check_input: keys.check_input,
            check_output: keys.check_output,
            code_mode: keys.code_mode,
            session: keys.session,
            spare: keys.spare,
            layer: self.source.layer.clone(),
            target,
            note,
            sandbox,
        })
    }

    fn confinement(&self, form: &ServerForm) -> Option<Confinement> {
        let place = form.sandbox.as_ref()?;
        let settings = place.clone().value()?;
        self.checker.keep(place, self.merged.confinement(&self.entry.name, settings))
    }

    /// Reports an error in the entry as a whole.
    fn report_entry(&self, message: &str) {
        self.checker.report(&At { place: self.entry.place, value: () }, message);
    }

    /// Reports an error in a key.
    fn report_key(&self, key: &str, message: &str) {
        if let Some(node) = self.entry.node.get(key) {
            self.checker.report(&At { place: node.place, value: () }, message);
        }
    }

    fn is_given(&self, key: &str) -> bool {
        is_given(&self.entry.node, key)
    }

    fn transport(&self, form: &ServerForm, problems: &[Problem]) -> Option<ServerType> {
        // A missing key is not reported next to a misspelt one, which may be the same.
        let keys = self.entry.node.entries().iter().map(|(key, _)| key.place);
        let is_doubtful = self.entry.node.entries().is_empty() && !problems.is_empty()
            || keys.into_iter().any(|place| problems.iter().any(|problem| problem.place == place));
        let missing = |message| {
            if !is_doubtful {
                self.report_entry(message);
            }
            None
        };
        let kind = match (form.transport, self.is_given("command"), self.is_given("url")) {
            (Some(kind), ..) => kind,
            (None, false, _) if self.is_given("openapi") => ServerType::OpenApi,
            _ if self.is_given("type") || self.is_given("transport") => return None,
            (None, true, false) => ServerType::Stdio,
            (None, false, true) => {
                let is_stream = |url: &At<AsWritten<Expanded>>| mcp::is_event_stream(&url.value.meant.0);
                if form.url.as_ref().is_some_and(is_stream) { ServerType::Sse } else { ServerType::Http }
            }
            (None, true, true) => {
                self.report_key("url", "the server has a command and a url; keep one of them");
                return None;
            }
            (None, false, false) => {
                return missing(
                    "the server needs a command, or a url; write `command: PROGRAM`, or `url: ADDRESS`",
                );
            }
        };
        let (key, message) = match kind {
            ServerType::Stdio => ("command", "a stdio server needs a command; write `command: PROGRAM`"),
            ServerType::Http | ServerType::Sse => {
                ("url", "an http or sse server needs an address; write `url: https://…`")
            }
            ServerType::OpenApi => {
                ("openapi", "an openapi server needs a document; write `openapi: FILE`, or its address")
            }
        };
        let is_empty = self.entry.node.get(key).is_some_and(|node| node.text() == Some(""));
        if self.is_given(key) && !is_empty { Some(kind) } else { missing(message) }
    }

    /// Reports the keys that the transport does not use.
    fn only_for(&self, kind: ServerType) {
        let (keys, message): (&[_], _) = match kind {
            ServerType::Stdio => (
                &["url", "headers", "oauth", "openapi"],
                "is only for http and sse servers; remove it, or write `type: http`",
            ),
            ServerType::Http | ServerType::Sse => (
                &["command", "args", "env", "cwd", "inheritModelKeys", "sandbox", "openapi"],
                "is only for stdio servers; remove it, or write `type: stdio`",
            ),
            ServerType::OpenApi => (
                &["command", "args", "env", "cwd", "inheritModelKeys", "sandbox", "oauth"],
                "is not for the API of a document; remove it, or remove `openapi`",
            ),
        };
        for key in keys.iter().filter(|key| self.is_given(key)) {
            self.report_key(key, &format!("`{key}` {message}"));
        }
    }

    fn command(&self, form: &ServerForm, sandbox: Option<&Confinement>) -> Option<mcp::Command> {
        let env = form.env.iter().flat_map(|env| &env.value).filter_map(|(name, value)| {
            let checked = key_types::variable(name);
            let checked = checked.map_err(|error| format!("{error}; write `env: {{ NAME: value }}`"));
            let name = self.checker.keep(value, checked)?;
            Some((name, value.value.0.clone()))
        });
        let env = env.collect();
        let command = form.command.as_ref()?;
        let (program, args) = match words(form) {
            Some((program, words)) => {
                let expanded = |word: &String| variables::expand_for_program(word, self.lookup).ok();
                (expanded(&program)?, words.iter().map(expanded).collect::<Option<_>>()?)
            }
            None => (command.value.meant.0.clone(), form.args.clone().value().unwrap_or_default()),
        };
        if program.is_empty() {
            self.checker.report(command, "the command is empty; set its variable, or write a program");
        }
        let inherits = form.inherit_model_keys.as_ref().is_some_and(|inherits| inherits.value);
        let started = mcp::Command {
            command: self.checker.keep(command, own_program(program))?,
            args,
            env,
            withheld: if inherits { BTreeSet::new() } else { self.merged.model_keys.clone() },
            handed_on: BTreeMap::new(),
            cwd: form.cwd.clone().value(),
            niceness: 0,
            launcher: sandbox.cloned().map(|sandbox| Arc::new(sandbox) as Arc<dyn mcp::Launcher>),
        };
        if let Some(message) = own_program::starts_itself(self.source, &started) {
            self.checker.report(command, &message);
        }
        Some(started)
    }

    /// The note on a command that is one text with its arguments.
    fn note(&self, form: &ServerForm, program: &str, words: &[String]) -> String {
        let place = form.command.as_ref().map_or(self.entry.place, |command| command.place);
        let (place, name) = (self.source.at(place), &self.entry.name);
        format!(
            "{place}: the command of {name} is read as `command: {program:?}` with `args: {words:?}`; write it so"
        )
    }

    fn remote(&self, form: &ServerForm) -> Option<mcp::Remote> {
        let headers = form.headers.iter().flat_map(|headers| &headers.value);
        let headers: BTreeMap<_, _> = headers.filter_map(|(name, value)| self.header(name, value)).collect();
        let authorized = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        // The text of the file, not the parsed one: a server may distinguish equivalent addresses.
        let text = form.url.as_ref().map(|url| url.value.meant.0.trim().to_owned());
        let url = form
            .url
            .as_ref()
            .and_then(|url| self.checker.keep(url, key_types::server_address(&url.value.meant.0)));
        let store = url.as_ref().and_then(|url| token_store(&self.entry.name, url.as_str()));
        let oauth = match form.oauth.as_ref().map(|oauth| (oauth, &oauth.value)) {
            Some((place, OAuthChoice::Given(given))) => {
                if authorized {
                    let message = "oauth and an Authorization header exclude each other; remove one of them";
                    self.checker.report(place, message);
                }
                Some(self.oauth(place, given, store))
            }
            Some((_, OAuthChoice::Plain(false))) => None,
            Some((_, OAuthChoice::Plain(true))) | None => {
                (!authorized).then(|| mcp::OAuth { store, ..mcp::OAuth::default() })
            }
        };
        let is_assumed = form.transport.is_none();
        url.and(text).map(|url| mcp::Remote { url, headers, oauth, is_assumed })
    }

    /// The API of a document. Its `url` is where the API is.
    fn api(&self, form: &ServerForm, filter: &Filter) -> Option<mcp::OpenApi> {
        let headers = form.headers.iter().flat_map(|headers| &headers.value);
        let headers = headers.filter_map(|(name, value)| self.header(name, value)).collect();
        let url = match &form.url {
            Some(url) => {
                let text = url.value.meant.0.trim();
                self.checker.keep(url, key_types::server_address(text)).map(|_| text.to_owned())?
            }
            None => String::new(),
        };
        let document = form.openapi.clone()?.value();
        let remote = mcp::Remote { url, headers, oauth: None, is_assumed: false };
        let (name, filter) = (format!("{filter:?}"), filter.clone());
        let server = openapi::Server::new(name, Arc::new(move |tool: &str| filter.admits(tool)));
        Some(mcp::OpenApi { document, remote, server: Arc::new(server) })
    }

    /// A header that can be sent (RFC 9110, sections 5.5 and 5.6.2).
    fn header(&self, name: &str, value: &At<Expanded>) -> Option<(String, String)> {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            let message = format!("{name:?} is not a header name; write `headers: {{ NAME: value }}`");
            self.checker.report(value, &message);
            return None;
        }
        if value.value.0.chars().any(|c| c.is_control() && c != '\t') {
            let message = "the header has a line break or another control character; remove it";
            self.checker.report(value, message);
            return None;
        }
        Some((name.to_owned(), value.value.0.clone()))
    }

    fn oauth(&self, place: &At<OAuthChoice>, form: &OAuthForm, store: Option<PathBuf>) -> mcp::OAuth {
        self.private_key(form);
        let has_key = form.private_key.is_some() || form.private_key_file.is_some();
        let is_missing = form.client_id.is_none() || form.client_secret.is_none() && !has_key;
        if form.grant == Some(Grant::ClientCredentials) && is_missing {
            let message = "client_credentials needs client_id, and client_secret or private_key";
            self.checker.report(place, message);
        } else if form.grant == Some(Grant::TokenExchange) && (is_missing || form.token_url.is_none()) {
            let message = "token_exchange needs client_id, client_secret or private_key, and token_url: subjects' tokens \
                           are sent to no other address";
            self.checker.report(place, message);
        } else if form.grant == Some(Grant::TokenExchange)
            && let ConfigLayer::Project(_) = &self.source.layer
        {
            let message = "a project can't set `grant: token_exchange`, because its token_url gets the tokens of your \
                           users; set it in your own configuration, or in a file that `--config` names";
            self.checker.report(place, message);
        } else if form.audience.is_some() && form.grant != Some(Grant::TokenExchange) {
            self.checker.report(place, "audience is only for `grant: token_exchange`; remove it");
        } else if let (Some(secret), None) = (&form.client_secret, &form.client_id) {
            self.checker.report(secret, "client_secret needs client_id; write both");
        }
        let keys = form.clone().value();
        mcp::OAuth {
            // The tokens of subjects are kept in memory, and no token of the operator replaces one.
            store: store.filter(|_| keys.grant != Grant::TokenExchange),
            scope: keys.scope,
            client_id: keys.client_id,
            client_secret: keys.client_secret,
            private_key: keys.private_key,
            private_key_file: keys.private_key_file,
            key_id: keys.key_id,
            authorization_url: keys.authorization_url.map(String::from),
            token_url: keys.token_url.map(String::from),
            registration_url: keys.registration_url.map(String::from),
            client_metadata_url: keys.client_metadata_url.map(String::from),
            grant: match keys.grant {
                Grant::AuthorizationCode => mcp::Grant::AuthorizationCode,
                Grant::ClientCredentials => mcp::Grant::ClientCredentials,
                Grant::TokenExchange => mcp::Grant::TokenExchange,
            },
            audience: keys.audience,
            subject: None,
        }
    }

    /// Reports a private key that the login would not use.
    fn private_key(&self, form: &OAuthForm) {
        let text = form.private_key.as_ref().map(|key| At { place: key.place, value: () });
        let file = form.private_key_file.as_ref().map(|file| At { place: file.place, value: () });
        let Some(key) = text.as_ref().or(file.as_ref()) else { return };
        if !matches!(form.grant, Some(Grant::ClientCredentials | Grant::TokenExchange)) {
            let message = "a private key is used with `grant: client_credentials` or `token_exchange`; write one of them too";
            self.checker.report(key, message);
        }
        if form.client_secret.is_some() {
            self.checker.report(key, "client_secret and a private key exclude each other; keep one");
        }
        if let (Some(_), Some(file)) = (&text, &file) {
            self.checker.report(file, "private_key and private_key_file exclude each other; keep one");
        }
    }

    fn filter(&self, form: &ServerForm) -> Filter {
        for names in [&form.enabled_tools, &form.disabled_tools].into_iter().flatten() {
            if names.value.is_empty() {
                let message = "the list is empty; name tools, or remove the key \
                               (`enabled: false` leaves the whole server out)";
                self.checker.report(names, message);
            }
            if names.value.len() > MAX_ENTRIES {
                let message = format!("the list has more than {MAX_ENTRIES} names, the maximum");
                self.checker.report(names, &message);
            }
        }
        match (&form.enabled_tools, &form.disabled_tools) {
            (None, None) => Filter::All,
            (Some(names), None) => Filter::Only(names.value.clone()),
            (None, Some(names)) => Filter::Without(names.value.clone()),
            (Some(_), Some(names)) => {
                self.checker.report(names, "enabledTools and disabledTools exclude each other; keep one");
                Filter::All
            }
        }
    }

    fn permissions(&self, form: &ServerForm) -> Rules {
        let rules = &form.permissions.0;
        if let Some(trust) = form.trust.as_ref().filter(|trust| trust.value) {
            if form.permission.is_some() || !rules.is_empty() {
                let message = "`trust: true` allows every tool; remove it, or permission and permissions";
                self.checker.report(trust, message);
            }
            return Rules::all(Permission::Allow);
        }
        Rules { rules: rules.clone(), otherwise: form.permission.unwrap_or_default() }
    }
}

/// The program and the arguments of a command that is one text with both.
fn words(form: &ServerForm) -> Option<(String, Vec<String>)> {
    let command = form.command.as_ref().filter(|_| form.args.is_none())?;
    let folder = form.cwd.clone().value();
    split_command(&command.value.written, folder.as_deref().and_then(Path::to_str))
}

/// The command line or address as written, with variables not expanded.
fn target(form: &ServerForm) -> String {
    if let Some(document) = &form.openapi {
        let document = &document.value.written;
        let url = form.url.as_ref().map(|url| format!(", requests to {}", url.value.written));
        return format!("{document}{}", url.unwrap_or_default());
    }
    match (&form.command, &form.url) {
        (Some(command), _) => {
            let args = form.args.iter().flat_map(|args| args.value.iter().map(|arg| arg.written.as_str()));
            command_line(&command.value.written, args)
        }
        (None, Some(url)) => url.value.written.clone(),
        (None, None) => String::new(),
    }
}

/// A command with its arguments, to show: words that a shell would split are quoted.
pub fn command_line<'a>(command: &'a str, args: impl Iterator<Item = &'a str>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,${}".contains(c);
    let word = |word: &str| match word {
        "" => "\"\"".to_owned(),
        _ if word.chars().all(plain) => word.to_owned(),
        _ => format!("{word:?}"),
    };
    std::iter::once(command).chain(args).map(word).collect::<Vec<_>>().join(" ")
}

/// The command `toolsmith` means this program, wherever it is installed.
fn own_program(command: String) -> Result<String, InvalidValue> {
    if command == "toolsmith" { own_program::own_program().map_err(InvalidValue::of) } else { Ok(command) }
}

/// The file for the tokens of a server; a different address under the same name has a different file.
fn token_store(name: &str, url: &str) -> Option<PathBuf> {
    let hash = blake3::hash(url.as_bytes()).to_hex();
    let file = format!("{name}-{}.json", hash.get(..16)?);
    Some(super::user_folder()?.join(Path::new("tokens")).join(file))
}
