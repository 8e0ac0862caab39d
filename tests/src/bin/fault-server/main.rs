//! `fault-server MODE [ARGUMENT]`: an MCP server that misbehaves in one known way, for tests of the client.
//!
//! The protocol is written by hand, because a proper library cannot do most of this. Apart from its fault, each mode
//! behaves: it answers requests and exits at the end of its input.

mod attacks;
mod counting;
mod flood;
mod forms;
mod gate;
mod library;
mod oddities;
mod processes;
mod server;
mod skills;
mod talkative;
mod tasks;
mod values;
mod views;

use std::{
    fs::OpenOptions,
    io::{self, Read, Write},
    process::ExitCode,
};

use serde_json::{Value, json};

use counting::Change;
use server::{Faults, Reply, Server, send, text_result, tool};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let argument = arguments.next().unwrap_or_default();
    match run(&mode, &argument) {
        Ok(()) => ExitCode::SUCCESS,
        // The client is gone: the normal end of a server that is killed late.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fault-server {mode}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mode: &str, argument: &str) -> io::Result<()> {
    match mode {
        "sound" => Server::default().serve(),
        "attacks" => attacks::serve(),
        "sound-once" => sound_once(argument),
        "exits-at-once" => exits_at_once(),
        "garbage-first" => garbage_first(),
        "garbage-forever" => garbage_forever(),
        "silent-initialize" => silent(|faults| faults.initialize = Some(silence())),
        "silent-list" => silent(|faults| faults.list = Some(silence())),
        "silent-call" => silent(|faults| faults.call = Some(silence())),
        "refuses" => refuses(),
        "future-version" => version("2099-01-01"),
        "malformed-initialize" => malformed_initialize(),
        "no-tools" => oddities::undeclared_tools(false),
        "undeclared-tools" => oddities::undeclared_tools(true),
        "numeric-cursor" => oddities::numeric_cursor(),
        "null-with-error" => oddities::null_with_error(),
        "batches" => oddities::batches(),
        "odd-schemas" => oddities::odd_schemas(),
        "for-apps" => oddities::for_apps(),
        "refuses-list" => oddities::refuses_list(),
        "not-a-number" => oddities::not_a_number(),
        "endless-pages" => endless_pages(),
        "two-pages" => two_pages(),
        "malformed-tools" => malformed_tools(),
        "changing-tools" => changing_tools(argument),
        "described" => described(argument),
        "leaks" => leaks(),
        "dies-in-call" => processes::dies_in_call(),
        "orphan-holds-pipes" => processes::orphan_holds_pipes(),
        "grandchild" => processes::grandchild(),
        "stubborn" => processes::stubborn(),
        "stubborn-inner" => processes::stubborn_inner(),
        "deaf" => processes::deaf(),
        "huge-answer" => huge_answer(argument),
        "unknown-content" => unknown_content(),
        "string-ids" => string_ids(),
        "broken-text" => broken_text(),
        "half-characters" => talkative::half_characters(),
        "rpc-error" => rpc_error(),
        "no-result-object" => no_result_object(),
        "repeats" => repeats(),
        "records-cancelled" => records_cancelled(argument),
        "records-lines" => records_lines(argument),
        "answers-with" => answers_with(argument),
        "long-answer" => long_answer(argument),
        "environment" => environment(),
        "flood" => flood::flood(),
        "many-tools" => flood::many_tools(argument),
        "gate" => gate::gate(argument),
        "late" => gate::late(argument),
        "metadata" => metadata(),
        "library" => library::library(),
        "skills" => skills::skills(),
        "asks" => talkative::asks(),
        "slow-with-progress" => talkative::slow_with_progress(),
        "storm" => talkative::storm(),
        "stateless" => talkative::stateless(),
        "tasks" => tasks::tasks(argument),
        "stateless-process" => counting::stateless_process(argument),
        "values" => values::values(),
        "views" => views::views(argument),
        "forms" => forms::forms(),
        "chatty-stderr" => chatty_stderr(),
        "hangs-up" => talkative::hangs_up(argument),
        "counts" => counting::counts(argument),
        "sessions" => counting::sessions(argument),
        "records-sessions" => counting::records_sessions(argument, Change::Never),
        "records-sessions-changing" => counting::records_sessions(argument, Change::AfterListing),
        "records-sessions-late" => counting::records_sessions(argument, Change::BeforePong),
        "records-sessions-silently" => counting::records_sessions(argument, Change::Silently),
        "records-sessions-refusing" => counting::records_sessions(argument, Change::AfterRefusal),
        "silent-ping" => counting::silent_ping(argument),
        "progress-without-end" => talkative::endless_progress(),
        _ => Err(io::Error::other("unknown mode")),
    }
}

/// Never replies.
fn silence() -> Reply {
    Box::new(|_| Ok(None))
}

fn always(value: Value) -> Reply {
    Box::new(move |_| Ok(Some(json!({ "result": value }))))
}

fn silent(set: impl FnOnce(&mut Faults)) -> io::Result<()> {
    with(set).serve()
}

fn with(set: impl FnOnce(&mut Faults)) -> Server {
    let mut server = Server::default();
    set(&mut server.faults);
    server
}

fn exits_at_once() -> io::Result<()> {
    eprintln!("reading settings");
    eprintln!("fatal: no licence found");
    std::process::exit(3);
}

/// Serves only the first session, which it records in a file.
fn sound_once(state: &str) -> io::Result<()> {
    match OpenOptions::new().create_new(true).write(true).open(state) {
        Ok(_) => Server::default().serve(),
        Err(_) => exits_at_once(),
    }
}

fn garbage_first() -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(b"Welcome to the server!\n\n{ not json }\n[1, 2]\n\xff\xfe\n")?;
    drop(output);
    Server::default().serve()
}

fn garbage_forever() -> io::Result<()> {
    let mut output = io::stdout().lock();
    loop {
        output.write_all(b"this program speaks something else\n")?;
    }
}

fn refuses() -> io::Result<()> {
    with(|faults| {
        faults.initialize = Some(Box::new(|_| {
            Ok(Some(json!({ "error": { "code": -32001, "message": "licence expired", "data": { "since": 2025 } } })))
        }));
    })
    .serve()
}

fn version(version: &str) -> io::Result<()> {
    let mut answer = server::initialize_result();
    answer["protocolVersion"] = json!(version);
    with(|faults| faults.initialize = Some(always(answer))).serve()
}

fn malformed_initialize() -> io::Result<()> {
    with(|faults| faults.initialize = Some(always(json!({ "protocolVersion": 7 })))).serve()
}

fn endless_pages() -> io::Result<()> {
    let page = json!({ "tools": [tool("again")], "nextCursor": "same" });
    with(|faults| faults.list = Some(always(page))).serve()
}

fn two_pages() -> io::Result<()> {
    with(|faults| {
        faults.list = Some(Box::new(|request| {
            let page = match request["params"]["cursor"].as_str() {
                None => json!({ "tools": [tool("first")], "nextCursor": "2" }),
                Some("2") => json!({ "tools": [tool("second")] }),
                Some(_) => return Err(io::Error::other("invented cursor")),
            };
            Ok(Some(json!({ "result": page })))
        }));
    })
    .serve()
}

fn malformed_tools() -> io::Result<()> {
    let mut odd_annotation = tool("odd_annotation");
    odd_annotation["annotations"] = json!({ "readOnlyHint": "yes" });
    let mut true_output = tool("true_output");
    true_output["outputSchema"] = json!(true);
    let mut task = tool("task");
    task["execution"] = json!({ "taskSupport": "required" });
    let tools = json!([
        tool("good"),
        { "name": "no_schema" },
        { "inputSchema": { "type": "object" } },
        "not a tool",
        odd_annotation,
        true_output,
        task
    ]);
    with(|faults| faults.list = Some(always(json!({ "tools": tools })))).serve()
}

/// The schema of its tool contains the number of sessions so far, which it records in a file.
fn changing_tools(state: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(state)?;
    let mut sessions = String::new();
    file.read_to_string(&mut sessions)?;
    file.write_all(b"+")?;
    let mut changing = tool("changing");
    changing["inputSchema"]["required"] = json!(vec!["message"; sessions.len()]);
    with(|faults| faults.list = Some(always(json!({ "tools": [changing] })))).serve()
}

/// Its tools are listed in a file, as names and descriptions.
fn described(file: &str) -> io::Result<()> {
    let texts: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let tools: Vec<Value> = texts
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, description)| {
            let mut tool = tool(name);
            tool["description"] = description.clone();
            tool
        })
        .collect();
    with(|faults| faults.list = Some(always(json!({ "tools": tools })))).serve()
}

/// Reveals the variable `API_TOKEN` in the way that `message` names.
fn leaks() -> io::Result<()> {
    let secret = std::env::var("API_TOKEN").unwrap_or_default();
    eprintln!("starting with {secret}");
    with(|faults| {
        faults.call = Some(Box::new(move |request| {
            let text = format!("the key is {secret} indeed");
            let mut result = text_result(&text);
            Ok(Some(match request["params"]["arguments"]["message"].as_str() {
                Some("error") => {
                    json!({ "error": { "code": -32000, "message": text, "data": { "key": secret } } })
                }
                Some("failure") => {
                    result["isError"] = true.into();
                    json!({ "result": result })
                }
                Some("dies") => {
                    eprintln!("{text}");
                    std::process::exit(9);
                }
                _ => json!({ "result": result }),
            }))
        }));
    })
    .serve()
}

fn huge_answer(bytes: &str) -> io::Result<()> {
    let bytes: usize = bytes.parse().map_err(io::Error::other)?;
    with(|faults| faults.call = Some(always(text_result(&"x".repeat(bytes))))).serve()
}

fn unknown_content() -> io::Result<()> {
    with(|faults| {
        faults.call = Some(always(json!({
            "content": [{ "type": "hologram", "depth": 3 }, { "type": "text", "text": "see above" }],
            "structuredContent": { "large": 12_345_678_901_234_567_890_u64 },
            "isError": false,
            "_meta": { "example.com/trace": "t-1" },
            "somethingNew": [1, 2]
        })));
    })
    .serve()
}

fn string_ids() -> io::Result<()> {
    let server = Server { ids_as_text: true, ..Server::default() };
    server.serve()
}

/// Sends invalid UTF-8 within a text.
fn broken_text() -> io::Result<()> {
    with(|faults| {
        faults.call = Some(Box::new(|request| {
            let id = &request["id"];
            let mut output = io::stdout().lock();
            write!(
                output,
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"caf"#
            )?;
            output.write_all(b"\xe9")?;
            output.write_all(b"\"}]}}\n")?;
            output.flush()?;
            Ok(None)
        }));
    })
    .serve()
}

fn rpc_error() -> io::Result<()> {
    with(|faults| {
        faults.call = Some(Box::new(|_| {
            Ok(Some(json!({ "error": { "code": -32602, "message": "no such\u{1b}[31m tool", "data": [1] } })))
        }));
    })
    .serve()
}

fn no_result_object() -> io::Result<()> {
    with(|faults| faults.call = Some(always(Value::Null))).serve()
}

/// Answers each call twice, and also a call that was never made.
fn repeats() -> io::Result<()> {
    with(|faults| {
        faults.call = Some(Box::new(|request| {
            let answer = server::echo(request);
            send(&json!({ "jsonrpc": "2.0", "id": 999_999, "result": answer }))?;
            send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": answer }))?;
            Ok(Some(json!({ "result": text_result("the second answer") })))
        }));
    })
    .serve()
}

/// Has `echo` and `wait`, and never answers calls of `wait`; writes a line to a file for each call and each
/// cancellation.
fn records_cancelled(file: &str) -> io::Result<()> {
    let mut cancellations = OpenOptions::new().create(true).append(true).open(file)?;
    let mut calls = cancellations.try_clone()?;
    let mut server = with(|faults| {
        faults.list = Some(always(json!({ "tools": [tool("echo"), tool("wait")] })));
        faults.call = Some(Box::new(move |request| {
            if request["params"]["name"] != "wait" {
                return Ok(Some(json!({ "result": server::echo(request) })));
            }
            writeln!(calls, "call {}", request["id"])?;
            Ok(None)
        }));
    });
    server.on_notification = Some(Box::new(move |notification| {
        if notification["method"] == "notifications/cancelled" {
            writeln!(cancellations, "cancelled {}", notification["params"]["requestId"])?;
        }
        Ok(())
    }));
    server.serve()
}

/// Writes each line of its input to a file, byte for byte, before parsing it. Its tool accepts any arguments.
fn records_lines(file: &str) -> io::Result<()> {
    let mut record = OpenOptions::new().create(true).append(true).open(file)?;
    let mut server = with(|faults| {
        let any = json!({ "name": "any", "inputSchema": { "type": "object", "additionalProperties": true } });
        faults.list = Some(always(json!({ "tools": [any] })));
        faults.call = Some(always(text_result("done")));
    });
    server.on_line = Some(Box::new(move |line| writeln!(record, "{line}")));
    server.serve()
}

/// Answers each call with this text as the result.
fn answers_with(result: &str) -> io::Result<()> {
    let result = result.to_owned();
    with(|faults| {
        faults.call = Some(Box::new(move |request| {
            let mut output = io::stdout().lock();
            writeln!(output, r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])?;
            output.flush()?;
            Ok(None)
        }));
    })
    .serve()
}

/// Answers calls with a list of so many bytes that repeats the values after their number.
fn long_answer(argument: &str) -> io::Result<()> {
    let (bytes, values) = argument.split_once(' ').ok_or_else(|| io::Error::other("no number of bytes"))?;
    let bytes: usize = bytes.parse().map_err(io::Error::other)?;
    let items = vec![values; bytes / (values.len() + 1)].join(",");
    answers_with(&format!(r#"{{"content":[],"structuredContent":{{"items":[{items}]}}}}"#))
}

/// Returns the value of the variable that `message` names.
fn environment() -> io::Result<()> {
    with(|faults| {
        faults.call = Some(Box::new(|request| {
            let name = request["params"]["arguments"]["message"].as_str().unwrap_or_default();
            let value = std::env::var(name).unwrap_or_else(|_| "(unset)".to_owned());
            Ok(Some(json!({ "result": text_result(&value) })))
        }));
    })
    .serve()
}

/// Answers a call with the `_meta` of its request.
fn metadata() -> io::Result<()> {
    with(|faults| {
        faults.call = Some(Box::new(|request| {
            Ok(Some(json!({ "result": text_result(&request["params"]["_meta"].to_string()) })))
        }));
    })
    .serve()
}

/// Before serving, writes far more to standard error than a pipe holds.
fn chatty_stderr() -> io::Result<()> {
    let mut errors = io::stderr().lock();
    for number in 0..100_000 {
        writeln!(errors, "log line {number}: nothing to see")?;
    }
    drop(errors);
    Server::default().serve()
}
