//! Types and their conversions.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::{doc, type_tokens};
use crate::form::Kind;
use crate::model::{FieldModel, Output, Shape, StructModel, ToolModel, TypeModel};
use crate::typing::FieldType;

/// All types of a tool.
pub(super) fn types(tool: &ToolModel) -> TokenStream {
    let found: Vec<&TypeModel> = tool.types.iter().flatten().collect();
    let items = found.iter().map(|model| one(model, tool));
    // An Input is made to be called. It cannot stand in a value of serde's, which would be a sixth of what
    // there is to compile for a tool, unless it holds itself.
    let whole = found.iter().filter(|model| model.received || model.held);
    let names: Vec<Ident> = whole.map(|model| format_ident!("{}", model.name)).collect();
    let generated = (!names.is_empty()).then(|| quote! { bridge::generated! { #(#names)* } });
    let texts: Vec<Ident> = found
        .iter()
        .filter(|model| matches!(model.shape, Shape::Texts { .. }))
        .map(|model| format_ident!("{}", model.name))
        .collect();
    let texts = (!texts.is_empty()).then(|| quote! { bridge::generated_text! { #(#texts)* } });
    let alias = match &tool.output {
        Output::Alias(alias) => {
            let name = format_ident!("{}Output", tool.prefix);
            let alias = type_tokens(alias, tool);
            quote! { pub type #name = #alias; }
        }
        _ => TokenStream::new(),
    };
    quote! { #(#items)* #alias #generated #texts }
}

fn one(model: &TypeModel, tool: &ToolModel) -> TokenStream {
    let name = format_ident!("{}", model.name);
    let Parts { item, to_json, from_json } = match &model.shape {
        Shape::Struct(body) => structure(&name, body, tool),
        Shape::Whole => whole(&name),
        Shape::Texts { variants, other } => texts(&name, variants, other.as_deref()),
        Shape::Tagged { tag, variants, other } => tagged(&name, tag, variants, other.as_deref(), tool),
        Shape::Kinds { variants, other } => kinds(&name, variants, other.as_deref(), tool),
    };
    // The direction that a call needs is compiled with the bindings, the other by the few snippets that
    // use it.
    let inline = |needed: bool| (!needed).then(|| quote! { #[inline] });
    let (inline_to, inline_from) = (inline(model.sent), inline(model.received));
    quote! {
        #item

        impl bridge::convert::ToJson for #name {
            #inline_to
            fn to_json(&self) -> bridge::convert::Value {
                #to_json
            }
        }

        impl bridge::convert::FromJson for #name {
            #inline_from
            fn from_json(value: bridge::convert::Value) -> Result<Self, bridge::convert::Mismatch> {
                #from_json
            }
        }
    }
}

/// What a type is made of.
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
    let extra = body.extra.iter().map(|(name, field_type)| {
        let name = format_ident!("{name}");
        let field_type = type_tokens(field_type, tool);
        quote! { pub #name: #field_type }
    });
    let fields: Vec<TokenStream> = fields.chain(extra).collect();
    let default = body.fields.iter().all(|field| !field.required).then(|| quote! { , Default });
    let item = quote! {
        #[derive(Debug, Clone, PartialEq #default)]
        pub struct #name { #(#fields),* }
    };
    Parts { item, to_json: struct_to_json(body), from_json: struct_from_json(body) }
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
    let optional = body.fields.iter().filter(|field| !field.required).map(pair);
    match &body.extra {
        Some((name, _)) => {
            let name = format_ident!("{name}");
            quote! { bridge::convert::object_with_extra(&[#(#required),*], &[#(#optional),*], &self.#name) }
        }
        None => quote! { bridge::convert::object(&[#(#required),*], &[#(#optional),*]) },
    }
}

fn constant(value: &Value) -> TokenStream {
    match value {
        Value::String(text) => quote! { #text },
        Value::Bool(flag) => quote! { #flag },
        number => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => {
                let integer = Literal::i64_suffixed(integer);
                quote! { #integer }
            }
            (None, number) => {
                let number = Literal::f64_suffixed(number.unwrap_or_default());
                quote! { #number }
            }
        },
    }
}

fn struct_from_json(body: &StructModel) -> TokenStream {
    let mut names: Vec<Ident> = body.fields.iter().map(|field| format_ident!("{}", field.name)).collect();
    let keys = body.fields.iter().map(|field| &field.key);
    let mut takes: Vec<TokenStream> = keys.map(|key| quote! { fields.take(#key) }).collect();
    let skip = body.extra.iter().map(|(name, _)| {
        names.push(format_ident!("{name}"));
        takes.push(quote! { fields.rest() });
        let constants = body.constants.iter().map(|(key, _)| key);
        quote! { fields.skip(&[#(#constants),*]); }
    });
    let skip: Vec<TokenStream> = skip.collect();
    if names.is_empty() {
        return quote! {
            bridge::convert::Fields::new(value).finish()?;
            Ok(Self {})
        };
    }
    let locals: Vec<Ident> = (0..names.len()).map(|index| format_ident!("v{index}")).collect();
    quote! {
        let mut fields = bridge::convert::Fields::new(value);
        #(#skip)*
        let (#(Some(#locals),)*) = (#(#takes,)*) else {
            return Err(fields.mismatch());
        };
        Ok(Self { #(#names: #locals),* })
    }
}

fn whole(name: &Ident) -> Parts {
    Parts {
        item: quote! {
            #[derive(Debug, Clone, PartialEq)]
            pub struct #name { pub arguments: bridge::convert::Value }
        },
        to_json: quote! { self.arguments.clone() },
        from_json: quote! { Ok(Self { arguments: value }) },
    }
}

fn texts(name: &Ident, variants: &[(String, String)], other: Option<&str>) -> Parts {
    let idents: Vec<Ident> = variants.iter().map(|(name, _)| format_ident!("{name}")).collect();
    let values: Vec<&String> = variants.iter().map(|(_, value)| value).collect();
    let other = other.map(|other| format_ident!("{other}"));
    let other_variant = other.iter().map(|other| quote! { #other(String) });
    let other_text = other.iter().map(|other| quote! { Self::#other(text) => text });
    let unknown = match &other {
        Some(other) => quote! { Self::#other(text) },
        None => {
            let expected = expected(&values);
            quote! {
                return Err(bridge::convert::Mismatch::new(#expected, &bridge::convert::Value::String(text)))
            }
        }
    };
    let copy = other.is_none().then(|| quote! { , Copy });
    Parts {
        item: quote! {
        #[derive(Debug, Clone #copy, PartialEq, Eq, Hash)]
        pub enum #name { #(#idents,)* #(#other_variant)* }

        impl #name {
            pub fn as_str(&self) -> &str {
                match self { #(Self::#idents => #values,)* #(#other_text)* }
            }
        }
        },
        to_json: quote! { bridge::convert::ToJson::to_json(self.as_str()) },
        from_json: quote! {
            let text: String = bridge::convert::FromJson::from_json(value)?;
            Ok(match text.as_str() { #(#values => Self::#idents,)* _ => #unknown })
        },
    }
}

/// What a mismatch says instead of the text that is not among the values.
fn expected(values: &[&String]) -> String {
    /// How many values a message names.
    const MOST: usize = 8;
    let shown: Vec<String> = values.iter().take(MOST).map(|value| format!("{value:?}")).collect();
    let more = if values.len() > MOST { " …" } else { "" };
    format!("one of {}{more}", shown.join(" "))
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
    let find_tag = match &other {
        Some(other) => quote! {
            let Ok(tag) = bridge::convert::tag(&value, #tag) else { return Ok(Self::#other(value)) };
        },
        None => quote! { let tag = bridge::convert::tag(&value, #tag)?; },
    };
    let unknown = match &other {
        Some(other) => quote! { Ok(Self::#other(value)) },
        None => {
            let expected = format!("{tag} of {}", expected(&values));
            quote! { Err(bridge::convert::Mismatch::new(#expected, &value)) }
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
            #find_tag
            match tag.as_str() {
                #(#values => bridge::convert::FromJson::from_json(value).map(Self::#idents),)*
                _ => #unknown
            }
        },
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
    let names: Vec<String> = variants.iter().map(|(name, ..)| name.to_lowercase()).collect();
    let expected = names.join(" or ");
    let unknown = match &other {
        Some(other) => quote! { Ok(Self::#other(value)) },
        None => quote! { Err(bridge::convert::Mismatch::new(#expected, &value)) },
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
                    bridge::convert::FromJson::from_json(value).map(Self::#idents)
                })*
                _ => #unknown
            }
        },
    }
}
