//! Finds expressions whose value is unused and that then do nothing, or not all: calls, futures, tasks.
//!
//! Works on the syntax, for cases that the compiler does not warn about: `let _ = call`, `drop(call)`, a variable that
//! is not read, a list of futures whose length is all that is read. Only the catalog knows which paths are tools, so all
//! are kept, except those the text defines itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, Item, Local, Pat, Stmt, Token, UseTree};

/// An expression whose value is unused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Idle {
    pub(crate) value: Unused,
    /// Its byte range.
    pub(crate) range: Range<usize>,
}

/// An unused value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unused {
    /// A call of this path, with imports resolved.
    Call(Vec<String>),
    /// A future of the text itself: an `async` block, or a call of its `async fn`.
    Future,
    /// The handle of a task or thread, which is detached.
    Task,
}

/// Maximum number of expressions to keep.
const KEPT: usize = 500;

/// The unused expressions among `statements`, whose text has these `tokens`.
pub(crate) fn find(statements: &[Stmt], tokens: &TokenStream) -> Vec<Idle> {
    let mut names = Names::default();
    statements.iter().for_each(|statement| names.visit_stmt(statement));
    let mut uses = BTreeMap::new();
    count_words(tokens, &mut uses);
    Lengths(&mut uses).visit(statements);
    let mut finder = Finder { names, uses, found: Vec::new(), seen: BTreeSet::new() };
    statements.iter().for_each(|statement| finder.visit_stmt(statement));
    finder.found.truncate(KEPT);
    finder.found
}

/// The meanings of names in the text, regardless of the place of their import.
#[derive(Default)]
struct Names {
    /// Imported names with their paths.
    imported: BTreeMap<String, Vec<String>>,
    /// Modules imported by glob.
    globs: Vec<Vec<String>>,
    /// Modules and types that the text defines.
    types: BTreeSet<String>,
    /// Functions and variables that it defines.
    values: BTreeSet<String>,
    /// Its `async` functions.
    futures: BTreeSet<String>,
}

impl Names {
    fn import(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.import(&part.tree, path);
                path.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                self.imported.extend(path.last().cloned().map(|name| (name, path.clone())));
            }
            UseTree::Name(name) => {
                let whole = [&path[..], &[name.ident.to_string()]].concat();
                self.imported.insert(name.ident.to_string(), whole);
            }
            UseTree::Rename(renamed) if renamed.ident == "self" => {
                self.imported.insert(renamed.rename.to_string(), path.clone());
            }
            UseTree::Rename(renamed) => {
                let whole = [&path[..], &[renamed.ident.to_string()]].concat();
                self.imported.insert(renamed.rename.to_string(), whole);
            }
            UseTree::Glob(_) => self.globs.push(path.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path)),
        }
    }

    /// A path with imports resolved; empty if the text defines it.
    fn resolve(&self, path: &syn::Path) -> Vec<Vec<String>> {
        let mut names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // Each import is resolved once, so cycles end.
        let mut resolved = BTreeSet::new();
        while let Some(first) = names.first().cloned() {
            let own = if names.len() > 1 { &self.types } else { &self.values };
            if own.contains(&first) {
                return Vec::new();
            }
            match self.imported.get(&first) {
                Some(whole) if resolved.insert(first) => drop(names.splice(..1, whole.iter().cloned())),
                _ => break,
            }
        }
        let of_globs = self.globs.iter().map(|glob| [&glob[..], &names].concat());
        of_globs.chain([names.clone()]).collect()
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Fn(item) = item {
            self.values.insert(item.sig.ident.to_string());
            if item.sig.asyncness.is_some() {
                self.futures.insert(item.sig.ident.to_string());
            }
        }
        let own = match item {
            Item::Mod(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        self.types.extend(own.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &mut Vec::new());
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.values.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

struct Finder {
    names: Names,
    uses: BTreeMap<String, usize>,
    found: Vec<Idle>,
    /// The start offsets of those already found.
    seen: BTreeSet<usize>,
}

impl Finder {
    /// Records the calls in the value of an unused expression.
    fn drop_value(&mut self, value: &Expr) {
        match value {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if is_wrapper(&path.path) => {
                    call.args.iter().for_each(|argument| self.drop_value(argument));
                }
                Expr::Path(path) => self.note(&path.path, value),
                _ => {}
            },
            Expr::MethodCall(call) if call.method != "await" => self.drop_method(call, value),
            Expr::Struct(literal) => self.note(&literal.path, value),
            Expr::Paren(inner) => self.drop_value(&inner.expr),
            Expr::Reference(inner) => self.drop_value(&inner.expr),
            Expr::Array(list) => list.elems.iter().for_each(|item| self.drop_value(item)),
            Expr::Tuple(list) => list.elems.iter().for_each(|item| self.drop_value(item)),
            Expr::Repeat(list) => self.drop_value(&list.expr),
            Expr::Block(block) => self.drop_block(&block.block),
            Expr::If(condition) => {
                self.drop_block(&condition.then_branch);
                if let Some((_, otherwise)) = &condition.else_branch {
                    self.drop_value(otherwise);
                }
            }
            Expr::Match(choice) => choice.arms.iter().for_each(|arm| self.drop_value(&arm.body)),
            Expr::Macro(used) => self.drop_list(&used.mac),
            Expr::Closure(closure) => self.drop_value(&closure.body),
            Expr::Async(block) if !block.block.stmts.is_empty() => self.add(Unused::Future, value),
            _ => {}
        }
    }

    fn drop_block(&mut self, block: &syn::Block) {
        if let Some(Stmt::Expr(value, None)) = block.stmts.last() {
            self.drop_value(value);
        }
    }

    /// Setters of a call, or an iterator chain whose closures make calls.
    fn drop_method(&mut self, call: &syn::ExprMethodCall, whole: &Expr) {
        let mut receiver = &*call.receiver;
        while let Expr::MethodCall(inner) = receiver {
            receiver = &inner.receiver;
        }
        match receiver {
            Expr::Call(first) => {
                if let Expr::Path(path) = &*first.func {
                    self.note(&path.path, whole);
                }
            }
            Expr::Struct(literal) => self.note(&literal.path, whole),
            _ => {}
        }
        let mut step = call;
        loop {
            if ["filter_map", "flat_map", "map"].iter().any(|name| step.method == name) {
                step.args.iter().for_each(|argument| self.drop_value(argument));
            }
            let Expr::MethodCall(inner) = &*step.receiver else { break };
            step = inner;
        }
    }

    /// The items of `vec![…]`.
    fn drop_list(&mut self, used: &syn::Macro) {
        if !used.path.is_ident("vec") {
            return;
        }
        let items = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(used.tokens.clone());
        items.iter().flatten().for_each(|item| self.drop_value(item));
    }

    fn note(&mut self, path: &syn::Path, value: &Expr) {
        if path.get_ident().is_some_and(|name| self.names.futures.contains(&name.to_string())) {
            self.add(Unused::Future, value);
        }
        for path in self.names.resolve(path) {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            match names[..] {
                [.., "tokio" | "task" | "thread", "spawn" | "spawn_blocking" | "spawn_local"] => {
                    self.note_task(value);
                }
                [.., "JoinSet", "new"] => self.add(Unused::Task, value),
                [.., "concurrently" | "join_all" | "timeout" | "try_join_all"] => {
                    self.add(Unused::Future, value);
                }
                [_, _, ..] => self.add(Unused::Call(path), value),
                _ => {}
            }
        }
    }

    /// Records a detached task, unless it reports its end in another way.
    fn note_task(&mut self, value: &Expr) {
        let Expr::Call(call) = value else { return };
        let mut words = BTreeMap::new();
        call.args.iter().for_each(|argument| count_words(&argument.to_token_stream(), &mut words));
        let reports =
            ["send", "try_send", "send_async", "notify_one", "notify_waiters", "add_permits", "wait"];
        if !reports.iter().any(|report| words.contains_key(*report)) {
            self.add(Unused::Task, value);
        }
    }

    fn add(&mut self, unused: Unused, value: &Expr) {
        let range = value.span().byte_range();
        if self.seen.insert(range.start) {
            self.found.push(Idle { value: unused, range });
        }
    }

    /// A call that is a statement: the compiler warns about it, except if it detaches a task.
    fn drop_statement(&mut self, call: &syn::ExprCall) {
        let found = self.found.len();
        let value = Expr::Call(call.clone());
        self.drop_value(&value);
        let kept: Vec<Idle> = self.found.drain(found..).filter(|idle| idle.value == Unused::Task).collect();
        self.found.extend(kept);
    }

    /// Whether nothing reads the variable `name`: it occurs only in its `let` and where values are added to it.
    fn is_unread(&self, name: &str, tokens_of_pushes: usize) -> bool {
        self.uses.get(name).is_none_or(|uses| *uses <= 1 + tokens_of_pushes)
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init {
            let pattern = match &local.pat {
                Pat::Type(typed) => &*typed.pat,
                pattern => pattern,
            };
            match pattern {
                Pat::Wild(_) => self.drop_value(&init.expr),
                Pat::Ident(name) if self.is_unread(&name.ident.to_string(), 0) => {
                    self.drop_value(&init.expr);
                }
                _ => {}
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && path
                .path
                .segments
                .last()
                .is_some_and(|last| matches!(last.ident.to_string().as_str(), "drop" | "forget"))
        {
            call.args.iter().for_each(|argument| self.drop_value(argument));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "for_each"
            && let Some(Expr::Closure(closure)) = call.args.first()
        {
            self.drop_value(&closure.body);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        match statement {
            Stmt::Expr(Expr::Call(call), Some(_)) => self.drop_statement(call),
            // The compiler warns about a call, but not about one in a list, or about arguments alone.
            Stmt::Expr(value, Some(_)) if !matches!(value, Expr::MethodCall(_)) => {
                self.drop_value(value);
            }
            Stmt::Macro(used) if used.semi_token.is_some() => self.drop_list(&used.mac),
            _ => {}
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.pushes(&block.stmts);
        visit::visit_block(self, block);
    }
}

impl Finder {
    /// Calls that are pushed to a list that nothing reads.
    fn pushes(&mut self, statements: &[Stmt]) {
        let mut pushes = Pushes::default();
        statements.iter().for_each(|statement| pushes.visit_stmt(statement));
        for (name, values) in pushes.0 {
            if self.is_unread(&name, values.len()) {
                values.iter().for_each(|value| self.drop_value(value));
            }
        }
    }
}

/// Takes those uses of variables out of the count that read only the length of a list, or drop it.
struct Lengths<'a>(&'a mut BTreeMap<String, usize>);

impl Lengths<'_> {
    fn visit(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|statement| self.visit_stmt(statement));
    }

    fn take_out(&mut self, value: &Expr) {
        if let Expr::Path(path) = value
            && let Some(count) = path.path.get_ident().and_then(|name| self.0.get_mut(&name.to_string()))
        {
            *count = count.saturating_sub(1);
        }
    }
}

impl<'ast> Visit<'ast> for Lengths<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let lengths = ["capacity", "clear", "is_empty", "len", "reserve", "spawn"];
        if lengths.iter().any(|name| call.method == name) {
            self.take_out(&call.receiver);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("drop")) {
            call.args.iter().for_each(|argument| self.take_out(argument));
        }
        visit::visit_expr_call(self, call);
    }

    /// Arguments of `println!` and the like.
    fn visit_macro(&mut self, used: &'ast syn::Macro) {
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(used.tokens.clone());
        arguments.iter().flatten().for_each(|argument| self.visit_expr(argument));
    }
}

/// The values added to variables, by name.
#[derive(Default)]
struct Pushes<'ast>(BTreeMap<String, Vec<&'ast Expr>>);

impl<'ast> Visit<'ast> for Pushes<'ast> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let puts = ["push", "push_back", "push_front", "insert", "extend"];
        if let Expr::Path(list) = &*call.receiver
            && let Some(name) = list.path.get_ident()
            && let Some(value) = call.args.last().filter(|_| puts.iter().any(|put| call.method == put))
        {
            self.0.entry(name.to_string()).or_default().push(value);
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// Functions that only wrap a value.
fn is_wrapper(path: &syn::Path) -> bool {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(names[..], ["Some" | "Ok" | "Err"] | [.., "Box" | "Rc" | "Arc", "new" | "pin"] | [.., "drop"])
}

/// Counts each word in a text, including those in the braces of format strings.
fn count_words(tokens: &TokenStream, uses: &mut BTreeMap<String, usize>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(word) => *uses.entry(word.to_string()).or_default() += 1,
            TokenTree::Group(group) => count_words(&group.stream(), uses),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let names = text.split('{').skip(1).filter_map(|rest| rest.split([':', '}']).next());
                names.for_each(|name| *uses.entry(name.trim().to_owned()).or_default() += 1);
            }
            TokenTree::Punct(_) => {}
        }
    }
}
