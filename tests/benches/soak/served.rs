//! A running `toolsmith serve` and its client, which keeps several executions in flight.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use end_to_end::reductions::OUTCOME;
use serde_json::{Value, json};

use crate::Checked;

/// The process and its pipes.
pub(crate) struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    errors: PathBuf,
    next: u64,
}

impl Served {
    /// Starts `serve` with a configuration and completes the handshake. Its data is in `folder`.
    pub(crate) fn start(binary: &Path, folder: &Path, config: &Value) -> Checked<Self> {
        let failed = |error: std::io::Error| format!("{}: {error}", binary.display());
        let file = folder.join("soak.json");
        fs::write(&file, config.to_string()).map_err(failed)?;
        let errors = folder.join("errors");
        let mut command = Command::new(binary);
        // Under target/, so that the crates for snippets are compiled once.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-cache");
        command.args(["serve", "--quiet", "--config"]).arg(&file).current_dir(folder);
        command
            .env("TOOLSMITH_CACHE_DIR", cache)
            .env("XDG_CONFIG_HOME", folder)
            .env("XDG_STATE_HOME", folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&errors).map_err(failed)?);
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("serve has no pipes".to_owned());
        };
        let mut served = Self { child, input, output: BufReader::new(output), errors, next: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "soak", "version": "1" },
        });
        served.request("initialize", &hello)?;
        served.answer()?;
        served.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(served)
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Begins an execution; returns the id of its answer.
    pub(crate) fn begin(&mut self, code: &str) -> Checked<u64> {
        self.request("tools/call", &json!({ "name": "execute_code", "arguments": { "code": code } }))
    }

    /// The next answer, with its id.
    pub(crate) fn answer(&mut self) -> Checked<(u64, Value)> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                let errors = fs::read_to_string(&self.errors).unwrap_or_default();
                return Err(format!("serve has ended: {errors}"));
            }
            let message: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
            match (message["id"].as_u64(), message["method"].as_str()) {
                (Some(id), None) => return Ok((id, message)),
                (_, Some("ping")) => {
                    self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }))?;
                }
                // Notifications: the client declared nothing that a server could request.
                _ => {}
            }
        }
    }

    /// Counts the times that it has logged a phrase.
    pub(crate) fn logged(&self, phrase: &str) -> u64 {
        fs::read_to_string(&self.errors).unwrap_or_default().matches(phrase).count() as u64
    }

    /// Ends it without warning (SIGKILL).
    pub(crate) fn kill(mut self) -> Checked<()> {
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|error| error.to_string())
    }

    fn request(&mut self, method: &str, params: &Value) -> Checked<u64> {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }))?;
        Ok(self.next)
    }

    fn send(&mut self, message: &Value) -> Checked<()> {
        writeln!(self.input, "{message}").map_err(|error| error.to_string())
    }
}

/// The session and the number of the call that both calls of an execution reported.
pub(crate) fn counted(answer: &Value) -> Option<[(u64, u64); 2]> {
    let result = answer["result"]["_meta"][OUTCOME]["result"].as_array()?;
    let [first, second] = result.as_slice() else { return None };
    Some([reported(first)?, reported(second)?])
}

/// Reads `session 7 call 1`, the answer of `fault-server sessions`.
fn reported(text: &Value) -> Option<(u64, u64)> {
    let (session, call) = text.as_str()?.strip_prefix("session ")?.split_once(" call ")?;
    Some((session.parse().ok()?, call.parse().ok()?))
}
