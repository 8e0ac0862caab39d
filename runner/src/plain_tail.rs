//! Determines from the form of a last expression that its value is no `Result`, so that nothing looks for one in it.
//!
//! Looking for one takes the compiler a tenth of the time that it needs for `a + 1`. A name can be redefined, so this may
//! be wrong; then the text does not compile, and is compiled again with the search.

use syn::{Expr, GenericArgument, Macro, PathArguments, Stmt, Type};

/// Methods whose values are texts, numbers or answers to a question.
const METHODS: [&str; 10] = [
    "contains",
    "count",
    "ends_with",
    "is_empty",
    "len",
    "starts_with",
    "text",
    "to_lowercase",
    "to_string",
    "to_uppercase",
];

/// Macros whose values are texts or JSON.
const MACROS: [&str; 2] = ["format", "json"];

/// Collections that an iterator is collected into.
const COLLECTIONS: [&str; 7] = ["BTreeMap", "BTreeSet", "HashMap", "HashSet", "String", "Vec", "VecDeque"];

/// Whether the last of `statements` is such an expression.
pub(crate) fn is_plain(statements: &[Stmt]) -> bool {
    match statements.last() {
        Some(Stmt::Expr(expression, None)) => expression_is_plain(expression),
        Some(Stmt::Macro(statement)) => macro_is_plain(&statement.mac),
        _ => false,
    }
}

fn expression_is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::Array(_) | Expr::Binary(_) | Expr::Cast(_) | Expr::Lit(_) | Expr::Tuple(_) => true,
        Expr::Macro(call) => macro_is_plain(&call.mac),
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            match &call.turbofish {
                None => METHODS.contains(&name.as_str()),
                Some(turbofish) => name == "collect" && turbofish.args.iter().all(is_collection),
            }
        }
        Expr::Paren(inner) => expression_is_plain(&inner.expr),
        _ => false,
    }
}

fn macro_is_plain(call: &Macro) -> bool {
    call.path.segments.last().is_some_and(|name| MACROS.iter().any(|plain| name.ident == plain))
}

fn is_collection(argument: &GenericArgument) -> bool {
    let GenericArgument::Type(Type::Path(kind)) = argument else { return false };
    kind.path.segments.last().is_some_and(|name| {
        let is_string = matches!(name.arguments, PathArguments::None);
        COLLECTIONS.iter().any(|collection| name.ident == collection)
            && (!is_string || name.ident == "String")
    })
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_forms_without_a_result_are_plain() {
        let is = |text: &str| {
            let block: syn::Block = syn::parse_str(&format!("{{ let a = 1; {text} }}")).unwrap();
            is_plain(&block.stmts)
        };
        for text in [
            "a + 1",
            "(a == 2)",
            "\"x\"",
            "(a, 1)",
            "a as f64",
            "[a, a]",
            "format!(\"{a}\")",
            "serde_json::json!({})",
            "f()?.text()",
            "a.iter().map(g).collect::<Vec<_>>()",
            "a.chars().collect::<String>()",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "a",
            "f()",
            "Ok(1)",
            "a.parse::<u8>()",
            "a.iter().collect::<Result<Vec<_>, _>>()",
            "a.collect()",
            "a + 1;",
            "f()?",
            "if a { 1 } else { 2 }",
            "&a",
            "vec![]",
            "a.len::<u8>()",
            "let b = 2;",
            "bail!(\"no\")",
        ] {
            assert!(!is(text), "{text}");
        }
    }
}
