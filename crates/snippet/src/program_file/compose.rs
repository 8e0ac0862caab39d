//! A saved program as a typed function in other texts: `programs::NAME(required).optional(value).await?`.
//!
//! The program becomes a module behind the text that calls it, with line breaks where the program has them, so that
//! messages of the compiler can name its lines. Its types and their fields are public there, because the result is the
//! caller's.

mod layout;

use std::collections::BTreeSet;

use quote::{ToTokens as _, format_ident, quote};
use syn::{Field, Fields, Item, Visibility};

use super::arguments::{has_key, inner};
use super::declarations::{Declarations, name_of, serde_text};
use super::derives;
use super::flaw::Flaw;
use crate::entry;
use crate::in_scope;
use crate::insertion;
use crate::purpose::Purpose;
use crate::snippet::Snippet;
use crate::syntax_depth;

/// The path under which programs are called.
pub(crate) const PROGRAMS: &str = "programs";

/// A program as the text of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramModule {
    /// The items. Line 1 is line 1 of the program.
    pub(crate) text: String,
    /// The identifiers in its text.
    pub(crate) identifiers: BTreeSet<String>,
    /// Its call, with types, for models.
    pub(crate) signature: String,
}

/// The module of the program `name`, whose text was parsed as this snippet.
///
/// # Errors
/// Returns the reason if it can't be called from other texts.
pub(crate) fn module(name: &str, text: &str, snippet: &Snippet) -> Result<ProgramModule, Flaw> {
    let parsed = parse(text)?;
    let program = Declarations::of(&parsed)?;
    let added = derives::insertions(&program, Purpose::Program);
    let mut file = parse(&insertion::insert(text, &added))?;
    let declared = Declarations::of(&file)?;
    let (call, signature) = (call(&declared)?, signature(name, &declared));
    file.attrs.clear();
    file.items.iter_mut().for_each(publish);
    let own = layout::lines(file.into_token_stream());
    let identifiers = &snippet.identifiers;
    let imports = in_scope::imports(text, identifiers, &snippet.functions);
    let others = if identifiers.contains(PROGRAMS) { "use super::programs; " } else { "" };
    let prelude = "#[allow(unused_imports)] use ::bridge::prelude::*; ";
    let module = format_ident!("__program_{name}");
    let text = format!("pub mod {module} {{ {prelude}{imports}{others}{own} {call} }} ");
    Ok(ProgramModule { text, identifiers: identifiers.clone(), signature })
}

/// The module `programs`, in which programs with these names are functions, and their types are in modules.
pub(crate) fn index<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let uses: String = names
        .map(|name| format!("pub use super::__program_{name} as {name}; pub use super::__program_{name}::__call as {name}; "))
        .collect();
    format!("#[allow(unused_imports)] mod {PROGRAMS} {{ {uses}}} ")
}

fn parse(text: &str) -> Result<syn::File, Flaw> {
    let tokens = syntax_depth::tokens(text).map_err(|error| Flaw::from(&error))?;
    Ok(syn::parse2(tokens)?)
}

/// Makes types and their fields public, and removes what only an entry point may have.
fn publish(item: &mut Item) {
    let public = || Visibility::Public(syn::token::Pub::default());
    match item {
        Item::Struct(item) => {
            item.vis = public();
            item.fields.iter_mut().for_each(|field| field.vis = public());
        }
        Item::Enum(item) => item.vis = public(),
        Item::Type(item) => item.vis = public(),
        Item::Fn(function) if function.sig.ident == "run" => {
            function.attrs.retain(|attribute| !entry::is_main(attribute));
        }
        _ => {}
    }
}

/// The function that calls a program, and the call that it returns.
fn call(program: &Declarations<'_>) -> Result<String, Flaw> {
    let output = match &program.run.sig.output {
        syn::ReturnType::Type(_, output) => output.to_token_stream(),
        syn::ReturnType::Default => quote!(()),
    };
    let Some(args) = program.args else {
        return Ok(quote! {
            #[must_use] pub struct __Call;
            pub fn __call() -> __Call { __Call }
            impl ::std::future::IntoFuture for __Call {
                type Output = #output;
                type IntoFuture = ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = #output>>>;
                fn into_future(self) -> Self::IntoFuture { ::std::boxed::Box::pin(run()) }
            }
        }
        .to_string());
    };
    if has_key(&args.attrs, "default") {
        return Err(Flaw::new("`Args` has `#[serde(default)]`: write it at single fields"));
    }
    let Fields::Named(fields) = &args.fields else { return Err(Flaw::new("`Args` has no named fields")) };
    let (mut parameters, mut values, mut setters) = (Vec::new(), Vec::new(), Vec::new());
    for field in &fields.named {
        let Some(name) = &field.ident else { continue };
        match initial(field)? {
            Some(initial) => {
                values.push(quote!(#name: #initial));
                setters.push(setter(field));
            }
            None => {
                let (kind, value) = taken(&field.ty, &quote!(#name));
                parameters.push(quote!(#name: #kind));
                values.push(quote!(#name: #value));
            }
        }
    }
    let text = quote! {
        #[must_use] pub struct __Call(Args);
        pub fn __call(#(#parameters),*) -> __Call { __Call(Args { #(#values),* }) }
        impl __Call { #(#setters)* }
        impl ::std::future::IntoFuture for __Call {
            type Output = #output;
            type IntoFuture = ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = #output>>>;
            fn into_future(self) -> Self::IntoFuture { ::std::boxed::Box::pin(run(self.0)) }
        }
    };
    Ok(text.to_string())
}

/// The call of a program with the types of its parameters and its result.
fn signature(name: &str, program: &Declarations<'_>) -> String {
    let (mut required, mut optional) = (Vec::new(), String::new());
    for field in program.args.iter().flat_map(|args| &args.fields) {
        let Some(field_name) = field.ident.as_ref().map(name_of) else { continue };
        let kind = inner(&field.ty, &["Option"]).unwrap_or(&field.ty);
        match initial(field) {
            Ok(None) => required.push(format!("{field_name}: {}", compact(kind))),
            _ => optional.push_str(&format!(".{field_name}({})", compact(kind))),
        }
    }
    let output = match &program.run.sig.output {
        syn::ReturnType::Type(_, output) => compact(output),
        syn::ReturnType::Default => "()".to_owned(),
    };
    format!("{PROGRAMS}::{name}({}){optional}.await -> {output}", required.join(", "))
}

/// A type without the spaces between its tokens.
fn compact(kind: &syn::Type) -> String {
    let text = kind.to_token_stream().to_string();
    [(" < ", "<"), (" >", ">"), (" :: ", "::"), (" ,", ","), ("& ", "&")]
        .iter()
        .fold(text, |text, (spaced, plain)| text.replace(spaced, plain))
}

/// The value of a field that is left out; `None` if it is required.
fn initial(field: &Field) -> Result<Option<proc_macro2::TokenStream>, syn::Error> {
    if let Some(path) = serde_text(&field.attrs, "default") {
        let path: syn::Path = syn::parse_str(&path)?;
        return Ok(Some(quote!(#path())));
    }
    let is_optional = inner(&field.ty, &["Option"]).is_some() || has_key(&field.attrs, "default");
    Ok(is_optional.then(|| quote!(::std::default::Default::default())))
}

/// The method that sets a field that may be left out.
fn setter(field: &Field) -> proc_macro2::TokenStream {
    let name = &field.ident;
    let given = quote!(value);
    let (kind, value) = match inner(&field.ty, &["Option"]) {
        Some(inner) => {
            let (kind, value) = taken(inner, &given);
            (kind, quote!(::std::option::Option::Some(#value)))
        }
        None => taken(&field.ty, &given),
    };
    quote! { pub fn #name(mut self, value: #kind) -> Self { self.0.#name = #value; self } }
}

/// Returns the type in which a value of this type is passed: texts in any form.
fn taken(
    kind: &syn::Type,
    value: &proc_macro2::TokenStream,
) -> (proc_macro2::TokenStream, proc_macro2::TokenStream) {
    let is_text = matches!(kind, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| name_of(&last.ident) == "String"));
    match is_text {
        true => (quote!(impl ::std::convert::Into<#kind>), quote!(::std::convert::Into::into(#value))),
        false => (kind.to_token_stream(), value.clone()),
    }
}
