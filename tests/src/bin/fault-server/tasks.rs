//! A server that answers calls with tasks, of MCP 2025-11-25 and of the extension, and breaks the rules on request.

use std::{collections::BTreeMap, fs::OpenOptions, io, io::Write as _};

use serde_json::{Value, json};

use crate::server::{Faults, Server, initialize_result, send, text_result, tool};

/// The number of polls for which a task that ends is at work.
const POLLS: u32 = 3;

/// A task: what its call said, and how often it was polled.
struct Task {
    script: String,
    form: &'static str,
    polls: u32,
    answer: Option<Value>,
}

/// The argument is a file, in which each request about a task becomes a line. The tool `echo` runs as a task of the
/// extension, by the script in its message; `job` runs only as a task of 2025-11-25.
pub(crate) fn tasks(file: &str) -> io::Result<()> {
    let mut record = OpenOptions::new().create(true).append(true).open(file)?;
    let mut calls = record.try_clone()?;
    let tasks = std::rc::Rc::new(std::cell::RefCell::new(BTreeMap::<String, Task>::new()));
    let created = tasks.clone();
    let mut introduction = initialize_result();
    introduction["capabilities"]["tasks"] = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
    let mut job = tool("job");
    job["execution"] = json!({ "taskSupport": "required" });
    let faults = Faults {
        initialize: Some(Box::new(move |_| Ok(Some(json!({ "result": introduction }))))),
        list: Some(Box::new(move |_| Ok(Some(json!({ "result": { "tools": [tool("echo"), job] } }))))),
        call: Some(Box::new(move |request| {
            let parameters = &request["params"];
            let script = parameters["arguments"]["message"].as_str().unwrap_or_default().to_owned();
            let form = match parameters["name"].as_str() {
                Some("job") if parameters["task"].is_object() => "core",
                Some("job") => {
                    let error = json!({ "code": -32601, "message": "job runs only as a task" });
                    return Ok(Some(json!({ "error": error })));
                }
                _ => "extension",
            };
            writeln!(calls, "call {form}")?;
            let task = Task { script, form, polls: 0, answer: None };
            let mut tasks = created.borrow_mut();
            let id = format!("task {}", tasks.len());
            let mut state = task.state(&id);
            tasks.insert(id, task);
            Ok(Some(match form {
                "core" => json!({ "result": { "task": state } }),
                _ => {
                    state["resultType"] = json!("task");
                    json!({ "result": state })
                }
            }))
        })),
        other: Some(Box::new(move |request| {
            let method = request["method"].as_str().unwrap_or_default();
            writeln!(record, "{method} {}", request["params"]["taskId"].as_str().unwrap_or_default())?;
            let id = request["params"]["taskId"].as_str().unwrap_or_default();
            let mut tasks = tasks.borrow_mut();
            let Some(task) = tasks.get_mut(id).filter(|task| method != "ping" && !task.is_forgotten()) else {
                return Ok(Some(json!({ "error": { "code": -32602, "message": "Task not found" } })));
            };
            task.handle(id, method, &request["params"])
        })),
    };
    Server { faults, ..Server::default() }.serve()
}

impl Task {
    fn is_forgotten(&self) -> bool {
        self.script == "forgets"
    }

    /// The state as a list of members that both forms have.
    fn state(&self, id: &str) -> Value {
        let ended = self.polls >= POLLS;
        let status = match self.script.as_str() {
            "asks" if self.answer.is_none() => "input_required",
            "asks" => "completed",
            "endless" | "slow" => "working",
            "hibernates" if self.polls > 0 => "hibernating",
            "fails" if ended => "failed",
            "cancels" if ended => "cancelled",
            // Backwards: a task that was completed would not be polled, but one may be asked and work again.
            "wavers" if self.polls == 1 => "input_required",
            _ if ended => "completed",
            _ => "working",
        };
        let mut state = json!({
            "taskId": id, "status": status, "createdAt": "2026-11-30T12:00:00Z",
            "lastUpdatedAt": "2026-11-30T12:00:00Z",
        });
        let (ttl, poll) =
            if self.form == "core" { ("ttl", "pollInterval") } else { ("ttlMs", "pollIntervalMs") };
        state[ttl] = json!(if self.is_forgotten() { 0 } else { 60_000 });
        let is_rare = self.script == "slow" || self.script == "announces" && self.polls == 1;
        state[poll] = if is_rare { json!(3_600_000) } else { json!(0) };
        if status == "working" && self.script == "reports" {
            state["statusMessage"] = json!(format!("step {}", self.polls));
        }
        state
    }

    /// The answer to a request about the task.
    fn handle(&mut self, id: &str, method: &str, parameters: &Value) -> io::Result<Option<Value>> {
        let result = match method {
            "tasks/get" => {
                self.polls += 1;
                let mut state = self.state(id);
                match state["status"].as_str() {
                    Some("completed") if self.script != "empty" && self.form == "extension" => {
                        state["result"] = self.result();
                    }
                    Some("failed") => state["error"] = json!({ "code": -32001, "message": "the job broke" }),
                    Some("input_required") => {
                        let question = json!({
                            "message": "How many?", "requestedSchema": { "type": "object", "properties": {} },
                        });
                        let request = json!({ "method": "elicitation/create", "params": question });
                        state["inputRequests"] = json!({ "count": request });
                    }
                    _ => {}
                }
                if self.script == "confuses" {
                    state["taskId"] = json!("task of another call");
                }
                if self.script == "announces" && self.polls == 1 {
                    self.polls = POLLS;
                    let parameters = json!({ "taskId": id, "status": "completed" });
                    send(
                        &json!({ "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": parameters }),
                    )?;
                }
                state
            }
            "tasks/update" => {
                self.answer = parameters["inputResponses"].get("count").cloned();
                json!({ "resultType": "complete" })
            }
            "tasks/result" => match self.script.as_str() {
                "fails" => {
                    return Ok(Some(json!({ "error": { "code": -32001, "message": "the job broke" } })));
                }
                _ => self.result(),
            },
            _ => json!({}),
        };
        Ok(Some(json!({ "result": result })))
    }

    fn result(&self) -> Value {
        match &self.answer {
            Some(answer) => text_result(&answer.to_string()),
            None => text_result(&format!("did what {} does", self.script)),
        }
    }
}
