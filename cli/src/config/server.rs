//! The rules of a server's entry, and the server that it describes.
//!
//! Whatever is wrong in an entry is told with its place, and makes the server absent; the others stay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::checker::{Checker, MOST_ENTRIES, globs};
use super::decode::{At, Lookup, Problem};
use super::form::{GrantEntry, OAuthChoice, OAuthEntry, ServerEntry, Settings};
use super::source::{Entry, Source};
use super::{Filter, Glob, Permission, Rules, Server, itself};

/// What all layers together say outside of servers.
#[derive(Debug, Clone, Default)]
pub(super) struct Merged {
    pub(super) settings: Settings,
    /// The variables with keys of all models, those included that a stronger layer replaces.
    pub(super) model_keys: BTreeSet<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stdio,
    Http,
    Sse,
}

/// The server that an entry describes, or all that is wrong with it.
pub(super) fn server(
    source: &Source,
    entry: &Entry,
    merged: &Merged,
    lookup: Lookup,
) -> Result<Server, Vec<Problem>> {
    let checker = Checker::new(source, lookup);
    let server = checker.server(entry, merged);
    let mut problems = entry.problems.clone();
    problems.extend(checker.done());
    problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
    match server {
        Some(server) if problems.is_empty() => Ok(server),
        _ => Err(problems),
    }
}

/// A name of a bounded length.
fn short(name: &str) -> String {
    let mut short: String = name.chars().take(80).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}

/// The transport of an entry, as far as it can be told.
pub(super) fn transport_name(form: &ServerEntry) -> Option<&'static str> {
    match form.transport.as_ref().map(|transport| transport.value.as_str()) {
        Some("stdio") => Some("stdio"),
        Some("http") => Some("http"),
        Some("sse") => Some("sse"),
        Some(_) => None,
        None if form.command.is_some() => Some("stdio"),
        None => form.url.as_ref().map(|_| "http"),
    }
}

impl Checker<'_> {
    fn server(&self, entry: &Entry, merged: &Merged) -> Option<Server> {
        let (name, form) = (entry.name.as_str(), &entry.form);
        let whole = At { place: entry.place, value: () };
        if let Err(message) = super::checker::check_server_name(name) {
            self.tell(&whole, &format!("mcpServers.{}: {message}", short(name)));
        }
        // What a broken key leaves missing is not told a second time.
        let aside = Checker::new(self.source, self.lookup);
        let checker = if entry.problems.is_empty() { self } else { &aside };
        let kind = checker.kind(&whole, form);
        let transport = kind.and_then(|kind| self.transport(name, kind, form, merged));
        let filter = self.filter(form);
        let permissions = self.permissions(form);
        let seconds = |time: &Option<At<f64>>| time.as_ref().and_then(|time| self.keep(self.seconds(time)));
        let (timeout, request_timeout) = (seconds(&form.timeout), seconds(&form.request_timeout));
        let tool_timeouts: BTreeMap<_, _> = form
            .tool_timeouts
            .iter()
            .filter_map(|(tool, time)| Some((tool.clone(), self.keep(self.seconds(time))?)))
            .collect();
        let roots = form.roots.iter().filter_map(|root| self.keep(self.root(root))).collect();
        let mut connection = mcp::ServerConfig::new(name, transport?);
        let global = &merged.settings.global_settings;
        connection.connect_timeout = timeout.unwrap_or(global.timeout);
        connection.request_timeout = request_timeout.unwrap_or(global.request_timeout);
        connection.tool_timeouts = tool_timeouts;
        connection.roots = roots;
        connection.debug = form.debug.unwrap_or(global.debug);
        let check_input = form.check_input.unwrap_or(true);
        let code_mode = form.code_mode.unwrap_or(true);
        let layer = self.source.layer.clone();
        Some(Server { connection, filter, permissions, check_input, code_mode, layer, target: target(form) })
    }

    fn kind(&self, whole: &At<()>, form: &ServerEntry) -> Option<Kind> {
        let kind = match (&form.transport, &form.command, &form.url) {
            (Some(transport), _, _) => match transport.value.as_str() {
                "stdio" => Kind::Stdio,
                "http" => Kind::Http,
                "sse" => Kind::Sse,
                other => {
                    self.tell(
                        transport,
                        &format!("the type {other:?} is not known; write stdio, http or sse"),
                    );
                    return None;
                }
            },
            (None, Some(_), None) => Kind::Stdio,
            (None, None, Some(_)) => Kind::Http,
            (None, Some(_), Some(url)) => {
                self.tell(url, "the server has a command and a url; keep one of them");
                return None;
            }
            (None, None, None) => {
                let message =
                    "the server needs a command, or a url; write `command: PROGRAM`, or `url: ADDRESS`";
                self.tell(whole, message);
                return None;
            }
        };
        let missing = match kind {
            Kind::Stdio => form.command.as_ref().is_none_or(|command| command.value.is_empty()),
            Kind::Http | Kind::Sse => form.url.as_ref().is_none_or(|url| url.value.is_empty()),
        };
        if missing {
            let message = match kind {
                Kind::Stdio => "a stdio server needs a command; write `command: PROGRAM`",
                Kind::Http | Kind::Sse => "an http or sse server needs an address; write `url: https://…`",
            };
            self.tell(whole, message);
            return None;
        }
        Some(kind)
    }

    fn transport(
        &self,
        name: &str,
        kind: Kind,
        form: &ServerEntry,
        merged: &Merged,
    ) -> Option<mcp::Transport> {
        self.only_for(kind, form);
        match kind {
            Kind::Stdio => self.command(form, merged).map(mcp::Transport::Stdio),
            Kind::Http => self.remote(name, form).map(mcp::Transport::Http),
            Kind::Sse => self.remote(name, form).map(mcp::Transport::Sse),
        }
    }

    /// Tells the keys that the transport has no use for.
    fn only_for(&self, kind: Kind, form: &ServerEntry) {
        fn place<T>(key: &'static str, value: &Option<At<T>>) -> Option<(&'static str, At<()>)> {
            value.as_ref().map(|value| (key, value.with(())))
        }
        let (keys, message): (Vec<_>, _) = match kind {
            Kind::Stdio => (
                vec![place("url", &form.url), place("headers", &form.headers), place("oauth", &form.oauth)],
                "is only for http and sse servers; remove it, or write `type: http`",
            ),
            Kind::Http | Kind::Sse => (
                vec![
                    place("command", &form.command),
                    place("args", &form.args),
                    place("env", &form.env),
                    place("cwd", &form.cwd),
                    place("inheritModelKeys", &form.inherit_model_keys),
                ],
                "is only for stdio servers; remove it, or write `type: stdio`",
            ),
        };
        for (key, place) in keys.into_iter().flatten() {
            self.tell(&place, &format!("`{key}` {message}"));
        }
    }

    fn command(&self, form: &ServerEntry, merged: &Merged) -> Option<mcp::Command> {
        let command = form.command.as_ref()?;
        let program = self.keep(self.expand(command));
        if program.as_ref().is_some_and(String::is_empty) {
            self.tell(command, "the command is empty; set its variable, or write a program");
        }
        let args = form.args.iter().flat_map(|args| &args.value);
        let args = args.filter_map(|value| self.keep(self.expand(value))).collect();
        let env = form.env.iter().flat_map(|env| &env.value).filter_map(|(name, value)| {
            Some((self.keep(self.variable(name, value))?, self.keep(self.expand(value))?))
        });
        let env = env.collect();
        let cwd = form.cwd.as_ref().and_then(|folder| self.keep(self.expand(folder)));
        let program = self.keep(own_program(program?).map_err(|message| self.wrong(command, &message)))?;
        let inherits = form.inherit_model_keys.as_ref().is_some_and(|inherits| inherits.value);
        let started = mcp::Command {
            command: program,
            args,
            env,
            withheld: if inherits { Default::default() } else { merged.model_keys.clone() },
            handed_on: BTreeMap::new(),
            cwd: cwd.map(|folder| self.source.folder.join(folder)),
        };
        if let Some(message) = itself::starts_itself(self.source, &started) {
            self.tell(command, &message);
        }
        Some(started)
    }

    fn remote(&self, name: &str, form: &ServerEntry) -> Option<mcp::Remote> {
        let url = form.url.as_ref().and_then(|url| self.keep(self.address(url)));
        let headers = form.headers.iter().flat_map(|headers| &headers.value);
        let headers: BTreeMap<_, _> = headers.filter_map(|(name, value)| self.header(name, value)).collect();
        let authorized = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        let store = url.as_ref().and_then(|url| token_store(name, url.as_str()));
        let oauth = match form.oauth.as_ref().map(|oauth| (oauth, &oauth.value)) {
            Some((place, OAuthChoice::Given(entry))) => {
                if authorized {
                    self.tell(
                        place,
                        "oauth and an Authorization header exclude each other; remove one of them",
                    );
                }
                self.oauth(place, entry, store)
            }
            Some((_, OAuthChoice::Plain(false))) => None,
            Some((_, OAuthChoice::Plain(true))) | None => {
                (!authorized).then(|| mcp::OAuth { store, ..mcp::OAuth::default() })
            }
        };
        // The text of the file, and not the parsed one: a server may tell addresses apart that mean the same.
        let text = form.url.as_ref().and_then(|url| self.expand(url).ok());
        url.and(text).map(|url| mcp::Remote { url: url.trim().to_owned(), headers, oauth })
    }

    /// A header that can be sent (RFC 9110, sections 5.5 and 5.6.2).
    fn header(&self, name: &str, value: &At<String>) -> Option<(String, String)> {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            self.tell(value, &format!("{name:?} is no name of a header; write `headers: {{ NAME: value }}`"));
            return None;
        }
        let expanded = self.keep(self.expand(value))?;
        if expanded.chars().any(|c| c.is_control() && c != '\t') {
            self.tell(value, "the header has a line break or another control character; remove it");
            return None;
        }
        Some((name.to_owned(), expanded))
    }

    fn oauth(
        &self,
        place: &At<OAuthChoice>,
        entry: &OAuthEntry,
        store: Option<PathBuf>,
    ) -> Option<mcp::OAuth> {
        let text = |text: &Option<At<String>>| text.as_ref().and_then(|text| self.keep(self.expand(text)));
        let address = |url: &Option<At<String>>| {
            url.as_ref().and_then(|url| self.keep(self.address(url))).map(String::from)
        };
        let client_metadata_url = address(&entry.client_metadata_url);
        if let (Some(url), Some(place)) = (&client_metadata_url, &entry.client_metadata_url)
            && !url.starts_with("https://")
        {
            self.tell(place, "the address of a client's metadata must begin with https://");
        }
        let grant = entry.grant.as_ref().map(|grant| grant.value).unwrap_or_default();
        let is_missing = entry.client_id.is_none() || entry.client_secret.is_none();
        if grant == GrantEntry::ClientCredentials && is_missing {
            self.tell(place, "client_credentials needs client_id and client_secret; write both");
        } else if let (Some(secret), None) = (&entry.client_secret, &entry.client_id) {
            self.tell(secret, "a client_secret needs its client_id; write both");
        }
        Some(mcp::OAuth {
            store,
            scope: text(&entry.scope),
            client_id: text(&entry.client_id),
            client_secret: text(&entry.client_secret),
            authorization_url: address(&entry.authorization_url),
            token_url: address(&entry.token_url),
            registration_url: address(&entry.registration_url),
            client_metadata_url,
            grant: match grant {
                GrantEntry::AuthorizationCode => mcp::Grant::AuthorizationCode,
                GrantEntry::ClientCredentials => mcp::Grant::ClientCredentials,
            },
        })
    }

    fn filter(&self, form: &ServerEntry) -> Filter {
        for names in [&form.enabled_tools, &form.disabled_tools].into_iter().flatten() {
            if names.value.len() > MOST_ENTRIES {
                self.tell(names, &format!("there are more than {MOST_ENTRIES} names, which is the limit"));
            }
        }
        match (&form.enabled_tools, &form.disabled_tools) {
            (None, None) => Filter::All,
            (Some(names), None) => Filter::Only(globs(&names.value)),
            (None, Some(names)) => Filter::Without(globs(&names.value)),
            (Some(_), Some(names)) => {
                self.tell(names, "enabledTools and disabledTools exclude each other; keep one");
                Filter::All
            }
        }
    }

    fn permissions(&self, form: &ServerEntry) -> Rules {
        let rules = &form.permissions.0;
        if let Some(trust) = form.trust.as_ref().filter(|trust| trust.value) {
            if form.permission.is_some() || !rules.is_empty() {
                let message = "`trust: true` allows every tool; remove it, or permission and permissions";
                self.tell(trust, message);
            }
            return Rules::all(Permission::Allow);
        }
        Rules {
            rules: rules.iter().map(|(glob, rule)| (Glob::new(&glob.value), *rule)).collect(),
            otherwise: form.permission.as_ref().map(|permission| permission.value).unwrap_or_default(),
        }
    }

    /// A folder that the server may be told of: a path from the file's folder on, or a `file://` address.
    fn root(&self, given: &At<String>) -> Result<mcp::Root, Problem> {
        let text = self.expand(given)?;
        let address = if text.contains("://") {
            let address = url::Url::parse(&text).ok().filter(|address| address.scheme() == "file");
            address.ok_or_else(|| {
                self.wrong(given, "a root is a path, or an address that begins with file://")
            })?
        } else {
            let path = self.source.folder.join(text);
            let path = std::path::absolute(&path).unwrap_or(path);
            url::Url::from_directory_path(&path)
                .map_err(|()| self.wrong(given, "this path is no folder that an address could name"))?
        };
        let segments = address.path_segments();
        let name = segments
            .and_then(|mut segments| segments.rfind(|segment| !segment.is_empty()).map(str::to_owned));
        Ok(mcp::Root { uri: String::from(address).trim_end_matches('/').to_owned(), name })
    }
}

/// What is started or called, as it is written: variables are not expanded.
fn target(form: &ServerEntry) -> String {
    match (&form.command, &form.url) {
        (Some(command), _) => {
            let args = form.args.iter().flat_map(|args| args.value.iter().map(|arg| arg.value.as_str()));
            command_line(&command.value, args)
        }
        (None, Some(url)) => url.value.clone(),
        (None, None) => String::new(),
    }
}

/// A command with its arguments for people: what a shell would not take as one word stands in quotes.
pub(crate) fn command_line<'a>(command: &'a str, args: impl Iterator<Item = &'a str>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,${}".contains(c);
    let word = |word: &str| match word {
        "" => "\"\"".to_owned(),
        _ if word.chars().all(plain) => word.to_owned(),
        _ => format!("{word:?}"),
    };
    std::iter::once(command).chain(args).map(word).collect::<Vec<_>>().join(" ")
}

/// `toolsmith` as a command is this very program, wherever it lies.
fn own_program(command: String) -> Result<String, String> {
    if command == "toolsmith" { itself::own_program().map_err(|error| error.0) } else { Ok(command) }
}

/// The file for the tokens of a server: another address under the same name has other tokens.
fn token_store(name: &str, url: &str) -> Option<PathBuf> {
    let hash = blake3::hash(url.as_bytes()).to_hex();
    let file = format!("{name}-{}.json", hash.get(..16)?);
    Some(super::user_folder()?.join(Path::new("tokens")).join(file))
}
