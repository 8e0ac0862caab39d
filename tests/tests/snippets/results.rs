//! Output about servers and results: configured secrets are masked, and long results are cut.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use end_to_end::cache::shared;
use end_to_end::cache::{json, plain};
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run, fault_entry};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::Value;

const SECRET: &str = "s3cr3t-of-the-test/with+more";

fn leaking() -> String {
    format!(
        "mcpServers:\n  faulty:\n    command: {FAULT_SERVER:?}\n    args: [leaks]\n    trust: true\n    env: {{ API_TOKEN: \"${{TOKEN_OF_TEST}}\" }}\n"
    )
}

fn assert_masked(done: &FinishedRun) {
    assert!(!done.stdout.contains(SECRET) && !done.stderr.contains(SECRET), "{done:#?}");
    assert!(done.stdout.contains("***") || done.stderr.contains("***"), "{done:#?}");
}

#[test]
fn secrets_that_a_server_reveals_are_masked_in_every_error() {
    for way in ["error", "failure", "dies"] {
        let code = format!("faulty::echo().message(\"{way}\").await?.text()");
        for run in [json(&code), plain(&code)] {
            let done = run.config(&leaking()).variable("TOKEN_OF_TEST", SECRET).done().exits(1);
            assert_masked(&done);
        }
    }
    for (tool, way, code) in [("echo", "error", 7), ("echo", "dies", 7)] {
        for form in [&["--json"][..], &[]] {
            let arguments = format!("{{\"message\":\"{way}\"}}");
            let call = ["mcp", "call-tool", "--server", "faulty", "--tool", tool, "--args", &arguments];
            let run = Run::new(shared()).arguments(&call).arguments(form).config(&leaking());
            assert_masked(&run.variable("TOKEN_OF_TEST", SECRET).done().exits(code));
        }
    }
}

#[test]
fn a_program_gets_errors_without_secrets_and_unchanged_results() {
    let code = "let failed = faulty::echo().message(\"error\").await.unwrap_err().message;
        (failed, faulty::echo().message(\"result\").await?.text())";
    let result = json(code).config(&leaking()).variable("TOKEN_OF_TEST", SECRET).result();
    assert_snapshot!(normal(&result[0]), @r#"
    MCP server `faulty`: the answer of tool `echo` failed with error -32000: the key is *** indeed ({"key":"***"})
    "#);
    assert_eq!(result[1], format!("the key is {SECRET} indeed"));
}

#[test]
fn a_listing_of_servers_has_no_secrets() {
    let config = leaking().replace("args: [leaks]", "args: [leaks, \"--key=${TOKEN_OF_TEST}\"]");
    for form in [&["--json"][..], &[]] {
        let run = Run::new(shared()).arguments(&["mcp", "list-servers"]).arguments(form).config(&config);
        assert_masked(&run.variable("TOKEN_OF_TEST", SECRET).done().exits(0));
    }
}

#[test]
fn a_long_result_is_saved_to_a_file_that_is_named() {
    let config = format!("mcpServers:\n{}", fault_entry("faulty", "huge-answer", "    trust: true\n"))
        .replace("[huge-answer]", "[huge-answer, \"3000000\"]");
    let call = ["mcp", "call-tool", "--server", "faulty", "--tool", "echo", "--json"];
    let done = Run::new(shared()).arguments(&call).config(&config).done().exits(0);
    assert!(done.stdout.len() < 2 << 20, "{}", done.stdout.len());
    let result: Value = serde_json::from_str(&done.stdout).unwrap();
    let output = result["output"].as_str().unwrap();
    let file = output.split("by range from ").nth(1).unwrap().split(']').next().unwrap();
    assert!(fs::metadata(file).unwrap().len() >= 3_000_000);
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    // The program itself gets the full result.
    let length = json("faulty::echo().await?.text().len()").config(&config).result();
    assert_eq!(length, 3_000_000);
}
