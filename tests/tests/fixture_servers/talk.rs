//! Runs a server over standard input and output, and exchanges messages with it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};

use end_to_end::harness::WATCHDOG;
use serde_json::{Value, json};

/// A running server, stopped on drop.
pub(crate) struct ServerProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    last: u64,
}

impl ServerProcess {
    /// Starts a server without sending anything.
    pub(crate) fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, output) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { input: child.stdin.take(), output, child, last: 0 }
    }

    /// Starts a server and performs the handshake, as a client that supports elicitation and sampling.
    pub(crate) fn shake_hands(program: &str, arguments: &[&str]) -> Self {
        let mut talk = Self::start(program, arguments);
        let answer = talk.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "elicitation": {}, "sampling": {}, "roots": {} },
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        talk
    }

    /// Sends a message unchanged.
    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request; returns its id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        self.last
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        let line = self.output.recv_timeout(WATCHDOG).expect("the server ends or sends nothing");
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request; returns its answer, which must be the next message.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool; returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut answer = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.input.take());
        // These servers end when their input ends, unless a test has failed for another reason.
        if thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
