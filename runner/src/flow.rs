//! Whether statements can reach their end, and whether they return a value: read off their syntax.
//!
//! Types would know better, but they are known only to the compiler, and the wrapper must be chosen before.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Item, Macro, Stmt};

/// Whether control can never come to the end of `statements`.
pub(crate) fn diverges(statements: &[Stmt]) -> bool {
    match statements.iter().rfind(|statement| !matches!(statement, Stmt::Item(_))) {
        // With a `;` the compiler would not know its type.
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

/// `process::exit(…)` and `process::abort()`. A bare `exit` may be anybody's: see [`ends_in_imported_exit`].
fn is_exit(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    is_exit_name(names.next().as_deref()) && names.next().as_deref() == Some("process")
}

fn is_exit_name(name: Option<&str>) -> bool {
    matches!(name, Some("exit" | "abort"))
}

/// Whether the last of `statements` is a bare `exit(…)` that they import from `std::process`.
fn ends_in_imported_exit(statements: &[Stmt]) -> bool {
    let Some(Stmt::Expr(Expr::Call(call), _)) = statements.last() else { return false };
    let Expr::Path(path) = &*call.func else { return false };
    let name = path.path.get_ident().map(ToString::to_string);
    let imports = |statement: &Stmt| match statement {
        Stmt::Item(Item::Use(import)) => {
            let names = import.to_token_stream().to_string();
            names.contains("process") && name.as_ref().is_some_and(|name| names.contains(name))
        }
        _ => false,
    };
    is_exit_name(name.as_deref()) && statements.iter().any(imports)
}

fn has_break(body: &Block) -> bool {
    struct Breaks(bool);
    impl<'ast> Visit<'ast> for Breaks {
        fn visit_expr_break(&mut self, _: &'ast syn::ExprBreak) {
            // A break of an inner loop counts as well: then the end is taken to be reachable.
            self.0 = true;
        }
        fn visit_macro(&mut self, call: &'ast Macro) {
            // What a macro makes of its tokens is not known: `tokio::select! { _ = timer => break }`.
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

/// Whether `statements` hold a `return` of their own with anything but an `Err`.
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

/// Whether the value of `statements`, if they have one, is an `Err` in every case.
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

/// Whether a call says the types of what it gives: `Err::<i32, _>(…)`.
fn has_stated_types(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    matches!(&*call.func, Expr::Path(path) if path.path.segments.iter().any(|segment| !segment.arguments.is_none()))
}

fn is_error(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    let Expr::Path(path) = &*call.func else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Err")
}
