//! `toolsmith mcp list-servers`, `status`, `info`, `test`, `list-tools` and `call-tool`.

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, fault_entry};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn mcp(config: &str, arguments: &[&str]) -> FinishedRun {
    Run::new(shared()).argument("mcp").arguments(arguments).config_alone(config).done()
}

fn value(done: &FinishedRun) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}

fn two() -> String {
    format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server], disabledTools: [slow], permissions: {{ echo: allow, fail: deny }} }}\n{}",
        fault_entry("broken", "exits-at-once", "")
    )
}

#[test]
fn servers_are_listed_without_starting_one() {
    let done = mcp(&two(), &["list-servers"]).exits(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_snapshot!(normal(&lines[0]), @r"
     ID      TRANSPORT  SOURCE                             ENABLED  TIMEOUT  REQUEST TIMEOUT  ADDRESS
    ");
    assert_snapshot!(normal(&lines[1]), @r"
     broken  stdio      config /tmp/.tmpXXXXXX/given.yaml  yes      60       30               [target]/fault-server exits-at-once
    ");
    assert_snapshot!(normal(&lines[2]), @r"
     demo    stdio      config /tmp/.tmpXXXXXX/given.yaml  yes      60       30               [target]/toolsmith demo-server
    ");
    let servers = value(&mcp(&two(), &["list-servers", "--json"]).exits(0));
    let facts = ["id", "transport", "enabled", "timeout"].map(|key| servers[1][key].clone());
    assert_eq!(facts, [json!("demo"), json!("stdio"), json!(true), json!(60.0)], "{servers:#}");
    assert_snapshot!(normal(&servers[1]["source"]), @"config /tmp/.tmpXXXXXX/given.yaml");
}

#[test]
fn the_state_of_each_server_is_reported_and_one_ready_server_is_enough() {
    let done = mcp(&two(), &["status"]).exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    broken: MCP server `broken`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
    let demo = done.stdout.lines().find(|line| line.contains("demo")).unwrap();
    assert_snapshot!(normal(&demo), @"demo    stdio      config /tmp/.tmpXXXXXX/given.yaml  yes      ready  not confined  8 of 9");
    let states = value(&mcp(&two(), &["status", "--json"]).exits(0));
    assert_eq!((&states[0]["state"], &states[1]["state"]), (&json!("error"), &json!("ready")));
    assert_snapshot!(normal(&states[0]["error"]), @r"
    MCP server `broken`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
    let broken = format!("mcpServers:\n{}", fault_entry("broken", "exits-at-once", ""));
    mcp(&broken, &["status"]).exits(7);
    assert_snapshot!(normal(&mcp(&broken, &["status", "broken"]).exits(7).stderr), @r"
    MCP server `broken`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
    assert_snapshot!(normal(&mcp(&broken, &["list-tools"]).exits(7).stderr), @r"
    MCP server `broken`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    toolsmith: no server answered
    ");
    assert_snapshot!(normal(&mcp(&broken, &["test", "broken"]).exits(7).stderr), @r"
    broken: error: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
}

#[test]
fn info_shows_the_servers_own_description() {
    let done = mcp(&two(), &["info", "demo"]).exits(0);
    assert_snapshot!(normal(&done.stdout), @r"
    id               demo
    transport        stdio
    source           config /tmp/.tmpXXXXXX/given.yaml
    address          [target]/toolsmith demo-server
    timeout          60
    requestTimeout   30
    state            ready
    sandbox          not confined
    tools            8 of 9
    protocolVersion  2025-11-25
    server           toolsmith-demo [version] (reported by the server)
    instructions     A small shop with orders, customers, products and notes. The data is the same in every session; notes last as long as the session.
    ");
    let facts = value(&mcp(&two(), &["info", "demo", "--json"]).exits(0));
    // `slow` is disabled.
    assert_eq!((&facts["tools"], &facts["listedTools"]), (&json!(8), &json!(9)));
    assert_eq!(facts["serverInfo"]["name"], "toolsmith-demo");
    assert_snapshot!(normal(&done.stdout), @r"
    id               demo
    transport        stdio
    source           config /tmp/.tmpXXXXXX/given.yaml
    address          [target]/toolsmith demo-server
    timeout          60
    requestTimeout   30
    state            ready
    sandbox          not confined
    tools            8 of 9
    protocolVersion  2025-11-25
    server           toolsmith-demo [version] (reported by the server)
    instructions     A small shop with orders, customers, products and notes. The data is the same in every session; notes last as long as the session.
    ");
    assert_snapshot!(normal(&mcp(&two(), &["test", "demo"]).exits(0).stdout), @r"
    demo: ok, 8 of 9 tools, protocol 2025-11-25, [time]
    ");
    assert_snapshot!(normal(&mcp(&two(), &["info", "absent"]).exits(2).stderr), @r#"
    toolsmith: unknown server "absent"
    help: configured servers: broken, demo
    "#);
}

#[test]
fn tools_are_listed_with_their_permission_and_parameters() {
    let done = mcp(&two(), &["list-tools"]).exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    MCP server `broken`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
    assert_snapshot!(normal(&done.stdout), @r"
    demo: 9 tools, 8 admitted, 1 left out (filter: disabledTools: slow)
     TOOL             PERMISSION  CALLED BY  INPUT                                           OUTPUT                                                                    DESCRIPTION
     create_note      ask         code mode  subject*: string, text*: string, tags: array    id*: integer, created_at*: string                                         Write a note. Notes last as long as the session; their numbers start at 1.
     echo             allow       code mode  message*: string                                text                                                                      Answer with exactly the text that was sent.
     fail             deny        code mode  message: string                                 text                                                                      Always fail, with the given message.
     get_customer     ask         code mode  id*: string                                     id*: string, name*: string, email*: string, city*: string, vip*: boolean  Get one customer by id. An unknown id is an error.
     image            ask         code mode                                                  text                                                                      Answer with a small picture and a text.
     json_response    ask         code mode                                                  text                                                                      Answer with a JSON document as text: statistics of the shop, and the notes of this session.
     list_orders      ask         code mode  cursor: string, limit: integer, status: string  orders*: array, next_cursor: string                                       List the shop's orders, oldest first, page by page: pass `next_cursor` of one page as `cursor` of th…
     search_products  ask         code mode  query*: string, max_price_cents: integer        products*: array                                                          Search the shop's products by a part of their name or stock-keeping unit, optionally up to a price.
    ");
    let row = |name: &str| done.stdout.lines().find(|line| line.trim().starts_with(name)).unwrap().to_owned();
    assert_snapshot!(normal(&row("echo")), @r"
     echo             allow       code mode  message*: string                                text                                                                      Answer with exactly the text that was sent.
    ");
    assert_snapshot!(normal(&row("fail")), @r"
     fail             deny        code mode  message: string                                 text                                                                      Always fail, with the given message.
    ");
    assert_snapshot!(normal(&row("image")), @r"
     image            ask         code mode                                                  text                                                                      Answer with a small picture and a text.
    ");
    assert!(!done.stdout.lines().any(|line| line.trim().starts_with("slow")), "{done:#?}");
    let names = |arguments: &[&str]| {
        let listed = value(&mcp(&two(), &[&["list-tools", "demo", "--json"], arguments].concat()).exits(0));
        let tools = listed["servers"][0]["tools"].as_array().unwrap().clone();
        (tools.len(), tools.iter().any(|tool| tool["name"] == "slow" && tool["place"] == "filtered"))
    };
    assert_eq!(
        (names(&[]), names(&["--show-all"]), names(&["--show-filtered"])),
        ((8, false), (9, true), (1, true))
    );
}

#[test]
fn a_called_tool_is_subject_to_the_permissions() {
    let call = |tool: &str, more: &[&str]| {
        let arguments = [&["call-tool", "--server", "demo", "--tool", tool], more].concat();
        mcp(&two(), &arguments)
    };
    let done = call("echo", &["--args", "{\"message\":\"hello\"}"]).exits(0);
    assert_eq!(done.stdout, "hello\n");
    let done = value(&call("echo", &["--args", "{\"message\":\"hello\"}", "--json"]).exits(0));
    let expected = json!({ "success": true, "output": "hello", "data": null, "error": null,
        "content": [{ "type": "text", "text": "hello" }] });
    assert_eq!(done, expected);
    assert_snapshot!(normal(&call("json_response", &[]).exits(6).stderr), @r"
    toolsmith: demo.json_response: permission is required, but there is no terminal to ask on
    help: allow it with --allow 'demo.json_response', or with `trust: true` or `permissions` in the server's entry
    ");
    let done = call("list_orders", &["--allow", "demo.*", "--json"]).exits(0);
    assert!(value(&done)["data"]["orders"].is_array(), "{done:#?}");
    let done = value(&call("json_response", &["--json"]).exits(6));
    assert_eq!((&done["success"], &done["content"]), (&json!(false), &json!([])));
    // `--allow` does not override denials and filters.
    assert_snapshot!(normal(&call("fail", &["--allow", "*"]).exits(6).stderr), @r"
    toolsmith: the configuration denies demo.fail
    ");
    let printed = call("slow", &["--allow", "*", "--args", "{\"seconds\":0}"]).exits(6);
    assert_snapshot!(normal(&printed.stderr), @"toolsmith: the configuration denies demo.slow");
    assert_snapshot!(normal(&call("nothing", &["--allow", "*"]).exits(2).stderr), @r#"
    toolsmith: the server demo has no tool "nothing"
    help: available tools: create_note, echo, fail, get_customer, image, json_response, list_orders, search_products, slow
    "#);
    assert_snapshot!(normal(&call("echo", &["--args", "[]"]).exits(2).stderr), @r#"
    toolsmith: --args "[]" is not a JSON object: it does not begin with `{`
    help: write `{ "name": value }` in single quotes, or name=TEXT for each argument
    "#);
    assert_snapshot!(normal(&call("echo", &["--args", "{}"]).exits(2).stderr), @r"
    toolsmith: .message is required, but missing
    help: usage: toolsmith mcp call demo.echo message=TEXT
    ");
    let failing = two().replace("fail: deny", "fail: allow");
    let call = ["call-tool", "--server", "demo", "--tool", "fail"];
    assert_snapshot!(normal(&mcp(&failing, &call).exits(1).stderr), @"the tool failed: this tool always fails");
    let failed = value(&mcp(&failing, &[&call[..], &["--json"]].concat()).exits(1));
    assert_eq!((&failed["success"], &failed["error"]), (&json!(false), &json!("this tool always fails")));
}

#[test]
fn an_unavailable_server_is_reported_and_output_is_printed_unchanged() {
    let silent = format!("mcpServers:\n{}", fault_entry("faulty", "silent-list", "    requestTimeout: 1\n"));
    let call = ["call-tool", "--server", "faulty", "--tool", "echo"];
    assert_snapshot!(normal(&mcp(&silent, &call).exits(7).stderr), @r"
    toolsmith: the server faulty: its tools can't be listed, so it is used without them: the answer to `tools/list` took longer than 1 s; raise `requestTimeout` or `timeout` if the server is just slow
    ");
    let arguments = ["call-tool", "--server", "demo", "--tool", "echo", "--args"];
    let colored = [&arguments[..], &[r#"{"message":"a\u001b[2Jb"}"#]].concat();
    // A pipe gets it unchanged; for terminals, see `escapes`.
    assert_eq!(mcp(&two(), &colored).exits(0).stdout, "a\u{1b}[2Jb\n");
    let as_json = mcp(&two(), &[&colored[..], &["--json"]].concat()).exits(0);
    assert_eq!(value(&as_json)["output"], "a\u{1b}[2Jb");
    // `--json` prints JSON for errors too.
    let wrong = ["call-tool", "--json", "--server", "absent", "--tool", "echo"];
    assert_eq!(value(&mcp(&two(), &wrong).exits(2))["success"], false);
    let long = format!("nonsense {}", "x".repeat(100_000));
    let done = mcp(&two(), &[&arguments[..], &[long.as_str()]].concat()).exits(2);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: --args "nonsense xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… is not a JSON object: expected ident at line 1 column 2
    help: write `{ "name": value }` in single quotes, or name=TEXT for each argument
    "#);
    assert!(done.stderr.len() < 500, "{done:#?}");
}
