//! Tests of reading saved programs, and of what is inserted into their texts.

use super::*;
use crate::snippet::Snippet;
use crate::splice::{Changes, splice};

const REVENUE: &str = "//! Revenue by status for one customer.\n\
    use std::fmt;\n\
    /// Whose orders.\n\
    struct Args {\n    /// The customer's id.\n    customer: String,\n    since: Option<NaiveDate>, #[serde(default)] most: u32,\n    \
    tags: Vec<String>, order: Order, deep: Deep, exact: bool }\n\
    enum Order { Asc, #[serde(rename = \"down\")] Desc }\n\
    #[derive(Debug, serde::Deserialize)] struct Deep { x: Inner }\n\
    struct Inner(u8);\n\
    struct Row { sum: f64, inner: Inner }\n\
    struct Unrelated;\n\
    async fn run(args: Args) -> Result<Vec<Row>> { todo!() }\n";

fn compiled(text: &str, purpose: Purpose) -> String {
    splice(&Snippet::read_for(text, purpose).unwrap(), &Changes::default(), &[]).text
}

#[test]
fn arguments_are_read_from_the_declaration() {
    let program = ProgramFile::parse(REVENUE.to_owned()).unwrap();
    assert_eq!(program.about().title(), "Revenue by status for one customer.");
    let shown: Vec<String> = program
        .arguments()
        .iter()
        .map(|argument| {
            let mark = if argument.is_required { "!" } else { "" };
            format!("{}{mark} {:?}", argument.name, argument.kind)
        })
        .collect();
    let expected = [
        "customer! Text",
        "since Text",
        "most Integer",
        "tags! List(Text)",
        "order! Choice([\"Asc\", \"down\"])",
        "deep! Json",
        "exact! Flag",
    ];
    assert_eq!(shown, expected);
    assert_eq!(program.arguments()[0].about, "The customer's id.");
}

#[test]
fn types_get_the_derives_that_they_need() {
    let text = compiled(REVENUE, Purpose::Program);
    assert!(
        text.contains(
            "#[derive(::serde::Deserialize)] #[serde(deny_unknown_fields)] /// Whose orders.\nstruct Args"
        ),
        "{text}"
    );
    assert!(text.contains("#[derive(::serde::Deserialize)] enum Order"), "{text}");
    assert!(text.contains("\n#[derive(Debug, serde::Deserialize)] struct Deep"), "{text}");
    assert!(
        text.contains("#[derive(::serde::Deserialize)] #[derive(::serde::Serialize)] struct Inner"),
        "{text}"
    );
    assert!(text.contains("\n#[derive(::serde::Serialize)] struct Row"), "{text}");
    assert!(text.contains("\nstruct Unrelated"), "{text}");
    assert!(text.contains("let args: Args = args.typed()?;") && !text.contains("JsonSchema"), "{text}");
    // Lines are the program's own, after the wrapper's end.
    assert_eq!(text.lines().count(), REVENUE.lines().count() + 2);
}

#[test]
fn schemas_are_derived_only_for_what_is_described() {
    let whole = compiled(REVENUE, Purpose::Schemas { result: true });
    assert_eq!(whole.matches("::__schema::JsonSchema").count(), 5, "{whole}");
    assert!(whole.contains("::__schema::of(run)") && !whole.contains("args.typed()"), "{whole}");
    let part = compiled(REVENUE, Purpose::Schemas { result: false });
    assert_eq!(part.matches("::__schema::JsonSchema").count(), 4, "{part}");
    assert!(part.contains("::__schema::of_arguments(run)"), "{part}");
    let without = "async fn run() -> Result<u8> { Ok(1) }";
    assert!(compiled(without, Purpose::Schemas { result: true }).contains("::__schema::of_result(run)"));
}

#[test]
fn implementations_of_the_text_are_not_repeated() {
    let text = "struct Args { a: A }\nstruct A;\nimpl<'de> Deserialize<'de> for A { }\n\
                async fn run(args: Args) -> Result<()> { Ok(()) }";
    let text = compiled(text, Purpose::Program);
    assert!(text.contains("\nstruct A;"), "{text}");
}

#[test]
fn other_forms_are_refused_with_the_form_and_a_place() {
    for (text, line, says) in [
        ("let a = 1;\na", 1, "expected"),
        ("fn f() {}", 1, "there is no `run`"),
        ("\nfn run() -> Result<()> { Ok(()) }", 2, "`run` is not `async`"),
        ("async fn run() {}", 1, "returns no `Result`"),
        ("async fn run(args: Args) -> Result<()> { Ok(()) }", 1, "the type `Args` is missing"),
        ("struct Args { a: u8 }\nasync fn run() -> Result<()> { Ok(()) }", 1, "does not take the `Args`"),
        ("struct Args(u8);\nasync fn run(a: Args) -> Result<()> { Ok(()) }", 1, "must have named fields"),
        ("async fn run(a: u8) -> Result<()> { Ok(()) }", 1, "takes something else"),
        (
            "struct Args {\n#[serde(flatten)] a: A }\nasync fn run(args: Args) -> Result<()> { Ok(()) }",
            2,
            "can't have `flatten`",
        ),
        ("//! Example: a\nasync fn run() -> Result<()> { Ok(()) }", 1, "is no example"),
        ("async fn run() -> Result<()> { Ok(() }", 1, ""),
    ] {
        let error = ProgramFile::parse(text.to_owned()).unwrap_err();
        assert!(error.message.contains(says) && error.line == line, "{text}: {error}");
    }
}

#[test]
fn a_changed_text_has_another_hash() {
    let of = |text: &str| ProgramFile::parse(text.to_owned()).unwrap().hash().to_owned();
    let one = of("async fn run() -> Result<()> { Ok(()) }");
    assert!(one.len() == 32 && one == of("async fn run() -> Result<()> { Ok(()) }"));
    assert_ne!(one, of("async fn run() -> Result<()> { Ok(( )) }"));
}

#[test]
fn names_are_those_of_functions() {
    for name in ["a", "revenue_by_status", "a1"] {
        assert!(is_program_name(name), "{name}");
    }
    for name in ["", "1a", "A", "a-b", "a/b", "..", "fn", "self", "_", "ä", &"a".repeat(65)] {
        assert!(!is_program_name(name), "{name}");
    }
}

/// The text of a snippet that calls these programs, as it is compiled.
fn calling(code: &str, programs: &[(&str, &str)]) -> String {
    let programs = programs
        .iter()
        .map(|(name, text)| {
            let program = ProgramFile::parse((*text).to_owned()).unwrap();
            ((*name).to_owned(), program.as_function(name).unwrap())
        })
        .collect();
    let code = Code::parse_with(None, code.to_owned(), &programs);
    splice(code.snippet().unwrap(), &Changes::default(), &[]).text
}

#[test]
fn called_programs_are_modules_behind_the_text() {
    let other = "async fn run() -> Result<u8> { programs::revenue(\"x\").await?; Ok(1) }";
    let code = "let a = 1;\nprograms::other().await?";
    let text = calling(code, &[("revenue", REVENUE), ("other", other), ("third", other)]);
    assert!(text.lines().nth(1).unwrap().ends_with("programs::other().await?"), "{text}");
    let modules = text.lines().skip(2).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    for part in [
        "pub mod __program_revenue {",
        "pub mod __program_other {",
        "pub use super::__program_other::__call as other;",
        "pub struct Row { pub sum : f64 , pub inner : Inner }",
        "pub fn __call (customer : impl :: std :: convert :: Into < String > ,",
        "pub fn since (mut self , value : NaiveDate) -> Self",
    ] {
        assert!(modules.contains(part), "{part}: {modules}");
    }
    assert!(!modules.contains("__program_third"), "{modules}");
    // A text that calls none is compiled as before.
    assert!(!calling("let programs = 1;\nprograms", &[("revenue", REVENUE)]).contains("__program"));
}

#[test]
fn a_function_is_found_by_its_words_and_shows_its_types() {
    let program = ProgramFile::parse(REVENUE.replace("//! Rev", "//! Tags: orders, money\n//! Rev")).unwrap();
    let function = program.as_function("revenue").unwrap();
    let expected = "programs::revenue(customer: String, tags: Vec<String>, order: Order, deep: Deep, exact: bool)\
                    .since(NaiveDate).most(u32).await -> Result<Vec<Row>>  // Revenue by status for one customer.";
    assert_eq!(function.line(), expected);
    let has = |words: &[&str]| function.has(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert!(has(&["money"]) && has(&["status", "customer"]) && has(&[]) && !has(&["status", "invoice"]));
}
