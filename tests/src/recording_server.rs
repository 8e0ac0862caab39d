//! Runs a test server that reports its requests: each line of its output is JSON. The first line contains its
//! addresses. The others are requests that it received, and `{"done": COMMAND}` after each command read from its input.

use std::{
    io::{self, BufRead, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use crate::checks::watched;

/// A running server. It is killed on drop.
pub struct RecordingServer {
    process: Child,
    commands: Mutex<ChildStdin>,
    lines: watch::Receiver<Vec<Value>>,
}

impl Drop for RecordingServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl RecordingServer {
    /// Starts a server; also returns its first line.
    ///
    /// # Errors
    /// If it can't be started, or its first line is not JSON.
    pub fn start(command: &mut Command) -> io::Result<(Self, Value)> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(commands), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("the server has no pipes"));
        };
        let (record, lines) = watch::channel(Vec::new());
        let server = RecordingServer { process, commands: Mutex::new(commands), lines };
        let mut output = BufReader::new(output).lines();
        let first = output.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        std::thread::spawn(move || {
            for line in output.map_while(Result::ok) {
                // A line that is not JSON ends the record, and thereby every wait for more.
                let Ok(line) = serde_json::from_str(&line) else { return };
                record.send_modify(|lines| lines.push(line));
            }
        });
        Ok((server, serde_json::from_str(&first)?))
    }

    /// Waits until the record fulfils a condition.
    ///
    /// # Panics
    /// If it does not in time, or the server ends before.
    pub async fn until(&self, what: &str, condition: impl FnMut(&Vec<Value>) -> bool) {
        let mut lines = self.lines.clone();
        let fulfilled = watched(lines.wait_for(condition)).await.is_ok();
        assert!(fulfilled, "the record ended before: {what}");
    }

    /// Sends a command and waits until it is done.
    ///
    /// # Panics
    /// If it is not done in time.
    pub async fn command(&self, command: &str) {
        let done = |lines: &Vec<Value>| lines.iter().filter(|line| line["done"] == command).count();
        let before = done(&self.lines.borrow());
        let sent = writeln!(self.commands.lock(), "{command}");
        assert!(sent.is_ok(), "the server can't be sent {command}: {sent:?}");
        self.until(command, |lines| done(lines) > before).await;
    }

    /// The complete record: the server answers the command `record` after everything recorded before it.
    ///
    /// # Panics
    /// If the server does not answer in time.
    pub async fn requests(&self) -> Vec<Value> {
        self.command("record").await;
        self.lines.borrow().iter().filter(|line| line["done"].is_null()).cloned().collect()
    }
}
