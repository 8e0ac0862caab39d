//! A configuration file: its form, and the rules that its values must keep.
//!
//! YAML, and so JSON. Every error names file, line, column and what to do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::confinement::SandboxEntry;
use super::{
    CodeMode, Config, DirectNames, Error, Filter, Glob, Layer, Permission, Rules, Server, size, syntax, text,
    variables,
};

/// Most seconds of a time-out: a day.
const LONGEST_SECONDS: f64 = 86_400.0;

/// Most characters of a tool's description in its signature.
pub(crate) const LONGEST_DESCRIPTION: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "the keys of a configuration")]
struct File {
    #[serde(default)]
    version: Option<Spanned<String>>,
    #[serde(default)]
    mcp_servers: BTreeMap<String, Spanned<ServerEntry>>,
    #[serde(default)]
    code_mode: CodeModeEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "the keys of a server")]
struct ServerEntry {
    #[serde(default, rename = "type", alias = "transport")]
    transport: Option<Spanned<String>>,
    command: Option<Spanned<String>>,
    #[serde(default)]
    args: Vec<Spanned<String>>,
    #[serde(default)]
    env: BTreeMap<String, Spanned<String>>,
    cwd: Option<Spanned<String>>,
    timeout: Option<Spanned<f64>>,
    request_timeout: Option<Spanned<f64>>,
    #[serde(default = "yes")]
    enabled: bool,
    enabled_tools: Option<BTreeSet<String>>,
    disabled_tools: Option<Spanned<BTreeSet<String>>>,
    #[serde(default)]
    permission: Permission,
    #[serde(default)]
    permissions: Ordered,
    #[serde(default)]
    trust: bool,
    #[serde(default = "yes")]
    check_input: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "the keys of codeMode")]
struct CodeModeEntry {
    #[serde(default)]
    sandbox: SandboxEntry,
    install_target: Option<bool>,
    description_length: Option<Spanned<usize>>,
}

/// Permissions by glob, in their order.
#[derive(Default)]
struct Ordered(Vec<(String, Permission)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> serde::de::Visitor<'de> for Pairs {
            type Value = Ordered;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("permissions by names of tools")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

fn yes() -> bool {
    true
}

/// Reads and checks a file.
pub(super) fn read(layer: &Layer) -> Result<Config, Error> {
    let path = layer.file().unwrap_or(Path::new(""));
    let shown = path.display();
    let text = text::read(path)?;
    let folder = std::path::absolute(path)
        .map_err(|error| Error(format!("the folder of the configuration {shown} is not known: {error}")))?;
    let checker = Checker { layer, path, folder: folder.parent().unwrap_or(Path::new("/")) };
    let file: File =
        serde_saphyr::from_str(&text).map_err(|error| Error(syntax::explain(&error, path, &text)))?;
    checker.config(file)
}

/// `toolsmith` as a command is this very program, wherever it lies.
fn own_program(command: String) -> Result<String, Error> {
    if command == "toolsmith" { super::own_program() } else { Ok(command) }
}

/// Checks the values of one file.
pub(super) struct Checker<'a> {
    layer: &'a Layer,
    path: &'a Path,
    /// Relative paths in the file start here.
    pub(super) folder: &'a Path,
}

impl Checker<'_> {
    fn config(&self, file: File) -> Result<Config, Error> {
        if let Some(version) = file.version.filter(|version| version.value != "1.0") {
            let message = format!("version {:?} is not known; write \"1.0\"", version.value);
            return Err(self.wrong(&version, &message));
        }
        let code_mode = self.code_mode(&file.code_mode)?;
        let mut servers = Vec::new();
        for (name, entry) in file.mcp_servers {
            if entry.value.enabled {
                servers.push(self.server(&name, &entry)?);
            }
        }
        if servers.is_empty() {
            let shown = self.path.display();
            let message = format!(
                "the configuration {shown} has no enabled server\nhelp: add one under mcpServers, such as\n  \
                 mcpServers:\n    files: {{ type: stdio, command: filesystem-mcp, args: [/data] }}"
            );
            return Err(Error(message));
        }
        Ok(Config {
            servers,
            absent: Vec::new(),
            deny: Vec::new(),
            direct_names: DirectNames::default(),
            code_mode,
            layers: vec![self.layer.clone()],
        })
    }

    fn server(&self, name: &str, entry: &Spanned<ServerEntry>) -> Result<Server, Error> {
        let at = |message: String| self.wrong(entry, &format!("mcpServers.{name}: {message}"));
        super::check_server_name(name).map_err(at)?;
        if let Some(transport) = entry.value.transport.as_ref().filter(|transport| transport.value != "stdio")
        {
            let message = format!("the type {:?} is not supported; write stdio", transport.value);
            return Err(self.wrong(transport, &message));
        }
        let Some(command) = entry.value.command.as_ref().filter(|command| !command.value.is_empty()) else {
            return Err(at("a stdio server needs a command; write `command: PROGRAM`".to_owned()));
        };
        let globs = |names: &BTreeSet<String>| names.iter().map(|name| Glob::new(name)).collect();
        let filter = match (&entry.value.enabled_tools, &entry.value.disabled_tools) {
            (None, None) => Filter::All,
            (Some(names), None) => Filter::Only(globs(names)),
            (None, Some(names)) => Filter::Without(globs(&names.value)),
            (Some(_), Some(names)) => {
                return Err(self.wrong(names, "enabledTools and disabledTools exclude each other; keep one"));
            }
        };
        let mut connection = mcp::ServerConfig::new(name, self.transport(command, &entry.value)?);
        if let Some(timeout) = &entry.value.timeout {
            connection.connect_timeout = self.seconds(timeout)?;
        }
        if let Some(timeout) = &entry.value.request_timeout {
            connection.request_timeout = self.seconds(timeout)?;
        }
        let ServerEntry { permission, check_input, trust, .. } = entry.value;
        let rules = entry.value.permissions.0.iter();
        let rules = rules.map(|(glob, permission)| (Glob::new(glob), *permission)).collect();
        let permissions = Rules { rules, otherwise: if trust { Permission::Allow } else { permission } };
        Ok(Server { connection, filter, permissions, check_input, layer: self.layer.clone() })
    }

    fn transport(&self, command: &Spanned<String>, entry: &ServerEntry) -> Result<mcp::Transport, Error> {
        let args = entry.args.iter().map(|value| self.expand(value)).collect::<Result<_, _>>()?;
        let env =
            entry.env.iter().map(|(name, value)| Ok((self.variable(name, value)?, self.expand(value)?)));
        if let Some(folder) = &entry.cwd {
            self.without_nul(folder, &folder.value)?;
        }
        let program = self.expand(command)?;
        if program.is_empty() {
            return Err(self.wrong(command, "the command is empty; set its variable, or write a program"));
        }
        Ok(mcp::Transport::Stdio(mcp::Command {
            command: own_program(program)?,
            args,
            env: env.collect::<Result<_, Error>>()?,
            withheld: BTreeSet::new(),
            cwd: entry.cwd.as_ref().map(|folder| self.folder.join(&folder.value)),
        }))
    }

    fn code_mode(&self, entry: &CodeModeEntry) -> Result<CodeMode, Error> {
        let mut code_mode = CodeMode::default();
        self.sandbox(&entry.sandbox, &mut code_mode)?;
        if let Some(length) = &entry.description_length {
            code_mode.style.description = self.description_length(length)?;
        }
        code_mode.install_target = entry.install_target.unwrap_or(code_mode.install_target);
        Ok(code_mode)
    }

    pub(super) fn seconds(&self, value: &Spanned<f64>) -> Result<Duration, Error> {
        let seconds = Some(value.value).filter(|seconds| *seconds <= LONGEST_SECONDS);
        // What is shorter than a nanosecond becomes nothing.
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.filter(|time| !time.is_zero()).ok_or_else(|| {
            // The debug form is the short one: 1e300, not 301 digits.
            let message =
                format!("{:?} is out of range: more than 0, at most {LONGEST_SECONDS} seconds", value.value);
            self.wrong(value, &message)
        })
    }

    pub(super) fn size(&self, value: &Spanned<String>, least: u64) -> Result<u64, Error> {
        let size = size::parse(&value.value).map_err(|message| self.wrong(value, &message))?;
        if size < least {
            return Err(
                self.wrong(value, &format!("{:?} is too little; write at least {least} bytes", value.value))
            );
        }
        Ok(size)
    }

    pub(super) fn at_least_one(&self, value: &Spanned<u64>) -> Result<u64, Error> {
        match value.value {
            0 => Err(self.wrong(value, "0 is too few; write at least 1")),
            number => Ok(number),
        }
    }

    fn description_length(&self, value: &Spanned<usize>) -> Result<usize, Error> {
        if value.value > LONGEST_DESCRIPTION {
            let message = format!("{} is too long; write at most {LONGEST_DESCRIPTION}", value.value);
            return Err(self.wrong(value, &message));
        }
        Ok(value.value)
    }

    pub(super) fn expand(&self, value: &Spanned<String>) -> Result<String, Error> {
        self.without_nul(value, &value.value)?;
        variables::expand(&value.value, |name| std::env::var(name).ok())
            .map_err(|message| self.wrong(value, &message))
    }

    /// The name of an environment variable; it is told with the place of its value.
    fn variable(&self, name: &str, value: &Spanned<String>) -> Result<String, Error> {
        self.without_nul(value, name)?;
        if name.is_empty() || name.contains('=') {
            let message = format!(
                "{name:?} is no name of an environment variable, which has at least one character and no `=`; \
                 write `env: {{ NAME: value }}`"
            );
            return Err(self.wrong(value, &message));
        }
        Ok(name.to_owned())
    }

    /// Programs are started with texts that end at the first NUL (execve(2)).
    pub(super) fn without_nul(&self, place: &Spanned<String>, text: &str) -> Result<(), Error> {
        if text.contains('\0') {
            return Err(self.wrong(place, "a NUL character can't be passed to a program; remove it"));
        }
        Ok(())
    }

    pub(super) fn wrong<T>(&self, value: &Spanned<T>, message: &str) -> Error {
        let place = value.referenced;
        Error(format!("{}:{}:{}: {message}", self.path.display(), place.line(), place.column()))
    }
}
