//! Saved programs in the history: their names, running them again, and replays without servers.

use std::fs;

use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::Place;

/// A place whose history keeps everything.
fn place(history: &str) -> Place {
    let place = Place::new();
    configure(&place, &format!("{DEMO}history: {{ {history} }}\n"));
    place
}

fn configure(place: &Place, text: &str) {
    fs::write(place.home.path().join("toolsmith/config.yaml"), text).unwrap();
}

const RUN: [&str; 6] = ["program", "run", "revenue", "--customer", "c-01", "--json"];

fn latest(place: &Place) -> Value {
    place.json(&["history", "show", "--json"])
}

fn id(place: &Place) -> String {
    latest(place)["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_history_has_the_name_of_a_program_and_runs_it_again() {
    let place = place("arguments: full");
    let first = place.run(&RUN).expect("ok", 0);
    let kept = latest(&place);
    assert_eq!(
        (&kept["program"], &kept["arguments"]["value"]),
        (&json!("revenue"), &json!({ "customer": "c-01" }))
    );
    place.run(&["run", "-"]).input("1").done().exits(0);
    assert_eq!(latest(&place)["program"], Value::Null);
    let list = place.json(&["history", "list", "--program", "revenue", "--json"]);
    assert_eq!((list.as_array().unwrap().len(), &list[0]["program"]), (1, &json!("revenue")));
    assert!(place.ok(&["history", "list"]).stdout.contains("revenue: Revenue by status"));
    let id = list[0]["id"].as_str().unwrap();
    assert!(place.ok(&["history", "show", id]).stdout.contains("program    revenue"));
    let again = place.run(&["history", "rerun", id, "--json"]).expect("ok", 0);
    assert_eq!(again["result"], first["result"]);
    assert_eq!(latest(&place)["program"], "revenue");
    let done = place.run(&["history", "rerun", id, "--arg", "a=b"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: [hash] ran the program revenue, which has typed arguments instead of --arg
    help: run it with arguments of your own: toolsmith program run revenue --help
    ");
}

#[test]
fn arguments_that_are_not_kept_have_to_be_given_again() {
    let place = place("");
    place.run(&RUN).expect("ok", 0);
    let id = id(&place);
    let again = place.run(&["history", "rerun", &id]).done();
    assert_ne!(again.code(), 0, "{again:#?}");
    assert_snapshot!(normal(&again.stderr), @r"
    toolsmith: the arguments of [hash] are not kept
    help: run it with arguments of your own: toolsmith program run revenue --help
    help: to keep arguments from now on: `history: { arguments: full }` in your configuration
    ");
}

#[test]
fn an_execution_is_replayed_without_its_servers() {
    let place = place("recordings: true");
    place.run(&RUN).expect("ok", 0);
    let of_program = id(&place);
    let code = "let n = demo::list_orders().limit(2).await?.orders.len();\n(n, args.get(\"a\").unwrap_or(\"\").len(), \
                programs::revenue(\"c-01\").await?.is_empty())";
    let run = place.run(&["run", "-", "--json", "--arg", "a=bc"]).input(code).expect("ok", 0);
    assert_eq!(run["result"], json!([2, 2, false]));
    let of_snippet = id(&place);
    // No server is left.
    configure(&place, "history: { recordings: true }\nmcpServers: {}\n");
    for id in [&of_program, &of_snippet] {
        let same = place.run(&["run", "--replay", id, "--json"]).done().exits(0).outcome();
        assert_eq!((&same["same"], &same["failures"]), (&json!(true), &json!([])), "{same:#}");
    }
    assert_snapshot!(normal(&place.run(&["run", "--replay", &of_snippet]).done().exits(0).stderr), @r"
    toolsmith: the replay of [hash] made the same calls and ended in the same way
    ");
    // The snippet calls the program as it is now, which requests something else.
    place.write("revenue", &super::REVENUE.replace("limit(50)", "limit(49)"));
    let differs = place.run(&["run", "--replay", &of_snippet]).done().exits(1);
    assert_snapshot!(normal(&differs.stderr), @r#"
    the snippet failed: demo.list_orders is unavailable: demo.list_orders is requested with other arguments than recorded: the recording has no answer to it (saved program revenue, line 25); 2 tool calls were made
    the replay of [hash] differs:
      demo.list_orders is requested with other arguments than recorded
        /limit: 50, now 49
      the recorded request of demo.list_orders was not made
        {"limit":50}
      the recorded request of demo.list_orders was not made
        {"cursor":"o-1050","limit":50}
      its status is runtime_error, not ok
        the snippet failed: demo.list_orders is unavailable: demo.list_orders is requested with other arguments than recorded: the recording has no answer to it (saved program revenue, line 25); 2 tool calls were made
    "#);
    place.run(&["run", "--replay", &of_program]).done().exits(0);
    assert_snapshot!(normal(&place.run(&["run", "--replay", "ffffffff"]).done().stderr), @r#"
    toolsmith: the history /tmp/.tmpXXXXXX/toolsmith/history.db has no execution "ffffffff"; `toolsmith history list` lists them
    "#);
    place.run(&["run", "--replay", &of_program, "--check"]).done().exits(2);
}

/// A replay makes no call that the present rules deny, and repeats the refusals of its own time.
#[test]
fn a_replay_follows_the_flows_of_the_present_configuration() {
    let place = place("recordings: true");
    let code = "demo::list_orders().limit(1).await?;\nmatch demo::echo(\"x\").await {\n    \
                Ok(_) => \"sent\".to_owned(),\n    Err(error) => format!(\"{}\", error.kind),\n}";
    let run =
        |place: &Place| place.run(&["run", "-", "--json"]).input(code).expect("ok", 0)["result"].clone();
    assert_eq!(run(&place), "sent");
    let sent = id(&place);
    let flows = "flows: { rules: [{ from: [demo.list_orders], to: [demo.echo], then: deny }] }\n";
    configure(&place, &format!("{DEMO}history: {{ recordings: true }}\n{flows}"));
    let replayed = |id: &str| place.run(&["run", "--replay", id, "--json"]).done().outcome();
    assert_eq!(replayed(&sent)["outcome"]["result"], "flow");
    assert_eq!(run(&place), "flow");
    let refused = id(&place);
    let same = replayed(&refused);
    assert_eq!((&same["same"], &same["outcome"]["result"]), (&json!(true), &json!("flow")), "{same:#}");
}

#[test]
fn without_the_key_a_replay_says_how_to_keep_answers() {
    let place = place("");
    place.run(&RUN).expect("ok", 0);
    let refused = place.run(&["run", "--replay", &id(&place)]).done();
    assert_ne!(refused.code(), 0, "{refused:#?}");
    assert_snapshot!(normal(&refused.stderr), @r"
    toolsmith: the answers of the calls of [hash] are not kept
    help: to keep them from now on: `history: { recordings: true }` in your configuration
    help: to run the text again with the servers: toolsmith history rerun ID
    ");
}

#[test]
fn executions_of_clients_are_recorded_without_secrets() {
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true, env: { KEY: secret-of-this-test } }\n\
                  history: { recordings: true }\n";
    let mut server: Server = Serve::new(config).start();
    server.shake_hands();
    let code = "demo::echo(&[\"secret-of\", \"this-test\"].join(\"-\")).await?.text().len()";
    let answer = server.ask(1, "tools/call", &execute(code));
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    server.close_input();
    server.end();
    let state = server.path("state");
    let kept: String = fs::read_dir(state.join("toolsmith"))
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("history"))
        .map(|entry| String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned())
        .collect();
    assert!(
        kept.contains("\"calls\":[{\"request\"") && !kept.contains("secret-of-this-test"),
        "{}",
        kept.len()
    );
}
