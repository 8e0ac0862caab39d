//! The floods that are measured.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use codegen::Server;
use serde_json::{Value, json};

use crate::Row;
use crate::host::{Ended, Scene, Served};

const FAULT_SERVER: &str = env!("CARGO_BIN_EXE_fault-server");
const HTTP_FAULT_SERVER: &str = env!("CARGO_BIN_EXE_http-fault-server");

/// A channel, the bytes pushed through it, and how.
pub(crate) type Flood = (&'static str, u64, Way);

/// The party that floods.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// A program that `toolsmith run` runs, with the text that its outcome must contain.
    Program(&'static str, &'static [&'static str], &'static str),
    /// A program that makes 256 calls with answers of 16 MiB and reads the answers late; the mode of an HTTP server, or
    /// `None` for a local one.
    Unread(Option<&'static str>),
    /// A server, in a call that a program makes; the message of the call, and the text that the outcome must contain.
    Call(&'static str, &'static str),
    /// A server over HTTP in this mode, in a call that a program makes.
    HttpCall(&'static str),
    /// A server, in a call that a client of `toolsmith serve` makes and whose answer it reads late.
    Served(&'static str),
    /// A server with this many tools, in `toolsmith serve` (true) or `toolsmith run`.
    Tools(&'static str, bool),
    /// A program that a client of `toolsmith serve` runs, and whose outcome it reads late.
    ServedProgram(&'static str),
}

const MIB: u64 = 1 << 20;

/// Writes frames that the bridge itself would not send.
const FRAMES: &str = "use std::io::Write as _;\nuse std::os::fd::FromRawFd as _;\n\
    let socket = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });\n\
    let mut socket = socket.try_clone()?;\n\
    let mut say = |text: &str| -> std::io::Result<()> { socket.write_all(&(text.len() as u32).to_be_bytes())?; socket.write_all(text.as_bytes()) };\n";

macro_rules! frames {
    ($code:literal) => {
        concat!("FRAMES", $code)
    };
}

pub(crate) fn all() -> Vec<Flood> {
    vec![
        (
            "program: progress, 40 frames of 30 MiB",
            1200 * MIB,
            Way::Program(
                frames!(
                    "let text = format!(\"{{\\\"progress\\\":{{\\\"done\\\":1.0,\\\"total\\\":1.0,\\\"message\\\":\\\"{}\\\"}}}}\", \"x\".repeat(30 << 20)); for _ in 0..40 { say(&text)?; } 42"
                ),
                &["--json"],
                "42",
            ),
        ),
        (
            "program: progress, 40 frames of 30 MiB of escapes",
            1200 * MIB,
            Way::Program(
                frames!(
                    "let text = format!(\"{{\\\"progress\\\":{{\\\"done\\\":1.0,\\\"total\\\":1.0,\\\"message\\\":\\\"{}\\\"}}}}\", \"\\\\n\".repeat(15 << 20)); for _ in 0..40 { say(&text)?; } 42"
                ),
                &["--json"],
                "42",
            ),
        ),
        (
            "program: progress, 50 000 messages of 4 KiB",
            200 * MIB,
            Way::Program(
                "let text = \"x\".repeat(4096); for _ in 0..50_000 { progress(1, 1, text.as_str()); } 42",
                &["--json"],
                "42",
            ),
        ),
        (
            "program: standard output without end",
            8 * MIB,
            Way::Program("let line = \"x\".repeat(1 << 16); loop { println!(\"{line}\"); }", &[], ""),
        ),
        (
            "program: standard output in single bytes",
            4 * MIB,
            Way::Program(
                "use std::io::Write as _; let mut out = std::io::stdout(); for _ in 0..4 << 20 { out.write_all(b\"x\")?; out.flush()?; if std::hint::black_box(false) { break; } } 42",
                &[],
                "42",
            ),
        ),
        (
            "program: standard error without end",
            8 * MIB,
            Way::Program(
                "let line = \"x\".repeat(1 << 16); loop { eprintln!(\"{line}\"); }",
                &["--json"],
                "output_limit",
            ),
        ),
        (
            "program: content, 16 parts of 1 MiB and more",
            20 * MIB,
            Way::Program("loop { emit(\"x\".repeat(1 << 20)); }", &["--json"], "output_limit"),
        ),
        (
            "program: content, one part of 30 MiB",
            30 * MIB,
            Way::Program(
                "emit(\"x\".repeat(30 << 20)); std::thread::park(); 42",
                &["--json"],
                "output_limit",
            ),
        ),
        (
            "program: a result of 15 MiB",
            15 * MIB,
            Way::Program("\"x\".repeat(15 << 20)", &["--json"], "xxxx"),
        ),
        (
            "program: an error of 20 MiB",
            20 * MIB,
            Way::Program(
                "fn run() -> Result<i32> { bail!(\"{}\", \"x\".repeat(20 << 20)) }",
                &["--json"],
                "runtime_error",
            ),
        ),
        ("server: 256 answers of 16 MiB that the program reads late", 4096 * MIB, Way::Unread(None)),
        ("server over HTTP: 256 answers of 16 MiB, read late", 4096 * MIB, Way::Unread(Some("large-answer"))),
        ("server over HTTP: 256 events of 16 MiB, read late", 4096 * MIB, Way::Unread(Some("large-event"))),
        ("server: 300 log messages of 4 MiB", 1200 * MIB, Way::Call("log 300 4194304", "done")),
        ("server over HTTP: 300 log messages of 4 MiB", 1200 * MIB, Way::HttpCall("logs")),
        ("server: 100 000 log messages of 1 KiB", 100 * MIB, Way::Call("log 100000 1024", "done")),
        ("server: 300 progress messages of 4 MiB", 1200 * MIB, Way::Call("progress 300 4194304", "done")),
        ("server: 300 unknown notifications of 4 MiB", 1200 * MIB, Way::Call("unknown 300 4194304", "done")),
        ("server: 200 MiB on standard error", 200 * MIB, Way::Call("stderr 200 1048576", "done")),
        ("server: 200 000 lines on standard error", 20 * MIB, Way::Call("stderr 200000 100", "done")),
        ("server: 500 000 pings, input unread", 20 * MIB, Way::Call("ping 500000 0", "done")),
        ("server: 300 questions of 4 MiB, input unread", 1200 * MIB, Way::Call("elicit 300 4194304", "done")),
        ("server: an error text of 7 MiB with data", 14 * MIB, Way::Call("error 1 7340032", "x")),
        ("server: a failure of 15 MiB", 15 * MIB, Way::Call("failure 1 15728640", "x")),
        ("server: a list of 10 000 tools, run", 11 * MIB, Way::Tools("10000", false)),
        ("serve: a list of 10 000 tools", 11 * MIB, Way::Tools("10000", true)),
        ("serve: 300 log messages of 4 MiB, client reads late", 1200 * MIB, Way::Served("log 300 4194304")),
        (
            "serve: 100 000 log messages of 1 KiB, client reads late",
            100 * MIB,
            Way::Served("log 100000 1024"),
        ),
        (
            "serve: 300 progress messages of 4 MiB, client reads late",
            1200 * MIB,
            Way::Served("progress 300 4194304"),
        ),
        (
            "serve: 300 updated resources of 4 MiB, client reads late",
            1200 * MIB,
            Way::Served("updated 300 4194304"),
        ),
        ("serve: 500 000 changed lists, client reads late", 30 * MIB, Way::Served("changed 500000 0")),
        (
            "serve: 20 000 questions of 10 KiB, client reads late",
            200 * MIB,
            Way::Served("elicit 20000 10240"),
        ),
        (
            "serve: 200 000 lines of a server's standard error, unread",
            20 * MIB,
            Way::Served("stderr 200000 100"),
        ),
        ("serve: an answer of 15 MiB, client reads late", 15 * MIB, Way::Served("answer 1 15728640")),
        ("serve: an error text of 7 MiB with data", 14 * MIB, Way::Served("error 1 7340032")),
        (
            "serve: a program's content of 16 MiB, client reads late",
            16 * MIB,
            Way::ServedProgram("for _ in 0..15 { emit(\"x\".repeat(1 << 20)); } 42"),
        ),
        (
            "serve: a program's progress, 50 000 messages of 4 KiB",
            200 * MIB,
            Way::ServedProgram(
                "let text = \"x\".repeat(4096); for _ in 0..50_000 { progress(1, 1, text.as_str()); } 42",
            ),
        ),
        (
            "serve: a program's progress, 40 frames of 30 MiB",
            1200 * MIB,
            Way::ServedProgram(frames!(
                "let text = format!(\"{{\\\"progress\\\":{{\\\"done\\\":1.0,\\\"total\\\":1.0,\\\"message\\\":\\\"{}\\\"}}}}\", \"x\".repeat(30 << 20)); for _ in 0..40 { say(&text)?; } 42"
            )),
        ),
        (
            "serve: a program's standard error, 7 MiB in lines",
            7 * MIB,
            Way::ServedProgram("for _ in 0..70_000 { eprintln!(\"{}\", \"x\".repeat(99)); } 42"),
        ),
    ]
}

pub(crate) fn run(scene: &Scene, (channel, pushed, way): Flood) -> Row {
    let (peak, continued) = match way {
        Way::Program(code, options, contains) => {
            let code = code.replace("FRAMES", FRAMES);
            run_program(scene, DEMO, &code, options, contains)
        }
        Way::Unread(mode) => unread(scene, mode),
        Way::Call(message, contains) => {
            let code = CALL.replace("MESSAGE", message);
            run_program(scene, &local("flood", ""), &code, &["--json"], contains)
        }
        Way::HttpCall(mode) => with_http(mode, |config| {
            let code = "let text = faulty::echo().await?.text(); format!(\"{text} on\")";
            run_program(scene, config, code, &["--json"], "done on")
        }),
        Way::Served(message) => served(scene, message),
        Way::Tools(count, false) => {
            // A run lists the tools before it compiles, so the baseline has one tool: otherwise it would include the
            // list's cost.
            let idle = scene.run(&local("many-tools", "1"), "\"quick\"", &["--json"]);
            let code = "faulty::echo().message(\"on\").await?.text()";
            above(&idle, &scene.run(&local("many-tools", count), code, &["--json"]), "on")
        }
        Way::Tools(count, true) => served_tools(scene, count),
        Way::ServedProgram(code) => served_program(scene, code),
    };
    Row { channel, pushed, peak, continued }
}

/// A configuration with the fault server in a mode.
fn local(mode: &str, argument: &str) -> String {
    format!(
        "mcpServers:\n  faulty:\n    command: {FAULT_SERVER:?}\n    args: [{mode:?}, {argument:?}]\n    requestTimeout: 500\n"
    )
}

/// Like [`local`], but clients call the tools directly.
fn direct(mode: &str, argument: &str) -> String {
    format!("{}    codeMode: false\n    trust: true\n", local(mode, argument))
}

/// A configuration for programs that call nothing.
const DEMO: &str = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\n";

fn contains(text: &str, expected: &str) -> Result<(), String> {
    if text.contains(expected) {
        return Ok(());
    }
    Err(format!("{expected:?} is not in {:?}", text.chars().take(300).collect::<String>()))
}

/// Runs the program, and returns its memory above that of an idle run of the same kind.
fn run_program(
    scene: &Scene,
    config: &str,
    code: &str,
    options: &[&str],
    expected: &str,
) -> (u64, Result<(), String>) {
    let idle = scene.run(config, "\"quick\"", options);
    above(&idle, &scene.run(config, code, options), expected)
}

fn above(idle: &Ended, ended: &Ended, expected: &str) -> (u64, Result<(), String>) {
    let output = format!("{}{}", ended.stdout, ended.stderr);
    (ended.peak.saturating_sub(idle.peak), contains(&output, expected))
}

/// Runs `work` with the HTTP fault server in a mode.
fn with_http<T>(mode: &str, work: impl FnOnce(&str) -> T) -> T {
    let mut server = Command::new(HTTP_FAULT_SERVER)
        .args([mode, "call"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    std::thread::spawn(move || lines.for_each(drop));
    let url = format!("{}/mcp", first["address"].as_str().unwrap());
    let done = work(&format!("mcpServers:\n  faulty: {{ type: http, url: {url:?}, requestTimeout: 500 }}\n"));
    let _ = server.kill();
    let _ = server.wait();
    done
}

/// Calls with a message, and once more.
const CALL: &str = r#"
let text = match faulty::echo().message("MESSAGE").await {
    Ok(answer) => answer.text(),
    Err(error) => error.to_string(),
};
let on = faulty::echo().message("on").await?.text();
format!("{} {on}", &text[..text.len().min(100)])
"#;

/// A program that talks to the host before the bridge does: it makes 256 calls, waits, and then reads the answers.
const UNREAD: &str = r##"
use std::io::{Read as _, Write as _};
use std::os::fd::FromRawFd as _;

fn receive(socket: &mut std::fs::File) -> Vec<u8> {
    let mut length = [0; 4];
    socket.read_exact(&mut length).unwrap();
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    socket.read_exact(&mut frame).unwrap();
    frame
}

extern "C" fn speak() {
    let mut socket = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });
    let welcome: Value = serde_json::from_slice(&receive(&mut socket)).unwrap();
    let mut say = |text: String| {
        socket.write_all(&(text.len() as u32).to_be_bytes()).unwrap();
        socket.write_all(text.as_bytes()).unwrap();
    };
    say(json!({ "hello": { "version": welcome["welcome"]["version"], "token": welcome["welcome"]["token"] } }).to_string());
    for id in 0..256 {
        say(json!({ "call": { "id": id, "tool": "IDENTITY", "arguments": { "message": "answer 1 16773120" } } }).to_string());
    }
    std::thread::sleep(std::time::Duration::from_secs(8));
    let read: usize = (0..256).filter(|_| receive(&mut socket).len() > 16 << 19).count();
    println!("{read} large answers");
    std::process::exit(0);
}
#[used]
#[unsafe(link_section = ".init_array")]
static SPEAK: extern "C" fn() = speak;
CALL.await?.text()
"##;

fn unread(scene: &Scene, mode: Option<&str>) -> (u64, Result<(), String>) {
    let schema = json!({ "type": "object", "properties": { "message": { "type": "string" } } });
    let input_schema = if mode.is_some() { json!({ "type": "object" }) } else { schema };
    let tool = codegen::Tool {
        name: "echo".to_owned(),
        description: None,
        input_schema,
        output_schema: None,
        answers: codegen::Answers::default(),
    };
    let server = Server { name: "faulty".to_owned(), tools: vec![tool] };
    let identity = codegen::generate(&server, "faulty").tools[0].id.clone();
    let code = UNREAD.replace("IDENTITY", &identity);
    let expected = "256 large answers";
    match mode {
        None => {
            let code = code.replace("CALL", "faulty::echo()");
            run_program(scene, &local("flood", ""), &code, &["--json"], expected)
        }
        Some(mode) => with_http(mode, |config| {
            let code = code.replace("CALL", "faulty::echo()");
            run_program(scene, config, &code, &["--json"], expected)
        }),
    }
}

fn echo(message: &str) -> Value {
    json!({ "name": "echo", "arguments": { "message": message }, "_meta": { "progressToken": message } })
}

/// Checks that a request still works after a flood.
fn still_works(served: &mut Served) -> Result<(), String> {
    let answer = served.ask("tools/call", &echo("on"))?;
    contains(&answer.to_string(), "\"on\"")
}

fn served(scene: &Scene, message: &str) -> (u64, Result<(), String>) {
    let mut served = scene.serve(&direct("flood", ""));
    let ready = still_works(&mut served);
    let idle = served.peak();
    let id = served.begin("tools/call", &echo(message));
    served.pause();
    let continued = ready.and_then(|()| served.answer(id)).and_then(|_| still_works(&mut served));
    let peak = served.peak().saturating_sub(idle);
    served.end();
    (peak, continued)
}

fn served_tools(scene: &Scene, count: &str) -> (u64, Result<(), String>) {
    let mut served = scene.serve(DEMO);
    let _ = served.ask("tools/list", &json!({}));
    let idle = served.peak();
    served.end();
    let mut served = scene.serve(&direct("many-tools", count));
    let id = served.begin("tools/list", &json!({}));
    served.pause();
    let continued = served.answer(id).and_then(|_| still_works(&mut served));
    let peak = served.peak().saturating_sub(idle);
    served.end();
    (peak, continued)
}

fn served_program(scene: &Scene, code: &str) -> (u64, Result<(), String>) {
    let code = code.replace("FRAMES", FRAMES);
    let code = code.as_str();
    let execute = |code: &str| json!({ "name": "execute_code", "arguments": { "code": code }, "_meta": { "progressToken": 1 } });
    let mut served = scene.serve(DEMO);
    let ready = served.ask("tools/call", &execute("41"));
    let idle = served.peak();
    let id = served.begin("tools/call", &execute(code));
    served.pause();
    let continued = ready
        .and_then(|_| served.answer(id))
        .and_then(|answer| contains(&answer.to_string(), "42"))
        .and_then(|()| served.ask("tools/call", &execute("43")))
        .and_then(|answer| contains(&answer.to_string(), "43"));
    let peak = served.peak().saturating_sub(idle);
    served.end();
    (peak, continued)
}
