//! Reads the enums of texts in generated code.

use syn::{Expr, Fields, ImplItem, Item, ItemImpl, Lit};

use super::signature::{Shape, Variant, letters};

/// The texts of the enum that `item` implements `GeneratedText` for, in the order of its variants.
pub(super) fn texts(item: &ItemImpl) -> Option<Vec<String>> {
    let expression = item.items.iter().find_map(|item| match item {
        ImplItem::Const(constant) if constant.ident == "TEXTS" => Some(&constant.expr),
        _ => None,
    })?;
    let expression = match expression {
        Expr::Reference(reference) => &reference.expr,
        other => other,
    };
    let Expr::Array(array) = expression else { return Some(Vec::new()) };
    let text = |item: &Expr| match item {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    Some(array.elems.iter().filter_map(text).collect())
}

/// The enum of texts called `name` in `code`.
pub(super) fn shape(code: &str, name: &str) -> Option<Shape> {
    let items = syn::parse_file(code).ok()?.items;
    let is_named = |item: &&Item| matches!(item, Item::Enum(item) if item.ident == name);
    let Item::Enum(item) = items.iter().find(is_named)? else { return None };
    let mut texts = items.iter().find_map(|item| match item {
        Item::Impl(item) => texts(item),
        _ => None,
    })?;
    texts.reverse();
    let variant = |variant: &syn::Variant| {
        let name = variant.ident.to_string();
        let is_unit = matches!(variant.fields, Fields::Unit);
        let text = if is_unit { texts.pop() } else { None };
        let text = text.filter(|text| letters(text) != letters(&name));
        // Any other text.
        let held = (!is_unit).then(|| "String".to_owned());
        Variant { name, text, held }
    };
    Some(Shape::Enum(item.variants.iter().map(variant).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variants_are_those_of_the_code() {
        let code = r#"
            pub enum Mode { R, OnHold, Plus1, Other(String) }
            impl Mode { pub fn as_str(&self) -> &str { "" } }
            impl bridge::convert::GeneratedText for Mode {
                const TEXTS: &'static [&'static str] = &["r", "on hold", "+1"];
            }
        "#;
        let variants = vec![
            Variant::of("R", None, None),
            Variant::of("OnHold", None, None),
            Variant::of("Plus1", Some("+1"), None),
            Variant::of("Other", None, Some("String")),
        ];
        assert_eq!(shape(code, "Mode"), Some(Shape::Enum(variants)));
        assert_eq!(shape(code, "Other"), None);
        assert_eq!(shape("pub enum Mode { A(i64) }", "Mode"), None);
        assert_eq!(shape("pub enum", "Mode"), None);
    }
}
