//! The methods of an enum of objects that return what all its variants have.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::syntax::type_tokens;
use crate::model::{Accessor, Shape, Source, ToolModel, TypeModel, accessors};
use crate::typing::FieldType;

/// The accessors of a type, if it has any.
pub(super) fn methods(model: &TypeModel, tool: &ToolModel) -> TokenStream {
    let Shape::Tagged { variants, other, .. } = &model.shape else { return TokenStream::new() };
    let methods = accessors(model, tool);
    if methods.is_empty() {
        return TokenStream::new();
    }
    let methods = methods.iter().map(|accessor| {
        let name = format_ident!("{}", accessor.name);
        let returned = returned(accessor, tool);
        let arms = variants.iter().enumerate().map(|(index, (variant, value, _))| {
            let variant = format_ident!("{variant}");
            match &accessor.source {
                Source::Tag => quote! { Self::#variant(_) => #value },
                Source::Fields(fields) => {
                    let (field, is_option) = fields.get(index).cloned().unwrap_or_default();
                    let member = member(accessor, &format_ident!("{field}"), is_option);
                    quote! { Self::#variant(inner) => #member }
                }
            }
        });
        let other = other.iter().map(|other| {
            let other = format_ident!("{other}");
            match unlisted(accessor) {
                Some(read) => quote! { Self::#other(value) => #read },
                None => quote! { Self::#other(_) => None },
            }
        });
        quote! {
            #[inline]
            pub fn #name(&self) -> #returned {
                match self { #(#arms,)* #(#other,)* }
            }
        }
    });
    let name = format_ident!("{}", model.name);
    quote! { impl #name { #(#methods)* } }
}

fn returned(accessor: &Accessor, tool: &ToolModel) -> TokenStream {
    let returned = match &accessor.field_type {
        FieldType::String => quote! { &str },
        FieldType::Vec(item) => {
            let item = type_tokens(item, tool);
            quote! { &[#item] }
        }
        FieldType::Box(content) => {
            let content = type_tokens(content, tool);
            quote! { &#content }
        }
        copied if copied.is_copied() => type_tokens(copied, tool),
        other => {
            let other = type_tokens(other, tool);
            quote! { &#other }
        }
    };
    if accessor.optional {
        quote! { Option<#returned> }
    } else {
        returned
    }
}

/// A member of a variant's struct `inner`.
fn member(accessor: &Accessor, field: &Ident, is_option: bool) -> TokenStream {
    let derefs = matches!(accessor.field_type, FieldType::String | FieldType::Vec(_) | FieldType::Box(_));
    match (accessor.field_type.is_copied(), is_option, accessor.optional) {
        (true, false, true) => quote! { Some(inner.#field) },
        (true, ..) => quote! { inner.#field },
        (false, true, _) if derefs => quote! { inner.#field.as_deref() },
        (false, true, _) => quote! { inner.#field.as_ref() },
        (false, false, true) if derefs => quote! { Some(&*inner.#field) },
        (false, false, true) => quote! { Some(&inner.#field) },
        (false, false, false) if derefs => quote! { &*inner.#field },
        (false, false, false) => quote! { &inner.#field },
    }
}

/// A member of a `value` that the schema does not list, if its type is a plain one.
fn unlisted(accessor: &Accessor) -> Option<TokenStream> {
    let key = &accessor.key;
    let read = match &accessor.field_type {
        FieldType::String => format_ident!("as_str"),
        FieldType::Bool => format_ident!("as_bool"),
        FieldType::I64 => format_ident!("as_i64"),
        FieldType::U64 => format_ident!("as_u64"),
        FieldType::F64 => format_ident!("as_f64"),
        _ => return None,
    };
    let read = quote! { value.get(#key).and_then(bridge::convert::Value::#read) };
    // A value without the tag has an empty one.
    Some(if accessor.optional {
        read
    } else {
        quote! { #read.unwrap_or_default() }
    })
}
