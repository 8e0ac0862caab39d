//! The attribute `toolsmith::tool`: a function of a program as a tool of its snippets.

#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Error, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Pat, Token, Type};

/// Makes an asynchronous function a tool. The name of the function is that of the tool, its documentation is the
/// description, and its parameters are the arguments, by their names. It returns a `Result`.
///
/// `server = "shop"` names the server that the tool belongs to, and so its module in snippets (default: `local`).
/// `read_only` states that it changes nothing.
///
/// A parameter whose type has the name `Progress`, that of `toolsmith::Progress`, is no argument: it reports the progress
/// of the call.
///
/// The function becomes a value of its name, which `Builder::tool` takes; `get_order::call(…)` calls the function itself.
#[proc_macro_attribute]
pub fn tool(
    arguments: proc_macro::TokenStream,
    function: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(arguments.into(), function.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// The options of the attribute.
#[derive(Default)]
struct Options {
    server: Option<Expr>,
    is_read_only: bool,
}

fn expand(arguments: TokenStream, function: TokenStream) -> Result<TokenStream, Error> {
    let options = options(arguments)?;
    let mut function: ItemFn = syn::parse2(function)?;
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        return Err(Error::new(signature.span(), "a tool is an `async fn`"));
    }
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new(parameter.span(), "a tool has no generic parameters"));
    }
    let (mut passed, mut fields) = (Vec::new(), Vec::new());
    for input in &mut function.sig.inputs {
        let FnArg::Typed(parameter) = input else {
            return Err(Error::new(input.span(), "a tool is no method; capture state with `Tool::new`"));
        };
        let Pat::Ident(name) = &*parameter.pat else {
            return Err(Error::new(parameter.pat.span(), "a parameter of a tool has a name"));
        };
        if is_progress(&parameter.ty) {
            passed.push(quote!(progress));
            continue;
        }
        // Documentation and `serde` attributes belong to the field, which has them for the schema.
        let attributes = std::mem::take(&mut parameter.attrs);
        let (name, of_type) = (&name.ident, &parameter.ty);
        fields.push(quote!(#(#attributes)* #name: #of_type));
        passed.push(quote!(arguments.#name));
    }
    let (name, visibility) = (function.sig.ident.clone(), function.vis.clone());
    let description = documentation(&function.attrs);
    let attributes = std::mem::take(&mut function.attrs);
    let tool_name = name.unraw().to_string();
    function.sig.ident = format_ident!("call");
    function.vis = syn::parse_quote!(pub);
    let server = options.server.map(|server| quote!(.server(#server)));
    let read_only = options.is_read_only.then(|| quote!(.read_only()));
    Ok(quote! {
        #(#attributes)*
        #[allow(non_camel_case_types)]
        #[derive(Debug, Clone, Copy)]
        #visibility struct #name;

        impl #name {
            #[allow(missing_docs)]
            #function
        }

        impl ::toolsmith::IntoTool for #name {
            fn into_tool(self) -> ::toolsmith::Tool {
                #[derive(::toolsmith::macros::serde::Deserialize, ::toolsmith::macros::schemars::JsonSchema)]
                #[serde(crate = "::toolsmith::macros::serde")]
                #[schemars(crate = "::toolsmith::macros::schemars")]
                struct __Arguments {
                    #(#fields,)*
                }
                ::toolsmith::Tool::with_progress(
                    #tool_name,
                    #description,
                    |arguments: __Arguments, progress: ::toolsmith::Progress| #name::call(#(#passed),*),
                )
                #server
                #read_only
            }
        }
    })
}

/// Whether a parameter is no argument, but the means to report progress.
fn is_progress(of_type: &Type) -> bool {
    let Type::Path(path) = of_type else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Progress")
}

fn options(arguments: TokenStream) -> Result<Options, Error> {
    let mut options = Options::default();
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    for argument in syn::parse::Parser::parse2(parser, arguments)? {
        match argument {
            Meta::NameValue(pair) if pair.path.is_ident("server") => options.server = Some(pair.value),
            Meta::Path(path) if path.is_ident("read_only") => options.is_read_only = true,
            other => return Err(Error::new(other.span(), "write `server = \"NAME\"` or `read_only`")),
        }
    }
    Ok(options)
}

/// The documentation of a function, a paragraph a line.
fn documentation(attributes: &[Attribute]) -> String {
    let lines =
        attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(|attribute| {
            match &attribute.meta.require_name_value().ok()?.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
                _ => None,
            }
        });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}
