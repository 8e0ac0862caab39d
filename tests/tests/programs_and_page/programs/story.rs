//! The life of a program: run as a snippet, saved, called in every way, broken by a changed tool, corrected, and tested.

use end_to_end::harness::fault_entry;
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::served::{awaited, offering, toolsmith};

/// The program for a server whose `echo` requires the message.
const TEXT: &str = "//! Repeats a text, louder.\n//! Example: text = \"a\" => \"a!\"\n\
    struct Args {\n    /// What to repeat.\n    text: String,\n}\n\
    async fn run(args: Args) -> Result<String> {\n    \
    let echo = demo::echo(&format!(\"{}!\", args.text)).await?;\n    Ok(echo.text().to_owned())\n}\n";

#[test]
fn a_program_from_its_first_run_to_its_test_by_replay() {
    let mut server = offering("shout");
    let run = |arguments: &[&str]| toolsmith(&server, arguments);
    // A snippet first.
    let snippet = "demo::echo(\"a!\").await?.text().to_owned()";
    let first = run(&["run", "-"]).input(snippet).done().exits(0);
    assert_eq!(first.stdout, "a!\n");
    // Saved as a program.
    let saved = run(&["program", "save", "shout", "--yes", "-"]).input(TEXT).done().exits(0).stdout;
    assert_snapshot!(normal(&saved), @r#"
    //! Repeats a text, louder.
    //! Example: text = "a" => "a!"
    struct Args {
        /// What to repeat.
        text: String,
    }
    async fn run(args: Args) -> Result<String> {
        let echo = demo::echo(&format!("{}!", args.text)).await?;
        Ok(echo.text().to_owned())
    }
    It can call: demo.echo
    "#);
    // From the command line.
    assert_eq!(run(&["program", "run", "shout", "--text", "b"]).done().exits(0).stdout, "b!\n");
    run(&["program", "record", "shout"]).done().exits(0);
    run(&["program", "test", "shout"]).done().exits(0);
    // From another snippet, and as a tool.
    let tool = awaited(&mut server, "shout", |tool| tool.is_some()).unwrap();
    assert_eq!(tool["inputSchema"]["properties"]["text"]["description"], "What to repeat.", "{tool:#}");
    let call = json!({ "name": "shout", "arguments": { "text": "c" } });
    let answer = server.ask(1, "tools/call", &call);
    assert_eq!(answer["result"]["structuredContent"], json!({ "result": "c!" }), "{answer:#}");
    let from_snippet = execute("programs::shout(\"d\").await?");
    let answer = server.ask(2, "tools/call", &from_snippet);
    assert_eq!(outcome_of(&answer)["result"], "d!", "{answer:#}");
    let search = json!({ "name": "search_tools", "arguments": { "query": "louder" } });
    let found = server.ask(3, "tools/call", &search)["result"]["content"][0]["text"].take();
    assert_snapshot!(normal(&found), @r"
    No tool matches any of these words. Try others, or an empty query with a `server`: demo

    Saved programs, to call in a snippet:
    programs::shout(text: String).await -> Result<String>  // Repeats a text, louder.
    ");
    // The server's schema changes: `message` is optional now.
    server.configure(&format!(
        "mcpServers:\n{}serve: {{ programs: [shout] }}\n",
        fault_entry("demo", "sound", "    trust: true\n")
    ));
    let is_broken = |tool: Option<&Value>| {
        tool.is_some_and(|tool| tool["description"].as_str().unwrap().starts_with("BROKEN"))
    };
    awaited(&mut server, "shout", is_broken);
    let checked = toolsmith(&server, &["program", "check"]).done().exits(3).stdout;
    assert_snapshot!(normal(&checked), @r#"
    shout: broken: this function takes 0 arguments but 1 argument was supplied
    error[E0061]: this function takes 0 arguments but 1 argument was supplied
     --> 8:16
    8 |     let echo = demo::echo(&format!("{}!", args.text)).await?;
      |                ^^^^^^^^^^
     --> 8:27
    8 |     let echo = demo::echo(&format!("{}!", args.text)).await?;
      |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^ unexpected argument of type `&std::string::String`
    help: write `demo::echo()`; optional arguments are set with methods: `.message(…)`
          demo::echo(message?: String) -> ToolResult
    "#);
    assert_eq!(server.ask(4, "tools/call", &call)["result"]["isError"], true);
    // Corrected: the difference is shown.
    let corrected = TEXT.replace(
        "demo::echo(&format!(\"{}!\", args.text))",
        "demo::echo().message(format!(\"{}!\", args.text))",
    );
    let shown = toolsmith(&server, &["program", "save", "shout", "--yes", "-"])
        .input(&corrected)
        .done()
        .exits(0)
        .stdout;
    assert_snapshot!(normal(&shown), @r#"
    line 8:
    -     let echo = demo::echo(&format!("{}!", args.text)).await?;
    +     let echo = demo::echo().message(format!("{}!", args.text)).await?;
    It can call: demo.echo
    "#);
    let checked = toolsmith(&server, &["program", "check"]).done().exits(0).stdout;
    assert_eq!(checked, "shout: fits\n");
    awaited(&mut server, "shout", |tool| tool.is_some() && !is_broken(tool));
    assert_eq!(server.ask(5, "tools/call", &call)["result"]["isError"], false);
    // Against the earlier tool the corrected text does not compile; with a new recording it passes without a server.
    toolsmith(&server, &["program", "test", "shout"]).done().exits(1);
    toolsmith(&server, &["program", "record", "shout"]).done().exits(0);
    server.configure(DEMO);
    let tested = toolsmith(&server, &["program", "test", "shout"]).done().exits(0).stdout;
    assert!(tested.ends_with("1 passed, 0 failed\n"), "{tested}");
}
