//! Stubs, calls and their setters: how a snippet calls a tool.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::syntax::{doc, extra_tokens, output_tokens, type_tokens};
use crate::SchemaSource;
use crate::model::{FieldModel, Output, StructModel, ToolModel};
use crate::typing::FieldType;

/// The compiler's warning for a call that is not awaited.
const MUST_USE: &str = "a call does nothing until it is awaited: add `.await?`";

/// The stub of a tool, its call and the call from the Input struct.
pub(super) fn calls(server: &str, tool: &ToolModel) -> TokenStream {
    let stub = stub(server, tool);
    let name = &tool.name;
    let setters = setters(tool);
    let raw = raw(tool);
    let future = future(server, tool);
    let input = format_ident!("{}Input", tool.prefix);
    let call = format_ident!("{}Call", tool.prefix);
    quote! {
        impl #input {
            #[inline]
            #[track_caller]
            pub fn call(self) -> #call {
                #call { input: self, pending: bridge::call::Pending::new(#server, #name) }
            }
        }

        #[must_use = #MUST_USE]
        pub struct #call { input: #input, pending: bridge::call::Pending }

        #setters
        #raw
        #future
        #stub
    }
}

/// The call as a future. The marker and the tool are inside `parts`, so that only a program that can poll the
/// call contains them.
fn future(server: &str, tool: &ToolModel) -> TokenStream {
    let call = format_ident!("{}Call", tool.prefix);
    let output = output_tokens(tool);
    let poll = match tool.output {
        Output::Untyped => format_ident!("poll_untyped"),
        _ if tool.answers.unchecked => format_ident!("poll_unchecked"),
        _ if tool.answers.source != SchemaSource::Declared => format_ident!("poll_observed"),
        _ => format_ident!("poll"),
    };
    let section = format!(".toolsmith.{}", tool.id);
    let mark = Literal::byte_string(tool.id.as_bytes());
    let name = &tool.name;
    quote! {
        impl bridge::call::Call for #call {
            fn parts(
                &mut self,
            ) -> (&mut bridge::call::Pending, &'static bridge::tool::Tool, &dyn bridge::convert::ToJson) {
                #[unsafe(link_section = #section)]
                static TOOL: bridge::tool::Tool =
                    bridge::tool::Tool { server: #server, name: #name, mark: *#mark };
                (&mut self.pending, &TOOL, &self.input)
            }
        }

        impl std::future::Future for #call {
            type Output = Result<#output, bridge::ToolError>;

            fn poll(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Self::Output> {
                let (pending, tool, input) = bridge::call::Call::parts(self.get_mut());
                pending.#poll(context, tool, input)
            }
        }
    }
}

/// The method for the whole answer. A setter of the same name stays, and the method gets another one.
fn raw(tool: &ToolModel) -> TokenStream {
    let call = format_ident!("{}Call", tool.prefix);
    let is_setter = |body: &StructModel| {
        let setters = body.fields.iter().filter(|field| !field.required).map(|field| &field.name);
        setters.chain(body.described_extra().map(|extra| &extra.name)).any(|name| name == "raw")
    };
    let name = match tool.input_fields().is_some_and(is_setter) {
        true => format_ident!("raw_result"),
        false => format_ident!("raw"),
    };
    quote! {
        impl #call {
            #[inline]
            pub fn #name(self) -> bridge::call::Raw<Self> {
                bridge::call::Raw::new(self)
            }
        }
    }
}

fn stub(server: &str, tool: &ToolModel) -> TokenStream {
    let doc = doc(tool.description.as_deref());
    let name = &tool.name;
    let function = format_ident!("{}", tool.function);
    let input = format_ident!("{}Input", tool.prefix);
    let call = format_ident!("{}Call", tool.prefix);
    let Some(body) = tool.input_fields() else {
        return quote! {
            #doc
            #[track_caller]
            pub fn #function(arguments: impl bridge::convert::Serialize) -> #call {
                #input { arguments: bridge::convert::value(&arguments) }.call()
            }
        };
    };
    let required: Vec<(Ident, Parameter)> = body
        .fields
        .iter()
        .filter(|field| field.required)
        .enumerate()
        .map(|(index, field)| (format_ident!("{}", field.name), parameter(index, field, tool)))
        .collect();
    let generics = required.iter().filter_map(|(_, parameter)| parameter.generic.as_ref());
    let parameters = required.iter().map(|(name, Parameter { taken, .. })| quote! { #name: #taken });
    let values = required.iter().map(|(name, parameter)| {
        let value = match &parameter.may_not_fit {
            Some(key) => {
                let value = &parameter.value;
                quote! { bridge::convert::named(#key, #value) }
            }
            None => parameter.value.clone(),
        };
        quote! { #name: #value }
    });
    let optional = body.fields.iter().filter(|field| !field.required).map(|field| {
        let name = format_ident!("{}", field.name);
        quote! { #name: None }
    });
    let extra = body.extra.iter().map(|extra| {
        let name = format_ident!("{}", extra.name);
        quote! { #name: Default::default() }
    });
    let fields = values.chain(optional).chain(extra);
    // A stub without parameters is compiled by the snippets that use it, like the generic ones.
    let inline = required.is_empty().then(|| quote! { #[inline] });
    quote! {
        #doc
        #inline
        #[track_caller]
        pub fn #function<#(#generics),*>(#(#parameters),*) -> #call {
            #call {
                input: #input { #(#fields),* },
                pending: bridge::call::Pending::new(#server, #name),
            }
        }
    }
}

fn setters(tool: &ToolModel) -> TokenStream {
    let Some(body) = tool.input_fields() else { return TokenStream::new() };
    let mut setters = Vec::new();
    for field in body.fields.iter().filter(|field| !field.required) {
        let doc = doc(field.note.description.as_deref());
        let name = format_ident!("{}", field.name);
        let Parameter { taken, value, generic, may_not_fit } = parameter(0, field, tool);
        let generic = generic.iter();
        let value = match may_not_fit {
            Some(key) => quote! { self.pending.with(#key, #value) },
            None => value,
        };
        setters.push(quote! {
            #doc
            pub fn #name #(<#generic>)* (mut self, #name: #taken) -> Self {
                self.input.#name = #value;
                self
            }
        });
    }
    if let Some(extra) = body.described_extra() {
        let name = format_ident!("{}", extra.name);
        let field_type = extra_tokens(extra, tool);
        setters.push(quote! {
            pub fn #name(mut self, #name: impl bridge::convert::Argument<#field_type>) -> Self {
                self.input.#name = self.pending.with("extra", bridge::convert::Argument::into_argument(#name));
                self
            }
        });
    }
    if setters.is_empty() {
        return TokenStream::new();
    }
    let call = format_ident!("{}Call", tool.prefix);
    quote! { impl #call { #(#setters)* } }
}

/// The form in which a call accepts a field as an argument.
struct Parameter {
    /// The parameter's type.
    taken: TokenStream,
    /// The expression that makes the field's value from the parameter.
    value: TokenStream,
    /// The type parameter that this needs.
    generic: Option<Ident>,
    /// The field's name in JSON, if an argument may not fit the field's type.
    may_not_fit: Option<String>,
}

fn parameter(index: usize, field: &FieldModel, tool: &ToolModel) -> Parameter {
    let name = format_ident!("{}", field.name);
    let may_not_fit = may_not_fit(&field.field_type).then(|| field.key.clone());
    let parameter = match &field.field_type {
        // Whatever is given is sent, also null.
        FieldType::Option(some) if field.nullable => {
            let within = match some.as_ref() {
                FieldType::Option(some) => optional(index, &name, some, tool),
                any => plain(any, &name, tool),
            };
            let value = within.value;
            Parameter { value: quote! { Some(#value) }, ..within }
        }
        FieldType::Option(some) => optional(index, &name, some, tool),
        other => plain(other, &name, tool),
    };
    Parameter { may_not_fit, ..parameter }
}

/// Returns the parameter for a value of a type.
fn plain(field_type: &FieldType, name: &Ident, tool: &ToolModel) -> Parameter {
    let simple = |taken, value| Parameter { taken, value, generic: None, may_not_fit: None };
    match field_type {
        FieldType::Bool => simple(quote! { bool }, quote! { #name }),
        FieldType::String => simple(quote! { impl Into<String> }, quote! { #name.into() }),
        FieldType::Value => {
            simple(quote! { impl bridge::convert::Serialize }, quote! { bridge::convert::value(&#name) })
        }
        FieldType::Box(content) => {
            let content = type_tokens(content, tool);
            simple(
                quote! { impl bridge::convert::Argument<#content> },
                quote! { Box::new(bridge::convert::Argument::into_argument(#name)) },
            )
        }
        other => {
            let other = type_tokens(other, tool);
            simple(
                quote! { impl bridge::convert::Argument<#other> },
                quote! { bridge::convert::Argument::into_argument(#name) },
            )
        }
    }
}

/// Whether an argument may be invalid for its type: an integer out of range, a text that is not listed, JSON of another
/// shape.
fn may_not_fit(field_type: &FieldType) -> bool {
    !matches!(field_type, FieldType::Value | FieldType::Unit | FieldType::Bool | FieldType::String)
}

/// Returns the parameter for an `Option`: it accepts an `Option` or the bare value.
fn optional(index: usize, name: &Ident, some: &FieldType, tool: &ToolModel) -> Parameter {
    if *some == FieldType::Value {
        return Parameter {
            taken: quote! { impl bridge::convert::Serialize },
            value: quote! { bridge::convert::optional_value(&#name) },
            generic: None,
            may_not_fit: None,
        };
    }
    let generic = match index {
        0 => format_ident!("F"),
        index => format_ident!("F{index}"),
    };
    let (content, boxed) = match some {
        FieldType::Box(content) => (content.as_ref(), Some(quote! { .map(Box::new) })),
        other => (other, None),
    };
    let content = type_tokens(content, tool);
    Parameter {
        taken: quote! { impl bridge::convert::OptionalArgument<#content, #generic> },
        value: quote! { bridge::convert::OptionalArgument::into_optional(#name) #boxed },
        generic: Some(generic),
        may_not_fit: None,
    }
}
