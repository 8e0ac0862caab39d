//! Before anything is configured: what commands say, when the demo server is used, and what the terminal shows.

use end_to_end::cache::plain;
use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, binary};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

/// The lines that say how to get a server.
const NO_SERVERS: &str = "no MCP servers are configured\n\
                          help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…\n\
                          help: use the servers of another client: toolsmith adopt CLIENT\n";

/// The line of commands that need servers.
const WITH_DEMO: &str = "help: try the command with the built-in demo server: --demo\n";

fn run(arguments: &[&str]) -> Run {
    Run::new(shared()).arguments(arguments)
}

/// An entry of a server that writes a line to standard error and then runs this command.
fn talking(name: &str, line: &str, then: &str, more: &str) -> String {
    format!("  {name}: {{ command: sh, args: [-c, \"echo {line} >&2; {then}\"], trust: true{more} }}\n")
}

/// The command of the demo server.
fn demo() -> String {
    format!("exec {} demo-server", binary().display())
}

#[test]
fn commands_that_need_servers_name_two_ways_to_get_some() {
    for words in [
        &["codegen"][..],
        &["cache", "warm"],
        &["mcp", "tools"],
        &["mcp", "lock"],
        &["mcp", "test", "demo"],
        &["mcp", "call", "demo.echo", "message=hello"],
    ] {
        let done = run(words).done().exits(2);
        assert_eq!(done.stderr, format!("toolsmith: {NO_SERVERS}{WITH_DEMO}"), "{words:?}");
        assert_eq!(done.stdout, "", "{words:?}");
    }
    let login = run(&["mcp", "login", "demo"]).done().exits(2);
    assert_eq!(login.stderr, format!("toolsmith: {NO_SERVERS}"), "it has no --demo");
    for words in [&["mcp", "list"][..], &["mcp", "status"]] {
        let done = run(words).done().exits(0);
        assert_eq!(
            (done.stdout.as_str(), done.stderr),
            ("", format!("toolsmith: {NO_SERVERS}")),
            "{words:?}"
        );
        assert_eq!(run(words).argument("--json").done().exits(0).stdout, "[]\n");
    }
    assert_snapshot!(normal(&run(&["config", "check"]).done().exits(0).stderr), @r"
    toolsmith: there is no configuration file; `toolsmith mcp add` writes one
    ");
    run(&["doctor"]).done().exits(0);
}

#[test]
fn a_snippet_gets_the_demo_server_only_if_it_names_it_and_nothing_is_configured() {
    let named = plain("demo::echo(\"hello\").await?.text()").done().exits(0);
    assert_eq!(named.stdout, "hello\n");
    assert_snapshot!(normal(&named.stderr), @r"
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    ");
    let silent = plain("40 + 2").done().exits(0);
    assert_eq!((silent.stdout.as_str(), silent.stderr.as_str()), ("42\n", ""));
    assert_snapshot!(normal(&plain("shop::list_orders().await?").done().exits(3).stderr), @r"
    error[E0433]: cannot find module or crate `shop` in this scope
     --> 1:1
    1 | shop::list_orders().await?
      | ^^^^ use of unresolved module or unlinked crate `shop`
    help: there is no crate or module `shop`; only these crates are available: std, anyhow, chrono, futures, indexmap, itertools, regex, serde, serde_json, tokio

    the snippet does not compile: cannot find module or crate `shop` in this scope
    toolsmith: no MCP servers are configured
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…
    help: use the servers of another client: toolsmith adopt CLIENT
    ");
    let other = "mcpServers:\n  shop: { command: toolsmith, args: [demo-server], trust: true }\n";
    let configured = plain("demo::echo(\"hello\").await?.text()").config(other).done().exits(3);
    assert!(!configured.stderr.contains("no MCP servers"), "{configured:#?}");
    assert_snapshot!(normal(&configured.stderr), @r#"
    error[E0433]: cannot find module or crate `demo` in this scope
     --> 1:1
    1 | demo::echo("hello").await?.text()
      | ^^^^ use of unresolved module or unlinked crate `demo`
    help: there is no crate or module `demo`; only these crates are available: std, anyhow, chrono, futures, indexmap, itertools, regex, serde, serde_json, tokio, and the tool modules `shop`

    the snippet does not compile: cannot find module or crate `demo` in this scope
    toolsmith: no server `demo` is configured
    help: to use the built-in demo server instead of the configured ones: --demo
    "#);
    let done = plain("shop::ecko(\"a\").await?").config(other).done().exits(3);
    assert_snapshot!(normal(&done.stderr), @r#"
    error[E0425]: cannot find function `ecko` in crate `shop`
     --> 1:7
    1 | shop::ecko("a").await?
      |       ^^^^
    help: `shop` has no `ecko`; did you mean `echo`?
          shop::echo(message: String /* The text to send back. */) -> ToolResult

    the snippet does not compile: cannot find function `ecko` in crate `shop`
    "#);
    let mut shown = Vec::new();
    for words in [
        &["mcp", "call", "demo.echo", "message=hello"][..],
        &["mcp", "test", "demo"],
        &["mcp", "tools", "demo"],
    ] {
        shown.push(normal(&run(words).config_alone(other).done().exits(2).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith: unknown server "demo"
    help: configured servers: shop
    help: to use the built-in demo server instead of the configured ones: --demo

    toolsmith: unknown server "demo"
    help: configured servers: shop
    help: to use the built-in demo server instead of the configured ones: --demo

    toolsmith: unknown server "demo"
    help: configured servers: shop
    help: to use the built-in demo server instead of the configured ones: --demo
    "#);
}

#[test]
fn the_demo_server_replaces_the_configured_ones_on_request() {
    let done = run(&["mcp", "call", "demo.echo", "message=hello", "--demo"]).done().exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("hello\n", ""));
    let other = "mcpServers:\n  lost: { command: /nowhere/lost-mcp }\n";
    let list = run(&["mcp", "list", "--demo", "--json"]).config_alone(other).done().exits(0);
    let servers: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!((&servers[0]["id"], servers.as_array().unwrap().len()), (&json!("demo"), 1), "{servers:#}");
    let looked = plain("search_tools(\"orders\").await?.len() > 0").argument("--demo").done().exits(0);
    assert_eq!((looked.stdout.as_str(), looked.stderr.contains("no MCP servers")), ("true\n", false));
}

#[test]
fn a_model_answers_without_any_server() {
    let model = end_to_end::scripted::model(&json!([{ "answers": [{ "text": "done" }] }]));
    let config = format!(
        "models:\n  - {{ ref: scripted, id: scripted, type: openai, base_url: {:?} }}\n",
        model.base_url()
    );
    let done = run(&["ask", "what?"]).config_alone(&config).input("").done().exits(0);
    assert_eq!(done.stdout, "done\n");
    assert!(!done.stderr.contains("MCP"), "{done:#?}");
    let request = model.requests().remove(0)["body"].to_string();
    assert!(!request.contains("Signatures follow") && !request.contains("demo"), "{request}");
}

#[test]
fn the_environment_names_a_configuration_that_an_option_overrides() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, server: &str| {
        let path = folder.path().join(name);
        let text = format!("mcpServers:\n  {server}: {{ command: toolsmith, args: [demo-server] }}\n");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, other) = (file("one.yaml", "first"), file("other.yaml", "second"));
    let list = |more: &[&str]| {
        run(&["mcp", "list", "--json"]).arguments(more).variable("TOOLSMITH_CONFIG", &one).done().exits(0)
    };
    let named = list(&[]).stdout;
    assert_snapshot!(normal(&named), @r#"
    [{"id":"first","transport":"stdio","enabled":true,"source":"config /tmp/.tmpXXXXXX/one.yaml","address":"[target]/toolsmith demo-server","timeout":60.0,"requestTimeout":30.0,"error":null}]
    "#);
    let overridden = list(&["--config", &other]).stdout;
    assert_snapshot!(normal(&overridden), @r#"
    [{"id":"second","transport":"stdio","enabled":true,"source":"config /tmp/.tmpXXXXXX/other.yaml","address":"[target]/toolsmith demo-server","timeout":60.0,"requestTimeout":30.0,"error":null}]
    "#);
    let missing = run(&["mcp", "list"]).variable("TOOLSMITH_CONFIG", "/nowhere/x.yaml").done().exits(2);
    assert_snapshot!(normal(&missing.stderr), @r"
    toolsmith: the configuration /nowhere/x.yaml can't be read: there is no such file
    help: check the path of the configuration file
    ");
}

#[test]
fn mcp_can_be_switched_off_as_a_whole() {
    let config = "globalSettings: { enabled: false }\n\
                  mcpServers:\n  shop: { command: toolsmith, args: [demo-server], trust: true }\n";
    let mut shown = Vec::new();
    for words in [
        &["mcp", "tools"][..],
        &["mcp", "test", "shop"],
        &["codegen"],
        &["serve", "--demo"],
        &["mcp", "tools", "--demo"],
    ] {
        let done = run(words).config_alone(config).done().exits(2);
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: MCP is switched off: globalSettings.enabled is false in /tmp/.tmpXXXXXX/given.yaml:1
    help: to use servers, remove it, or write `enabled: true`

    toolsmith: MCP is switched off: globalSettings.enabled is false in /tmp/.tmpXXXXXX/given.yaml:1
    help: to use servers, remove it, or write `enabled: true`

    toolsmith: MCP is switched off: globalSettings.enabled is false in /tmp/.tmpXXXXXX/given.yaml:1
    help: to use servers, remove it, or write `enabled: true`

    toolsmith: MCP is switched off: globalSettings.enabled is false in /tmp/.tmpXXXXXX/given.yaml:1
    help: to use servers, remove it, or write `enabled: true`

    toolsmith: MCP is switched off: globalSettings.enabled is false in /tmp/.tmpXXXXXX/given.yaml:1
    help: to use servers, remove it, or write `enabled: true`
    ");
    let list = run(&["mcp", "list"]).config_alone(config).done().exits(0);
    assert_snapshot!(normal(&list.stderr), @r"
    toolsmith: MCP is switched off: globalSettings.enabled is false in /tmp/.tmpXXXXXX/given.yaml:1
    help: to use servers, remove it, or write `enabled: true`
    ");
    assert!(list.stdout.lines().any(|line| line.contains("shop") && line.contains(" no ")), "{list:#?}");
}

/// Counts a text in standard error.
fn count(done: &FinishedRun, text: &str) -> usize {
    done.stderr.matches(text).count()
}

#[test]
fn a_servers_standard_error_is_shown_only_on_request_or_if_it_fails() {
    let config = |more: &str| format!("mcpServers:\n{}", talking("shop", "warming-up", &demo(), more));
    let code = "shop::echo(\"hello\").await?.text()";
    let quiet = plain(code).config(&config("")).done().exits(0);
    assert_eq!(count(&quiet, "shop: warming-up"), 0, "{quiet:#?}");
    let verbose = plain(code).argument("-v").config(&config("")).done().exits(0);
    assert_eq!(count(&verbose, "shop: warming-up"), 1, "{verbose:#?}");
    let debugged = plain(code).config(&config(", debug: true")).done().exits(0);
    assert_eq!(count(&debugged, "shop: wrote warming-up"), 1, "{debugged:#?}");
    let look = |more: &[&str]| run(&["mcp", "test", "shop"]).arguments(more).config_alone(&config("")).done();
    assert_eq!(count(&look(&[]).exits(0), "shop: warming-up"), 0);
    assert_eq!(count(&look(&["--verbose"]).exits(0), "shop: warming-up"), 1);

    let broken = format!("mcpServers:\n{}", talking("shop", "no-licence", "exit 3", ""));
    for words in [
        &["mcp", "test", "shop"][..],
        &["mcp", "tools"],
        &["codegen"],
        &["cache", "warm"],
        &["mcp", "lock"],
        &["mcp", "observe", "shop.echo"],
    ] {
        let failed = run(words).config_alone(&broken).done().exits(7);
        assert_eq!(count(&failed, "shop: no-licence"), 0, "{failed:#?}");
        assert_eq!(count(&failed, "  no-licence"), 1, "{failed:#?}");
        let verbose = run(words).argument("-v").config_alone(&broken).done().exits(7);
        assert_eq!(count(&verbose, "no-licence"), 1, "{verbose:#?}");
    }
}

#[test]
fn names_in_filters_that_no_tool_has_are_warned_about() {
    let config = "mcpServers:\n  shop:\n    command: toolsmith\n    args: [demo-server]\n    \
                  enabledTools: [list_orders, get_costumer]\n    permissions: { \"delete_*\": deny }\n\
                  globalSettings: { deny: [shop.creat_note] }\n";
    let of_server = "warning: `enabledTools` of the server shop has get_costumer, but no tool of the server has this \
                     name; did you mean get_customer?";
    let of_all = "warning: `globalSettings.deny` has shop.creat_note, but no tool has this name; did you mean \
                  shop.create_note?";
    for words in [&["mcp", "tools"][..], &["codegen"], &["cache", "warm"]] {
        let done = run(words).config_alone(config).done().exits(0);
        assert_eq!((count(&done, of_server), count(&done, of_all)), (1, 1), "{done:#?}");
        assert!(!done.stderr.contains("delete_"), "{done:#?}");
    }
    let empty = "mcpServers:\n  shop: { command: toolsmith, args: [demo-server], enabledTools: [] }\n";
    let done = run(&["mcp", "tools"]).config_alone(empty).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:2:66: the list is empty; name tools, or remove the key (`enabled: false` leaves the whole server out)
      |
    2 | …ith, args: [demo-server], enabledTools: [] }
      |                                          ^
    no usable server is left
    help: correct the entry, or add another server
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…
    ");
}

#[test]
fn the_progress_of_several_servers_is_one_line_of_a_terminal() {
    let servers = "mcpServers:\n  one: { command: toolsmith, args: [demo-server] }\n  \
                   two: { command: toolsmith, args: [demo-server] }\n";
    let warm = Run::on_terminal(shared()).arguments(&["cache", "warm"]).variable("TERM", "xterm");
    let warm = warm.config_alone(servers).done().exits(0).stderr;
    let lines: Vec<&str> =
        warm.lines().filter(|line| line.ends_with("compiled the bindings of 9 tools")).collect();
    assert_eq!(lines.len(), 2, "{warm:?}");
    // Progress that nobody could read, because more came at once, is not written.
    for shown in warm.split("\r\u{1b}[K").filter(|line| line.contains("/2 compiled")) {
        assert!(!shown.contains('\n'), "{warm:?}");
    }
}

#[test]
fn the_check_of_a_configuration_reads_what_it_names_and_knows_what_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("prompt.md", "Folder: {{foldr}}\n");
    write("schema.json", "{ \"type\": \"nothing\" }\n");
    let wrong = "mcpServers:\n  shop: { command: toolsmith, args: [demo-server] }\n\
                 subagent: { name: a, description: b, outputSchemaPath: schema.json }\n\
                 defaults: { systemPromptPath: prompt.md }\n\
                 serve: { telemetry: {} }\n";
    write("wrong.yaml", wrong);
    let check = |arguments: &[&str]| {
        run(&["config", "check"]).arguments(arguments).working_folder(folder.path()).done()
    };
    let done = check(&["wrong.yaml"]).exits(2);
    let mut texts = Vec::new();
    for line in ["wrong.yaml:3:", "wrong.yaml:4:", "wrong.yaml:5:"] {
        let found = done.stdout.lines().find(|shown| shown.starts_with(line)).unwrap_or_default();
        texts.push(normal(&found));
    }
    assert_snapshot!(texts.join("\n"), @r#"
    wrong.yaml:3:56: the output schema /tmp/.tmpXXXXXX/schema.json can't be used: its `type` is not "object"; wrap the answer in an object
    wrong.yaml:4:31: the system prompt /tmp/.tmpXXXXXX/prompt.md can't be used: `{{foldr}}` on line 1 is unknown; the placeholders are {{folder}}, {{date}}, {{tools}}, {{instructions}}, {{subagent}} (write `{{{{` for two braces)
    wrong.yaml:5:21: telemetry is configured, but this build of toolsmith can't export it; build it with `--features otel`, or remove telemetry from the configuration
    "#);
    assert_snapshot!(normal(&done.stderr), @"toolsmith: 3 problems");
    write("toolsmith.yaml", "mcpServers:\n  shop: { command: toolsmith, args: [demo-server] }\n");
    let untrusted = check(&[]).exits(0);
    assert_snapshot!(normal(&untrusted.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet, and has no effect until you trust it: toolsmith trust
    ");
}

#[test]
fn errors_of_a_configuration_are_in_the_order_of_its_lines_and_advise_what_fits() {
    let text = "mcpServers:\n  shop: { command: toolsmith, timeout: -1 }\n  web: { url: localhost }\n\
                globalSettings: { timeout: 1e9 }\n\
                models:\n  - { ref: m, id: m, type: openai, base_url: localhost, api_key_env: \"A=B\" }\n\
                servers: {}\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wrong.yaml"), text).unwrap();
    let done = run(&["config", "check", "wrong.yaml"]).working_folder(folder.path()).done().exits(2);
    let lines = done.stdout.lines().filter_map(|line| line.strip_prefix("wrong.yaml:"));
    let numbers: Vec<u64> = lines.map(|line| line.split(':').next().unwrap().parse().unwrap()).collect();
    assert!(numbers.is_sorted() && numbers.len() == 6, "{done:#?}");
    for phrase in [
        ": -1 is out of range",
        "https://example.com/mcp",
        "begin it with https:// or http://",
        "did you mean `mcpServers`?",
    ] {
        assert_eq!(done.stdout.matches(phrase).count(), 1, "{phrase}: {done:#?}");
    }
    let mut messages = done.stdout.lines().filter(|line| line.starts_with("wrong.yaml:"));
    assert!(messages.all(|message| !message.contains("env:")), "{done:#?}");
}
