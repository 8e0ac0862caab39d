//! The user's actions at the terminal while the model works, and the console's notices.

use end_to_end::page::normal;
use end_to_end::serving::Gate;
use insta::assert_snapshot;

use super::*;

#[test]
fn servers_are_controlled_while_the_model_works() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&json!([
        { "when": { "user": "slow" }, "answers": [{ "text": "never", "delay": 600_000 }] },
        { "answers": [{ "text": "Here I am." }] },
    ]));
    let servers = fault_entry("faulty", "sound", "    disabledTools: [echo]\n");
    let console = chat(&model, &servers, state.path(), &[]);
    say(&console, "be slow");
    console.wait_until("a request", || model.requests().len() == 1);
    console.type_keys("/mcp\r");
    shows(&console, "ready");
    shows(&console, " of ");
    console.type_keys("/mcp faulty\r");
    shows(&console, "last connected");
    console.type_keys("/mcp nowhere\r");
    shows(&console, "there is no server \"nowhere\"");
    console.type_keys("/mcp disconnect faulty\r");
    shows(&console, "faulty is disconnected");
    console.type_keys("a message for later\r");
    shows(&console, "waits until the answer is complete");
    assert_eq!((model.requests().len(), model.gone()), (1, 0));
    console.type_keys("\x03");
    shows(&console, "cancelled; the messages so far stay");
    shows(&console, "not sent: a message for later");
    say(&console, "are you there?");
    shows(&console, "Here I am.");
    leave(console);
}

#[test]
fn a_message_that_is_typed_meanwhile_follows_the_answer() {
    let (state, gate) = (tempfile::tempdir().unwrap(), Gate::new());
    let model = model(&json!([
        { "when": { "user": "first", "no_result": true },
          "answers": [{ "calls": [{ "name": "pass", "arguments": { "message": "x" } }] }] },
        { "when": { "user": "second" }, "answers": [{ "text": "The second answer." }] },
        { "answers": [{ "text": "The first answer." }] },
    ]));
    let servers =
        gate.config().replace("mcpServers:\n", "").replace("trust: true", "trust: true, codeMode: false");
    let console = chat(&model, &servers, state.path(), &[]);
    say(&console, "first");
    console.wait_until("the call", || gate.arrived().len() == 1);
    console.type_keys("second\r");
    shows(&console, "waits until the answer is complete");
    gate.open();
    shows(&console, "The second answer.");
    let shown = leave(console);
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text}: {shown}"));
    assert!(
        place("The first answer.") < place("> second") && place("> second") < place("The second answer.")
    );
}

#[test]
fn an_error_of_a_command_is_shown_once() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&json!([{ "answers": [{ "text": "?" }] }]));
    let bad = "  bad: { command: sh, args: [-c, \"echo it went wrong >&2; exit 3\"] }\n";
    let servers = format!("{}{bad}", fault_entry("faulty", "sound", ""));
    let console = chat(&model, &servers, state.path(), &[]);
    // The failure at the start is a notice.
    shows(&console, "the server bad failed");
    say(&console, "/mcp connect bad");
    console.wait_until("the error of the command", || {
        without_escapes(&console.shown()).rsplit("/mcp connect bad").next().unwrap().contains("exit")
    });
    say(&console, "/mcp");
    shows(&console, "ready");
    let shown = leave(console);
    let after = shown.rsplit("/mcp connect bad").next().unwrap();
    assert!(!after.contains("the server bad failed"), "{shown}");
}

#[test]
fn prompts_and_resources_of_servers_for_snippets_are_used_by_the_user() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&json!([
        { "when": { "no_result": true, "user": "read it" },
          "answers": [{ "calls": [{ "name": "mcp_resource_read", "arguments": { "uri": "book://text" } }] }] },
        { "when": { "result_of": "mcp_resource_read" }, "answers": [{ "text": "I have read it." }] },
        { "answers": [{ "text": "As you ask." }] },
    ]));
    let console = chat(&model, &fault_entry("faulty", "library", ""), state.path(), &["--allow", "*"]);
    say(&console, "/resources text");
    shows(&console, "book://text");
    say(&console, "/resources nothing of the kind");
    shows(&console, "no server has a resource with these words");
    say(&console, "/resource book://text");
    shows(&console, "first line");
    say(&console, "/resource book://none");
    shows(&console, "no such book");
    say(&console, "/prompts");
    shows(&console, "book, tone?");
    say(&console, "/prompt review book=Emma");
    shows(&console, "> Review Emma.");
    shows(&console, "As you ask.");
    say(&console, "read it");
    shows(&console, "I have read it.");
    leave(console);
}

#[test]
fn a_retried_request_is_shown_with_its_reason() {
    let state = tempfile::tempdir().unwrap();
    let failure = json!({ "status": 429, "message": "slow down", "headers": { "retry-after": "0" } });
    let model = model(&json!([{ "answers": [failure, { "text": "At last." }] }]));
    let console = chat(&model, "", state.path(), &["--model", "other"]);
    say(&console, "hello");
    shows(&console, "attempt 1 failed");
    shows(&console, "At last.");
    let shown = leave(console);
    assert_snapshot!(normal(&shown), @r"
    toolsmith: model other; /help lists commands, Ctrl-D leaves
    \r> \rhello
    toolsmith: info: 1 server, 1 tool
    attempt 1 failed: the provider answers 429: slow down; retrying in [time]
    At last.
    [time], 10 tokens read, 5 written
    \r> \r/quit
    toolsmith: resume with: toolsmith chat --resume [conv. id]
    ");
}

#[test]
fn typing_does_not_split_an_answer_and_continues_at_the_prompt() {
    let (state, gate) = (tempfile::tempdir().unwrap(), Gate::new());
    let model = model(&json!([
        { "when": { "user": "first", "no_result": true },
          "answers": [{ "calls": [{ "name": "pass", "arguments": { "message": "x" } }] }] },
        { "when": { "user": "second half" }, "answers": [{ "text": "The second answer." }] },
        { "answers": [{ "text": "# Orders\n\n- **two** are open\n- none is late\n" }] },
    ]));
    let servers =
        gate.config().replace("mcpServers:\n", "").replace("trust: true", "trust: true, codeMode: false");
    let console = chat(&model, &servers, state.path(), &[]);
    say(&console, "first");
    console.wait_until("the call", || gate.arrived().len() == 1);
    // The status line shows what goes on, and then what is typed.
    shows(&console, " s pass");
    console.type_keys("secont\x7fd");
    shows(&console, " s > second");
    gate.open();
    shows(&console, "none is late");
    console.wait_until("the typed text at the prompt", || {
        without_escapes(&console.shown()).trim_end_matches('\r').ends_with("> second")
    });
    console.type_keys(" half\r");
    shows(&console, "The second answer.");
    let shown = leave(console);
    assert!(shown.contains("# Orders\r\n\r\n• **two** are open\r\n• none is late\r\n"), "{shown}");
}

#[test]
fn progress_and_errors_of_a_snippet_are_shown_with_numbers_and_lines() {
    let (state, gate) = (tempfile::tempdir().unwrap(), Gate::new());
    let model = model(&json!([
        { "when": { "user": "count", "no_result": true },
          "answers": [{ "calls": runs("progress(4, 10, \"orders\");\ngate::pass().message(\"x\").await?.text()") }] },
        { "when": { "user": "count" }, "answers": [{ "text": "Counted." }] },
        { "when": { "user": "break", "result": "E0308" }, "answers": [{ "text": "It does not compile." }] },
        { "when": { "user": "break" }, "answers": [{ "calls": runs("let x: bool = 1u8;\nx") }] },
    ]));
    let servers = gate.config().replace("mcpServers:\n", "");
    let console = chat(&model, &servers, state.path(), &[]);
    say(&console, "count");
    shows(&console, " s execute_code: 4 of 10 orders");
    console.wait_until("the call", || gate.arrived().len() == 1);
    gate.open();
    shows(&console, "Counted.");
    say(&console, "break");
    shows(&console, "It does not compile.");
    let shown = leave(console);
    let lines: Vec<&str> = shown.lines().collect();
    let head = lines.iter().position(|line| line.contains("← execute_code failed after")).unwrap();
    assert!(lines[head + 1].starts_with("  │ "), "{shown}");
    assert!(lines[head..].iter().any(|line| line.starts_with("  │ error[E0308]")), "{shown}");
}
