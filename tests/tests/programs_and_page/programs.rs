//! Saved programs: `toolsmith program`, with real compilers and servers.

mod called;
mod kept;
mod recorded;
mod saved;
mod saving;
mod served;
mod skills;
mod story;

use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Revenue of a customer's orders by status, in the demo shop.
pub(crate) const REVENUE: &str = include_str!("../../../examples/programs/revenue.rs");

/// A project's folder, and a home with the user's own files.
pub(crate) struct Place {
    pub(crate) project: TempDir,
    pub(crate) home: TempDir,
}

impl Place {
    /// With the program `revenue` in the user's folder.
    pub(crate) fn new() -> Self {
        let place = Place { project: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() };
        place.write("revenue", REVENUE);
        place
    }

    /// The folder of the user's programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.home.path().join("toolsmith/programs")
    }

    /// Writes a program of the user.
    pub(crate) fn write(&self, name: &str, text: &str) {
        write(&self.programs(), name, text);
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let home = self.home.path().to_str().unwrap();
        Run::new(shared())
            .arguments(arguments)
            .working_folder(self.project.path())
            .variable("XDG_CONFIG_HOME", home)
            .variable("XDG_STATE_HOME", home)
    }

    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> FinishedRun {
        self.run(arguments).done().exits(0)
    }

    /// Returns the JSON that a command prints.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(arguments).stdout).unwrap()
    }
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(format!("{name}.rs")), text).unwrap();
}

#[test]
fn a_program_runs_with_typed_arguments() {
    let place = Place::new();
    let all = ["program", "run", "revenue", "--demo", "--customer", "c-01", "--json"];
    let outcome = place.run(&all).expect("ok", 0);
    let rows = outcome["result"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["revenue"].is_number()), "{outcome:#}");
    assert_eq!(outcome["manifest"], json!(["demo.list_orders"]));
    // The same text with other arguments is not compiled again.
    let later = [&all[..], &["--since=2999-01-01"]].concat();
    let outcome = place.run(&later).expect("ok", 0);
    assert_eq!((&outcome["result"], &outcome["cached"]), (&json!([]), &json!(true)));
    let whole = ["program", "run", "--demo", "--json", "revenue", "--args", "{\"customer\":\"c-01\"}"];
    assert_eq!(place.run(&whole).expect("ok", 0)["result"].as_array().unwrap().len(), rows.len());
}

#[test]
fn wrong_arguments_are_reported_before_or_by_the_program() {
    let place = Place::new();
    let done = place.run(&["program", "run", "revenue", "--demo"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the following required arguments were not provided:
      --customer <TEXT>

    Usage: toolsmith program run revenue --demo --customer <TEXT>

    For more information, try '--help'.
    ");
    let unknown = ["program", "run", "revenue", "--demo", "--custmer", "c-01"];
    assert_snapshot!(normal(&place.run(&unknown).done().exits(2).stderr), @r"
    toolsmith: unexpected argument '--custmer' found

      tip: a similar argument exists: '--customer'

    Usage: toolsmith program run revenue --demo --customer <TEXT>

    For more information, try '--help'.
    ");
    let as_json = ["program", "run", "revenue", "--demo", "--json", "--custmer", "c-01"];
    let failed = place.run(&as_json).done().exits(2);
    assert_eq!(failed.outcome()["success"], json!(false));
    let date = ["program", "run", "revenue", "--demo", "--customer", "c-01", "--since", "tomorrow"];
    assert_snapshot!(normal(&place.run(&date).done().exits(1).stderr), @r"
    the snippet failed: the argument `since` has another form than `Args` declares: input contains invalid characters
    ");
    let member = ["program", "run", "revenue", "--demo", "--args", "{\"customer\":\"c-01\",\"limit\":1}"];
    assert_snapshot!(normal(&place.run(&member).done().exits(1).stderr), @r"
    the snippet failed: the argument `limit` has another form than `Args` declares: unknown field `limit`, expected `customer` or `since`
    ");
    assert_snapshot!(normal(&place.run(&["program", "run", "revnue"]).done().exits(2).stderr), @r#"
    toolsmith: there is no program "revnue"
    help: did you mean `revenue`?
    help: `toolsmith program list` lists all programs
    "#);
    assert_snapshot!(normal(&place.run(&["program", "run", "../revenue"]).done().exits(2).stderr), @r#"
    toolsmith: "../revenue" can't be the name of a program
    help: use at most 64 lowercase letters, digits and underscores, beginning with a letter; no Rust keyword
    "#);
    let done = place.run(&["program", "save", "revenue.rs"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: "revenue.rs" can't be the name of a program
    help: use at most 64 lowercase letters, digits and underscores, beginning with a letter; no Rust keyword
    help: a new program's name is before its file: toolsmith program save NAME FILE
    "#);
}

#[test]
fn help_comes_from_the_doc_comments() {
    let place = Place::new();
    let help = place.ok(&["program", "run", "revenue", "--help"]).stdout;
    assert_snapshot!(normal(&help), @r"
    Revenue by status for one customer.

    Cancelled orders count as well.

    Usage: toolsmith program run revenue [OPTIONS]

    Options:
      -h, --help  Print help

    Options of `program run`:
          --config <FILE>        A configuration file (YAML or JSON) that overrides your own and the project's (default: the file that the variable TOOLSMITH_CONFIG names, if it is set)
          --strict               Fail if a server's entry is wrong, instead of leaving the server out
          --demo                 Use the built-in demo server, a small shop, instead of the configured servers. All other settings stay
          --json                 Print the whole outcome as one JSON object
          --args <JSON>          All arguments as one JSON object; options for single arguments override its members
          --timeout <SECONDS>    Time limit for the whole run, compiling included, in seconds (at most 86400). Overrides `codeMode.sandbox.wallClock`
          --allow <SERVER.TOOL>  Call these tools without asking: a name or a glob, such as 'files.read_*' or '*'. Denied tools stay denied. Repeatable

    Arguments of the program:
          --customer <TEXT>  The customer's id, such as `c-01`.
          --since <TEXT>     Only orders placed on this day or later.
    ");
}

#[test]
fn programs_are_listed_and_shown_with_their_schemas() {
    let place = Place::new();
    place.write("broken", "fn run() {}");
    let list = place.json(&["program", "list", "--json"]);
    assert_eq!((&list[0]["name"], &list[1]["name"]), (&json!("broken"), &json!("revenue")));
    assert_snapshot!(normal(&list[0]["error"]), @r"
    /tmp/.tmpXXXXXX/toolsmith/programs/broken.rs:1:1: `run` is not `async`: a program has `async fn run(args: Args) -> Result<…>`, or `async fn run() -> Result<…>` if it takes no arguments
    ");
    assert_eq!(list[1]["tags"], json!(["orders", "revenue"]));
    assert_eq!(place.json(&["program", "list", "--json", "--tag", "orders"]).as_array().unwrap().len(), 1);
    let table = place.ok(&["program", "list"]).stdout;
    assert_snapshot!(normal(&table), @r"
    PROGRAM  SCOPE  DESCRIPTION
    broken   user   invalid: /tmp/.tmpXXXXXX/toolsmith/programs/broken.rs:1:1: `run` is not `async`: a program has `asyn…
    revenue  user   Revenue by status for one customer.
    ");
    let text = place.ok(&["program", "show", "revenue"]).stdout;
    assert!(
        text.contains("customer: text, required  The customer's id") && text.contains("async fn run"),
        "{text}"
    );
    let shown = place.json(&["program", "show", "revenue", "--json", "--demo"]);
    assert_eq!(shown["state"], "fits", "{shown:#}");
    assert_eq!(shown["manifest"], json!(["demo.list_orders"]));
    let arguments = &shown["arguments"];
    assert_eq!(
        (&arguments["type"], &arguments["required"]),
        (&json!("object"), &json!(["customer"])),
        "{shown:#}"
    );
    assert_eq!(arguments["properties"]["customer"]["description"], "The customer's id, such as `c-01`.");
    assert_eq!(arguments["properties"]["since"]["format"], "date");
    assert_eq!(arguments["additionalProperties"], json!(false));
    let result = &shown["result"];
    assert_eq!(
        (&result["type"], &result["items"]["$ref"]),
        (&json!("array"), &json!("#/$defs/Row")),
        "{shown:#}"
    );
}

#[test]
fn check_says_what_fits_what_is_corrected_and_what_is_broken() {
    let place = Place::new();
    place.write(
        "slip",
        "async fn run() -> Result<String> { let customer = demo::get_customer(\"c-01\"); Ok(customer.city) }",
    );
    place.write("gone", "async fn run() -> Result<usize> { Ok(demo::list_invoices().await?.len()) }");
    place.write(
        "untyped",
        "async fn run() -> Result<Vec<demo::Order>> { Ok(demo::list_orders().await?.orders) }",
    );
    let checked = place.run(&["program", "check", "--demo", "--json"]).done().exits(3);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    let of = |name: &str| {
        checked.as_array().unwrap().iter().find(|program| program["name"] == name).unwrap().clone()
    };
    assert_eq!(of("revenue")["state"], "fits", "{checked:#}");
    assert_eq!(of("gone")["state"], "broken", "{checked:#}");
    assert_snapshot!(normal(&of("gone")["diagnostics"][0]["rendered"]), @r"
    error[E0425]: cannot find function `list_invoices` in crate `demo`
     --> 1:44
    1 | async fn run() -> Result<usize> { Ok(demo::list_invoices().await?.len()) }
      |                                            ^^^^^^^^^^^^^ not found in `demo`
    ");
    assert_eq!(of("slip")["state"], "corrected", "{checked:#}");
    assert_snapshot!(normal(&of("slip")["fixes"][0]["after"]), @r#"
    async fn run() -> Result<String> { let customer = demo::get_customer("c-01").await?; Ok(customer.city) }
    "#);
    assert_eq!(
        (&of("untyped")["state"], &of("untyped")["result"]),
        (&json!("fits"), &Value::Null),
        "{checked:#}"
    );
    assert_snapshot!(normal(&of("untyped")["without_result"]), @r"
    the trait bound `Order: JsonSchema` is not satisfied
    ");
    let text = place.run(&["program", "check", "--demo", "gone"]).done().exits(3).stdout;
    assert_snapshot!(normal(&text), @r"
    gone: broken: cannot find function `list_invoices` in crate `demo`
    error[E0425]: cannot find function `list_invoices` in crate `demo`
     --> 1:44
    1 | async fn run() -> Result<usize> { Ok(demo::list_invoices().await?.len()) }
      |                                            ^^^^^^^^^^^^^ not found in `demo`
    help: `demo` has no `list_invoices`; its tools are `create_note`, `echo`, `fail`, `get_customer`, `image`, `json_response`, `list_orders`, `search_products` and `slow`
    ");
    assert_eq!(place.ok(&["program", "check", "--demo", "revenue"]).stdout, "revenue: fits\n");
}

#[test]
fn a_project_s_programs_are_used_only_if_it_is_trusted() {
    let place = Place::new();
    let folder = place.project.path().join(".toolsmith/programs");
    write(&folder, "answer", "async fn run() -> Result<u8> { Ok(42) }");
    assert_snapshot!(normal(&place.run(&["program", "run", "answer"]).done().exits(2).stderr), @r#"
    toolsmith: there is no program "answer"
    help: the programs of this project, in /tmp/.tmpXXXXXX/.toolsmith/programs, are left out: it has no configuration that could be trusted: create toolsmith.yaml, and trust it with `toolsmith trust`
    help: `toolsmith program list` lists all programs
    "#);
    fs::write(place.project.path().join("toolsmith.yaml"), "globalSettings: {}\n").unwrap();
    assert_snapshot!(normal(&place.run(&["program", "run", "answer"]).done().exits(2).stderr), @r#"
    toolsmith: there is no program "answer"
    help: the programs of this project, in /tmp/.tmpXXXXXX/.toolsmith/programs, are left out: its configuration is not trusted: review it with `toolsmith trust`
    help: `toolsmith program list` lists all programs
    "#);
    place.ok(&["trust", "--yes"]);
    assert_eq!(place.ok(&["program", "run", "answer"]).stdout, "42\n");
    // A project's program replaces the user's.
    write(&folder, "revenue", "async fn run() -> Result<u8> { Ok(43) }");
    assert_eq!(place.ok(&["program", "run", "revenue"]).stdout, "43\n");
    fs::write(place.project.path().join("toolsmith.yaml"), "globalSettings: {  }\n").unwrap();
    let changed = place.run(&["program", "list"]).done().exits(0);
    assert_snapshot!(normal(&changed.stderr), @r"
    toolsmith: the programs of this project, in /tmp/.tmpXXXXXX/.toolsmith/programs, are left out: its configuration has changed since it was trusted: review it with `toolsmith trust`
    ");
    assert_snapshot!(normal(&changed.stdout), @r"
    PROGRAM  SCOPE  DESCRIPTION
    revenue  user   Revenue by status for one customer.
    ");
}
