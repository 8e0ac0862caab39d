//! Hostile programs that send the broker any bytes, in any order: the outcome is clear and keeps earlier work, and the
//! host is unharmed.

use std::fmt::Write as _;
use std::fs;

use end_to_end::cache::json as run;
use end_to_end::harness::{FAULT_SERVER, Run, assert_says};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A program that talks to the host before the bridge's `main` starts, by a script: each line is a command and its
/// operand. Its last expression only determines which tools it may call.
pub(crate) const PROGRAM: &str = r##"
use std::io::{Read as _, Write as _};
use std::os::fd::FromRawFd as _;

fn receive(socket: &mut std::fs::File) -> Value {
    let mut length = [0; 4];
    socket.read_exact(&mut length).unwrap();
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    socket.read_exact(&mut frame).unwrap();
    serde_json::from_slice(&frame).unwrap()
}

fn framed(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat()
}

extern "C" fn speak() {
    let mut socket = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });
    let welcome = receive(&mut socket)["welcome"].take();
    let token = welcome["token"].as_str().unwrap();
    let long = |text: &str| {
        text.replace("TOKEN", token)
            .replace("VERSION", &welcome["version"].to_string())
            .replace("LINES", "\n\r\n")
            .replace("LISTS", &"[".repeat(100_000))
            .replace("DEEP", &format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000)))
            .replace("ZEROS", &format!("{{\"a\":[{}0]}}", "0,".repeat(4 << 20)))
            .replace("MEBIBYTE", &"x".repeat(1 << 20))
            .replace("SPACES", &" ".repeat(16 << 20))
    };
    for line in welcome["args"]["script"].as_str().unwrap().lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = number.parse::<u64>().unwrap_or(0);
        match word {
            "say" => drop(socket.write_all(&framed(&long(rest)))),
            "repeat" => {
                let text = long(text);
                for id in 1..=number {
                    let _ = socket.write_all(&framed(&text.replace("ID", &id.to_string())));
                }
            }
            "bytes" => {
                let bytes = (0..rest.len()).step_by(2).map(|at| u8::from_str_radix(&rest[at..at + 2], 16));
                let _ = socket.write_all(&bytes.collect::<Result<Vec<u8>, _>>().unwrap());
            }
            "hear" => (0..number).for_each(|_| println!("{}", receive(&mut socket))),
            "wait" => loop { std::thread::park() },
            "exit" => std::process::exit(number as i32),
            "abort" => std::process::abort(),
            _ => panic!("{line}"),
        }
    }
    std::process::exit(0);
}
#[used]
#[unsafe(link_section = ".init_array")]
static SPEAK: extern "C" fn() = speak;
demo::slow(1.0).await?;
demo::echo("x").await?.text()
"##;

pub(crate) const HELLO: &str = r#"say {"hello":{"version":VERSION,"token":"TOKEN"}}"#;

const CODE_OF_VIOLATION: i32 = 6;

/// Far more than the host needs, and far less than it would take if it trusted or kept what it is sent.
const MEMORY: u64 = 400 << 20;

/// The identity of a demo server tool, from its bindings.
fn identity(tool: &str) -> &'static str {
    let bindings = include_str!("../../../codegen/tests/snapshots/demo.snap.rs");
    let (_, rest) = bindings.split_once(&format!("name: \"{tool}\"")).unwrap();
    rest.split_once("*b\"").unwrap().1.split('"').next().unwrap()
}

/// The script line that calls a tool.
pub(crate) fn call(id: impl std::fmt::Display, tool: &str, arguments: &str) -> String {
    format!("say {{\"call\":{{\"id\":{id},\"tool\":{},\"arguments\":{arguments}}}}}", json!(tool))
}

fn echo(id: impl std::fmt::Display) -> String {
    call(id, identity("echo"), r#"{"message":"x"}"#)
}

fn bytes(bytes: &[u8]) -> String {
    bytes.iter().fold("bytes ".to_owned(), |mut line, byte| {
        write!(line, "{byte:02x}").unwrap();
        line
    })
}

/// A frame of any bytes.
fn framed(content: &[u8]) -> String {
    let length = u32::try_from(content.len()).unwrap();
    bytes(&[length.to_be_bytes().as_slice(), content].concat())
}

/// The program with a script that starts at the first byte.
fn raw(lines: &[&str]) -> Run {
    run(PROGRAM).arguments(&["--arg", &format!("script={}", lines.join("\n"))])
}

/// The program with a script that continues after a call and a content part.
fn after_work(lines: &[&str]) -> Run {
    let (echo, emit) = (echo(0), r#"say {"emit":{"content":{"type":"text","text":"kept"}}}"#);
    raw(&[&[HELLO, &echo, "hear 1", emit], lines].concat())
}

/// Checks that the outcome has the earlier work.
#[track_caller]
fn assert_work_is_kept(outcome: &Value) {
    assert_eq!(outcome["calls"][0]["tool"], "echo", "{outcome:#}");
    assert_eq!(outcome["calls"][0]["ok"], true, "{outcome:#}");
    assert_eq!(outcome["content"], json!([{ "type": "text", "text": "kept" }]));
    assert_says(&outcome["stdout"], &["\"reply\""]);
}

#[track_caller]
fn assert_violation(name: &str, run: Run, says: &str) -> Value {
    let outcome = run.expect("sandbox_violation", CODE_OF_VIOLATION);
    assert_eq!(outcome["error"]["kind"], "protocol", "{name}: {outcome:#}");
    assert_says(&outcome["error"]["message"], &[says]);
    assert_eq!(outcome["result"], Value::Null, "{name}");
    outcome
}

#[test]
fn an_invalid_frame_ends_the_program() {
    let finish = r#"say {"finish":{"ok":{"result":1}}}"#;
    let violations: &[(&str, &[&str], &str)] = &[
        ("four GiB", &["bytes ffffffff7b7d"], "a frame of 4 GiB, over the limit"),
        ("one over the limit", &["bytes 02000001"], "a frame of 32.1 MiB, over the limit of 32 MiB"),
        ("empty", &["bytes 00000000"], "not a message"),
        ("garbage", &[&framed(b"\x00\x7f\x80garbage\xff")], "not a message"),
        ("no UTF-8", &[&framed(b"{\"emit\":{\"content\":{\"a\":\"\xc3\x28\"}}}")], "not a message"),
        ("half a message", &["say {\"cancel\":{\"id\":0}"], "not a message"),
        ("two in one", &[r#"say {"cancel":{"id":0}}{"cancel":{"id":0}}"#], "not a message"),
        ("two names", &[r#"say {"cancel":{"id":0},"emit":{"content":{}}}"#], "not a message"),
        ("no message", &[r#"say {"open_door":{}}"#], "not a message"),
        ("more than a message", &[r#"say {"cancel":{"id":0,"all":true}}"#], "not a message"),
        ("a member twice", &[r#"say {"cancel":{"id":0,"id":0}}"#], "not a message"),
        ("a negative number", &[r#"say {"cancel":{"id":-1}}"#], "not a message"),
        ("deep", &["say LISTS"], "not a message"),
        ("deep content", &[r#"say {"emit":{"content":DEEP}}"#], "deeper than"),
        ("half a character", &[r#"say {"emit":{"content":{"text":"\ud800"}}}"#], "surrogate"),
        ("a second hello", &[HELLO], "a second hello"),
        ("two ends", &[finish, finish], "a second end"),
        ("a call after the end", &[finish, &echo(1)], "after its end"),
        ("content after the end", &[finish, r#"say {"emit":{"content":{}}}"#], "after its end"),
    ];
    for (name, script, says) in violations {
        let outcome = assert_violation(name, after_work(&[script, &["wait"][..]].concat()), says);
        assert_work_is_kept(&outcome);
        assert_eq!(outcome["calls_total"], 1, "{name}");
    }
}

#[test]
fn call_numbers_are_checked() {
    let slow = |id: u64| call(id, identity("slow"), r#"{"seconds":60}"#);
    for (name, script, says) in [
        ("twice in flight", vec![slow(1), slow(1)], "call 1 where 2 was next"),
        (
            "after its cancellation",
            vec![slow(3), r#"say {"cancel":{"id":3}}"#.to_owned(), slow(3)],
            "call 3 where 4 was",
        ),
        ("after its answer", vec![echo(0)], "call 0 where 1 was next"),
        ("downwards", vec![echo(7), "hear 1".to_owned(), echo(6)], "call 6 where 8 was next"),
        ("the last", vec![echo(u64::MAX)], "call 18446744073709551615 where 1 was next"),
        ("beyond the last", vec![echo("18446744073709551616")], "not a message"),
        ("a fraction", vec![echo("1.5")], "not a message"),
        ("a text", vec![echo("\"1\"")], "not a message"),
        ("nothing to cancel", vec![r#"say {"cancel":{"id":1}}"#.to_owned()], "a cancellation of call 1"),
    ] {
        let lines: Vec<&str> = script.iter().map(String::as_str).chain(["wait"]).collect();
        let outcome = assert_violation(name, after_work(&lines), says);
        assert_work_is_kept(&outcome);
    }

    // A cancellation may cross its answer, and a call that was too large uses up a number.
    let (cancel, skipped) = (r#"say {"cancel":{"id":0}}"#, r#"say {"cancel":{"id":4}}"#);
    let outcome =
        after_work(&[cancel, cancel, &echo(5), "hear 1", skipped, &echo(6), "hear 1"]).expect("ok", 0);
    assert_work_is_kept(&outcome);
    assert_eq!(outcome["calls_total"], 3);
}

#[test]
fn only_this_executions_hello_is_accepted() {
    for (name, hello, says) in [
        ("no hello", echo(0), "not a hello"),
        ("an end", r#"say {"finish":{"ok":{"result":1}}}"#.to_owned(), "not a hello"),
        ("no token", r#"say {"hello":{"version":VERSION,"token":""}}"#.to_owned(), "does not have the token"),
        (
            "another token",
            format!("say {{\"hello\":{{\"version\":VERSION,\"token\":\"{}\"}}}}", "0".repeat(32)),
            "does not have the token",
        ),
        ("more than the token", HELLO.replace("TOKEN", "TOKEN0"), "does not have the token"),
        ("an older version", HELLO.replace("VERSION", "1"), "it uses protocol version 1, not"),
        (
            "a newer version",
            HELLO.replace("VERSION", "4294967295"),
            "it uses protocol version 4294967295, not",
        ),
        ("no version", HELLO.replace("VERSION", "null"), "not a message"),
        ("garbage", "bytes 0000000100".to_owned(), "not a message"),
    ] {
        let outcome = assert_violation(name, raw(&[&hello, &echo(0), "wait"]), says);
        assert_eq!(outcome["calls_total"], 0, "{name}: {outcome:#}");
    }
    let silent = raw(&["wait"]).arguments(&["--timeout", "2"]).expect("timeout", 4);
    assert_eq!(silent["error"]["kind"], "wall_clock");
    assert_eq!(raw(&["exit 0"]).expect("ok", 0)["calls_total"], 0);
}

#[test]
fn an_incomplete_frame_is_ignored() {
    let check = |part: &str| {
        let outcome = after_work(&[part, "wait"]).arguments(&["--timeout", "4"]).expect("timeout", 4);
        assert_eq!(outcome["error"]["kind"], "wall_clock", "{part}");
        assert_eq!(outcome["error"]["evidence"]["phase"], "running", "{part}");
        assert_work_is_kept(&outcome);
        assert_work_is_kept(&after_work(&[part, "exit 0"]).expect("ok", 0));
        let outcome = after_work(&[part, "exit 9"]).expect("runtime_error", 1);
        assert_eq!(outcome["error"]["evidence"]["code"], 9, "{part}");
        assert_work_is_kept(&outcome);
    };
    // Side by side, because they wait for their time limit.
    std::thread::scope(|scope| {
        for part in ["bytes 00", "bytes 0000", "bytes 02000000", "bytes 000000ff7b2263616e63656c22"] {
            scope.spawn(move || check(part));
        }
    });
    let outcome = after_work(&["bytes 02000000", "abort"]).expect("runtime_error", 1);
    assert_eq!(outcome["error"]["kind"], "signal");
    assert_work_is_kept(&outcome);
}

#[test]
fn the_finish_message_does_not_decide_the_status() {
    let finish = r#"say {"finish":{"ok":{"result":1}}}"#;
    let ended = after_work(&[finish, "exit 0"]).expect("ok", 0);
    assert_work_is_kept(&ended);
    assert_eq!(ended["result"], 1);
    let outcome = after_work(&[finish, "exit 3"]).expect("runtime_error", 1);
    assert_eq!((&outcome["error"]["kind"], &outcome["result"]), (&json!("exit"), &Value::Null));
    let outcome = after_work(&[finish, "wait"]).arguments(&["--timeout", "4"]).expect("timeout", 4);
    assert_eq!((&outcome["error"]["kind"], &outcome["result"]), (&json!("wall_clock"), &Value::Null));
    assert_work_is_kept(&outcome);
    // The host prints a result that is too deep to parse unchanged.
    let deep = after_work(&[r#"say {"finish":{"ok":{"result":DEEP}}}"#, "exit 0"]).done().exits(0);
    assert!(deep.stdout.len() > 600_000, "{} bytes", deep.stdout.len());
}

/// Other writers on the bridge's socket can only corrupt its frames.
#[test]
fn foreign_bytes_break_the_bridges_frames() {
    for bytes in ["[0, 0, 0, 5]", "[0, 0, 0]", "[5]", "[255; 64]"] {
        let code = format!(
            "use std::io::Write as _;\nuse std::os::fd::FromRawFd as _;\n\
             let socket = std::mem::ManuallyDrop::new(unsafe {{ std::fs::File::from_raw_fd(3) }});\n\
             let mut copy = socket.try_clone()?;\ndemo::echo(\"before\").await?;\n\
             copy.write_all(&{bytes})?;\n\
             demo::echo(\"after\").await?;"
        );
        let outcome = assert_violation(bytes, run(&code), "the program broke the broker's protocol");
        assert_eq!(
            (&outcome["calls_total"], &outcome["calls"][0]["ok"]),
            (&json!(1), &json!(true)),
            "{bytes}"
        );
    }
}

#[test]
fn a_tool_is_called_by_its_identity_only() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("calls");
    let config = format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server] }}\n  guarded:\n    command: {FAULT_SERVER:?}\n    args: [records-cancelled, {record:?}]\n    permission: deny\n"
    );
    let echo = identity("echo");
    let names = [
        "echo".to_owned(),
        "demo.echo".to_owned(),
        "demo/echo".to_owned(),
        "guarded.echo".to_owned(),
        String::new(),
        echo.to_uppercase(),
        format!(" {echo}"),
        format!("{echo}\n"),
        format!("{echo}\0"),
        format!("\u{feff}{echo}"),
        format!("{echo}\u{301}"),
        // A Cyrillic letter that looks like one in the identity.
        echo.replacen('a', "\u{430}", 1),
        format!("./{echo}"),
        format!("{echo}/../{}", identity("create_note")),
        format!(".toolsmith.{echo}"),
        echo[..31].to_owned(),
        format!("{echo}0"),
        echo.replace(|_: char| true, "0"),
        identity("create_note").to_owned(),
        "x".repeat(1_000),
    ];
    let calls: Vec<String> =
        names.iter().zip(1..).map(|(name, id)| call(id, name, r#"{"message":"x"}"#)).collect();
    let hear = format!("hear {}", names.len());
    let lines: Vec<&str> = calls.iter().map(String::as_str).chain([hear.as_str()]).collect();
    let outcome = after_work(&lines).config(&config).expect("ok", 0);
    assert_work_is_kept(&outcome);
    assert_eq!(outcome["calls_total"], 1, "refused calls are not made: {outcome:#}");
    assert_eq!(outcome["calls"].as_array().unwrap().len(), 1, "{outcome:#}");
    assert_eq!(outcome["calls_refused"]["forged"], names.len(), "{outcome:#}");
    let answers = outcome["stdout"].as_str().unwrap();
    assert_eq!(answers.matches("\"denied\"").count(), names.len(), "{answers}");
    let reached = fs::read_to_string(&record).unwrap_or_default();
    assert!(!reached.contains("tools/call") && !reached.contains("call"), "{reached}");
}

/// Arguments that a server's or checker's parser could not handle are rejected first.
#[test]
fn unreadable_arguments_are_an_error_of_the_call() {
    let echo = identity("echo");
    let refused = [
        ("DEEP", "deeper than"),
        (r#"{"message":LISTS}"#, "not a message"),
        (r#"{"message":"\ud800"}"#, "surrogate"),
        (r#"{"message":1e999}"#, "out of range"),
        ("[]", "not an object"),
        ("null", "not an object"),
    ];
    for (arguments, says) in refused {
        if says == "not a message" {
            assert_violation(arguments, after_work(&[&call(1, echo, arguments), "wait"]), says);
            continue;
        }
        let next = call(2, echo, r#"{"message":"goes on"}"#);
        let outcome = after_work(&[&call(1, echo, arguments), "hear 1", &next, "hear 1"]).expect("ok", 0);
        assert_work_is_kept(&outcome);
        let answers: Vec<&str> = outcome["stdout"].as_str().unwrap().lines().collect();
        assert_says(&json!(answers[1]), &["failure", "invalid_params", says]);
        assert_says(&json!(answers[2]), &["reply", "goes on"]);
        let counts = (&outcome["calls_total"], &outcome["calls_refused"]["invalid"]);
        assert_eq!(counts, (&json!(2), &json!(1)), "{arguments}: {outcome:#}");
    }
}

/// A server reads one message per line: white space in arguments must not split it.
#[test]
fn arguments_cannot_hold_a_message_of_their_own() {
    let smuggled = format!(
        r#"{{"message":"first","x":LINES{}LINES}}"#,
        r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"create_note","arguments":{"subject":"s","text":"t"}}}"#
    );
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], checkInput: false }\n";
    let echo = identity("echo");
    let outcome = after_work(&[
        &call(1, echo, &smuggled),
        "hear 1",
        &call(2, echo, r#"{"message":"after"}"#),
        "hear 1",
    ])
    .config(config)
    .expect("ok", 0);
    let answers: Vec<&str> = outcome["stdout"].as_str().unwrap().lines().collect();
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_snapshot!(normal(&json!(answers[1])), @r#"
    {"reply":{"id":1,"result":{"content":[{"type":"text","text":"failed to deserialize parameters: unknown field `x`, expected `message`"}],"isError":true}}}
    "#);
    assert_snapshot!(normal(&json!(answers[2])), @r#"
    {"reply":{"id":2,"result":{"content":[{"type":"text","text":"after"}],"isError":false}}}
    "#);
}

/// Runs the program and checks the host's peak memory.
#[track_caller]
fn bounded(name: &str, run: Run, status: &str, code: i32) -> Value {
    let started = run.start();
    let peak = started.peak_memory();
    let outcome = started.done().expect(status, code);
    assert!(peak > 1 << 20, "{name}: nothing was measured");
    assert!(peak < MEMORY, "{name}: the host took {} MiB", peak >> 20);
    outcome
}

#[test]
fn endless_calls_are_bounded_by_the_window() {
    let million =
        |tool: &str, arguments: &str| call("ID", tool, arguments).replacen("say ", "repeat 1000000 ", 1);
    let (echo, slow) = (identity("echo"), identity("slow"));
    // If no call is answered, exactly the window is accepted; otherwise also what fits into the socket with its
    // answers.
    for (name, flood, limit) in [
        ("calls under way", million(slow, r#"{"seconds":60}"#), 256),
        ("calls of 16 MiB under way", million(slow, r#"{"seconds":60SPACES}"#), 4),
        ("answered calls", million(echo, r#"{"message":"x"}"#), 100_000),
        ("answered calls of 1 MiB", million(echo, r#"{"message":"MEBIBYTE"}"#), 1_000),
        ("refused calls", million("nothing", "{}"), 100_000),
        ("refused arguments", million(echo, "[]"), 100_000),
    ] {
        let run = after_work(&[&flood, "wait"]).arguments(&["--timeout", "5"]);
        let outcome = bounded(name, run, "timeout", 4);
        assert_eq!(outcome["error"]["kind"], "wall_clock", "{name}");
        assert_work_is_kept(&outcome);
        let refused = &outcome["calls_refused"];
        let counts = [&outcome["calls_total"], &refused["forged"], &refused["invalid"]];
        let total: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
        assert!(total > 1 && total <= 1 + limit, "{name}: {total} calls");
    }
}

#[test]
fn calls_that_are_cancelled_at_once_are_bounded() {
    // Nothing is read past a call that waits for room, so neither is its cancellation.
    let slow = call("ID", identity("slow"), r#"{"seconds":60SPACES}"#);
    let both: Vec<String> = (1..=30)
        .flat_map(|id| [slow.replace("ID", &id.to_string()), format!("say {{\"cancel\":{{\"id\":{id}}}}}")])
        .collect();
    let lines: Vec<&str> = both.iter().map(String::as_str).collect();
    let outcome = bounded("cancelled calls", after_work(&lines), "ok", 0);
    assert_eq!(outcome["calls_total"], 31);
}

#[test]
fn endless_content_is_bounded() {
    let limit = |name: &str, line: &str| {
        let outcome = bounded(name, after_work(&[line, "wait"]), "output_limit", 5);
        assert_eq!(outcome["error"]["kind"], "content", "{name}");
        assert_eq!(outcome["calls_total"], 1, "{name}");
        assert_eq!(outcome["content"][0]["text"], "kept", "{name}");
        outcome["content"].as_array().unwrap().len()
    };
    assert_eq!(limit("small parts", r#"repeat 20000 {"emit":{"content":{}}}"#), 10_000);
    assert_eq!(limit("parts of 1 MiB", r#"repeat 20 {"emit":{"content":{"text":"MEBIBYTE"}}}"#), 16);
    // Each number of two bytes would take 16 times the memory as a value.
    assert_eq!(limit("numbers", r#"repeat 20 {"emit":{"content":ZEROS}}"#), 2);
}

/// 0 / 0 is not a JSON number.
#[test]
fn progress_that_is_not_a_number_is_no_violation() {
    let code = "progress(0.0 / 0.0, 1.0, \"of nothing\"); progress(1, f64::INFINITY, \"to no end\"); 7";
    assert_eq!(run(code).result(), 7);
}
