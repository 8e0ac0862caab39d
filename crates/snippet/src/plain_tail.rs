//! Determines from the form of a last expression that its value is no `Result`, so that the program need not look for one
//! in it. For `a + 1`, looking is a tenth of the compiler's time.
//!
//! Only the snippet's own declarations could give these forms another meaning. If it has any, nothing is plain.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Expr, GenericArgument, Macro, Stmt, Type};

/// The words that begin declarations of methods, operators and macros, and the module of saved programs, which may
/// contain some.
const DECLARING: [&str; 4] = ["impl", "macro_rules", "programs", "trait"];

/// Methods whose values are texts, numbers or truth values.
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
const COLLECTIONS: [&str; 8] =
    ["BTreeMap", "BTreeSet", "HashMap", "HashSet", "IndexMap", "String", "Vec", "VecDeque"];

/// Types of numbers that a value is cast to.
const NUMBERS: [&str; 14] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];

/// Whether the last of `statements`, whose text is `tokens`, is such an expression.
pub(crate) fn is_plain(statements: &[Stmt], tokens: &TokenStream) -> bool {
    let is_plain = match statements.last() {
        Some(Stmt::Expr(expression, None)) => expression_is_plain(expression),
        Some(Stmt::Macro(statement)) => macro_is_plain(&statement.mac),
        _ => false,
    };
    is_plain && !declares(tokens.clone())
}

fn declares(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => DECLARING.iter().any(|declaring| name == declaring),
        TokenTree::Group(group) => declares(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn expression_is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::Array(_) | Expr::Binary(_) | Expr::Lit(_) | Expr::Tuple(_) => true,
        Expr::Cast(cast) => is_one_of(&cast.ty, &NUMBERS),
        Expr::Macro(call) => macro_is_plain(&call.mac),
        Expr::MethodCall(call) => match &call.turbofish {
            None => METHODS.iter().any(|method| call.method == method),
            Some(turbofish) => call.method == "collect" && turbofish.args.iter().all(is_collection),
        },
        Expr::Paren(inner) => expression_is_plain(&inner.expr),
        _ => false,
    }
}

fn macro_is_plain(call: &Macro) -> bool {
    call.path.segments.last().is_some_and(|name| MACROS.iter().any(|plain| name.ident == plain))
}

fn is_collection(argument: &GenericArgument) -> bool {
    matches!(argument, GenericArgument::Type(kind) if is_one_of(kind, &COLLECTIONS))
}

/// Whether the last name of a path is one of `names`.
fn is_one_of(kind: &Type, names: &[&str]) -> bool {
    let Type::Path(kind) = kind else { return false };
    kind.path.segments.last().is_some_and(|name| names.iter().any(|one| name.ident == one))
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_forms_without_a_result_are_plain() {
        let is = |text: &str| {
            let block: syn::Block = syn::parse_str(&format!("{{ let a = 1; {text} }}")).unwrap();
            is_plain(&block.stmts, &text.parse().unwrap())
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
            // The operator could be the snippet's own.
            "impl std::ops::Add for A { type Output = Result<u8, E>; fn add(self, _: A) -> Self::Output { Ok(1) } } a + a",
            "macro_rules! format { () => { Ok(1) } } format!()",
        ] {
            assert!(!is(text), "{text}");
        }
    }
}
