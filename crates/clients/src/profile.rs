//! The properties that a client has: its programs and files, the form of an entry, the keys without which its model does
//! not see or cannot use the tools, and how its file is read.

use semver::Version;
use serde_json::{Map, Value as Json, json};

use super::dialect::Dialect;
use super::location::Location;

/// Time limit of one call that a client gets, in seconds (30 minutes, the default maximum time of an execution, and
/// half a minute for the answer).
const CALL_SECONDS: u64 = 1830;

/// The tool that runs snippets.
pub const EXECUTE_CODE: &str = "execute_code";

/// The syntax of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON with comments.
    Json,
    Toml,
    Yaml,
}

/// The keys of an entry that start the server.
#[derive(Debug)]
pub struct Form {
    /// The key of the program.
    pub command: &'static str,
    /// The key of the arguments; `None` if these follow the program in the list `command`.
    pub args: Option<&'static str>,
    /// The key of the variables.
    pub env: &'static str,
}

/// The value of a key.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(u64),
    /// A text.
    Text(&'static str),
    /// The server's name in the client.
    Name,
    /// A list with `*`: all tools.
    All,
}

impl Value {
    /// The value in an entry of this name.
    pub fn json(self, name: &str) -> Json {
        match self {
            Value::Bool(value) => json!(value),
            Value::Number(value) => json!(value),
            Value::Text(value) => json!(value),
            Value::Name => json!(name),
            Value::All => json!(["*"]),
        }
    }

    /// Whether a client takes another value as this one: any display name, and a list with the tool that runs snippets.
    pub fn is_met_by(self, given: &Json, name: &str) -> bool {
        let enables = |tool: &Json| tool == "*" || tool == EXECUTE_CODE;
        match self {
            Value::All => given.as_array().is_some_and(|tools| tools.iter().any(enables)),
            Value::Name => given.is_string(),
            _ => *given == self.json(name),
        }
    }
}

/// A key of an entry besides those that start the server.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// The first version of the client that accepts it; older ones refuse the whole file.
    pub(crate) since: Option<[u64; 3]>,
    /// The consequence of its absence.
    pub without: &'static str,
    /// Whether the model does not see the tools without it.
    pub shows: bool,
}

impl Key {
    pub(crate) const fn new(name: &'static str, value: Value, without: &'static str) -> Self {
        Key { name, value, since: None, without, shows: false }
    }

    /// Whether this version of the client accepts the key.
    pub fn is_accepted_by(&self, version: Option<&Version>) -> bool {
        let since = self.since.map(|[major, minor, patch]| Version::new(major, minor, patch));
        since.is_none_or(|since| version.is_some_and(|version| *version >= since))
    }
}

/// The decision of a client about calls.
#[derive(Debug)]
pub struct Calls {
    /// The decision by default, as a predicate of the client's name.
    pub default: &'static str,
    /// Whether it calls without asking by default.
    pub are_allowed: bool,
    /// The key of the entry that allows calls.
    pub key: Option<(&'static str, Value)>,
    /// Another way to allow calls; `{name}` stands for the server's name.
    pub advice: &'static str,
    /// The list that allows calls with one of these items: its file, its path in it, and the items.
    pub(crate) list: Option<(Location, &'static [&'static str], &'static [&'static str])>,
}

/// The properties of a client.
#[derive(Debug)]
pub struct Profile {
    /// Its programs in the search path.
    pub(crate) programs: &'static [&'static str],
    /// Whether its version decides about keys or about what its model reads.
    pub is_versioned: bool,
    /// Its name in `clientInfo`.
    pub client_info: &'static str,
    /// The user's file: the first one that exists, or whose folder exists, or else the first one.
    pub(crate) files: &'static [Location],
    /// A folder that exists if the client is installed, if that is not the folder of its file.
    pub(crate) folder: Option<Location>,
    /// The file in a project: the first one that exists, or else the first one.
    pub project: &'static [&'static str],
    pub(crate) syntax: Syntax,
    /// The client's key for servers, as a path.
    pub section: &'static [&'static str],
    /// The keys that start a server.
    pub form: Form,
    /// The `type` of a local server.
    pub(crate) kind: Option<&'static str>,
    /// Its other keys.
    pub keys: &'static [Key],
    /// Codex's list of the namespaces that its models see themselves.
    pub namespaces: Option<Key>,
    /// The key with which the client ends if the server does not start.
    pub(crate) required: Option<&'static str>,
    /// Its decision about calls.
    pub calls: Calls,
    /// Whether it is a desktop application, which the desktop starts with its own search path.
    pub(crate) is_desktop: bool,
    /// The variables in the texts of its entries.
    pub(crate) dialect: Dialect,
    /// Whether its lists `mcp.allowed` and `mcp.excluded` decide which servers it starts.
    pub(crate) lists_servers: bool,
    /// Its name, if its own file has servers of single projects, which stay there.
    pub(crate) projects: Option<&'static str>,
    /// Another form of its file.
    pub(crate) second_form: Option<SecondForm>,
    /// The reason why its servers can't be imported.
    pub(crate) refusal: Option<Refusal>,
}

/// Another form of a client's file.
#[derive(Debug)]
pub(crate) struct SecondForm {
    /// The key for servers, as a path.
    pub(crate) section: &'static [&'static str],
    /// Whether a file has this form.
    pub(crate) is_used: fn(&Map<String, Json>) -> bool,
    /// Converts an entry to this form.
    pub(crate) convert: fn(&mut Map<String, Json>),
}

/// The reason why a client's servers can't be imported, and the remedy.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) why: &'static str,
    pub(crate) advice: &'static str,
}

/// Most clients: `mcpServers` in a JSON file.
pub(crate) const JSON: Profile = Profile {
    programs: &[],
    is_versioned: false,
    client_info: "",
    files: &[],
    folder: None,
    project: &[],
    syntax: Syntax::Json,
    section: &["mcpServers"],
    form: Form { command: "command", args: Some("args"), env: "env" },
    kind: None,
    keys: &[],
    namespaces: None,
    required: None,
    calls: ASKS,
    is_desktop: false,
    dialect: Dialect::Braces,
    lists_servers: false,
    projects: None,
    second_form: None,
    refusal: None,
};

pub(crate) const ASKS: Calls = Calls {
    default: "asks before a call",
    are_allowed: false,
    key: None,
    advice: "allow the tools always in its question",
    list: None,
};

/// The key for the time limit of a call, in milliseconds.
pub(crate) const fn milliseconds(name: &'static str, without: &'static str) -> Key {
    Key::new(name, Value::Number(CALL_SECONDS * 1000), without)
}

/// The key for the time limit of a call, in seconds.
pub(crate) const fn seconds(name: &'static str, without: &'static str) -> Key {
    Key::new(name, Value::Number(CALL_SECONDS), without)
}
