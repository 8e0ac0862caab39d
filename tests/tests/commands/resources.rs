//! Resources and prompts of a server, as tables and as JSON.

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn look(mode: &str, arguments: &[&str]) -> FinishedRun {
    Run::new(shared()).argument("mcp").arguments(arguments).fault(mode, "").done()
}

/// Output as JSON, and standard error without the note about the server's first start, which only one of the tests sees.
#[track_caller]
fn value(arguments: &[&str]) -> (Value, String) {
    let done = look("library", &[arguments, &["--json"]].concat()).exits(0);
    let is_kept = |line: &&str| !line.contains(" is started for the first time: ");
    (done.outcome(), done.stderr.lines().filter(is_kept).collect::<Vec<_>>().join("\n"))
}

/// The rows of a table as words, and standard error.
#[track_caller]
fn rows(arguments: &[&str]) -> (Vec<Vec<String>>, String) {
    let done = look("library", arguments).exits(0);
    (
        done.stdout.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect(),
        done.stderr,
    )
}

#[test]
fn all_pages_of_resources_are_listed_and_cycles_end() {
    let (resources, errors) = value(&["list-resources", "faulty"]);
    let uris: Vec<&Value> = resources.as_array().unwrap().iter().map(|resource| &resource["uri"]).collect();
    // The page that points to itself is requested once more, which reveals the cycle.
    assert_eq!(uris, ["book://text", "book://blob"], "{resources:#}");
    assert_eq!(resources[0]["description"], "Two\nlines\u{202e}.");
    assert_snapshot!(normal(&errors), @r"
    toolsmith: the server's resources list repeats a cursor: page 2 points back to an earlier page; the pages up to there are kept
    ");

    let (rows, errors) = rows(&["list-resources", "faulty"]);
    assert_eq!(rows[0], ["URI", "NAME", "MIME", "TYPE", "DESCRIPTION"]);
    assert_eq!(rows[1], ["book://text", "text", "text/plain", "Two", "lines\\u{202e}."]);
    assert_eq!(rows[2], ["book://blob", "blob", "image/png"]);
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert_snapshot!(normal(&errors), @r"
    toolsmith: the server's resources list repeats a cursor: page 2 points back to an earlier page; the pages up to there are kept
    ");
}

#[test]
fn templates_and_prompts_are_listed() {
    let (templates, errors) = value(&["list-resource-templates", "faulty"]);
    assert_eq!(templates[0]["uriTemplate"], "shelf://{name}", "{templates:#}");
    assert_eq!(errors, "");
    let (shown, _) = rows(&["list-resource-templates", "faulty"]);
    assert_eq!(shown[0], ["URI", "TEMPLATE", "NAME", "MIME", "TYPE", "DESCRIPTION"]);
    assert_eq!(shown[1], ["shelf://{name}", "shelf", "text/plain", "A", "whole", "shelf."]);

    let (prompts, errors) = value(&["list-prompts", "faulty"]);
    assert_eq!(prompts[0]["arguments"][0], json!({ "name": "book", "required": true }), "{prompts:#}");
    assert_eq!(errors, "");
    let (shown, _) = rows(&["list-prompts", "faulty"]);
    assert_eq!(shown[0], ["NAME", "TITLE", "ARGUMENTS", "DESCRIPTION"]);
    assert_eq!(shown[1].join(" "), "review Review a book book, tone? Asks for a review.");
}

#[test]
fn a_resource_is_printed_as_text_or_summarized_as_bytes() {
    let (read, _) = value(&["read-resource", "faulty", "book://text"]);
    assert_eq!(read["contents"][0]["text"], "first line\nsecond \u{1b}[2Jline", "{read:#}");
    let text = look("library", &["read-resource", "faulty", "book://text"]).exits(0).stdout;
    assert_eq!(text, "first line\nsecond \u{1b}[2Jline\n");

    let (read, _) = value(&["read-resource", "faulty", "book://blob"]);
    assert_eq!(read["contents"][0]["blob"], "c2l4c2l4", "{read:#}");
    let bytes = look("library", &["read-resource", "faulty", "book://blob"]).exits(0).stdout;
    assert_eq!(bytes, "[image/png, about 6 bytes; --json prints it]\n");

    let none = look("library", &["read-resource", "faulty", "book://none"]).exits(7);
    assert_snapshot!(normal(&none.stderr), @r"
    toolsmith: MCP server `faulty`: the answer to `resources/read` failed with error -32002: no such book
    ");
}

#[test]
fn a_prompt_is_filled_in() {
    let review = ["get-prompt", "faulty", "review", "--arg", "book=Middlemarch"];
    let (filled, _) = value(&review);
    assert_eq!(filled["messages"][0]["content"]["text"], "Review Middlemarch.", "{filled:#}");
    let shown = look("library", &review).exits(0).stdout;
    assert_eq!(shown, "user: Review Middlemarch.\nassistant: [image/png, about 6 bytes; --json prints it]\n");
    let empty = look("library", &["get-prompt", "faulty", "review"]).exits(7);
    assert_snapshot!(normal(&empty.stderr), @r"
    toolsmith: MCP server `faulty`: the answer to `prompts/get` failed with error -32602: the argument book is missing
    ");
    let done = look("library", &["get-prompt", "faulty", "review", "--arg", "book"]).exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    error: `--arg <KEY=VALUE>` needs a name, `=` and a value; write them in one word, such as city=Uppsala
    ");
}

#[test]
fn a_server_without_resources_is_reported() {
    let mut shown = Vec::new();
    for command in ["list-resources", "list-resource-templates", "list-prompts"] {
        let done = look("sound", &[command, "faulty"]).exits(7);
        assert_eq!(done.stdout, "", "{command}");
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: MCP server `faulty`: the answer to `resources/list` failed with error -32601: method not found; the server does not support this request

    toolsmith: MCP server `faulty`: the answer to `resources/templates/list` failed with error -32601: method not found; the server does not support this request

    toolsmith: MCP server `faulty`: the answer to `prompts/list` failed with error -32601: method not found; the server does not support this request
    ");
}
