//! Flows under `toolsmith serve`: what a tool answered goes into another call only as the configuration and the user
//! allow.

use end_to_end::harness::{FAULT_SERVER, fault_entry};
use end_to_end::page::normal;
use end_to_end::scripted::{model, task};
use end_to_end::serving::{Serve, Server, answered, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::subagents::{serving, text};

/// The flows of most tests: what `mail` answers is private, and `web` leaves.
const FLOWS: &str = "private: [\"mail.*\"], external: [\"web.*\"]";

/// Reads a mail, and sends its text.
const SEND: &str =
    "let mail = mail::echo().message(\"the secret\").await?.text();\nweb::echo().message(mail).await?.text()";

/// The servers `mail`, and `web` with further lines in its entry.
fn servers(flows: &str, of_web: &str) -> String {
    let trust = "    trust: true\n";
    let (mail, web) = (fault_entry("mail", "sound", trust), fault_entry("web", "sound", of_web));
    format!("mcpServers:\n{mail}{web}flows: {{ {flows} }}\n")
}

/// A server whose client's user answers questions.
fn start(config: &str) -> Server {
    let mut server = Serve::new(config).start();
    server.shake_hands_with(&json!({ "elicitation": {} }));
    server
}

/// Makes a call, and gives these answers to its questions; returns the questions and the answer.
#[track_caller]
fn call(server: &mut Server, id: u32, call: &Value, answers: &[&str]) -> (Vec<String>, Value) {
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }));
    let (mut questions, mut answers) = (Vec::new(), answers.iter());
    loop {
        let message = server.receive("a question or the answer", |message| {
            message["method"] == "elicitation/create" || message["id"] == id && message["method"].is_null()
        });
        if message["method"].is_null() {
            assert_eq!(answers.next(), None, "too few questions: {questions:?} {message:#}");
            return (questions, message);
        }
        questions.push(message["params"]["message"].as_str().unwrap().to_owned());
        let answer = answers.next().unwrap_or_else(|| panic!("one question too many: {questions:?}"));
        let result = json!({ "action": "accept", "content": { "answer": answer } });
        server.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }
}

fn send_only() -> Value {
    execute("web::echo().message(\"x\").await?.text()")
}

#[test]
fn an_answer_goes_into_another_call_only_with_a_yes() {
    let mut server = start(&servers(FLOWS, "    trust: true\n"));
    let (questions, answer) = call(&mut server, 1, &execute(SEND), &["once"]);
    assert_eq!(outcome_of(&answer)["result"], "the secret", "{answer:#}");
    assert_snapshot!(normal(&questions[0]), @r#"
    A call needs your permission: web.echo
      {
        "message": "the secret"
      }
    It can carry what mail.echo (private) answered.
    Its arguments have (a help, no proof):
      no 24 consecutive characters of earlier answers
    Allow this call?
    "#);
    let (_, answer) = call(&mut server, 2, &execute(SEND), &["no"]);
    let outcome = outcome_of(&answer);
    assert_eq!(
        (&outcome["status"], &outcome["error"]["evidence"]["tool"]["kind"]),
        (&json!("denied"), &json!("flow")),
        "{outcome:#}"
    );
    assert_snapshot!(normal(&outcome["error"]["message"]), @r"
    web.echo may not receive this data: the session has received answers of mail.echo (private), so permission is required, and the user refused it
    help: call it before those tools, or in a new session that does not call them
    ");
}

/// Parts of earlier answers are found behind the escapes of JSON. The log has where they are from, and no text.
#[test]
fn parts_of_earlier_answers_are_marked() {
    let audit = "serve: { audit: { file: log/audit.jsonl, arguments: none } }\n";
    let mut server = start(&(servers(FLOWS, "    trust: true\n") + audit));
    let code = r#"let mail = mail::echo().message("Ada wrote:\n\"the key is below the mat\"").await?.text();
web::echo().message(format!("Dear all, {mail}")).await?.text()"#;
    let (questions, answer) = call(&mut server, 1, &execute(code), &["once"]);
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    assert_snapshot!(normal(&questions[0]), @r#"
    A call needs your permission: web.echo
      {
        "message": "Dear all, Ada wrote:\n\"the key is below the mat\""
      }
    It can carry what mail.echo (private) answered.
    Its arguments have (a help, no proof):
      `message`: 37 of 47 characters from mail.echo #1
    Allow this call?
    "#);
    let log = std::fs::read_to_string(server.path("log/audit.jsonl")).unwrap();
    assert!(!log.contains("below the mat"), "{log}");
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let flows = lines.filter(|line| !line["flows"].is_null());
    let flows: Vec<Value> =
        flows.map(|line| json!({ "event": line["event"], "flows": line["flows"] })).collect();
    assert_snapshot!(serde_json::to_string_pretty(&flows).unwrap(), @r#"
    [
      {
        "event": "manifest",
        "flows": [
          "answers of mail.echo (private) into web.echo"
        ]
      },
      {
        "event": "approval",
        "flows": [
          "answers of mail.echo (private) into web.echo",
          "`message`: 37 of 47 characters from mail.echo #1"
        ]
      }
    ]
    "#);
}

/// The permission of the tools and the flows of a call are one question.
#[test]
fn the_question_before_the_run_names_the_flows() {
    let mut server = start(&servers(FLOWS, "    permission: ask\n"));
    let (questions, answer) = call(&mut server, 1, &execute(SEND), &["once", "once"]);
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    assert_snapshot!(normal(&questions[0]), @r"
    The program can call tools that need your permission:
      web.echo
    It can carry, and you will be asked at these calls:
      answers of mail.echo (private) into web.echo
    Allow it?
    ");
    let mut server = start(&servers(FLOWS, "    permission: ask-each\n"));
    let (questions, _) = call(&mut server, 1, &execute(SEND), &["once"]);
    assert!(questions[0].contains("\"the secret\"") && questions[0].contains("mail.echo (private)"));
}

#[test]
fn a_session_remembers_what_an_execution_has_received() {
    let mut server = start(&servers(FLOWS, "    trust: true\n"));
    let (_, before) = call(&mut server, 1, &send_only(), &[]);
    assert_eq!(outcome_of(&before)["status"], "ok", "{before:#}");
    call(&mut server, 2, &execute("mail::echo().message(\"m\").await?.text()"), &[]);
    let (questions, _) = call(&mut server, 3, &send_only(), &["no"]);
    assert!(questions[0].contains("what mail.echo (private) answered"), "{questions:?}");
    call(&mut server, 4, &send_only(), &["session"]);
    let (_, after) = call(&mut server, 5, &send_only(), &[]);
    assert_eq!(outcome_of(&after)["status"], "ok", "{after:#}");
    // Another session has received nothing.
    let (_, other) = call(&mut start(&servers(FLOWS, "    trust: true\n")), 1, &send_only(), &[]);
    assert_eq!(outcome_of(&other)["status"], "ok", "{other:#}");
    let mut server = start(&servers(&format!("{FLOWS}, scope: program"), "    trust: true\n"));
    call(&mut server, 1, &execute("mail::echo().message(\"m\").await?.text()"), &[]);
    let (_, apart) = call(&mut server, 2, &send_only(), &[]);
    assert_eq!(outcome_of(&apart)["status"], "ok", "{apart:#}");
    call(&mut server, 3, &execute(SEND), &["once"]);
}

#[test]
fn a_program_can_match_a_denied_flow() {
    let flows = "rules: [{ from: [mail.echo], to: [\"web.*\"], then: deny }]";
    let mut server = start(&servers(flows, "    permission: ask-each\n"));
    let code = "mail::echo().message(\"m\").await?;\nmatch web::echo().message(\"x\").await {\n    \
                Err(error) if error.kind == ToolErrorKind::Flow => error.to_string(),\n    \
                other => format!(\"{other:?}\"),\n}";
    let (_, answer) = call(&mut server, 1, &execute(code), &[]);
    let outcome = outcome_of(&answer);
    assert_snapshot!(normal(&outcome["result"]), @r"
    web.echo may not receive this data: the configuration denies it after answers of mail.echo, which the session has received
    help: call it before those tools, or in a new session that does not call them
    ");
    assert_eq!(
        (&outcome["calls_total"], &outcome["calls_refused"]["denied"]),
        (&json!(1), &json!(1)),
        "{outcome:#}"
    );
    assert_eq!(outcome["calls_refused"]["tools"], json!({ "web.echo": 1 }), "{outcome:#}");
}

#[test]
fn a_direct_tool_is_asked_about_after_an_execution() {
    let mut server = start(&servers(FLOWS, "    trust: true\n    codeMode: false\n"));
    let direct = json!({ "name": "echo", "arguments": { "message": "posted" } });
    let (_, free) = call(&mut server, 1, &direct, &[]);
    assert_eq!(text(&free), "posted");
    call(&mut server, 2, &execute("mail::echo().message(\"m\").await?.text()"), &[]);
    let (questions, refused) = call(&mut server, 3, &direct, &["no"]);
    assert!(questions[0].contains("\"posted\"") && questions[0].contains("mail.echo (private)"));
    assert_snapshot!(normal(&text(&refused)), @r"
    denied: web.echo: the session has received answers of mail.echo (private), so permission is required, and the user refused it
    help: call it before those tools, or in a new session that does not call them
    ");
    let (_, allowed) = call(&mut server, 4, &direct, &["once"]);
    assert_eq!(text(&allowed), "posted");
    call(&mut server, 5, &direct, &["no"]);
}

#[test]
fn a_client_without_a_session_is_asked_by_the_response() {
    let server = Serve::http(&servers(FLOWS, "    trust: true\n")).start();
    let client = server.client().stateless();
    let asked = client.ask("tools/call", &execute(SEND));
    let answer = client.ask("tools/call", &answered(&execute(SEND), &asked));
    assert_eq!(outcome_of(&answer)["result"], "the secret", "{answer:#}");
    // The next request is of the same user.
    let asked = client.ask("tools/call", &send_only());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
}

#[test]
fn the_answer_of_a_subagent_carries_its_labels() {
    let calling = json!([
        { "when": { "no_result": true },
          "answers": [{ "calls": [{ "name": "execute_code", "arguments": { "code": "mail::echo().message(\"m\").await?.text()" } }] }] },
        { "answers": [{ "text": "done" }] },
    ]);
    let model = model(&calling);
    let mut subagent = serving(&model, "", &servers("private: [\"mail.*\"]", "    trust: true\n"));
    let answer = subagent.ask(1, "tools/call", &task("go"));
    let labels = &answer["result"]["_meta"]["io.toolsmith/flows"];
    assert_eq!(labels, &json!({ "private": true, "untrusted": false }), "{answer:#}");
    // A caller takes them from any server.
    let result =
        json!({ "content": [{ "type": "text", "text": "m" }], "_meta": { "io.toolsmith/flows": labels } });
    let agent = format!(
        "  agent: {{ command: {FAULT_SERVER:?}, args: [answers-with, {:?}], trust: true }}\n",
        result.to_string()
    );
    let web = fault_entry("web", "sound", "    trust: true\n");
    let mut server = start(&format!("mcpServers:\n{agent}{web}flows: {{ external: [\"web.*\"] }}\n"));
    let code = execute("agent::echo().message(\"go\").await?; web::echo().message(\"x\").await?.text()");
    let (questions, _) = call(&mut server, 1, &code, &["no"]);
    assert!(questions[0].contains("what agent.echo (private) answered"), "{questions:?}");
}
