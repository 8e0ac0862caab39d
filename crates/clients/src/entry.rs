//! Builds the entry for `toolsmith serve` in the format of each client.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Error, command_line};
use semver::Version;
use serde_json::{Map, Value as Json, json};

use super::profile::{Key, Profile, Syntax};
use super::version::UnknownVersion;
use super::{Client, namespaces, search_path, text, version};
use crate::container::Container;

/// Variables that locate the compilers, the cache, the configuration and the state. Many clients start servers without
/// them.
const PLACES: [&str; 6] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "TOOLSMITH_CACHE_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// The variable with the search path.
const SEARCH_PATH: &str = "PATH";

/// Whether a variable locates something, and so is no secret.
pub fn is_place(name: &str) -> bool {
    name == SEARCH_PATH || PLACES.contains(&name)
}

/// The entry of `toolsmith serve`.
#[derive(Debug)]
pub struct Entry {
    client: Client,
    profile: &'static Profile,
    /// The server's name in the client.
    name: String,
    /// The client's version, or why it is not known.
    version: Result<Version, UnknownVersion>,
    /// Whether the client calls its tools without asking each time.
    pub is_approved: bool,
    /// Whether the client ends if the server does not start.
    pub is_required: bool,
    program: String,
    arguments: Vec<String>,
    /// The variables of `PLACES` that are set.
    variables: BTreeMap<&'static str, String>,
    /// The search path, if the client needs one.
    search_path: Option<String>,
}

impl Entry {
    /// The entry for this program and the configuration, whose path must be absolute.
    pub async fn new(client: Client, name: &str, config: Option<&Path>) -> Result<Self, Error> {
        let profile = client.profile();
        let version = version::of(profile, profile.is_versioned).await;
        Entry::for_version(client, name, config, version)
    }

    /// The entry for a version of the client.
    pub fn for_version(
        client: Client,
        name: &str,
        config: Option<&Path>,
        version: Result<Version, UnknownVersion>,
    ) -> Result<Self, Error> {
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                Error::new(format!("{} is not UTF-8, and clients can't start it", path.display()))
            })
        };
        let program = std::env::current_exe()
            .map_err(|error| Error::new(format!("this program can't be found: {error}")))?;
        let mut arguments = vec!["serve".to_owned()];
        if let Some(config) = config {
            arguments.extend(["--config".to_owned(), text(config)?]);
        }
        let mut variables = BTreeMap::new();
        for name in PLACES {
            if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
                variables.insert(name, text(Path::new(&value))?);
            }
        }
        let profile = client.profile();
        Ok(Entry {
            client,
            profile,
            name: name.to_owned(),
            version,
            is_approved: false,
            is_required: false,
            program: text(&program)?,
            arguments,
            variables,
            search_path: profile.is_desktop.then(|| search_path::needed(config)).flatten(),
        })
    }

    /// Starts the server in a container, if there is one. `config` is that of the entry.
    ///
    /// # Errors
    /// If the container can't be started, or has no place for the configuration.
    pub fn in_container(self, container: Option<&Container>, config: Option<&Path>) -> Result<Self, Error> {
        let Some(container) = container else { return Ok(self) };
        let (program, arguments) = container.command(config)?;
        // The variables of this process name no places in the container.
        Ok(Entry { program, arguments, variables: BTreeMap::new(), search_path: None, ..self })
    }

    /// Whether an entry of the client starts the same server. The user may have added keys and variables, and the
    /// search path may differ.
    pub fn is_same(&self, other: &Json) -> bool {
        let form = &self.profile.form;
        let theirs = other.get(form.env);
        let has = |(name, value): (&&str, &String)| {
            theirs.and_then(|theirs| theirs.get(*name)).and_then(Json::as_str) == Some(value)
        };
        self.start().iter().all(|(key, value)| key == form.env || other.get(key) == Some(value))
            && self.variables.iter().all(has)
    }

    /// The keys that start the server.
    fn start(&self) -> Map<String, Json> {
        let form = &self.profile.form;
        let mut entry = Map::new();
        entry.extend(self.profile.kind.map(|kind| ("type".to_owned(), json!(kind))));
        match form.args {
            Some(args) => {
                entry.insert(form.command.to_owned(), json!(self.program));
                entry.insert(args.to_owned(), json!(self.arguments));
            }
            None => {
                let line: Vec<_> = std::iter::once(&self.program).chain(&self.arguments).collect();
                entry.insert(form.command.to_owned(), json!(line));
            }
        }
        let mut variables = self.variables.clone();
        variables.extend(self.search_path.clone().map(|path| (SEARCH_PATH, path)));
        if !variables.is_empty() {
            entry.insert(form.env.to_owned(), json!(variables));
        }
        entry
    }

    /// The complete entry.
    pub fn value(&self) -> Map<String, Json> {
        let mut entry = self.start();
        entry.extend(self.settings());
        entry.extend(self.decisions());
        entry
    }

    /// The client's keys besides those that start the server.
    fn settings(&self) -> impl Iterator<Item = (String, Json)> + '_ {
        let keys = self.profile.keys.iter().filter(|key| key.is_accepted_by(self.version.as_ref().ok()));
        keys.map(|key| (key.name.to_owned(), key.value.json(&self.name)))
    }

    /// The settings that the user has decided about.
    fn decisions(&self) -> impl Iterator<Item = (String, Json)> + '_ {
        let approval = self.profile.calls.key.filter(|_| self.is_approved);
        let approval = approval.map(|(key, value)| (key.to_owned(), value.json(&self.name)));
        let required = self.profile.required.filter(|_| self.is_required);
        approval.into_iter().chain(required.map(|key| (key.to_owned(), json!(true))))
    }

    /// The keys and values that an entry lacks: those of the client that are absent, and decisions of the user.
    pub(crate) fn missing_in(&self, other: &Json) -> Vec<(String, Json)> {
        let absent = self.settings().filter(|(key, _)| other.get(key).is_none());
        absent.chain(self.decisions().filter(|(key, value)| other.get(key) != Some(value))).collect()
    }

    /// The namespace that Codex must list, if its version can.
    pub(crate) fn namespace(&self) -> Option<String> {
        let key = self.profile.namespaces.as_ref()?;
        key.is_accepted_by(self.version.as_ref().ok()).then(|| namespaces::of_server(&self.name))
    }

    /// The keys that are left out because the client's version refuses them, or is not known, with the reason.
    /// `command` adds them later. Keys that the client `has` anyway do not count.
    pub(crate) fn left_out(&self, command: &str, has: impl Fn(&Key) -> bool) -> Vec<String> {
        let keys = self.profile.keys.iter().chain(&self.profile.namespaces);
        let refused = keys.filter(|key| !key.is_accepted_by(self.version.as_ref().ok()) && !has(key));
        let reason = |key: &Key| {
            let [major, minor, _] = key.since.unwrap_or_default();
            let state = match &self.version {
                Ok(version) => {
                    let word = self.client.word();
                    format!("{word} {version} does not start with it, only {major}.{minor} and later")
                }
                Err(why) => format!("{why}, and versions before {major}.{minor} do not start with it"),
            };
            let Key { name, without, .. } = key;
            format!("{name} is left out, because {state}; without it, {without}; to add it later: {command}")
        };
        refused.map(reason).collect()
    }

    /// Whether another entry has only variables of this one, with the same values.
    pub fn has_variables_of(&self, other: &Json) -> bool {
        let mut theirs = other.get(self.profile.form.env).and_then(Json::as_object).into_iter().flatten();
        theirs.all(|(name, value)| {
            let own =
                if name == SEARCH_PATH { &self.search_path } else { &self.variables.get(&**name).cloned() };
            own.is_some() && own.as_deref() == value.as_str()
        })
    }

    /// Whether the client has a setting to call without asking.
    pub fn is_approvable(&self) -> bool {
        self.profile.calls.key.is_some()
    }

    /// Whether the client has a setting to end if the server does not start.
    pub fn is_requirable(&self) -> bool {
        self.profile.required.is_some()
    }

    /// The command line, for display.
    pub fn line(&self) -> String {
        command_line(&self.program, self.arguments.iter().map(String::as_str))
    }

    /// A configuration file with only this entry.
    ///
    /// # Errors
    /// If the syntax has no form for it.
    pub fn text(&self) -> Result<String, Error> {
        let Profile { syntax, section, .. } = self.profile;
        let value = Json::Object(self.value());
        let text = match syntax {
            Syntax::Json => {
                return Ok(format!("{:#}\n", json!({ section.join("."): { &*self.name: value } })));
            }
            Syntax::Toml | Syntax::Yaml => text::put("", *syntax, section, &self.name, Some(&value)),
        };
        let text = match self.namespace() {
            Some(namespace) => text.and_then(|text| namespaces::add(&text, &namespace)),
            None => text,
        };
        text.map_err(|why| Error::new(format!("the entry can't be written: {why}")))
    }
}
