//! Recording runs of programs, and replaying them without servers.

use std::fs;

use end_to_end::harness::{FAULT_SERVER, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::Value;

use super::{Place, REVENUE};

/// A program with two parallel calls, and an example.
const ECHO: &str = "//! Echoes.\n//! Example: text = \"a\" => [\"a\", \"a!\"]\n\
    struct Args { text: String }\n\
    async fn run(args: Args) -> Result<Vec<String>> {\n    \
    let louder = format!(\"{}!\", args.text);\n    \
    let (a, b) = tokio::join!(demo::echo(&args.text), demo::echo(&louder));\n    \
    Ok(vec![a?.text().to_owned(), b?.text().to_owned()])\n}\n";

fn with_echo() -> Place {
    let place = Place::new();
    place.write("echo", ECHO);
    // Without examples, which would have to be recorded.
    let lines: Vec<&str> = REVENUE.lines().filter(|line| !line.starts_with("//! Example:")).collect();
    place.write("revenue", &lines.join("\n"));
    place
}

fn tested(run: Run, code: i32) -> Value {
    serde_json::from_str(&run.done().exits(code).stdout).unwrap()
}

#[test]
fn a_recorded_run_is_replayed_without_a_server() {
    let place = with_echo();
    // Without arguments, the examples are recorded.
    assert_snapshot!(normal(&place.ok(&["program", "record", "echo", "--demo"]).stderr), @r"
    toolsmith: the run is recorded in /tmp/.tmpXXXXXX/toolsmith/programs/echo.recorded.json
    ");
    place.ok(&["program", "record", "echo", "--text", "b", "--demo"]);
    // Neither the demo server nor any other is configured for the test.
    let all = tested(place.run(&["program", "test", "--json"]), 0);
    assert_eq!(all.as_array().unwrap().len(), 2, "{all:#}");
    assert!(all.as_array().unwrap().iter().all(|tested| tested["passed"] == true), "{all:#}");
    let text = place.ok(&["program", "test", "echo"]).stdout;
    assert_snapshot!(normal(&text), @r#"
    echo {"text":"a"}: passed
    echo {"text":"b"}: passed
    2 passed, 0 failed
    "#);
    // A program without a recorded run has nothing to test.
    assert_snapshot!(normal(&place.run(&["program", "test", "revenue"]).done().exits(2).stderr), @r"
    toolsmith: the program revenue has no recorded runs
    help: record one: toolsmith program record revenue
    ");
}

#[test]
fn a_mismatch_shows_the_difference() {
    let place = with_echo();
    place.ok(&["program", "record", "echo", "--demo"]);
    // Another argument of a call.
    place.write("echo", &ECHO.replace("{}!", "{}?"));
    let all = tested(place.run(&["program", "test", "echo", "--json"]), 1);
    let failures = all[0]["failures"].to_string();
    assert!(failures.contains("demo.echo is requested with other arguments than recorded"), "{all:#}");
    assert!(failures.contains("/message: \\\"a!\\\", now \\\"a?\\\""), "{all:#}");
    // The same calls with another result.
    place
        .write("echo", &ECHO.replace("Ok(vec![a?.text().to_owned(), ", "Ok(vec![a?.text().to_uppercase(), "));
    let text = place.run(&["program", "test", "echo"]).done().exits(1).stdout;
    assert_snapshot!(normal(&text), @r#"
    echo {"text":"a"}: failed
      its result is not the recorded one
        /0: "a", now "A"
      its result is not that of the example
        /0: "a", now "A"
    0 passed, 1 failed
    "#);
    // A call fewer.
    let fewer = ECHO.replace(
        "tokio::join!(demo::echo(&args.text), demo::echo(&louder))",
        "(demo::echo(&args.text).await, Ok::<_, ToolError>(demo::echo(&args.text).await?))",
    );
    place.write("echo", &fewer);
    let text = place.run(&["program", "test", "echo"]).done().exits(1).stdout;
    assert_snapshot!(normal(&text), @r#"
    echo {"text":"a"}: failed
      demo.echo is requested with other arguments than recorded
        /message: "a!", now "a"
      the recorded request of demo.echo was not made
        {"message":"a!"}
      its status is runtime_error, not ok
        the snippet failed: demo.echo is unavailable: demo.echo is requested with other arguments than recorded: the recording has no answer to it (line 6, column 68); 2 tool calls were made
    0 passed, 1 failed
    "#);
    // An example that is not recorded.
    place.write("echo", &ECHO.replace("Example: text = \"a\"", "Example: text = \"z\""));
    let text = place.run(&["program", "test", "echo"]).done().exits(1).stdout;
    assert_snapshot!(normal(&text), @r#"
    echo {"text":"a"}: passed
    echo {"text":"z"}: failed
      it is not recorded; record it: toolsmith program record echo
    1 passed, 1 failed
    "#);
}

#[test]
fn a_recording_has_no_secrets() {
    let place = Place::new();
    let text =
        "async fn run() -> Result<String> { Ok(vault::echo().message(\"TOKEN\").await?.text().to_owned()) }";
    place.write("leak", text);
    fs::create_dir_all(place.home.path().join("toolsmith")).unwrap();
    let config = format!(
        "mcpServers:\n  vault: {{ command: {FAULT_SERVER:?}, args: [environment], trust: true, env: {{ TOKEN: \"${{A_TOKEN}}\" }} }}\n"
    );
    fs::write(place.home.path().join("toolsmith/config.yaml"), config).unwrap();
    let record = place.run(&["program", "record", "leak"]).variable("A_TOKEN", "hunter22-secret");
    record.done().exits(0);
    let recorded = fs::read_to_string(place.programs().join("leak.recorded.json")).unwrap();
    assert_snapshot!(normal(&recorded), @r#"
    {
      "version": 1,
      "tools": {
        "vault": [
          {
            "name": "echo",
            "description": "A tool of the fault server.",
            "inputSchema": {
              "type": "object",
              "properties": {
                "message": {
                  "type": "string"
                }
              }
            }
          }
        ]
      },
      "runs": [
        {
          "arguments": {},
          "status": "ok",
          "result": "***",
          "recording": {
            "calls": [
              {
                "request": {
                  "tool": {
                    "server": "vault",
                    "tool": "echo",
                    "arguments": {"message":"TOKEN"}
                  }
                },
                "answer": {
                  "value": {"content":[{"type":"text","text":"***"}]}
                }
              }
            ]
          }
        }
      ]
    }
    "#);
    place.ok(&["program", "test", "leak"]);
}

#[test]
fn a_failed_run_is_recorded_with_its_status() {
    let place = Place::new();
    place.write("fails", "async fn run() -> Result<()> { demo::fail().await?; Ok(()) }");
    place.run(&["program", "record", "fails", "--demo"]).done().exits(1);
    place.ok(&["program", "test", "fails"]);
    place.write("fails", "async fn run() -> Result<()> { let _ = demo::fail().await; Ok(()) }");
    let text = place.run(&["program", "test", "fails"]).done().exits(1).stdout;
    assert_snapshot!(normal(&text), @r"
    fails {}: failed
      its status is ok, not runtime_error
    0 passed, 1 failed
    ");
}

#[test]
fn a_program_moves_with_its_recorded_runs() {
    let place = with_echo();
    place.ok(&["program", "record", "echo", "--demo"]);
    let exported = place.ok(&["program", "export", "echo"]).stdout;
    place.ok(&["program", "rename", "echo", "shout"]);
    place.ok(&["program", "test", "shout"]);
    let done = place.run(&["program", "rename", "shout", "revenue"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: there is a program revenue already
    help: choose another name, or delete that program first
    ");
    assert!(fs::read_to_string(place.programs().join("revenue.rs")).unwrap().starts_with("//! Revenue"));
    // Elsewhere.
    let other = Place::new();
    other.run(&["program", "save", "echo", "--demo", "--yes"]).input(&exported).done().exits(0);
    other.ok(&["program", "test", "echo"]);
    place.ok(&["program", "delete", "shout", "--yes"]);
    let left: Vec<String> = fs::read_dir(place.programs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left, ["revenue.rs"]);
    assert_eq!(place.json(&["program", "list", "--json"]).as_array().unwrap().len(), 1);
}
