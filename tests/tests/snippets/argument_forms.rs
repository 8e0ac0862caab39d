//! Arguments as a model writes them: fifty forms for fourteen types, as a table of what the server receives.
//!
//! One snippet passes a form to all types that it has a meaning for, each in a function of its own, because the compiler
//! judges functions one by one. Others pass one to a type that it has no meaning for.

use std::fmt::Write as _;

use end_to_end::harness::FAULT_SERVER;
use end_to_end::page::settings;
use end_to_end::serving::{Serve, Server, execute, outcome_of};
use serde_json::{Value, json};

/// Declared before each form.
const DECLARED: &str = "let s = \"a\".to_string(); let names = [\"x\", \"y\"];";

const INTEGERS: &[&str] = &["integer", "number", "union", "any", "scalar"];
const FLOATS: &[&str] = &["number", "union", "any"];
const TEXTS: &[&str] = &["string", "union", "any", "nullable", "scalar"];
const NAMES: &[&str] = &["string", "level", "union", "any", "nullable", "scalar"];
const OPTIONS: &[&str] = &["any", "nullable"];
const STRINGS: &[&str] = &["strings", "union", "any"];
const LISTS: &[&str] = &["strings", "integers", "union", "any"];
const MAPS: &[&str] = &["map", "any"];

/// Arguments as they are written, and the types that they have a meaning for.
const FORMS: &[(&str, &[&str])] = &[
    ("5", INTEGERS),
    ("-3", INTEGERS),
    ("5_i64", INTEGERS),
    ("5usize", INTEGERS),
    ("1700000000000", INTEGERS),
    ("24*60*60*1000*30", INTEGERS),
    ("5u8.into()", INTEGERS),
    ("5u64.try_into()?", INTEGERS),
    ("json!(5)", INTEGERS),
    ("json!(1700000000000)", INTEGERS),
    ("\"5\".parse()?", &["string", "integer", "number", "nullable"]),
    ("(1..=3).sum()", &["integer", "number"]),
    ("5.0", &["number", "union", "any", "scalar"]),
    ("2.5", FLOATS),
    ("2.5f32", FLOATS),
    ("true", &["boolean", "any"]),
    ("\"5\" == \"5\"", &["boolean", "any"]),
    ("\"a\"", TEXTS),
    ("\"a\".to_string()", TEXTS),
    ("String::from(\"a\")", TEXTS),
    ("\"a\".into()", TEXTS),
    ("format!(\"a{}\", 1)", TEXTS),
    ("&s", TEXTS),
    ("s.clone()", TEXTS),
    ("'a'", TEXTS),
    ("\"low\"", NAMES),
    ("\"mid high\"", NAMES),
    ("\"2024-01-02\"", &["string", "date", "union", "any", "nullable", "scalar"]),
    ("NaiveDate::from_ymd_opt(2024, 1, 2).unwrap()", &["date", "any"]),
    ("Some(\"a\")", OPTIONS),
    ("None", OPTIONS),
    ("json!(null)", OPTIONS),
    ("Value::Null", OPTIONS),
    ("json!(\"a\")", &["union", "any", "nullable", "scalar"]),
    ("vec![\"a\", \"b\"]", STRINGS),
    ("[\"a\", \"b\"]", STRINGS),
    ("&[\"a\"]", STRINGS),
    ("names.to_vec()", STRINGS),
    ("json!([\"a\"])", STRINGS),
    ("vec![1, 2]", &["integers", "any"]),
    ("(1..=3).collect()", &["integers", "any"]),
    ("names.iter().map(|n| n.to_string()).collect()", &["string", "strings", "any", "nullable"]),
    ("vec![]", LISTS),
    ("[]", LISTS),
    ("Vec::new()", LISTS),
    ("Default::default()", &["integer", "boolean", "strings", "map", "nullable"]),
    ("HashMap::from([(\"a\", 1.0)])", MAPS),
    ("BTreeMap::from([(\"a\".to_string(), 1)])", MAPS),
    ("HashMap::new()", MAPS),
    ("json!({\"x\": 1.5})", &["map", "point", "any"]),
];

/// Arguments, and types that they have no meaning for.
const REFUSED: [(&str, &str); 14] = [
    ("5", "string"),
    ("5.0", "integer"),
    ("json!(null)", "number"),
    ("5.0", "boolean"),
    ("vec![1, 2]", "strings"),
    ("[\"a\", \"b\"]", "integers"),
    ("\"a\"", "level"),
    ("&[\"a\"]", "map"),
    ("\"low\"", "point"),
    ("24*60*60*1000*30", "date"),
    ("json!({\"x\": 1.5})", "union"),
    ("(1..=3).sum()", "any"),
    ("5_i64", "nullable"),
    ("2.5f32", "scalar"),
];

fn run(server: &mut Server, id: u32, code: &str) -> Value {
    outcome_of(&server.ask(id, "tools/call", &execute(code))).clone()
}

/// The outcome of a snippet that passes a form to a tool for each of these types.
fn passed(server: &mut Server, id: u32, text: &str, types: &[&str]) -> Value {
    let function = |name: &&str| {
        format!(
            "async fn {name}() -> Result<String> {{ {DECLARED} Ok(forms::take_{name}({text}).await?.text()) }}\n"
        )
    };
    let functions: String = types.iter().map(function).collect();
    let calls: Vec<String> = types.iter().map(|name| format!("{name}().await?")).collect();
    run(server, id, &format!("{functions}[{}]", calls.join(", ")))
}

#[test]
fn fifty_forms_for_fourteen_types() {
    let config =
        format!("mcpServers:\n  forms: {{ command: {FAULT_SERVER:?}, args: [forms], trust: true }}\n");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let mut table = String::new();
    for (id, (text, types)) in (100..).zip(FORMS) {
        let outcome = passed(&mut server, id, text, types);
        assert_eq!(outcome["status"], "ok", "{text}: {outcome:#}");
        writeln!(table, "{text}").unwrap();
        for (name, received) in types.iter().zip(outcome["result"].as_array().unwrap()) {
            let received: Value = serde_json::from_str(received.as_str().unwrap()).unwrap();
            writeln!(table, "    {name:8} {}", received["value"]).unwrap();
        }
    }
    for (id, (text, name)) in (200..).zip(REFUSED) {
        let outcome = passed(&mut server, id, text, &[name]);
        assert_eq!(outcome["calls_total"], json!(0), "{text}: {outcome:#}");
        let message = outcome["error"]["message"].as_str().unwrap();
        writeln!(table, "{text}\n    {name:8} error: {}", message.lines().next().unwrap()).unwrap();
    }
    settings().bind(|| insta::assert_snapshot!("argument-forms", table));
}
