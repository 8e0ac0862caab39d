//! Where the values of a snippet's variables come from: whether a `let` creates its value or copies one.
//!
//! With `mut`, a copy would be changed instead of what it was copied from, so this decides what may be made mutable.

use std::collections::{BTreeMap, BTreeSet};

use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Lit, Local, Pat, Token, UnOp};

use super::parts;
use crate::syntax_depth::on_parser_stack;
use crate::tokens::Tokens;

/// Where the value of a `let` comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// It is created there, with all its parts: nothing else has them.
    New,
    /// It is created there, but its parts may be copies: a list of items that exist elsewhere, a clone.
    Container,
    /// A method returns it, maybe as a copy.
    Unknown,
    /// It is copied from a place, or taken from a branch.
    Copy,
}

/// The variables of a snippet.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// The origins of the variables of `let`, by the byte at which the name starts, with the names.
    lets: BTreeMap<usize, (String, Origin)>,
    /// The names that parameters, loops and patterns bind.
    patterns: BTreeSet<String>,
}

impl Origins {
    /// Parses `text`, which was parsed before.
    pub(super) fn read(text: &str) -> Self {
        on_parser_stack(|| {
            let statements = Block::parse_within.parse_str(text).unwrap_or_default();
            let mut origins = Origins::default();
            statements.iter().for_each(|statement| origins.visit_stmt(statement));
            origins
        })
        .unwrap_or_default()
    }

    /// Whether the variable whose name starts at byte `at` may be made mutable.
    pub(super) fn may_change(&self, tokens: &Tokens<'_>, at: usize) -> bool {
        match self.lets.get(&at) {
            Some((_, Origin::New)) => true,
            Some((name, Origin::Container)) => !parts::change(tokens, name),
            _ => false,
        }
    }

    /// Whether a change of the variable `name` is a change of what it stands for: all variables of this name have their
    /// own new value.
    pub(super) fn are_new(&self, tokens: &Tokens<'_>, name: &str) -> bool {
        let mut known = self.lets.iter().filter(|(_, (other, _))| other == name).peekable();
        known.peek().is_some()
            && known.all(|(at, _)| self.may_change(tokens, *at))
            && !self.patterns.contains(name)
    }

    /// The origin of the value of the `let` whose variable starts at byte `at`.
    pub(super) fn of(&self, at: usize) -> Option<Origin> {
        self.lets.get(&at).map(|(_, origin)| *origin)
    }
}

impl<'ast> Visit<'ast> for Origins {
    fn visit_local(&mut self, local: &'ast Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        match (pattern, &local.init) {
            (Pat::Ident(name), Some(init)) if name.by_ref.is_none() && name.subpat.is_none() => {
                let at = name.ident.span().byte_range().start;
                self.lets.insert(at, (plain_name(&name.ident), origin(&init.expr)));
            }
            // Assigned later, with any value.
            (Pat::Ident(name), None) => {
                let at = name.ident.span().byte_range().start;
                self.lets.insert(at, (plain_name(&name.ident), Origin::Copy));
            }
            _ => self.visit_pat(&local.pat),
        }
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.patterns.insert(plain_name(&pattern.ident));
        visit::visit_pat_ident(self, pattern);
    }
}

fn plain_name(name: &syn::Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(ToOwned::to_owned).unwrap_or(name)
}

/// Where the value of an expression comes from.
fn origin(value: &Expr) -> Origin {
    match value {
        Expr::Lit(_) | Expr::Range(_) | Expr::Binary(_) | Expr::Await(_) => Origin::New,
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => Origin::New,
        // The reference is new; what it refers to is not copied.
        Expr::Reference(_) => Origin::New,
        Expr::Array(list) => of_parts(&list.elems),
        Expr::Tuple(list) => of_parts(&list.elems),
        Expr::Repeat(list) => of_parts([&*list.expr]),
        Expr::Struct(literal) => match &literal.rest {
            Some(_) => Origin::Container,
            None => of_parts(literal.fields.iter().map(|field| &field.expr)),
        },
        Expr::Closure(closure) if closure.capture.is_none() => Origin::New,
        Expr::Async(block) if block.capture.is_none() => Origin::New,
        Expr::Cast(cast) => origin(&cast.expr),
        Expr::Paren(inner) => origin(&inner.expr),
        Expr::Group(inner) => origin(&inner.expr),
        Expr::Try(inner) => origin(&inner.expr),
        Expr::Macro(used) => of_macro(&used.mac),
        Expr::Call(call) => of_call(call),
        Expr::MethodCall(call) => of_method(call),
        // A constant: `None`, `i32::MAX`.
        Expr::Path(path) if last_is_upper(&path.path) => Origin::New,
        _ => Origin::Copy,
    }
}

fn last_is_upper(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

/// Where a value with these parts comes from.
fn of_parts<'a>(parts: impl IntoIterator<Item = &'a Expr>) -> Origin {
    let is_new = |part: &Expr| origin(part) == Origin::New && !matches!(part, Expr::Reference(_));
    if parts.into_iter().all(is_new) { Origin::New } else { Origin::Container }
}

fn of_macro(used: &syn::Macro) -> Origin {
    let name = used.path.segments.last().map(|last| last.ident.to_string());
    match name.as_deref() {
        Some("format" | "json" | "matches" | "concat" | "stringify" | "include_str") => Origin::New,
        Some("vec") => {
            let items = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(used.tokens.clone());
            match items {
                Ok(items) => of_parts(&items),
                // `vec![0; n]`
                Err(_) => {
                    let first = used.tokens.clone().into_iter().next();
                    let literal = first.and_then(|first| syn::parse2::<Lit>(first.into()).ok());
                    if literal.is_some() { Origin::New } else { Origin::Container }
                }
            }
        }
        _ => Origin::Unknown,
    }
}

/// A function returns a new value, except one that only wraps or converts its arguments.
fn of_call(call: &syn::ExprCall) -> Origin {
    let Expr::Path(path) = &*call.func else { return Origin::Unknown };
    let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let of_type = segments.iter().rev().take(2).any(|name| name.starts_with(char::is_uppercase));
    if of_type { of_parts(&call.args) } else { Origin::New }
}

/// Methods that create a value, or take it out of where it was.
const CREATING: [&str; 58] = [
    "as_millis",
    "as_secs",
    "as_secs_f64",
    "borrow_mut",
    "bytes",
    "call",
    "char_indices",
    "chars",
    "chunks",
    "count",
    "drain",
    "elapsed",
    "enumerate",
    "filter",
    "filter_map",
    "flat_map",
    "into_iter",
    "into_keys",
    "into_values",
    "iter",
    "iter_mut",
    "join",
    "json",
    "keys",
    "len",
    "lines",
    "lock",
    "map",
    "parse",
    "peekable",
    "pop",
    "pop_back",
    "pop_first",
    "pop_front",
    "pop_last",
    "product",
    "remove",
    "repeat",
    "replace",
    "rev",
    "skip",
    "split",
    "split_off",
    "split_whitespace",
    "step_by",
    "sum",
    "swap_remove",
    "take",
    "text",
    "to_ascii_lowercase",
    "to_lowercase",
    "to_string",
    "to_uppercase",
    "trim",
    "values",
    "values_mut",
    "windows",
    "zip",
];

/// Methods that create a value with parts that may be copies.
const COPYING_ALL: [&str; 6] = ["clone", "collect", "concat", "into_owned", "to_owned", "to_vec"];

/// Methods that unwrap a value, or provide another one.
const UNWRAPPING: [&str; 10] = [
    "context",
    "expect",
    "into",
    "ok",
    "try_into",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "with_context",
];

/// Methods that copy an item.
const COPYING: [&str; 8] = ["copied", "cloned", "first", "get", "last", "nth", "or_default", "or_insert"];

fn of_method(call: &syn::ExprMethodCall) -> Origin {
    let name = call.method.to_string();
    let name = name.as_str();
    match name {
        _ if CREATING.contains(&name) => Origin::New,
        _ if COPYING_ALL.contains(&name) => Origin::Container,
        _ if COPYING.contains(&name) => Origin::Copy,
        "write" | "read" if call.args.is_empty() => Origin::New,
        _ if UNWRAPPING.contains(&name) => {
            let given = call.args.iter().filter(|_| name == "unwrap_or").map(origin);
            given.chain([origin(&call.receiver)]).max().unwrap_or(Origin::Unknown)
        }
        _ => Origin::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{Origin, Origins};
    use crate::tokens::Tokens;

    fn origin(value: &str) -> Option<Origin> {
        let text = format!("let x = {value}; y");
        Origins::read(&text).of(4)
    }

    #[test]
    fn the_origin_of_a_value_is_known_from_its_form() {
        for value in [
            "1",
            "-1",
            "a + 1",
            "f(a)",
            "f()",
            "S { a: 1 }",
            "[1, 2]",
            "!a",
            "true",
            "None",
            "i32::MAX",
            "|x| x",
            "Vec::new()",
            "vec![]",
            "vec![0; n]",
            "v.len() as i64",
            "\"5\".parse::<i32>()?",
            "v.iter().sum::<i32>()",
            "d::f(1).await?",
            "d::f(1).await?.remove(0)",
            "m.lock().unwrap()",
            "(1, 2)",
            "(f(1))",
            "&a",
            "String::from(\"a\")",
            "format!(\"{a}\")",
            "0..n",
        ] {
            assert_eq!(origin(value), Some(Origin::New), "{value}");
        }
        for value in [
            "[a]",
            "vec![a, b]",
            "Some(a)",
            "(a, 1)",
            "S { a }",
            "S { a: 1, ..b }",
            "a.clone()",
            "a.to_vec()",
            "v.iter().copied().collect::<Vec<_>>()",
            "Box::new(a)",
            "Vec::from(a)",
            "[a; 3]",
            "[&a]",
        ] {
            assert_eq!(origin(value), Some(Origin::Container), "{value}");
        }
        for value in [
            "a",
            "a.b",
            "a[0]",
            "a[a.len() - 1]",
            "a[i + 1]",
            "(a)",
            "a.B",
            "*a",
            "*m.entry(w).or_insert(0)",
            "*v.get(1).unwrap()",
            "v.get(1).copied().unwrap()",
            "v.last().cloned().unwrap_or(f())",
            "if a { 1 } else { 2 }",
            "match a { _ => 1 }",
            "{ a }",
            "a[0] as i64",
            "move |x| x",
            "a.get(0)?",
            "\"5\".parse().unwrap_or(a)",
        ] {
            assert_eq!(origin(value), Some(Origin::Copy), "{value}");
        }
        for value in ["v.iter().max().unwrap()", "a.b()", "own!(a)", "(a.b)(c)"] {
            assert_eq!(origin(value), Some(Origin::Unknown), "{value}");
        }
        for text in
            ["f(|x| 1)", "for x in a {}", "let (x, y) = (1, 2);", "if let Some(x) = a {}", "fn f(x: i32) {}"]
        {
            let at = text.find('x').unwrap();
            assert_eq!(Origins::read(text).of(at), None, "{text}");
        }
    }

    #[test]
    fn a_container_may_change_as_a_whole() {
        for (text, is) in [
            ("let x = vec![a]; x.push(b)", true),
            ("let x = a.clone(); x.sort(); x[0]", true),
            ("let x = vec![a]; x[0].n += 1;", false),
            ("let x = vec![a]; x[0] = b;", false),
            ("let x = vec![a]; if x[0] == b {}", true),
            ("let x = Some(a); for y in x.iter_mut() {}", false),
            ("let x = vec![a]; for y in &mut x {}", false),
            ("let x = a.clone(); x.n = 5;", false),
            ("let x = a.clone(); x.list.push(5);", false),
            ("let x = a.clone(); let n = x.list.len();", true),
            ("let x = a[0]; x = 5;", false),
            ("let x; x = 5;", false),
        ] {
            assert_eq!(Origins::read(text).may_change(&Tokens::read(text), 4), is, "{text}");
        }
    }

    #[test]
    fn a_name_that_a_pattern_binds_is_not_new() {
        for (text, is) in [
            ("let mut x = 0; f(x)", true),
            ("let mut x = a[0]; f(x)", false),
            ("for mut x in v { f(x) }", false),
            ("let mut x = 0; for x in v { f(x) }", false),
            ("fn f(x: i32) {} let x = 0;", false),
            ("f(x)", false),
        ] {
            assert_eq!(Origins::read(text).are_new(&Tokens::read(text), "x"), is, "{text}");
        }
    }
}
