//! Fourteen ways to write the same call: the documented one, twelve common mistakes, and one with another meaning. At
//! least ten work, the others are clear errors, and none silently makes a different call.

use end_to_end::cache::json as run;
use end_to_end::harness::assert_says;
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The code after the call, whichever way it is written.
const REST: &str =
    ".orders.iter().map(|order| format!(\"{} {}\", order.id, order.status)).collect::<Vec<_>>()";

const STATUS: &str = "demo::OrderStatus::Shipped";

enum Expectation {
    Right,
    /// A compile error with this text and the signature.
    Error(&'static str),
}

/// The call in each way, up to its answer.
fn ways() -> [(&'static str, String, Expectation); 14] {
    let fluent = |call: &str| format!("demo::list_orders(){call}");
    let literal = |fields: &str| format!("demo::ListOrdersInput {{ {fields} }}.call().await?");
    [
        ("as documented", fluent(&format!(".limit(2).status({STATUS}).await?")), Expectation::Right),
        (
            "optional ones wrapped",
            fluent(&format!(".limit(Some(2)).status(Some({STATUS})).await?")),
            Expectation::Right,
        ),
        (
            "another integer type",
            fluent(&format!(".limit([0_u8; 2].len()).status({STATUS}).await?")),
            Expectation::Right,
        ),
        ("an enum by its text", fluent(".limit(2).status(\"shipped\").await?"), Expectation::Right),
        (
            "the literal",
            literal(&format!("cursor: None, limit: Some(2), status: Some({STATUS})")),
            Expectation::Right,
        ),
        (
            "the rest by default",
            literal(&format!("limit: Some(2), status: Some({STATUS}), ..Default::default()")),
            Expectation::Right,
        ),
        ("a field left out", literal(&format!("limit: Some(2), status: Some({STATUS})")), Expectation::Right),
        (
            "bare values in the literal",
            literal(&format!("cursor: None, limit: 2, status: {STATUS}")),
            Expectation::Right,
        ),
        ("no await", fluent(&format!(".limit(2).status({STATUS})?")), Expectation::Right),
        ("no question mark", fluent(&format!(".limit(2).status({STATUS}).await")), Expectation::Right),
        (
            "positional optional ones",
            format!("demo::list_orders(2, {STATUS}).await?"),
            Expectation::Error("`.limit(…)`"),
        ),
        (
            "a variant that is not there",
            fluent(".limit(2).status(demo::OrderStatus::Shiped).await?"),
            Expectation::Error("Shipped"),
        ),
        (
            "a number as a text",
            fluent(&format!(".limit(\"2\").status({STATUS}).await?")),
            Expectation::Error("i64"),
        ),
        // Swapped: each value belongs to the other argument.
        ("values swapped", fluent(&format!(".limit({STATUS}).status(2).await?")), Expectation::Error("i64")),
    ]
}

#[test]
fn ten_of_fourteen_ways_work_and_none_is_silently_wrong() {
    let mut documented: Option<Value> = None;
    let mut right = 0;
    for (what, call, way) in ways() {
        let done = run(&format!("{call}{REST}")).done();
        let outcome = done.outcome();
        match way {
            Expectation::Right => {
                assert_eq!(outcome["status"], "ok", "{what}: {outcome:#}");
                let expected = documented.get_or_insert_with(|| outcome["result"].clone());
                assert_eq!(outcome["result"], *expected, "{what}");
                assert_eq!(outcome["calls_total"], 1, "{what}: {outcome:#}");
                right += 1;
            }
            Expectation::Error(phrase) => {
                assert_eq!(outcome["status"], "compile_error", "{what}: {outcome:#}");
                let diagnostics = Value::from(outcome["diagnostics"].to_string());
                assert_says(&diagnostics, &[phrase, "list_orders(cursor?: String"]);
                assert_eq!(outcome["calls_total"], 0, "{what}");
            }
        }
    }
    let documented = documented.unwrap();
    assert_eq!(documented.as_array().unwrap().len(), 2, "{documented}");
    assert!(documented[0].as_str().unwrap().ends_with(" shipped"), "{documented}");
    assert!(right >= 10);
}

/// Strings and lists of strings are accepted in any type; each way makes the same note.
#[test]
fn strings_and_lists_are_accepted_in_any_type() {
    let before = "let (subject, text) = (String::from(\"s\"), String::from(\"t\"));\n\
                  let tags = vec![String::from(\"a\"), String::from(\"b\")];\n";
    let note = |call: &str| format!("{before}{call}.await?;\ndemo::json_response().await?.json::<Value>()?");
    let expected = json!([{ "id": 1, "subject": "s", "tags": ["a", "b"], "bytes": 4 }]);
    for call in [
        "demo::create_note(\"s\", \"t\").tags([\"a\", \"b\"])",
        "demo::create_note(&subject, &text).tags(&tags)",
        "demo::create_note(subject, text).tags(tags)",
        "demo::create_note('s', format!(\"{text}\")).tags(vec![\"a\", \"b\"])",
        "demo::create_note(subject.as_str(), &*text).tags(&tags[..])",
        "demo::create_note(subject.clone(), text).tags(Some(&[\"a\", \"b\"]))",
        "demo::CreateNoteInput { subject, text, tags: Some(tags) }.call()",
        "demo::CreateNoteInput { subject: \"s\".into(), text, tags: Some(tags.clone()) }.call()",
    ] {
        let mut outcome = run(&note(call)).expect("ok", 0);
        assert_eq!(outcome["result"]["notes"].take(), expected, "{call}");
        assert_eq!(outcome["fixes"], json!([]), "{call}");
    }
}

/// An enum parameter accepts its texts. An open enum accepts any text, and the server decides.
#[test]
fn enums_accept_their_texts() {
    let shipped = "String::from(\"shipped\")";
    for (argument, orders) in [
        (format!(".status({shipped})"), 2),
        (format!(".status(&{shipped})"), 2),
        (".status(Some(\"shipped\"))".to_owned(), 2),
        (".status(None::<&str>)".to_owned(), 2),
    ] {
        let code = format!("demo::list_orders().limit(2){argument}.await?.orders.len()");
        assert_eq!(run(&code).result(), orders, "{code}");
    }
    let literal = "demo::ListOrdersInput { cursor: None, limit: Some(2), status: Some(\"shipped\".into()) }";
    assert_eq!(run(&format!("{literal}.call().await?.orders.len()")).result(), 2);
    let code = "demo::list_orders().status(\"penidng\").await.unwrap_err().kind.as_str()";
    assert_eq!(run(code).result(), "invalid_params");
}

/// Arguments of different types cannot be swapped unnoticed, and required ones cannot be omitted.
#[test]
fn arguments_of_different_types_cannot_be_swapped() {
    let outcome =
        run("demo::search_products(100, \"lamp\").await?.products.len()").expect("compile_error", 3);
    assert_says(&outcome["diagnostics"], &["search_products("]);
    let outcome = run("demo::get_customer().await?.name").expect("compile_error", 3);
    assert_snapshot!(normal(&outcome["diagnostics"]), @r#"
    [
      {
        "level": "error",
        "code": "E0061",
        "message": "this function takes 1 argument but 0 arguments were supplied",
        "line": 1,
        "column": 1,
        "rendered": "error[E0061]: this function takes 1 argument but 0 arguments were supplied\n --> 1:1\n1 | demo::get_customer().await?.name\n  | ^^^^^^^^^^^^^^^^^^\n --> 1:19\n1 | demo::get_customer().await?.name\n  |                   ^^ argument #1 is missing\n",
        "hint": "write `demo::get_customer(id)`\ndemo::get_customer(id: String /* The customer's id, such as `c-01`. */) -> GetCustomerOutput\nGetCustomerOutput { id: String, name: String, email: String, city: String, vip: bool /* Whether this is a very important customer. */ }"
      }
    ]
    "#);
}
