//! Anything as a schema: generation never panics, always gives code that parses, and always the same; and what was
//! understood of a schema, written down, is understood in the same way.
//!
//! A million cases take about ten minutes on one core:
//! `PROPTEST_CASES=1000000 cargo test -p codegen --release --test arbitrary`. What fails is shown as bytes and as the
//! tool that they stand for; a tool that is worth keeping belongs in `fixtures/schemas/nasty.json`.

mod schemas;

use codegen::{NormalForm, Server, Tool, generate, normal_form};
use proptest::collection::vec;
use proptest::prelude::*;

/// `PROPTEST_CASES` sets another number.
fn configuration(cases: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: wanted.unwrap_or(cases), failure_persistence: None, ..ProptestConfig::default() }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..300)
}

/// Warnings of schemas that are beyond the bounds of what is read.
const BEYOND: &[&str] = &["too large", "too many", "too deeply", "too much", "more than"];

proptest! {
    #![proptest_config(configuration(5_000))]

    #[test]
    fn any_schema_generates(bytes in bytes()) {
        let tool = schemas::tool(&bytes);
        let bindings = generate(&Server { name: "any".to_owned(), tools: vec![tool.clone()] }, "any");
        prop_assert!(syn::parse_file(&bindings.source()).is_ok(), "{}\n{tool:?}", bindings.source());
        let has = |reason: &str| bindings.warnings.iter().any(|warning| warning.reason.contains(reason));
        prop_assert!(!has("plain value"), "{:?}\n{tool:?}", bindings.warnings);
        for binding in &bindings.tools {
            let fidelity = &binding.fidelity;
            prop_assert_eq!(fidelity.properties, fidelity.typed + fidelity.fallbacks.len());
        }
        if !BEYOND.iter().any(|reason| has(reason)) {
            let NormalForm { input, output } = normal_form(&tool);
            let shown = format!("{}\n{input}", tool.input_schema);
            let form = Tool { input_schema: input, output_schema: output, ..tool };
            let again = normal_form(&form);
            prop_assert_eq!(&again.input, &form.input_schema, "{}", shown);
            prop_assert_eq!(&again.output, &form.output_schema, "{:?}", form);
        }
    }
}

proptest! {
    #![proptest_config(configuration(300))]

    #[test]
    fn the_order_of_tools_does_not_matter(tools in vec(bytes(), 2..5)) {
        let tools: Vec<Tool> = tools.iter().map(|bytes| schemas::tool(bytes)).collect();
        let mut server = Server { name: "any".to_owned(), tools };
        let bindings = generate(&server, "any");
        prop_assert!(syn::parse_file(&bindings.source()).is_ok(), "{}", bindings.source());
        server.tools.reverse();
        prop_assert_eq!(&generate(&server, "any"), &bindings);
    }
}
