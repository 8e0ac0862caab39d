//! Types and their conversions.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::accessors::methods;
use super::syntax::{doc, extra_tokens, type_tokens};
use super::unions::union;
use crate::form::Kind;
use crate::ground::{Made, rank, ranks};
use crate::likeness::numbers;
use crate::model::{ExtraModel, FieldModel, Output, Shape, StructModel, ToolModel, TypeModel};
use crate::typing::FieldType;

/// The compiler's warning for arguments that are not sent.
const MUST_USE: &str = "arguments do nothing until they are sent: add `.call().await?`";

/// The types of a server, by their index. An Input exists to be called. It cannot be part of a serde value, unless it
/// contains itself. Support for that would be a sixth of the code to compile for a tool.
pub(super) fn types(server: &str, tool: &ToolModel) -> Vec<TokenStream> {
    let numbers = numbers(server, tool).into_iter().map(Literal::u64_unsuffixed);
    let one = |(model, number): (&TypeModel, Literal)| {
        let name = format_ident!("{}", model.name);
        if let Shape::Alias(of) = &model.shape {
            let of = format_ident!("{}", tool.type_name(*of));
            return quote! { pub type #name = #of; };
        }
        let item = one(model, tool);
        let generated =
            (model.received || model.held).then(|| quote! { bridge::generated! { #name = #number } });
        let texts = match &model.shape {
            Shape::Texts { other: Some(_), .. } => quote! { bridge::generated_text! { #name; } },
            Shape::Texts { other: None, .. } => quote! { bridge::generated_text! { ; #name } },
            _ => TokenStream::new(),
        };
        let union = union(model, tool);
        quote! { #item #generated #texts #union }
    };
    tool.types.iter().zip(numbers).map(one).collect()
}

/// The names that a tool gives its types, where they are not the types' own.
pub(super) fn names(tool: &ToolModel) -> TokenStream {
    let output = format!("{}Output", tool.prefix);
    let output = match &tool.output {
        Output::Untyped => None,
        Output::Type(index) if tool.type_name(*index) == output => None,
        Output::Type(index) => Some((output, FieldType::Named(*index))),
        Output::Alias(alias) => Some((output, alias.clone())),
    };
    let others = tool.names.iter().map(|(name, index)| (name.clone(), FieldType::Named(*index)));
    let names = output.into_iter().chain(others).map(|(name, of)| {
        let (name, of) = (format_ident!("{name}"), type_tokens(&of, tool));
        quote! { pub type #name = #of; }
    });
    names.collect()
}

fn one(model: &TypeModel, tool: &ToolModel) -> TokenStream {
    let name = format_ident!("{}", model.name);
    let Parts { item, to_json, from_json } = match &model.shape {
        Shape::Struct(body) => structure(&name, body, tool),
        Shape::Whole | Shape::Alias(_) => whole(&name),
        Shape::Texts { variants, other } => return texts(&name, variants, other.as_deref()),
        Shape::Tagged { tag, variants, other } => tagged(&name, tag, variants, other.as_deref(), tool),
        Shape::Kinds { variants, other } => kinds(&name, variants, other.as_deref(), tool),
    };
    // The direction that a call needs is compiled with the bindings; the other one by the few snippets that
    // use it. Only a test reads an input that no other type contains.
    let inline = |needed: bool| (!needed).then(|| quote! { #[inline] });
    let (inline_to, inline_from) = (inline(model.sent), inline(model.received));
    let test = (!model.received && !model.held).then(|| quote! { #[cfg(test)] });
    let is_input = model.is_input && !model.received && !model.held;
    let must_use = is_input.then(|| quote! { #[must_use = #MUST_USE] });
    let methods = methods(model, tool);
    quote! {
        #must_use
        #item

        #methods

        impl bridge::convert::ToJson for #name {
            #inline_to
            fn to_json(&self) -> bridge::convert::Value {
                #to_json
            }
        }

        #test
        impl bridge::convert::FromJson for #name {
            #inline_from
            fn from_json(value: bridge::convert::Value, reader: &mut bridge::convert::Reader) -> Self {
                #from_json
            }
        }
    }
}

/// The code of a type.
struct Parts {
    item: TokenStream,
    /// The body of `to_json`.
    to_json: TokenStream,
    /// The body of `from_json`.
    from_json: TokenStream,
}

fn structure(name: &Ident, body: &StructModel, tool: &ToolModel) -> Parts {
    let fields = body.fields.iter().map(|field| {
        let doc = doc(field.note.description.as_deref());
        let name = format_ident!("{}", field.name);
        let field_type = type_tokens(&field.field_type, tool);
        quote! { #doc pub #name: #field_type }
    });
    let extra = body.extra.iter().map(|extra| {
        let name = format_ident!("{}", extra.name);
        let field_type = extra_tokens(extra, tool);
        quote! { pub #name: #field_type }
    });
    let fields: Vec<TokenStream> = fields.chain(extra).collect();
    let default = body.fields.iter().all(|field| !field.required).then(|| quote! { , Default });
    let kept = body.extra.as_ref().filter(|extra| extra.received);
    let derived = kept.is_none().then(|| quote! { Debug, });
    let debug = kept.map(|extra| debug(name, body, extra));
    let item = quote! {
        #[derive(#derived Clone, PartialEq #default)]
        pub struct #name { #(#fields),* }

        #debug
    };
    Parts { item, to_json: struct_to_json(body), from_json: struct_from_json(body) }
}

/// Like the derived output, without the field for undeclared members if there are none.
fn debug(name: &Ident, body: &StructModel, extra: &ExtraModel) -> TokenStream {
    let fields = body.fields.iter().map(|field| {
        let (text, name) = (&field.name, format_ident!("{}", field.name));
        quote! { (#text, &self.#name) }
    });
    let (text, extra) = (name.to_string(), format_ident!("{}", extra.name));
    quote! {
        impl std::fmt::Debug for #name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                bridge::convert::debug(formatter, #text, &[#(#fields),*], &self.#extra)
            }
        }
    }
}

fn struct_to_json(body: &StructModel) -> TokenStream {
    let pair = |field: &FieldModel| {
        let (key, name) = (&field.key, format_ident!("{}", field.name));
        quote! { (#key, &self.#name) }
    };
    let constants = body.constants.iter().map(|(key, value)| {
        let value = constant(value);
        quote! { (#key, &#value) }
    });
    let required = body.fields.iter().filter(|field| field.required).map(pair).chain(constants);
    let optional = body.fields.iter().filter(|field| !field.required && !field.nullable).map(pair);
    let object = match &body.extra {
        Some(extra) => {
            let name = format_ident!("{}", extra.name);
            quote! { bridge::convert::object_with_extra(&[#(#required),*], &[#(#optional),*], &self.#name) }
        }
        None => quote! { bridge::convert::object(&[#(#required),*], &[#(#optional),*]) },
    };
    let nullable = body.fields.iter().filter(|field| field.nullable).map(|field| {
        let (key, name) = (&field.key, format_ident!("{}", field.name));
        quote! { (#key, self.#name.as_ref().map(|value| value as &dyn bridge::convert::ToJson)) }
    });
    let nullable: Vec<TokenStream> = nullable.collect();
    match nullable.is_empty() {
        true => object,
        false => quote! { bridge::convert::with_nullable(#object, &[#(#nullable),*]) },
    }
}

fn constant(value: &Value) -> TokenStream {
    match value {
        Value::String(text) => quote! { #text },
        Value::Bool(flag) => quote! { #flag },
        number => {
            let signed = number.as_i64().map(Literal::i64_suffixed);
            let integer = signed.or_else(|| number.as_u64().map(Literal::u64_suffixed));
            let number =
                integer.unwrap_or_else(|| Literal::f64_suffixed(number.as_f64().unwrap_or_default()));
            quote! { #number }
        }
    }
}

fn struct_from_json(body: &StructModel) -> TokenStream {
    if body.fields.is_empty() && body.extra.is_none() {
        return quote! {
            reader.object(value);
            Self {}
        };
    }
    let fields = body.fields.iter().map(|field| {
        let (key, name) = (&field.key, format_ident!("{}", field.name));
        let read = match (body.unchecked, field.nullable) {
            (true, _) => return quote! { #name: reader.fitting(level, #key) },
            (false, true) => quote! { bridge::convert::read_nullable },
            (false, false) => quote! { bridge::convert::FromJson::from_json },
        };
        quote! { #name: #read(reader.take(level, #key), reader) }
    });
    let object = if body.unchecked { format_ident!("any_object") } else { format_ident!("object") };
    let constants = body.constants.iter().map(|(key, value)| {
        let value = constant(value);
        quote! { reader.constant(level, #key, &#value); }
    });
    let extra = body.extra.iter().map(|extra| {
        let name = format_ident!("{}", extra.name);
        // In the order of `struct_to_json`.
        let keys = |required| {
            let fields = body.fields.iter().filter(move |field| field.required == required);
            fields.map(|field| &field.key)
        };
        let declared = keys(true).chain(body.constants.iter().map(|(key, _)| key)).chain(keys(false));
        match extra.described && !body.unchecked {
            true => quote! {
                #name: bridge::convert::FromJson::from_json(
                    reader.described_rest(level, &[#(#declared),*]),
                    reader,
                )
            },
            false => quote! { #name: bridge::Extra::kept(reader.rest(level, &[#(#declared),*]), reader) },
        }
    });
    let fields = fields.chain(extra);
    quote! {
        let level = reader.#object(value);
        #(#constants)*
        Self { #(#fields),* }
    }
}

fn whole(name: &Ident) -> Parts {
    Parts {
        item: quote! {
            #[derive(Debug, Clone, PartialEq)]
            pub struct #name { pub arguments: bridge::convert::Value }
        },
        to_json: quote! { self.arguments.clone() },
        from_json: quote! { Self { arguments: bridge::convert::FromJson::from_json(value, reader) } },
    }
}

fn texts(name: &Ident, variants: &[(String, String)], other: Option<&str>) -> TokenStream {
    let idents: Vec<Ident> = variants.iter().map(|(name, _)| format_ident!("{name}")).collect();
    let values: Vec<&String> = variants.iter().map(|(_, value)| value).collect();
    let other = other.map(|other| format_ident!("{other}"));
    let other_variant = other.iter().map(|other| quote! { #other(String) });
    let other_text = other.iter().map(|other| quote! { Self::#other(text) => text });
    let unknown = match (&other, idents.first()) {
        (Some(other), _) => quote! { Self::#other(text.to_owned()) },
        (None, first) => quote! { return Err((Self::#first, Self::TEXTS)) },
    };
    let copy = other.is_none().then(|| quote! { , Copy });
    quote! {
        #[derive(Debug, Clone #copy, PartialEq, Hash)]
        pub enum #name { #(#idents,)* #(#other_variant)* }

        impl #name {
            pub fn as_str(&self) -> &str {
                match self { #(Self::#idents => #values,)* #(#other_text)* }
            }
        }

        impl bridge::convert::GeneratedText for #name {
            const TEXTS: &'static [&'static str] = &[#(#values),*];

            fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])> {
                Ok(match text { #(#values => Self::#idents,)* _ => #unknown })
            }
        }
    }
}

fn tagged(
    name: &Ident,
    tag: &str,
    variants: &[(String, String, FieldType)],
    other: Option<&str>,
    tool: &ToolModel,
) -> Parts {
    let idents: Vec<Ident> = variants.iter().map(|(name, ..)| format_ident!("{name}")).collect();
    let values: Vec<&String> = variants.iter().map(|(_, value, _)| value).collect();
    let types = variants.iter().map(|(.., field_type)| type_tokens(field_type, tool));
    let other = other.map(|other| format_ident!("{other}"));
    let other_variant = other.iter().map(|other| quote! { #other(bridge::convert::Value) });
    let other_json = other.iter().map(|other| quote! { Self::#other(value) => value.clone() });
    let unknown = match &other {
        Some(other) => unlisted(other),
        None => {
            let instead = instead(variants.iter().map(|(name, _, field_type)| (name, field_type)), tool);
            quote! {
                reader.unknown_tag(#tag, &[#(#values),*], &value);
                #instead
            }
        }
    };
    Parts {
        item: quote! {
        #[derive(Debug, Clone, PartialEq)]
        pub enum #name { #(#idents(#types),)* #(#other_variant)* }
        },
        to_json: quote! {
            match self {
                #(Self::#idents(inner) => {
                    bridge::convert::tagged(#tag, #values, bridge::convert::ToJson::to_json(inner))
                })*
                #(#other_json)*
            }
        },
        from_json: quote! {
            match value.get(#tag).and_then(bridge::convert::Value::as_str) {
                #(Some(#values) => {
                    Self::#idents(bridge::convert::FromJson::from_json(reader.untagged(value, #tag), reader))
                })*
                _ => { #unknown }
            }
        },
    }
}

/// The variant for a value that the schema does not list.
fn unlisted(other: &Ident) -> TokenStream {
    quote! { Self::#other(reader.held(value)) }
}

/// The variant that an enum is read as if the value fits none: the one that needs the fewest steps to build
/// from nothing.
fn instead<'a>(variants: impl Iterator<Item = (&'a String, &'a FieldType)>, tool: &ToolModel) -> TokenStream {
    let made: Vec<Made<'_>> = tool.types.iter().map(made).collect();
    let ranks = ranks(&made);
    let least = variants.min_by_key(|(_, field_type)| rank(field_type, &ranks).unwrap_or(usize::MAX));
    let least = least.map(|(name, _)| format_ident!("{name}"));
    quote! { Self::#least(bridge::convert::FromJson::from_json(value, reader)) }
}

/// The parts that a value of a type needs.
fn made(model: &TypeModel) -> Made<'_> {
    match &model.shape {
        Shape::Struct(body) => Made::All(body.fields.iter().map(|field| &field.field_type).collect()),
        Shape::Tagged { variants, other: None, .. } => {
            Made::One(variants.iter().map(|(.., field_type)| field_type).collect())
        }
        Shape::Kinds { variants, other: None } => {
            Made::One(variants.iter().map(|(.., field_type)| field_type).collect())
        }
        _ => Made::nothing(),
    }
}

fn kinds(
    name: &Ident,
    variants: &[(String, Kind, FieldType)],
    other: Option<&str>,
    tool: &ToolModel,
) -> Parts {
    let idents: Vec<Ident> = variants.iter().map(|(name, ..)| format_ident!("{name}")).collect();
    let types = variants.iter().map(|(.., field_type)| type_tokens(field_type, tool));
    let patterns = variants.iter().map(|(_, kind, _)| match kind {
        Kind::Text => format_ident!("String"),
        Kind::Number => format_ident!("Number"),
        Kind::Boolean => format_ident!("Bool"),
        Kind::List => format_ident!("Array"),
        Kind::Object => format_ident!("Object"),
    });
    let other = other.map(|other| format_ident!("{other}"));
    let other_variant = other.iter().map(|other| quote! { #other(bridge::convert::Value) });
    let other_json = other.iter().map(|other| quote! { Self::#other(value) => value.clone() });
    let unknown = match &other {
        Some(other) => unlisted(other),
        None => {
            let names: Vec<String> = variants.iter().map(|(name, ..)| name.to_lowercase()).collect();
            let expected = names.join(" or ");
            let instead = instead(variants.iter().map(|(name, _, field_type)| (name, field_type)), tool);
            quote! {
                reader.mismatch(#expected, &value);
                #instead
            }
        }
    };
    Parts {
        item: quote! {
        #[derive(Debug, Clone, PartialEq)]
        pub enum #name { #(#idents(#types),)* #(#other_variant)* }
        },
        to_json: quote! {
            match self {
                #(Self::#idents(inner) => bridge::convert::ToJson::to_json(inner),)*
                #(#other_json)*
            }
        },
        from_json: quote! {
            match value {
                #(bridge::convert::Value::#patterns(_) => {
                    Self::#idents(bridge::convert::FromJson::from_json(value, reader))
                })*
                _ => { #unknown }
            }
        },
    }
}
