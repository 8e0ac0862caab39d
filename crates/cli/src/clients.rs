//! The MCP clients that Toolsmith knows: reads and changes the servers in their files.
//!
//! Each client is a file with its properties (`profile`) and a row of the table below. `place` finds a client's file,
//! `file` changes it safely, and `text` knows the syntaxes. `entry` builds Toolsmith's own entry, and `import` converts
//! the entries of other servers to Toolsmith's form.

mod claude_code;
mod claude_desktop;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod dialect;
pub(crate) mod entry;
pub(crate) mod file;
mod gemini;
mod goose;
pub(crate) mod import;
mod kimi;
mod location;
pub(crate) mod namespaces;
mod opencode;
pub(crate) mod place;
pub(crate) mod profile;
mod qwen;
mod search_path;
pub(crate) mod text;
pub(crate) mod version;
mod vs_code;
mod windsurf;
mod zed;

use clap::ValueEnum;

pub(crate) use entry::Entry;
pub(crate) use file::{ClientFile, State};
pub(crate) use place::Place;
use profile::Profile;

/// Defines the clients: the name on the command line, and the module with its properties.
macro_rules! clients {
    ($($(#[$attribute:meta])* $client:ident: $module:ident,)*) => {
        /// An MCP client.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(crate) enum Client {
            $($(#[$attribute])* $client,)*
        }

        impl Client {
            /// Its properties.
            pub(crate) fn profile(self) -> &'static Profile {
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
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
