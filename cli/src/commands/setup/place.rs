//! The locations of clients' configurations.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use config::Error;

use crate::arguments::{Client, ClientScope};

/// The file of a client to change.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    /// The mode of a new file; the user's own may contain secrets.
    pub(super) mode: u32,
}

impl Place {
    /// The file for a client and a scope.
    pub(super) fn of(client: Client, scope: ClientScope) -> Result<Self, Error> {
        let file = match (client, scope) {
            (Client::ClaudeCode, ClientScope::User) => own("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
            (Client::Codex, ClientScope::User) => own("CODEX_HOME", ".codex")?.join("config.toml"),
            (Client::Opencode, ClientScope::User) => opencode(&config_folder()?.join("opencode")),
            (Client::Gemini, ClientScope::User) => {
                own("GEMINI_CLI_HOME", "")?.join(".gemini").join("settings.json")
            }
            (Client::ClaudeCode, ClientScope::Project) => here()?.join(".mcp.json"),
            (Client::Opencode, ClientScope::Project) => opencode(&here()?),
            (Client::Gemini, ClientScope::Project) => here()?.join(".gemini/settings.json"),
            (Client::Codex, ClientScope::Project) => here()?.join(".codex/config.toml"),
            (Client::ClaudeDesktop | Client::Cursor | Client::VsCode, _) => {
                let client_word = word(client);
                let place = described(client, scope);
                return Err(Error::new(format!("the entry for {client_word} can only be printed")).hint(
                    format!("run `toolsmith setup {client_word} --print`, and add the entry to {place}"),
                ));
            }
        };
        Ok(Place { file, mode: if scope == ClientScope::User { 0o600 } else { 0o644 } })
    }
}

/// The file that opencode reads in a folder: `opencode.jsonc` if only that exists.
fn opencode(folder: &Path) -> PathBuf {
    let (plain, commented) = (folder.join("opencode.json"), folder.join("opencode.jsonc"));
    if !plain.exists() && commented.exists() { commented } else { plain }
}

/// The user's configuration folder (XDG Base Directory Specification).
fn config_folder() -> Result<PathBuf, Error> {
    own("XDG_CONFIG_HOME", ".config")
}

/// The folder that a variable names, or else a folder in the home folder.
fn own(variable: &str, otherwise: &str) -> Result<PathBuf, Error> {
    if let Some(folder) = std::env::var_os(variable).filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).map_err(|error| Error::new(format!("{variable}: {error}")));
    }
    let home = etcetera::home_dir().map_err(|error| {
        Error::new("there is no home folder").caused_by(error).hint(format!("set HOME, or {variable}"))
    })?;
    Ok(home.join(otherwise))
}

fn here() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|error| Error::new(format!("the working folder can't be found: {error}")))
}

/// The client's name on the command line.
pub(super) fn word(client: Client) -> String {
    client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The location of a client's configuration, for display.
pub(super) fn described(client: Client, scope: ClientScope) -> &'static str {
    match (client, scope) {
        (Client::ClaudeCode, ClientScope::User) => "~/.claude.json",
        (Client::ClaudeCode, ClientScope::Project) => ".mcp.json in the project's folder",
        (Client::Codex, ClientScope::User) => "~/.codex/config.toml",
        (Client::Codex, ClientScope::Project) => ".codex/config.toml in the project's folder",
        (Client::Opencode, ClientScope::User) => "~/.config/opencode/opencode.json",
        (Client::Opencode, ClientScope::Project) => "opencode.json in the project's folder",
        (Client::Gemini, ClientScope::User) => "~/.gemini/settings.json",
        (Client::Gemini, ClientScope::Project) => ".gemini/settings.json in the project's folder",
        (Client::ClaudeDesktop, _) => {
            "claude_desktop_config.json, which Settings > Developer > Edit Config opens"
        }
        (Client::Cursor, ClientScope::User) => "~/.cursor/mcp.json",
        (Client::Cursor, ClientScope::Project) => ".cursor/mcp.json in the project's folder",
        (Client::VsCode, ClientScope::User) => {
            "your mcp.json, which the command `MCP: Open User Configuration` opens"
        }
        (Client::VsCode, ClientScope::Project) => ".vscode/mcp.json in the project's folder",
    }
}
