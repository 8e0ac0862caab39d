//! Finds variables that a `move` closure or block copies and changes, while the variable itself is read later: the
//! change does not reach it. The compiler warns only if the copy is not read either.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, Stmt};

/// A change of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CapturedCopy {
    /// The variable.
    pub(crate) name: String,
    /// The byte range of the change.
    pub(crate) range: Range<usize>,
}

/// Maximum number of changes to keep.
const KEPT: usize = 100;

/// The changes of copies in `statements`, whose text has these `tokens` and compiles: a variable that is used after it
/// was moved is copied.
pub(crate) fn find(statements: &[Stmt], tokens: &TokenStream) -> Vec<CapturedCopy> {
    let mut finder = Finder::default();
    statements.iter().for_each(|statement| finder.visit_stmt(statement));
    if finder.changes.is_empty() {
        return Vec::new();
    }
    let mut reads = BTreeSet::new();
    let names: BTreeSet<&str> = finder.changes.iter().map(|change| change.name.as_str()).collect();
    collect_uses(tokens, &names, &mut reads);
    let is_read_after = |change: &Change| {
        let after = (change.name.clone(), change.region.end);
        reads.range(after..).next().is_some_and(|(name, _)| *name == change.name)
    };
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for change in finder.changes.iter().filter(|change| is_read_after(change)) {
        if found.len() < KEPT && known.insert((change.name.as_str(), change.region.end)) {
            found.push(CapturedCopy { name: change.name.clone(), range: change.range.clone() });
        }
    }
    found
}

/// An assignment to a variable in a region that captures it by `move`.
struct Change {
    name: String,
    range: Range<usize>,
    region: Range<usize>,
}

#[derive(Default)]
struct Finder {
    changes: Vec<Change>,
}

impl Finder {
    fn add(&mut self, region: &Expr) {
        let range = region.span().byte_range();
        let mut inside = Inside::default();
        inside.visit_expr(region);
        let Inside { assigned, bound } = inside;
        let captured = assigned.into_iter().filter(|(name, _)| !bound.contains(name));
        self.changes.extend(captured.map(|(name, change)| Change {
            name,
            range: change,
            region: range.clone(),
        }));
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr(&mut self, value: &'ast Expr) {
        match value {
            Expr::Closure(closure) if closure.capture.is_some() => self.add(value),
            Expr::Async(block) if block.capture.is_some() => self.add(value),
            _ => visit::visit_expr(self, value),
        }
    }
}

/// The assignments in a region, and the names that it binds itself.
#[derive(Default)]
struct Inside {
    assigned: Vec<(String, Range<usize>)>,
    bound: BTreeSet<String>,
}

impl Inside {
    fn assign(&mut self, place: &Expr, whole: &Expr) {
        if let Some(name) = root(place) {
            self.assigned.push((name, whole.span().byte_range()));
        }
    }
}

impl<'ast> Visit<'ast> for Inside {
    fn visit_expr(&mut self, value: &'ast Expr) {
        match value {
            Expr::Assign(assignment) => self.assign(&assignment.left, value),
            Expr::Binary(operation) if is_assignment(&operation.op) => self.assign(&operation.left, value),
            _ => {}
        }
        visit::visit_expr(self, value);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.bound.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

fn is_assignment(operator: &syn::BinOp) -> bool {
    use syn::BinOp::{
        AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign, RemAssign, ShlAssign,
        ShrAssign, SubAssign,
    };
    matches!(
        operator,
        AddAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | BitXorAssign(_)
            | DivAssign(_)
            | MulAssign(_)
            | RemAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
            | SubAssign(_)
    )
}

/// The variable of an assigned place: `a` of `a.b[0]`.
fn root(place: &Expr) -> Option<String> {
    match place {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Field(field) => root(&field.base),
        Expr::Index(index) => root(&index.expr),
        Expr::Paren(inner) => root(&inner.expr),
        _ => None,
    }
}

/// Adds the places where `names` occur, also in the braces of format strings, except where a `let` declares them again.
fn collect_uses(tokens: &TokenStream, names: &BTreeSet<&str>, uses: &mut BTreeSet<(String, usize)>) {
    let mut before = String::new();
    for token in tokens.clone() {
        let at = token.span().byte_range().start;
        match token {
            TokenTree::Ident(word) => {
                let word = word.to_string();
                if names.contains(word.as_str()) && before != "let" && before != "." {
                    uses.insert((word.clone(), at));
                }
                if word != "mut" {
                    before = word;
                }
                continue;
            }
            TokenTree::Group(group) => collect_uses(&group.stream(), names, uses),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let parts = text.split('{').skip(1).filter_map(|rest| rest.split([':', '}', '.']).next());
                let parts = parts.filter(|name| names.contains(name)).map(|name| (name.to_owned(), at));
                uses.extend(parts);
            }
            TokenTree::Punct(sign) => {
                before = sign.as_char().to_string();
                continue;
            }
        }
        before.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    fn found(text: &str) -> Vec<String> {
        let tokens: proc_macro2::TokenStream = text.parse().unwrap();
        let statements = syn::parse::Parser::parse_str(syn::Block::parse_within, text).unwrap();
        find(&statements, &tokens)
            .into_iter()
            .map(|copy| format!("{} {}", copy.name, &text[copy.range]))
            .collect()
    }

    #[test]
    fn a_copy_is_found_if_the_variable_is_read_later() {
        for (text, expected) in [
            ("let mut n = 0; f(async move { n += 1; g(n) }).await; n", "n n += 1"),
            ("let mut n = 0; f(move || { n = 1; }); println!(\"{n}\");", "n n = 1"),
            ("let mut n = [0]; f(move || { n[0] = 1; n }); n", "n n[0] = 1"),
            ("let mut a = A { b: 0 }; f(move |x| { a.b += x; a.b }); a.b", "a a.b += x"),
            ("let mut n = 0; v.map(|x| async move { n += x; n }); n", "n n += x"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        for text in [
            "let mut n = 0; f(move || { n += 1; n })",
            "let mut n = 0; f(|| n += 1); n",
            "let mut n = 0; f(move || { let mut n = 1; n += 1; }); n",
            "let mut n = 0; f(move |n| { n += 1; }); n",
            "let mut n = 0; f(move || { *n += 1; }); n",
            "let mut n = 0; f(move || { n += 1; n }); let n = 5;",
            "let mut n = 0; f(move || { n += 1; n }); a.n",
            "let mut n = 0; f(move || n + 1); n",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
