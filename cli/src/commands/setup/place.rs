//! The locations of clients' configurations.

use std::path::{Path, PathBuf};

use config::Error;

use crate::arguments::{Client, ClientScope};

/// The file of a client to change.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    /// The mode of a new file; the user's own may contain secrets.
    pub(crate) mode: u32,
}

impl Place {
    /// The file for a client and a scope.
    ///
    /// # Errors
    /// If there is no home folder, or the client has no file for projects.
    pub(crate) fn of(client: Client, scope: ClientScope) -> Result<Self, Error> {
        match scope {
            ClientScope::User => Ok(Place { file: users(client)?, mode: 0o600 }),
            ClientScope::Project => Ok(Place { file: projects(client)?, mode: 0o644 }),
        }
    }
}

/// The client's file for the user.
fn users(client: Client) -> Result<PathBuf, Error> {
    Ok(match client {
        Client::ClaudeCode => own("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
        Client::ClaudeDesktop => applications()?.join("Claude/claude_desktop_config.json"),
        Client::Codex => own("CODEX_HOME", ".codex")?.join("config.toml"),
        Client::Cursor => home()?.join(".cursor/mcp.json"),
        Client::VsCode => applications()?.join("Code/User/mcp.json"),
        Client::Gemini => own("GEMINI_CLI_HOME", "")?.join(".gemini/settings.json"),
        Client::Opencode => opencode(&config_folder()?.join("opencode")),
        Client::Zed => config_folder()?.join("zed/settings.json"),
        Client::Windsurf => home()?.join(".codeium/windsurf/mcp_config.json"),
    })
}

/// The client's file for the project in the working folder.
fn projects(client: Client) -> Result<PathBuf, Error> {
    let here = here()?;
    Ok(match client {
        Client::ClaudeCode => here.join(".mcp.json"),
        Client::Codex => here.join(".codex/config.toml"),
        Client::Cursor => here.join(".cursor/mcp.json"),
        Client::VsCode => here.join(".vscode/mcp.json"),
        Client::Gemini => here.join(".gemini/settings.json"),
        Client::Opencode => opencode(&here),
        Client::Zed => here.join(".zed/settings.json"),
        Client::ClaudeDesktop | Client::Windsurf => {
            let client = client.word();
            return Err(Error::new(format!("{client} has no configuration for single projects"))
                .hint("leave out --scope project"));
        }
    })
}

/// Whether a client is installed: one of its folders or files exists, or its program is in the search path.
pub(super) fn is_installed(client: Client) -> bool {
    let programs: &[&str] = match client {
        Client::ClaudeCode => &["claude"],
        Client::ClaudeDesktop => &["claude-desktop"],
        Client::Codex => &["codex"],
        Client::Cursor => &["cursor"],
        Client::VsCode => &["code"],
        Client::Gemini => &["gemini"],
        Client::Opencode => &["opencode"],
        Client::Zed => &["zed", "zeditor"],
        Client::Windsurf => &["windsurf"],
    };
    let Ok(file) = users(client) else { return false };
    let folder = match client {
        // These two files are in the home folder, or one level below the client's own folder.
        Client::ClaudeCode => home().ok().map(|home| home.join(".claude")),
        Client::VsCode => file.parent().and_then(Path::parent).map(Path::to_owned),
        _ => file.parent().map(Path::to_owned),
    };
    file.exists()
        || folder.is_some_and(|folder| folder.is_dir())
        || programs.iter().any(|program| which::which_global(program).is_ok())
}

/// The file that opencode reads in a folder: `opencode.jsonc` if only that exists.
fn opencode(folder: &Path) -> PathBuf {
    let (plain, commented) = (folder.join("opencode.json"), folder.join("opencode.jsonc"));
    if !plain.exists() && commented.exists() { commented } else { plain }
}

/// The user's configuration folder (XDG Base Directory Specification), which opencode and Zed also use on macOS.
fn config_folder() -> Result<PathBuf, Error> {
    own("XDG_CONFIG_HOME", ".config")
}

/// The folder in which desktop applications keep their settings.
fn applications() -> Result<PathBuf, Error> {
    if cfg!(target_os = "macos") { Ok(home()?.join("Library/Application Support")) } else { config_folder() }
}

/// The folder that a variable names, or else a folder in the home folder.
fn own(variable: &str, otherwise: &str) -> Result<PathBuf, Error> {
    if let Some(folder) = std::env::var_os(variable).filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).map_err(|error| Error::new(format!("{variable}: {error}")));
    }
    Ok(home()?.join(otherwise))
}

fn home() -> Result<PathBuf, Error> {
    etcetera::home_dir()
        .map_err(|error| Error::new("there is no home folder").caused_by(error).hint("set HOME"))
}

fn here() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(|error| Error::new(format!("the working folder can't be found: {error}")))
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
        (Client::Zed, ClientScope::User) => "~/.config/zed/settings.json",
        (Client::Zed, ClientScope::Project) => ".zed/settings.json in the project's folder",
        (Client::Windsurf, _) => "~/.codeium/windsurf/mcp_config.json",
    }
}
