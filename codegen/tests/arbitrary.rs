//! Arbitrary schemas: generation never panics, always emits code that parses, and is deterministic. The
//! normal form of a schema has the same normal form.
//!
//! A million cases take about half an hour: `PROPTEST_CASES=1000000 cargo test -p codegen --release --test
//! arbitrary any_`. A failure is printed as bytes and as the tool made from them. A tool that is worth
//! keeping belongs in `fixtures/schemas/nasty.json`.

mod schemas;

use codegen::{NormalForm, Server, Tool, generate, normal_form};
use proptest::collection::vec;
use proptest::prelude::*;

/// `PROPTEST_CASES` sets another number.
fn configuration(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    // Most inputs are small. They find most errors, and quickly.
    prop_oneof![3 => vec(any::<u8>(), 0..60), 1 => vec(any::<u8>(), 0..250)]
}

/// Warnings for schemas that exceed the limits.
const LIMIT_WARNINGS: &[&str] = &["too large", "too many", "too deeply", "more than"];

fn parses(source: &str) -> bool {
    let parses = syn::parse_file(source).is_ok();
    // Otherwise each source stays in memory, so that spans can show it.
    proc_macro2::extra::invalidate_current_thread_spans();
    parses
}

/// Whether the schemas of a tool exceed the limits.
fn exceeds_limits(tool: &Tool) -> bool {
    let bindings = generate(&Server { name: "any".to_owned(), tools: vec![tool.clone()] }, "any");
    let mut warnings = bindings.warnings.iter();
    warnings.any(|warning| LIMIT_WARNINGS.iter().any(|reason| warning.reason.contains(reason)))
}

proptest! {
    #![proptest_config(configuration(1_500))]

    #[test]
    fn any_schema_generates(bytes in bytes()) {
        let tool = schemas::tool(&bytes);
        let bindings = generate(&Server { name: "any".to_owned(), tools: vec![tool.clone()] }, "any");
        // Parsing takes nearly as long as everything else, and parse errors come from names, which are few.
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
    fn any_normal_form_is_stable(bytes in bytes()) {
        let tool = schemas::tool(&bytes);
        let NormalForm { input, output } = normal_form(&tool);
        let form = Tool { input_schema: input, output_schema: output, ..tool.clone() };
        let again = normal_form(&form);
        let same = again.input == form.input_schema && again.output == form.output_schema;
        prop_assert!(same || exceeds_limits(&tool), "{tool:?}\nhas the normal form {form:?}\nwhich has the normal form {again:?}");
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
