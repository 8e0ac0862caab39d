//! The properties of each client: its programs and files, the form of an entry, and the keys without which its model
//! does not see or cannot use the tools. A new client is a row of the table.

use semver::Version;
use serde_json::{Value as Json, json};

use super::location::{Base, Location};
use crate::arguments::Client;

/// Time limit of one call that a client gets, in seconds (30 minutes, the default maximum time of an execution, and
/// half a minute for the answer).
const CALL_SECONDS: u64 = 1830;

/// The tool that runs snippets.
pub(super) const EXECUTE_CODE: &str = "execute_code";

/// Codex's list of the tool namespaces that its models see themselves.
pub(super) const NAMESPACES: &str = "features.code_mode.direct_only_tool_namespaces";

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
pub(crate) struct Form {
    pub(crate) command: &'static str,
    /// `None` if the arguments follow the program in the list `command`.
    pub(crate) args: Option<&'static str>,
    pub(crate) env: &'static str,
}

/// The value of a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value {
    Bool(bool),
    Number(u64),
    Text(&'static str),
    /// The server's name in the client.
    Name,
    /// A list with `*`: all tools.
    All,
}

impl Value {
    pub(crate) fn json(self, name: &str) -> Json {
        match self {
            Value::Bool(value) => json!(value),
            Value::Number(value) => json!(value),
            Value::Text(value) => json!(value),
            Value::Name => json!(name),
            Value::All => json!(["*"]),
        }
    }

    /// Whether a client takes another value as this one: any display name, and a list with the tool that runs snippets.
    pub(super) fn is_met_by(self, given: &Json, name: &str) -> bool {
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
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) value: Value,
    /// The first version of the client that accepts it; older ones refuse the whole file.
    pub(crate) since: Option<[u64; 3]>,
    /// The consequence of its absence.
    pub(crate) without: &'static str,
    /// Whether the model does not see the tools without it.
    pub(crate) shows: bool,
}

impl Key {
    const fn new(name: &'static str, value: Value, without: &'static str) -> Self {
        Key { name, value, since: None, without, shows: false }
    }

    /// Whether this version of the client accepts the key.
    pub(crate) fn is_accepted_by(&self, version: Option<&Version>) -> bool {
        let since = self.since.map(|[major, minor, patch]| Version::new(major, minor, patch));
        since.is_none_or(|since| version.is_some_and(|version| *version >= since))
    }
}

/// The decision of a client about calls.
#[derive(Debug)]
pub(crate) struct Calls {
    /// The decision by default, as a predicate of the client's name.
    pub(crate) default: &'static str,
    /// Whether it calls without asking by default.
    pub(crate) are_allowed: bool,
    /// The key of the entry that allows calls.
    pub(crate) key: Option<(&'static str, Value)>,
    /// Another way to allow calls; `{name}` stands for the server's name.
    pub(crate) advice: &'static str,
    /// The list that allows calls with one of these items: its file, its path in it, and the items.
    pub(crate) list: Option<(Location, &'static [&'static str], &'static [&'static str])>,
}

/// The properties of a client.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Its programs in the search path.
    pub(crate) programs: &'static [&'static str],
    /// Whether its version decides about keys or about what its model reads.
    pub(crate) is_versioned: bool,
    /// Its name in `clientInfo`.
    pub(crate) client_info: &'static str,
    /// The user's file: the first one that exists, or whose folder exists, or else the first one.
    pub(crate) files: &'static [Location],
    /// A folder that exists if the client is installed, if that is not the folder of its file.
    pub(crate) folder: Option<Location>,
    /// The file in a project: the first one that exists, or else the first one.
    pub(crate) project: &'static [&'static str],
    pub(crate) syntax: Syntax,
    /// The client's key for servers, as a path.
    pub(crate) section: &'static [&'static str],
    pub(crate) form: Form,
    /// The `type` of a local server.
    pub(crate) kind: Option<&'static str>,
    pub(crate) keys: &'static [Key],
    /// Codex's list of the namespaces that its models see themselves.
    pub(crate) namespaces: Option<Key>,
    /// The key with which the client ends if the server does not start.
    pub(crate) required: Option<&'static str>,
    pub(crate) calls: Calls,
    /// Whether it is a desktop application, which the desktop starts with its own search path.
    pub(crate) is_desktop: bool,
}

/// Most clients: `mcpServers` in a JSON file.
const JSON: Profile = Profile {
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
};

const ASKS: Calls = Calls {
    default: "asks before a call",
    are_allowed: false,
    key: None,
    advice: "allow the tools always in its question",
    list: None,
};

/// The key for the time limit of a call, in milliseconds.
const fn milliseconds(name: &'static str, without: &'static str) -> Key {
    Key::new(name, Value::Number(CALL_SECONDS * 1000), without)
}

/// The key for the time limit of a call, in seconds.
const fn seconds(name: &'static str, without: &'static str) -> Key {
    Key::new(name, Value::Number(CALL_SECONDS), without)
}

impl Client {
    /// Its row of the table.
    pub(crate) fn profile(self) -> &'static Profile {
        match self {
            Client::ClaudeCode => &CLAUDE_CODE,
            Client::ClaudeDesktop => &CLAUDE_DESKTOP,
            Client::Codex => &CODEX,
            Client::Cursor => &CURSOR,
            Client::VsCode => &VS_CODE,
            Client::Gemini => &GEMINI,
            Client::Opencode => &OPENCODE,
            Client::Zed => &ZED,
            Client::Windsurf => &WINDSURF,
            Client::Qwen => &QWEN,
            Client::Copilot => &COPILOT,
            Client::Goose => &GOOSE,
            Client::Kimi => &KIMI,
            Client::Crush => &CRUSH,
        }
    }
}

static CLAUDE_CODE: Profile = Profile {
    programs: &["claude"],
    is_versioned: true,
    client_info: "claude-code",
    files: &[Location::new(Base::Home, "", ".claude.json").or("CLAUDE_CONFIG_DIR")],
    folder: Some(Location::new(Base::Home, ".claude", "")),
    project: &[".mcp.json"],
    kind: Some("stdio"),
    keys: &[Key {
        shows: true,
        ..Key::new("alwaysLoad", Value::Bool(true), "its model sees only the tools' names until it searches")
    }],
    calls: Calls {
        default: "asks before a call, and `claude -p` denies it",
        advice: "add mcp__{name} to permissions.allow in ~/.claude/settings.json, or pass --allowedTools \
                 mcp__{name}",
        list: Some((
            Location::new(Base::Home, ".claude", "settings.json").or("CLAUDE_CONFIG_DIR"),
            &["permissions", "allow"],
            &["mcp__{name}", "mcp__{name}__*", "mcp__{name}__execute_code"],
        )),
        ..ASKS
    },
    ..JSON
};

static CLAUDE_DESKTOP: Profile = Profile {
    programs: &["claude-desktop"],
    client_info: "claude-ai",
    files: &[Location::new(Base::Applications, "Claude", "claude_desktop_config.json")],
    is_desktop: true,
    ..JSON
};

static CODEX: Profile = Profile {
    programs: &["codex"],
    is_versioned: true,
    client_info: "codex-mcp-client",
    files: &[Location::new(Base::Home, ".codex", "config.toml").or("CODEX_HOME")],
    project: &[".codex/config.toml"],
    syntax: Syntax::Toml,
    section: &["mcp_servers"],
    keys: &[
        seconds("tool_timeout_sec", "calls end after 5 minutes, also while they report progress"),
        Key::new("supports_parallel_tool_calls", Value::Bool(true), "calls run one after the other"),
    ],
    namespaces: Some(Key {
        since: Some([0, 142, 0]),
        shows: true,
        ..Key::new(
            NAMESPACES,
            Value::Name,
            "most of its models see only the beginning of the instructions, and not the tools",
        )
    }),
    required: Some("required"),
    calls: Calls {
        default: "asks before each tool call, and `codex exec` denies it",
        key: Some(("default_tools_approval_mode", Value::Text("approve"))),
        ..ASKS
    },
    ..JSON
};

static CURSOR: Profile = Profile {
    programs: &["cursor"],
    client_info: "cursor-vscode",
    files: &[Location::new(Base::Home, ".cursor", "mcp.json")],
    project: &[".cursor/mcp.json"],
    is_desktop: true,
    ..JSON
};

static VS_CODE: Profile = Profile {
    programs: &["code"],
    client_info: "Visual Studio Code",
    files: &[Location::new(Base::Applications, "Code/User", "mcp.json")],
    folder: Some(Location::new(Base::Applications, "Code", "")),
    project: &[".vscode/mcp.json"],
    section: &["servers"],
    kind: Some("stdio"),
    is_desktop: true,
    ..JSON
};

static GEMINI: Profile = Profile {
    programs: &["gemini"],
    client_info: "gemini-cli-mcp-client",
    files: &[Location::new(Base::Home, "", ".gemini/settings.json").or("GEMINI_CLI_HOME")],
    project: &[".gemini/settings.json"],
    keys: &[milliseconds("timeout", "calls end after 10 minutes")],
    calls: Calls {
        default: "asks before each tool call, and leaves tools out if it can't ask (`gemini -p`)",
        key: Some(("trust", Value::Bool(true))),
        ..ASKS
    },
    ..JSON
};

static OPENCODE: Profile = Profile {
    programs: &["opencode"],
    is_versioned: true,
    client_info: "opencode",
    files: &[
        Location::new(Base::Config, "opencode", "opencode.json"),
        Location::new(Base::Config, "opencode", "opencode.jsonc"),
    ],
    project: &["opencode.json", "opencode.jsonc"],
    section: &["mcp"],
    form: Form { command: "command", args: None, env: "environment" },
    kind: Some("local"),
    keys: &[
        milliseconds("timeout", "calls, and so their snippets, end after a minute"),
        Key {
            since: Some([1, 18, 0]),
            ..Key::new("codemode", Value::Bool(false), "its own code mode shortens the description")
        },
    ],
    calls: Calls {
        default: "calls without asking, unless its `permission` says otherwise",
        are_allowed: true,
        ..ASKS
    },
    ..JSON
};

static ZED: Profile = Profile {
    programs: &["zed", "zeditor"],
    client_info: "Zed",
    files: &[Location::new(Base::Config, "zed", "settings.json")],
    project: &[".zed/settings.json"],
    section: &["context_servers"],
    keys: &[seconds("timeout", "calls end after a minute")],
    is_desktop: true,
    ..JSON
};

static WINDSURF: Profile = Profile {
    programs: &["windsurf"],
    client_info: "windsurf-client",
    files: &[Location::new(Base::Home, ".codeium/windsurf", "mcp_config.json")],
    is_desktop: true,
    ..JSON
};

static QWEN: Profile = Profile {
    programs: &["qwen"],
    client_info: "qwen-cli-mcp-client",
    files: &[Location::new(Base::Home, ".qwen", "settings.json")],
    project: &[".qwen/settings.json"],
    keys: &[
        milliseconds("timeout", "calls end after 10 minutes"),
        Key {
            shows: true,
            ..Key::new(
                "alwaysLoadTools",
                Value::Bool(true),
                "its model sees 150 characters of each description until it searches",
            )
        },
    ],
    calls: Calls { default: "asks before each tool call", key: Some(("trust", Value::Bool(true))), ..ASKS },
    ..JSON
};

static COPILOT: Profile = Profile {
    programs: &["copilot"],
    client_info: "copilot-cli",
    files: &[Location::new(Base::Home, ".copilot", "mcp-config.json").or("COPILOT_HOME")],
    project: &[".github/mcp.json"],
    kind: Some("local"),
    keys: &[
        Key { shows: true, ..Key::new("tools", Value::All, "it enables no tool") },
        milliseconds("timeout", "calls end after 3 minutes"),
    ],
    calls: Calls {
        default: "asks before a call, and `copilot -p` denies it",
        advice: "pass --allow-tool {name}",
        ..ASKS
    },
    ..JSON
};

static GOOSE: Profile = Profile {
    programs: &["goose"],
    client_info: "goose-cli",
    files: &[Location::new(Base::Config, "goose", "config.yaml")],
    syntax: Syntax::Yaml,
    section: &["extensions"],
    form: Form { command: "cmd", args: Some("args"), env: "envs" },
    kind: Some("stdio"),
    keys: &[
        Key { shows: true, ..Key::new("name", Value::Name, "it refuses the entry") },
        Key { shows: true, ..Key::new("enabled", Value::Bool(true), "it does not start the server") },
        seconds("timeout", "calls end after 5 minutes"),
    ],
    calls: Calls {
        default: "calls without asking, unless GOOSE_MODE is approve, smart_approve or chat",
        are_allowed: true,
        ..ASKS
    },
    ..JSON
};

static KIMI: Profile = Profile {
    programs: &["kimi"],
    client_info: "kimi-code",
    files: &[
        Location::new(Base::Home, ".kimi-code", "mcp.json").or("KIMI_CODE_HOME"),
        Location::new(Base::Home, ".kimi", "mcp.json"),
    ],
    project: &[".kimi-code/mcp.json"],
    keys: &[milliseconds("toolTimeoutMs", "calls end after a minute")],
    calls: Calls {
        advice: "add a [[permission.rules]] with decision = \"allow\" and pattern = \"mcp__{name}__*\" to its \
                 config.toml",
        ..ASKS
    },
    ..JSON
};

static CRUSH: Profile = Profile {
    programs: &["crush"],
    client_info: "crush",
    files: &[Location::new(Base::Config, "crush", "crush.json").or("CRUSH_GLOBAL_CONFIG")],
    project: &["crush.json", ".crush.json"],
    section: &["mcp"],
    kind: Some("stdio"),
    // Limits the start, not calls.
    keys: &[Key::new("timeout", Value::Number(60), "a server that needs 10 s to start is not available")],
    calls: Calls {
        advice: "add mcp_{name}_execute_code to permissions.allowed_tools in crush.json",
        list: Some((
            Location::new(Base::Config, "crush", "crush.json").or("CRUSH_GLOBAL_CONFIG"),
            &["permissions", "allowed_tools"],
            &["mcp_{name}_execute_code"],
        )),
        ..ASKS
    },
    ..JSON
};
