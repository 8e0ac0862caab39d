//! `save_program`: a model saves a program, and the user is asked.

use std::fs;

use end_to_end::cache::shared;
use end_to_end::harness::Run;
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, HANDSHAKE, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::served::awaited;

const TEXT: &str = "//! Repeats a text, louder.\nstruct Args { text: String }\n\
    async fn run(args: Args) -> Result<String> {\n    \
    Ok(demo::echo(&format!(\"{}!\", args.text)).await?.text().to_owned())\n}\n";

/// A server whose models may save programs, and a client whose user answers questions.
fn start(more: &str) -> Server {
    let config = format!("{DEMO}serve: {{ saveProgram: true, programs: ['*'] }}\n{more}");
    let mut server = Serve::new(&config).start();
    shake_hands(&mut server, &json!({ "elicitation": {} }));
    server
}

fn shake_hands(server: &mut Server, capabilities: &Value) {
    let parameters = json!({
        "protocolVersion": HANDSHAKE, "capabilities": capabilities, "clientInfo": { "name": "tests", "version": "1" },
    });
    server.ask(0, "initialize", &parameters);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
}

fn call(name: &str, text: &str, replace: bool) -> Value {
    json!({ "name": "save_program", "arguments": { "name": name, "text": text, "replace": replace } })
}

/// Calls the tool, and answers its question; returns the question and the result's text and `isError`.
#[track_caller]
fn asked(server: &mut Server, id: u32, call: &Value, answer: &str) -> (String, String, bool) {
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }));
    let question = server
        .receive("the question", |message| message["method"] == "elicitation/create" || message["id"] == id);
    assert_eq!(question["method"], "elicitation/create", "{question:#}");
    let result = json!({ "action": "accept", "content": { "answer": answer } });
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    let answer = server.receive("the answer", |message| message["id"] == id && message["method"].is_null());
    let (text, is_error) = read(&answer);
    (question["params"]["message"].as_str().unwrap().to_owned(), text, is_error)
}

#[track_caller]
fn read(answer: &Value) -> (String, bool) {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    (text.to_owned(), answer["result"]["isError"] == true)
}

fn is_listed(server: &mut Server, id: u32) -> bool {
    let listed = server.ask(id, "tools/list", &json!({}));
    listed["result"]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "save_program")
}

#[test]
fn a_model_saves_a_program_that_its_user_has_seen() {
    let mut server = start("");
    let file = server.path("home/toolsmith/programs/shout.rs");
    assert!(is_listed(&mut server, 1));
    // The question shows everything, and a no saves nothing.
    let (question, text, is_error) = asked(&mut server, 2, &call("shout", TEXT, false), "no");
    assert_snapshot!(normal(&question), @r#"
    The model wants to save a program shout (/tmp/.tmpXXXXXX/home/toolsmith/programs/shout.rs).
    It will call these tools without a question of its own:
      demo.echo  (the server claims: only reads)
    Its text:
      //! Repeats a text, louder.
      struct Args { text: String }
      async fn run(args: Args) -> Result<String> {
          Ok(demo::echo(&format!("{}!", args.text)).await?.text().to_owned())
      }
    Save and approve this text?
    "#);
    assert_snapshot!(normal(&text), @"nothing is saved: the user refused it");
    assert!(is_error && !file.exists(), "{text}");
    // A yes saves and approves it, for snippets and as a tool.
    let (_, text, is_error) = asked(&mut server, 3, &call("shout", TEXT, false), "once");
    assert_snapshot!(normal(&text), @r"
    The program shout is saved and approved.
    In snippets: programs::shout(text: String).await -> Result<String>  // Repeats a text, louder.
    It can call: demo.echo
    ");
    assert!(!is_error, "{text}");
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);
    let answer = server.ask(4, "tools/call", &execute("programs::shout(\"a\").await?"));
    assert_eq!(outcome_of(&answer)["result"], "a!", "{answer:#}");
    awaited(&mut server, "shout", |tool| tool.is_some());
    let tool = server.ask(5, "tools/call", &json!({ "name": "shout", "arguments": { "text": "b" } }));
    assert_eq!(tool["result"]["structuredContent"], json!({ "result": "b!" }), "{tool:#}");
    // Models find it, also before they search.
    let listed = server.ask(6, "tools/list", &json!({}));
    let execute_code = &listed["result"]["tools"][0]["description"];
    assert!(execute_code.as_str().unwrap().contains("programs::shout(text: String)"), "{execute_code:#}");
    // The same again asks nothing; another text needs `replace`, and says what changes.
    let (text, is_error) = read(&server.ask(7, "tools/call", &call("shout", TEXT, false)));
    assert_snapshot!(normal(&text), @"the program shout is saved and approved already");
    assert!(!is_error, "{text}");
    let other = TEXT.replace("{}!", "{}!!");
    let (text, is_error) = read(&server.ask(8, "tools/call", &call("shout", &other, false)));
    assert_snapshot!(normal(&text), @r#"
    there is a program shout already. To replace it, add `replace: true`. That changes:
    line 4:
    -     Ok(demo::echo(&format!("{}!", args.text)).await?.text().to_owned())
    +     Ok(demo::echo(&format!("{}!!", args.text)).await?.text().to_owned())
    "#);
    assert!(is_error, "{text}");
    let (question, text, is_error) = asked(&mut server, 9, &call("shout", &other, true), "once");
    assert_snapshot!(normal(&question), @r#"
    The model wants to replace your program shout (/tmp/.tmpXXXXXX/home/toolsmith/programs/shout.rs). It changes:
      line 4:
      -     Ok(demo::echo(&format!("{}!", args.text)).await?.text().to_owned())
      +     Ok(demo::echo(&format!("{}!!", args.text)).await?.text().to_owned())
    It will call these tools without a question of its own:
      demo.echo  (the server claims: only reads)
    Its text:
      //! Repeats a text, louder.
      struct Args { text: String }
      async fn run(args: Args) -> Result<String> {
          Ok(demo::echo(&format!("{}!!", args.text)).await?.text().to_owned())
      }
    Save and approve this text?
    "#);
    assert_snapshot!(normal(&text), @r#"
    The program shout is saved and approved.
    In snippets: programs::shout(text: String).await -> Result<String>  // Repeats a text, louder.
    It can call: demo.echo
    It replaces another text. Changed:
    line 4:
    -     Ok(demo::echo(&format!("{}!", args.text)).await?.text().to_owned())
    +     Ok(demo::echo(&format!("{}!!", args.text)).await?.text().to_owned())
    "#);
    assert!(!is_error, "{text}");
    let answer = server.ask(10, "tools/call", &execute("programs::shout(\"a\").await?"));
    assert_eq!(outcome_of(&answer)["result"], "a!!", "{answer:#}");
    // A program may call approved ones.
    let nested =
        "//! Calls another one.\nasync fn run() -> Result<String> { programs::shout(\"x\").await }\n";
    let (question, text, is_error) = asked(&mut server, 11, &call("nested", nested, false), "once");
    assert_snapshot!(normal(&question), @r#"
    The model wants to save a program nested (/tmp/.tmpXXXXXX/home/toolsmith/programs/nested.rs).
    It will call these tools without a question of its own:
      demo.echo  (the server claims: only reads)
    Its text:
      //! Calls another one.
      async fn run() -> Result<String> { programs::shout("x").await }
    Save and approve this text?
    "#);
    assert!(!is_error, "{question}\n{text}");
    let answer = server.ask(12, "tools/call", &execute("programs::nested().await?"));
    assert_eq!(outcome_of(&answer)["result"], "x!!", "{answer:#}");
}

#[test]
fn nothing_is_saved_that_does_not_compile_or_has_a_secret_or_no_name() {
    let mut server = start("");
    let mut refused = |id: u32, call: &Value, words: &[&str]| {
        let (text, is_error) = read(&server.ask(id, "tools/call", call));
        assert!(is_error && words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
    };
    let broken = TEXT.replace("demo::echo", "demo::ehco");
    refused(1, &call("shout", &broken, false), &["does not compile", "ehco", "4 |"]);
    refused(2, &call("shout", "fn run() {}", false), &["no program", "`run` is not `async`"]);
    refused(3, &call("../shout", TEXT, false), &["can't be the name of a program"]);
    refused(4, &call("shout", &format!("{TEXT}// {}", "x".repeat(40_000)), false), &["over the limit"]);
    refused(5, &json!({ "name": "save_program", "arguments": { "name": "a" } }), &["missing field `text`"]);
    let folder = server.path("home/toolsmith/programs");
    assert!(!folder.exists());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("other.rs"), TEXT).unwrap();
    let nested =
        "//! Calls another one.\nasync fn run() -> Result<String> { programs::other(\"x\").await }\n";
    let (text, is_error) = read(&server.ask(6, "tools/call", &call("nested", nested, false)));
    assert_snapshot!(normal(&text), @"nothing is saved: it names saved programs that are not approved");
    assert!(is_error, "{text}");
}

#[test]
fn secrets_are_not_saved() {
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], env: { KEY: secret-of-this-test } }\n\
                  serve: { saveProgram: true }\n";
    let mut server = Serve::new(config).start();
    shake_hands(&mut server, &json!({ "elicitation": {} }));
    let text = TEXT.replace("{}!", "{} secret-of-this-test");
    let (text, is_error) = read(&server.ask(1, "tools/call", &call("shout", &text, false)));
    assert_snapshot!(normal(&text), @r"
    the program contains a secret, which must not be in a file: pass it as an argument, or let a server use it
    ");
    assert!(is_error, "{text}");
}

#[test]
fn where_nobody_can_be_asked_nothing_is_saved() {
    let mut server = Serve::new(&format!("{DEMO}serve: {{ saveProgram: true }}\n")).start();
    shake_hands(&mut server, &json!({}));
    let (text, is_error) = read(&server.ask(1, "tools/call", &call("shout", TEXT, false)));
    assert_snapshot!(normal(&text), @r"
    nothing is saved: this client does not support elicitation to ask the user. The user can save the program with `toolsmith program save shout FILE`, or start the server with --ui --allow-actions, and answer on a page in a browser
    ");
    assert!(is_error, "{text}");
    assert!(!server.path("home/toolsmith/programs/shout.rs").exists());
}

#[test]
fn the_tool_is_off_by_default_over_http_and_for_projects() {
    let mut server = Serve::new(DEMO).start();
    shake_hands(&mut server, &json!({ "elicitation": {} }));
    assert!(!is_listed(&mut server, 1));
    let unknown = server.ask(2, "tools/call", &call("shout", TEXT, false));
    assert_snapshot!(normal(&unknown["error"]["message"]), @r#"
    unknown tool "save_program"; call the tools of servers from a snippet with execute_code
    "#);
    let remote = Serve::http(&format!("{DEMO}serve: {{ saveProgram: true }}\n")).start();
    let listed = remote.client().stateless().ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(!tools.is_empty() && tools.iter().all(|tool| tool["name"] != "save_program"), "{listed:#}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("toolsmith.yaml"), "serve: { saveProgram: true }\n").unwrap();
    let checked = Run::new(shared()).arguments(&["config", "check"]).working_folder(folder.path()).done();
    let text = format!("{}{}", checked.stdout, checked.stderr);
    assert_snapshot!(normal(&text), @r"
    /tmp/.tmpXXXXXX/toolsmith.yaml:1:23: a project can't set serve.saveProgram, because programs are saved among your own; set it in your own configuration, or in a file that --config names
      |
    1 | serve: { saveProgram: true }
      |                       ^
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet, and has no effect until you trust it: toolsmith trust
    toolsmith: 1 problem
    ");
}
