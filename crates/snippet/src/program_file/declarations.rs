//! Finds what a saved program must declare: `struct Args`, if it takes arguments, and `async fn run`.

use syn::spanned::Spanned;
use syn::{Attribute, Fields, FnArg, Ident, Item, ItemFn, ItemStruct, ReturnType, Type};

/// The name of the type of a program's arguments.
pub(crate) const ARGS: &str = "Args";

/// The declarations of a program.
#[derive(Debug)]
pub(crate) struct Declarations<'a> {
    /// All items of the file.
    pub(crate) items: &'a [Item],
    /// The type of the arguments; `None` if it takes none.
    pub(crate) args: Option<&'a ItemStruct>,
    /// The entry function.
    pub(crate) run: &'a ItemFn,
}

/// The form of a program that takes arguments.
const FORM: &str = "a program has `async fn run(args: Args) -> Result<…>`, or `async fn run() -> Result<…>` if it takes \
                    no arguments";

impl<'a> Declarations<'a> {
    /// Collects the declarations of `file`.
    ///
    /// # Errors
    /// If something is missing or has another form, with its place.
    pub(crate) fn of(file: &'a syn::File) -> syn::Result<Self> {
        let run = file.items.iter().find_map(|item| match item {
            Item::Fn(function) if function.sig.ident == "run" => Some(function),
            _ => None,
        });
        let Some(run) = run else {
            return Err(syn::Error::new(
                proc_macro2::Span::call_site(),
                format!("there is no `run`: {FORM}"),
            ));
        };
        let args = file.items.iter().find_map(|item| match item {
            Item::Struct(item) if item.ident == ARGS => Some(item),
            _ => None,
        });
        check_run(run, args)?;
        args.map_or(Ok(()), check_args)?;
        Ok(Declarations { items: &file.items, args, run })
    }
}

fn check_run(run: &ItemFn, args: Option<&ItemStruct>) -> syn::Result<()> {
    let wrong = |span: proc_macro2::Span, what: &str| Err(syn::Error::new(span, format!("{what}: {FORM}")));
    let signature = &run.sig;
    if signature.asyncness.is_none() {
        return wrong(signature.fn_token.span(), "`run` is not `async`");
    }
    if !signature.generics.params.is_empty() {
        return wrong(signature.generics.span(), "`run` is generic");
    }
    if !returns_result(&signature.output) {
        return wrong(signature.ident.span(), "`run` returns no `Result`");
    }
    match (signature.inputs.len(), signature.inputs.first(), args) {
        (0, _, None) => Ok(()),
        (0, _, Some(args)) => wrong(args.ident.span(), "`run` does not take the `Args` that are declared"),
        (1, Some(FnArg::Typed(input)), args) if is_named(&input.ty, ARGS) => match args {
            Some(_) => Ok(()),
            None => {
                let message = "the type `Args` is missing: declare the arguments, such as `struct Args { name: String }`";
                Err(syn::Error::new(input.ty.span(), message))
            }
        },
        (_, first, _) => {
            wrong(first.map_or_else(|| signature.ident.span(), Spanned::span), "`run` takes something else")
        }
    }
}

fn returns_result(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, kind) if is_named(kind, "Result"))
}

/// Whether the last segment of a path is `name`.
fn is_named(kind: &Type, name: &str) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

fn check_args(args: &ItemStruct) -> syn::Result<()> {
    if !args.generics.params.is_empty() {
        return Err(syn::Error::new(args.generics.span(), "`Args` can't be generic"));
    }
    if !matches!(args.fields, Fields::Named(_)) {
        let message = "`Args` must have named fields, such as `struct Args { name: String }`";
        return Err(syn::Error::new(args.ident.span(), message));
    }
    for (attribute, key) in serde_keys(&args.attrs) {
        if key == "rename_all" || key == "tag" || key == "untagged" || key == "from" || key == "try_from" {
            let message =
                format!("`Args` can't have `{key}`: rename single fields with `#[serde(rename = \"…\")]`");
            return Err(syn::Error::new(attribute.span(), message));
        }
    }
    for field in &args.fields {
        for (attribute, key) in serde_keys(&field.attrs) {
            if key == "flatten" || key.starts_with("skip") {
                return Err(syn::Error::new(
                    attribute.span(),
                    format!("a field of `Args` can't have `{key}`"),
                ));
            }
        }
    }
    Ok(())
}

/// The keys in `#[serde(…)]` attributes.
pub(crate) fn serde_keys(attributes: &[Attribute]) -> Vec<(&Attribute, String)> {
    let mut keys = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // What can't be parsed here is reported by the compiler.
        let _ = attribute.parse_nested_meta(|meta| {
            if let Some(key) = meta.path.get_ident() {
                keys.push((attribute, key.to_string()));
            }
            skip_value(&meta)
        });
    }
    keys
}

/// The text value of a key in `#[serde(…)]` attributes, such as `rename = "…"`.
pub(crate) fn serde_text(attributes: &[Attribute], wanted: &str) -> Option<String> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident(wanted) && meta.input.peek(syn::Token![=]) {
                found = meta.value()?.parse::<syn::LitStr>().ok().map(|text| text.value());
                return Ok(());
            }
            skip_value(&meta)
        });
    }
    found
}

fn skip_value(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(syn::Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        meta.parse_nested_meta(|inner| skip_value(&inner))?;
    }
    Ok(())
}

/// The name of an item without `r#`.
pub(crate) fn name_of(identifier: &Ident) -> String {
    let name = identifier.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}
