//! Saved programs: `toolsmith program`, with real compilers and servers.

mod called;
mod kept;
mod recorded;
mod saved;
mod saving;
mod served;
mod story;

use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run};
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
    place.run(&["program", "run", "revenue", "--demo"]).done().exits(2).says(&["--customer <TEXT>"]);
    let unknown = ["program", "run", "revenue", "--demo", "--custmer", "c-01"];
    place.run(&unknown).done().exits(2).says(&["--custmer", "--customer"]);
    let as_json = ["program", "run", "revenue", "--demo", "--json", "--custmer", "c-01"];
    let failed = place.run(&as_json).done().exits(2);
    assert_eq!(failed.outcome()["success"], json!(false));
    let date = ["program", "run", "revenue", "--demo", "--customer", "c-01", "--since", "tomorrow"];
    place.run(&date).done().exits(1).says(&["the argument `since` has another form than `Args` declares"]);
    let member = ["program", "run", "revenue", "--demo", "--args", "{\"customer\":\"c-01\",\"limit\":1}"];
    place.run(&member).done().exits(1).says(&["unknown field `limit`"]);
    place
        .run(&["program", "run", "revnue"])
        .done()
        .exits(2)
        .says(&["no program \"revnue\"", "did you mean `revenue`"]);
    place.run(&["program", "run", "../revenue"]).done().exits(2).says(&["can't be the name of a program"]);
    place.run(&["program", "save", "revenue.rs"]).done().exits(2).says(&["program save NAME FILE"]);
}

#[test]
fn help_comes_from_the_doc_comments() {
    let place = Place::new();
    let help = place.ok(&["program", "run", "revenue", "--help"]).stdout;
    for part in [
        "Revenue by status for one customer.",
        "--customer <TEXT>",
        "The customer's id, such as `c-01`.",
        "--since <TEXT>",
        "--json",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn programs_are_listed_and_shown_with_their_schemas() {
    let place = Place::new();
    place.write("broken", "fn run() {}");
    let list = place.json(&["program", "list", "--json"]);
    assert_eq!((&list[0]["name"], &list[1]["name"]), (&json!("broken"), &json!("revenue")));
    assert!(list[0]["error"].as_str().unwrap().contains("`run` is not `async`"), "{list:#}");
    assert_eq!(list[1]["tags"], json!(["orders", "revenue"]));
    assert_eq!(place.json(&["program", "list", "--json", "--tag", "orders"]).as_array().unwrap().len(), 1);
    let table = place.ok(&["program", "list"]).stdout;
    assert!(table.contains("revenue") && table.contains("Revenue by status for one customer."), "{table}");
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
    assert!(
        of("gone")["diagnostics"][0]["rendered"].as_str().unwrap().contains("list_invoices"),
        "{checked:#}"
    );
    assert_eq!(of("slip")["state"], "corrected", "{checked:#}");
    assert!(of("slip")["fixes"][0]["after"].as_str().unwrap().contains("(\"c-01\").await?"), "{checked:#}");
    assert_eq!(
        (&of("untyped")["state"], &of("untyped")["result"]),
        (&json!("fits"), &Value::Null),
        "{checked:#}"
    );
    assert!(of("untyped")["without_result"].as_str().unwrap().contains("JsonSchema"), "{checked:#}");
    let text = place.run(&["program", "check", "--demo", "gone"]).done().exits(3).stdout;
    assert!(text.starts_with("gone: broken: ") && text.contains("list_invoices"), "{text}");
    assert_eq!(place.ok(&["program", "check", "--demo", "revenue"]).stdout, "revenue: fits\n");
}

#[test]
fn a_project_s_programs_are_used_only_if_it_is_trusted() {
    let place = Place::new();
    let folder = place.project.path().join(".toolsmith/programs");
    write(&folder, "answer", "async fn run() -> Result<u8> { Ok(42) }");
    place
        .run(&["program", "run", "answer"])
        .done()
        .exits(2)
        .says(&["no program \"answer\"", "has no configuration"]);
    fs::write(place.project.path().join("toolsmith.yaml"), "globalSettings: {}\n").unwrap();
    place.run(&["program", "run", "answer"]).done().exits(2).says(&["is not trusted", "toolsmith trust"]);
    place.ok(&["trust", "--yes"]);
    assert_eq!(place.ok(&["program", "run", "answer"]).stdout, "42\n");
    // A project's program replaces the user's.
    write(&folder, "revenue", "async fn run() -> Result<u8> { Ok(43) }");
    assert_eq!(place.ok(&["program", "run", "revenue"]).stdout, "43\n");
    fs::write(place.project.path().join("toolsmith.yaml"), "globalSettings: {  }\n").unwrap();
    let changed = place.run(&["program", "list"]).done().exits(0).says(&["has changed since it was trusted"]);
    assert!(changed.stdout.contains("Revenue by status"), "{changed:#?}");
}
