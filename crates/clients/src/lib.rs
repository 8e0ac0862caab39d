//! MCP clients and the configuration: reads and changes the servers in their files.
//!
//! Each client is a file with its properties (`profile`) and a row of the table below. `place` finds a client's file,
//! `file` changes it safely, and `text` knows the syntaxes. `entry` builds Toolsmith's own entry, `container` its command
//! in a container, and `import` converts the entries of other servers to Toolsmith's form. `edit` changes Toolsmith's
//! configuration. `plain_secrets` finds secrets in entries, and `adopted` records what `adopt` has changed.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod adopted;
mod claude_code;
mod claude_desktop;
mod codex;
pub mod container;
mod copilot;
mod crush;
mod cursor;
mod dialect;
pub mod edit;
pub mod entry;
pub mod file;
pub mod file_lock;
mod gemini;
mod goose;
pub mod import;
mod kimi;
mod location;
pub mod mcpb;
pub mod namespaces;
mod opencode;
pub mod place;
pub mod plain_secrets;
pub mod profile;
mod qwen;
pub mod registry;
mod search_path;
mod text;
pub mod version;
mod vs_code;
mod windsurf;
mod zed;

use clap::ValueEnum;

pub use entry::Entry;
pub use file::{ClientFile, State};
pub use place::{ClientScope, Place};
use profile::Profile;

/// Defines the clients: the name on the command line, and the module with its properties.
macro_rules! clients {
    ($($(#[$attribute:meta])* $client:ident: $module:ident,)*) => {
        /// An MCP client.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub enum Client {
            $($(#[$attribute])* $client,)*
        }

        impl Client {
            /// Its properties.
            pub fn profile(self) -> &'static Profile {
                match self {
                    $(Client::$client => &$module::PROFILE,)*
                }
            }
        }
    };
}

clients! {
    /// Claude Code.
    ClaudeCode: claude_code,
    /// Claude Desktop.
    ClaudeDesktop: claude_desktop,
    /// Codex.
    Codex: codex,
    /// Cursor.
    Cursor: cursor,
    /// VS Code.
    #[value(name = "vscode")]
    VsCode: vs_code,
    /// Gemini CLI.
    Gemini: gemini,
    /// opencode.
    Opencode: opencode,
    /// Zed.
    Zed: zed,
    /// Windsurf.
    Windsurf: windsurf,
    /// Qwen Code.
    Qwen: qwen,
    /// GitHub Copilot CLI.
    Copilot: copilot,
    /// goose.
    Goose: goose,
    /// Kimi Code CLI.
    Kimi: kimi,
    /// Crush.
    Crush: crush,
}

impl Client {
    /// The client's name on the command line.
    pub fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
