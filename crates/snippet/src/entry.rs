//! Finds the entry function in a file of items, and refuses texts that would run nothing.
//!
//! Uncertain cases are refused: a function that merely has the name of an entry point would become the whole program.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemFn, ReturnType, Stmt, Type};

/// The entry function of a file of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// `run` or `main`.
    pub(crate) name: String,
    /// Whether it is `async`.
    pub(crate) is_async: bool,
    /// The input that it takes.
    pub(crate) takes: Takes,
    /// Whether it returns something.
    pub(crate) returns: bool,
}

/// The input of an entry function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// The bridge's `Args`: texts by name.
    Texts,
    /// The `Args` that a saved program declares.
    Typed,
}

impl From<&ItemFn> for Entry {
    fn from(function: &ItemFn) -> Self {
        let returns = match &function.sig.output {
            ReturnType::Type(_, kind) => !matches!(&**kind, Type::Never(_)),
            ReturnType::Default => false,
        };
        Entry {
            name: function.sig.ident.to_string(),
            is_async: function.sig.asyncness.is_some(),
            takes: if function.sig.inputs.is_empty() { Takes::Nothing } else { Takes::Texts },
            returns,
        }
    }
}

/// Macros used as statements, even where a file of items could contain them.
const STATEMENTS: [&str; 14] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "dbg",
    "ensure",
    "eprint",
    "eprintln",
    "panic",
    "print",
    "println",
    "todo",
    "write",
    "writeln",
];

/// Advice for a text of functions without an entry point.
const NEEDED: &str = "end the text with statements that call them, or name the entry point `main`";

/// The error for a text without any code.
const NO_STATEMENT: &str = "there is no code: write statements, such as `demo::echo(\"a\").await?.text()`; the last expression is \
                            the result";

/// The entry point of a `file` with these `tokens`: `main`, or `run` if it must be the entry point; `None` if the items
/// are statements.
pub(crate) fn find<'a>(file: &'a File, tokens: &TokenStream) -> syn::Result<Option<&'a ItemFn>> {
    let functions: Vec<&ItemFn> = file.items.iter().filter_map(function).collect();
    if let Some(main) = functions.iter().find(|function| function.sig.ident == "main") {
        return Ok(Some(main));
    }
    let macros = || file.items.iter().filter_map(used_macro);
    let run = functions.iter().find(|function| function.sig.ident == "run");
    if let Some(run) = run
        && !macros().any(|name| STATEMENTS.contains(&name.as_str()))
        && is_entry(run, &functions, tokens)
    {
        return Ok(Some(run));
    }
    if macros().next().is_some() {
        return Ok(None);
    }
    let mut all = Functions::default();
    all.visit_file(file);
    let Some((_, place)) = all.0.first() else { return Ok(None) };
    let mut names: Vec<String> = all.0.iter().map(|(name, _)| format!("`{name}`")).collect();
    names.dedup();
    let kept = names.len().min(NAMES_KEPT);
    let more = if names.len() > kept { ", …" } else { "" };
    let plural = if names.len() == 1 {
        "is a function, but not an entry point"
    } else {
        "are functions, but not entry points"
    };
    let message = format!("nothing is called: {}{more} {plural}; {NEEDED}", names[..kept].join(", "));
    Err(syn::Error::new(*place, message))
}

/// Maximum number of functions to name in a message.
const NAMES_KEPT: usize = 8;

/// Whether `run` is the entry point: it takes nothing or the arguments, nothing calls it, and it either is `async` with
/// a `Result`, or all other functions are called.
fn is_entry(run: &ItemFn, functions: &[&ItemFn], tokens: &TokenStream) -> bool {
    let is_documented = run.sig.asyncness.is_some() && returns_result(run);
    let takes_args = run.sig.inputs.len() <= 1 && run.sig.inputs.iter().all(is_args);
    takes_args
        && run.sig.generics.params.is_empty()
        && !is_called(tokens, "run")
        && (is_documented
            || functions.iter().all(|function| {
                function.sig.ident == "run" || is_called(tokens, &function.sig.ident.to_string())
            }))
}

fn is_args(input: &syn::FnArg) -> bool {
    let syn::FnArg::Typed(input) = input else { return false };
    matches!(&*input.ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Args"))
}

fn returns_result(function: &ItemFn) -> bool {
    let ReturnType::Type(_, kind) = &function.sig.output else { return false };
    matches!(&**kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Result"))
}

fn function(item: &Item) -> Option<&ItemFn> {
    match item {
        Item::Fn(function) => Some(function),
        _ => None,
    }
}

/// The name of a macro call that could also be a statement.
fn used_macro(item: &Item) -> Option<String> {
    let Item::Macro(used) = item else { return None };
    let name = used.mac.path.segments.last()?.ident.to_string();
    (used.ident.is_none() && name != "thread_local").then_some(name)
}

/// All functions with a body, including those in types and modules.
#[derive(Default)]
struct Functions(Vec<(String, proc_macro2::Span)>);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.0.push((function.sig.ident.to_string(), function.sig.ident.span()));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.0.push((function.sig.ident.to_string(), function.sig.ident.span()));
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        // Trait methods are called by others.
        if block.trait_.is_none() {
            visit::visit_item_impl(self, block);
        }
    }
}

/// Refuses an empty list of `statements`, and statements next to an uncalled `main`, which would never run.
pub(crate) fn check_statements(statements: &[Stmt], tokens: &TokenStream) -> syn::Result<()> {
    if statements.is_empty() {
        return Err(syn::Error::new(proc_macro2::Span::call_site(), NO_STATEMENT));
    }
    let items = statements.iter().filter_map(|statement| match statement {
        Stmt::Item(item) => function(item),
        _ => None,
    });
    for function in items.filter(|function| function.sig.ident == "main") {
        if count(tokens, "main") < 2 {
            let message = "there are statements outside `main`, and nothing calls `main`: move them into `main`, or replace \
                           `main` with its body";
            return Err(syn::Error::new(function.sig.ident.span(), message));
        }
    }
    Ok(())
}

/// `#[tokio::main]`, with or without arguments: the program already has a runtime.
pub(crate) fn is_main(attribute: &Attribute) -> bool {
    let segments = &attribute.path().segments;
    let is = |index: usize, name: &str| segments.get(index).is_some_and(|segment| segment.ident == name);
    (segments.len() == 1 && is(0, "main")) || (segments.len() == 2 && is(0, "tokio") && is(1, "main"))
}

/// Whether a text starts its own runtime, which requires a thread without one; `blanked` attributes do not count.
pub(crate) fn blocks(tokens: &TokenStream, blanked: usize) -> bool {
    let attributes = count_attributes(tokens);
    count(tokens, "block_on") > 0 || attributes > blanked
}

/// The number of `#[tokio::main]` attributes in a text.
fn count_attributes(tokens: &TokenStream) -> usize {
    let mut found = 0;
    for token in tokens.clone() {
        let TokenTree::Group(group) = token else { continue };
        let text = group.stream().to_string().replace(' ', "");
        let is_attribute = group.delimiter() == Delimiter::Bracket && text.starts_with("tokio::main");
        found += if is_attribute { 1 } else { count_attributes(&group.stream()) };
    }
    found
}

fn count(tokens: &TokenStream, name: &str) -> usize {
    let counts = tokens.clone().into_iter().map(|token| match token {
        TokenTree::Ident(identifier) => usize::from(identifier == name),
        TokenTree::Group(group) => count(&group.stream(), name),
        TokenTree::Literal(_) | TokenTree::Punct(_) => 0,
    });
    counts.sum()
}

/// Whether the function `name` is used anywhere, other than as a method or member.
fn is_called(tokens: &TokenStream, name: &str) -> bool {
    let mut before = None;
    for token in tokens.clone() {
        let called = match &token {
            TokenTree::Group(group) => is_called(&group.stream(), name),
            TokenTree::Ident(identifier) if identifier == name => match &before {
                Some(TokenTree::Punct(sign)) => sign.as_char() != '.',
                Some(TokenTree::Ident(word)) => word != "fn",
                _ => true,
            },
            _ => false,
        };
        if called {
            return true;
        }
        before = Some(token);
    }
    false
}

/// The attributes to remove from the entry function.
pub(crate) fn blanks(entry: &ItemFn) -> impl Iterator<Item = proc_macro2::Span> {
    entry.attrs.iter().filter(|attribute| is_main(attribute)).map(Spanned::span)
}
