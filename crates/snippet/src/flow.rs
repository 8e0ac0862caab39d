//! Determines from their syntax whether statements reach their end, and whether they return a value.
//!
//! Types would be more precise, but only the compiler knows them, and the wrapper must be chosen before compiling.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Item, Macro, Stmt};

/// Whether control never reaches the end of `statements`.
pub(crate) fn diverges(statements: &[Stmt]) -> bool {
    match statements.iter().rfind(|statement| !matches!(statement, Stmt::Item(_))) {
        // With a `;`, the compiler would not know its type.
        Some(Stmt::Expr(Expr::Try(tried), None)) => is_error(&tried.expr),
        Some(Stmt::Expr(expression, _)) => {
            expression_diverges(expression) || ends_in_imported_exit(statements)
        }
        Some(Stmt::Macro(statement)) => macro_diverges(&statement.mac),
        _ => false,
    }
}

fn expression_diverges(expression: &Expr) -> bool {
    match expression {
        Expr::Return(_) => true,
        Expr::Block(block) => block_diverges(&block.block),
        Expr::Unsafe(block) => block_diverges(&block.block),
        Expr::Paren(inner) => expression_diverges(&inner.expr),
        Expr::If(condition) => {
            let otherwise = condition.else_branch.as_ref();
            block_diverges(&condition.then_branch)
                && otherwise.is_some_and(|(_, otherwise)| expression_diverges(otherwise))
        }
        Expr::Match(choice) => !choice.arms.is_empty() && choice.arms.iter().all(arm_diverges),
        Expr::Loop(endless) => !has_break(&endless.body),
        Expr::Macro(call) => macro_diverges(&call.mac),
        Expr::Call(call) => is_exit(&call.func),
        _ => false,
    }
}

fn arm_diverges(arm: &syn::Arm) -> bool {
    expression_diverges(&arm.body)
}

fn block_diverges(block: &Block) -> bool {
    diverges(&block.stmts)
}

fn macro_diverges(call: &Macro) -> bool {
    let name = call.path.segments.last().map(|segment| segment.ident.to_string());
    matches!(name.as_deref(), Some("panic" | "todo" | "unimplemented" | "unreachable" | "bail"))
}

/// `process::exit(…)` and `process::abort()`. A bare `exit` may be any function: see [`ends_in_imported_exit`].
fn is_exit(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    is_exit_name(names.next().as_deref()) && names.next().as_deref() == Some("process")
}

fn is_exit_name(name: Option<&str>) -> bool {
    matches!(name, Some("exit" | "abort"))
}

/// Whether the last of `statements` is a bare `exit(…)` imported from `std::process`.
fn ends_in_imported_exit(statements: &[Stmt]) -> bool {
    let Some(Stmt::Expr(Expr::Call(call), _)) = statements.last() else { return false };
    let Expr::Path(path) = &*call.func else { return false };
    let name = path.path.get_ident().map(ToString::to_string);
    is_exit_name(name.as_deref())
        && statements.iter().any(|statement| match statement {
            Stmt::Item(Item::Use(import)) => {
                let names = import.to_token_stream().to_string();
                names.contains("process") && name.as_ref().is_some_and(|name| names.contains(name))
            }
            _ => false,
        })
}

fn has_break(body: &Block) -> bool {
    struct Breaks(bool);
    impl<'ast> Visit<'ast> for Breaks {
        fn visit_expr_break(&mut self, _: &'ast syn::ExprBreak) {
            // A break of an inner loop counts as well: the end is then considered reachable.
            self.0 = true;
        }
        fn visit_macro(&mut self, call: &'ast Macro) {
            // A macro's expansion is unknown: `tokio::select! { _ = timer => break }`.
            self.0 |= names_break(call.tokens.clone());
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_item(&mut self, _: &'ast Item) {}
    }
    let mut breaks = Breaks(false);
    breaks.visit_block(body);
    breaks.0
}

fn names_break(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => name == "break",
        TokenTree::Group(group) => names_break(group.stream()),
        TokenTree::Literal(_) | TokenTree::Punct(_) => false,
    })
}

/// Whether `statements` contain a `return` of their own with anything but an `Err`.
pub(crate) fn returns_value(statements: &[Stmt]) -> bool {
    struct Returns(bool);
    impl<'ast> Visit<'ast> for Returns {
        fn visit_expr_return(&mut self, expression: &'ast syn::ExprReturn) {
            self.0 |= expression.expr.as_deref().is_some_and(|value| !is_error(value));
            visit::visit_expr_return(self, expression);
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
        fn visit_item(&mut self, _: &'ast Item) {}
    }
    let mut returns = Returns(false);
    statements.iter().for_each(|statement| returns.visit_stmt(statement));
    returns.0
}

/// Whether the value of `statements`, if any, is always an `Err`.
pub(crate) fn fails(statements: &[Stmt]) -> bool {
    matches!(statements.last(), Some(Stmt::Expr(value, None)) if expression_fails(value))
}

fn expression_fails(value: &Expr) -> bool {
    let is_end = |value: &Expr| expression_fails(value) || expression_diverges(value);
    match value {
        Expr::Block(block) => fails(&block.block.stmts),
        Expr::Paren(inner) => expression_fails(&inner.expr),
        Expr::If(condition) => {
            let otherwise = condition.else_branch.as_ref();
            let then = &condition.then_branch.stmts;
            (fails(then) || diverges(then)) && otherwise.is_some_and(|(_, otherwise)| is_end(otherwise))
        }
        Expr::Match(choice) => !choice.arms.is_empty() && choice.arms.iter().all(|arm| is_end(&arm.body)),
        other => is_error(other) && !has_stated_types(other),
    }
}

/// Whether a call states its types: `Err::<i32, _>(…)`.
fn has_stated_types(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    matches!(&*call.func, Expr::Path(path) if path.path.segments.iter().any(|segment| !segment.arguments.is_none()))
}

fn is_error(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    let Expr::Path(path) = &*call.func else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Err")
}

/// Functions and methods called for their effect: their value, if any, is not a result.
const EFFECTS: [&str; 21] = [
    "clear",
    "dedup",
    "drain",
    "drop",
    "emit",
    "extend",
    "insert",
    "pop",
    "progress",
    "push",
    "push_str",
    "remove",
    "retain",
    "reverse",
    "sleep",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "swap",
    "truncate",
];

/// Macros that return a value.
const VALUES: [&str; 3] = ["format", "json", "vec"];

/// Whether the last of `statements`, or of the function they start with, is an expression whose value a `;` drops.
pub(crate) fn discards(statements: &[Stmt]) -> bool {
    match statements.last() {
        Some(Stmt::Expr(value, Some(_))) => has_value(value),
        Some(Stmt::Macro(call)) => {
            let name = call.mac.path.segments.last().map(|segment| segment.ident.to_string());
            call.semi_token.is_some() && name.is_some_and(|name| VALUES.contains(&name.as_str()))
        }
        Some(Stmt::Item(_)) => statements.iter().any(|statement| match statement {
            Stmt::Item(Item::Fn(entry)) if entry.sig.ident == "main" => {
                matches!(entry.sig.output, syn::ReturnType::Default) && discards(&entry.block.stmts)
            }
            _ => false,
        }),
        _ => false,
    }
}

/// Whether an expression is written for its value, judging by its syntax.
fn has_value(value: &Expr) -> bool {
    match value {
        Expr::Await(waited) => has_value(&waited.base),
        Expr::Try(tried) => has_value(&tried.expr),
        Expr::Paren(inner) => has_value(&inner.expr),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().is_some_and(|last| !is_effect(&last.ident)),
            _ => true,
        },
        Expr::MethodCall(call) => !is_effect(&call.method),
        // `a += 1` has no value, `a + 1` has one.
        Expr::Binary(operation) => {
            !operation.op.to_token_stream().to_string().ends_with('=') || is_comparison(&operation.op)
        }
        Expr::Array(_)
        | Expr::Cast(_)
        | Expr::Field(_)
        | Expr::Index(_)
        | Expr::Lit(_)
        | Expr::Path(_)
        | Expr::Reference(_)
        | Expr::Struct(_)
        | Expr::Unary(_) => true,
        Expr::Tuple(parts) => !parts.elems.is_empty(),
        _ => false,
    }
}

fn is_effect(name: &syn::Ident) -> bool {
    EFFECTS.iter().any(|effect| name == effect)
}

fn is_comparison(operator: &syn::BinOp) -> bool {
    use syn::BinOp::{Eq, Ge, Le, Ne};
    matches!(operator, Eq(_) | Ge(_) | Le(_) | Ne(_))
}

#[cfg(test)]
mod tests {
    use crate::snippet::Snippet;

    fn discards_value(code: &str) -> bool {
        Snippet::read(code).is_ok_and(|snippet| snippet.discards)
    }

    #[test]
    fn a_last_expression_with_a_semicolon_drops_its_value() {
        for code in [
            "demo::echo(\"a\").await?;",
            "let n = 6;\nn * 7;",
            "let list = vec![1];\nlist.len();",
            "json!({ \"a\": 1 });",
            "fn main() {\n    let n = 6;\n    n == 7;\n}",
        ] {
            assert!(discards_value(code), "{code}");
        }
        for code in [
            "6 * 7",
            "println!(\"a\");",
            "emit(\"a\");",
            "let mut n = 6;\nn += 1;",
            "let mut list = vec![1];\nlist.push(2);",
            "for n in 0..3 { println!(\"{n}\"); }",
            "sleep(Duration::from_secs(1)).await;",
            "let n = 6;",
            "fn main() -> i32 {\n    6\n}",
            "",
            "no Rust at all",
        ] {
            assert!(!discards_value(code), "{code}");
        }
    }
}
