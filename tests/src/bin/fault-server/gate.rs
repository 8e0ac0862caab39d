//! A tool, and a server, that answer when a test opens a gate.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::server::{Server, echo, tool};

/// Polling interval of the gate.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Has `echo`, and `pass`, which writes its message to the file `log` in the folder and answers once the file `open`
/// exists. Ends when the folder is deleted.
pub(crate) fn gate(folder: &str) -> io::Result<()> {
    let folder = Path::new(folder).to_owned();
    crate::with(|faults| {
        faults.list = Some(crate::always(json!({ "tools": [tool("echo"), tool("pass")] })));
        faults.call = Some(Box::new(move |request| {
            if request["params"]["name"] == "pass" {
                let mut log = OpenOptions::new().create(true).append(true).open(folder.join("log"))?;
                let message = request["params"]["arguments"]["message"].as_str().unwrap_or_default();
                log.write_all(format!("{message}\n").as_bytes())?;
                wait_at(&folder)?;
            }
            Ok(Some(json!({ "result": echo(request) })))
        }));
    })
    .serve()
}

/// Has `echo`, and sends nothing until the file `open` exists.
pub(crate) fn late(folder: &str) -> io::Result<()> {
    wait_at(Path::new(folder))?;
    Server::default().serve()
}

fn wait_at(folder: &Path) -> io::Result<()> {
    while !folder.join("open").exists() {
        if !folder.is_dir() {
            return Err(io::Error::other("the gate is gone"));
        }
        sleep(POLL_INTERVAL);
    }
    Ok(())
}
