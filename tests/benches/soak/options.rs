//! The command line, and the configuration of `serve` that follows from it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Checked;

/// The maximum of `--at-once`: `serve` runs 16 executions in parallel, and the last step needs one more.
const MOST_AT_ONCE: u64 = 15;

/// The command line.
pub(crate) struct Options {
    /// `--binary FILE`: the program to run (default: the one in the same target folder).
    pub(crate) binary: PathBuf,
    /// `--executions N` (default 10 000).
    pub(crate) executions: u64,
    /// `--at-once N`: how many run in parallel (default 4).
    pub(crate) at_once: usize,
    /// `--new-every N`: each of that many executions has a new text, which is compiled (default 20).
    pub(crate) new_every: u64,
    /// `--alone-every N`: each of that many executions waits until `serve` is idle and runs alone (default 50).
    pub(crate) alone_every: u64,
    /// `--spares N`: the key `serve.spares.perServer` (default: not set).
    pub(crate) spares: Option<u64>,
}

impl Options {
    pub(crate) fn read() -> Checked<Self> {
        let itself = std::env::current_exe().map_err(|error| error.to_string())?;
        let target = itself.parent().and_then(Path::parent).ok_or("this program has no folder")?;
        let mut options = Self {
            binary: target.join("toolsmith"),
            executions: 10_000,
            at_once: 4,
            new_every: 20,
            alone_every: 50,
            spares: None,
        };
        // Cargo adds `--bench`.
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
            match name.as_str() {
                "--binary" => options.binary = value.into(),
                "--executions" => options.executions = number()?.max(1),
                "--at-once" => {
                    options.at_once = usize::try_from(number()?.clamp(1, MOST_AT_ONCE)).unwrap_or(1);
                }
                "--new-every" => options.new_every = number()?.max(1),
                "--alone-every" => options.alone_every = number()?.max(1),
                "--spares" => options.spares = Some(number()?),
                _ => return Err(format!("{name} is not an option")),
            }
        }
        let binary = options.binary.canonicalize();
        options.binary = binary.map_err(|error| format!("{}: {error}", options.binary.display()))?;
        if options.executions < options.alone_every {
            return Err(format!("--executions must be at least {} (--alone-every)", options.alone_every));
        }
        Ok(options)
    }

    /// Whether `serve` opens spare sessions.
    pub(crate) fn has_spares(&self) -> bool {
        self.spares != Some(0)
    }

    /// A configuration with the server that counts its sessions in the file `record`.
    pub(crate) fn config(&self, record: &Path) -> Value {
        let server = env!("CARGO_BIN_EXE_fault-server");
        let mut config = json!({ "mcpServers": {
            "counted": { "command": server, "args": ["sessions", record], "trust": true },
            // No snippet calls it. `serve` logs what becomes of spare compilers only if a server is debugged, and would
            // also log all traffic with that server.
            "debugged": { "command": server, "args": ["sound"], "debug": true },
        } });
        if let Some(spares) = self.spares {
            config["serve"] = json!({ "spares": { "perServer": spares } });
        }
        config
    }
}
