//! Anything as a schema: generation never panics, always gives code that parses, and always the same; and what was
//! understood of a schema, written down, is understood in the same way.
//!
//! A million cases take about half an hour:
//! `PROPTEST_CASES=1000000 cargo test -p codegen --release --test arbitrary any_`. What fails is shown as bytes and as
//! the tool that they stand for; a tool that is worth keeping belongs in `fixtures/schemas/nasty.json`.

mod schemas;

use codegen::{NormalForm, Server, Tool, generate, normal_form};
use proptest::collection::vec;
use proptest::prelude::*;

/// `PROPTEST_CASES` sets another number.
fn configuration(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    // Most are small, which is where most mistakes show, and quickly.
    prop_oneof![3 => vec(any::<u8>(), 0..60), 1 => vec(any::<u8>(), 0..250)]
}

/// Warnings of schemas that are beyond the bounds of what is read.
const BEYOND: &[&str] = &["too large", "too many", "too deeply", "too much", "more than"];

fn parses(source: &str) -> bool {
    let parses = syn::parse_file(source).is_ok();
    // Else each source stays in memory, so that spans can show it.
    proc_macro2::extra::invalidate_current_thread_spans();
    parses
}

/// Whether the schemas of a tool are beyond the bounds.
fn is_beyond(tool: &Tool) -> bool {
    let bindings = generate(&Server { name: "any".to_owned(), tools: vec![tool.clone()] }, "any");
    let mut warnings = bindings.warnings.iter();
    warnings.any(|warning| BEYOND.iter().any(|reason| warning.reason.contains(reason)))
}

proptest! {
    #![proptest_config(configuration(5_000))]

    #[test]
    fn any_schema_generates(bytes in bytes()) {
        let tool = schemas::tool(&bytes);
        let bindings = generate(&Server { name: "any".to_owned(), tools: vec![tool.clone()] }, "any");
        // Parsing takes nearly as long as all the rest, and what does not parse comes of names, which are few.
        if bytes.len() % 8 == 0 {
            prop_assert!(parses(&bindings.source()), "{}\n{tool:?}", bindings.source());
        }
        let plain = bindings.warnings.iter().find(|warning| warning.reason.contains("plain value"));
        prop_assert!(plain.is_none(), "{plain:?}\n{tool:?}");
        for binding in &bindings.tools {
            let fidelity = &binding.fidelity;
            prop_assert_eq!(fidelity.properties, fidelity.typed + fidelity.fallbacks.len());
        }
    }

    #[test]
    fn any_normal_form_is_its_own(bytes in bytes()) {
        let tool = schemas::tool(&bytes);
        let NormalForm { input, output } = normal_form(&tool);
        let form = Tool { input_schema: input, output_schema: output, ..tool.clone() };
        let again = normal_form(&form);
        let same = again.input == form.input_schema && again.output == form.output_schema;
        prop_assert!(same || is_beyond(&tool), "of {tool:?}\ncomes {form:?}\nand of that {again:?}");
    }
}

proptest! {
    #![proptest_config(configuration(100))]

    #[test]
    fn the_order_of_tools_does_not_matter(tools in vec(bytes(), 2..5)) {
        let tools: Vec<Tool> = tools.iter().map(|bytes| schemas::tool(bytes)).collect();
        let mut server = Server { name: "any".to_owned(), tools };
        let bindings = generate(&server, "any");
        prop_assert!(parses(&bindings.source()), "{}", bindings.source());
        server.tools.reverse();
        prop_assert_eq!(&generate(&server, "any"), &bindings);
    }
}
