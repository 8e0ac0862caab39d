//! Finds enums compared with a string that no variant has: such code compiles, but the comparison is never true.
//!
//! Types are unknown before the compiler runs, and the compiler does not check values. So only comparisons that are
//! certain from the names alone count: those of a field that is such an enum in every tool the snippet names. The
//! program reports the others when it runs (`is_text` in `templates/bridge/src/convert/text.rs`).

use std::collections::BTreeMap;
use std::ops::Range;

use syn::{Fields, GenericArgument, Item, LitStr, PathArguments, Type};

use super::enums;
use super::nearest::nearest;
use super::shown::all;
use crate::tokens::{Kind, Tokens};

/// Methods between a field and its comparison; the field may be an `Option`.
const ON_THE_WAY: [&str; 6] = ["as_ref", "clone", "cloned", "expect", "to_owned", "unwrap"];
/// The methods that turn an `Option` into its value.
const UNWRAPS: [&str; 2] = ["expect", "unwrap"];

/// A comparison that is never true.
#[derive(Debug)]
pub(crate) struct Compared {
    field: String,
    text: String,
    /// The strings of the field's types.
    texts: Vec<String>,
    /// The bytes of the string in the snippet.
    pub(crate) range: Range<usize>,
}

/// A comparison of a field with a string.
struct Comparison<'a> {
    field: &'a str,
    is_unwrapped: bool,
    text: String,
    range: Range<usize>,
}

impl Compared {
    pub(crate) fn message(&self) -> String {
        format!("`{}` is never {:?}: its values are {}", self.field, self.text, self.listed())
    }

    pub(crate) fn hint(&self) -> String {
        let texts = || self.texts.iter().map(String::as_str);
        let same = texts().find(|text| text.eq_ignore_ascii_case(&self.text));
        let meant = same.or_else(|| nearest(&self.text, texts()).into_iter().next());
        let meant = meant.map_or_else(String::new, |text| format!("did you mean {text:?}? "));
        format!("{meant}to compare with a string that the schema does not list, use `.as_str()`")
    }

    fn listed(&self) -> String {
        all(self.texts.iter().map(String::as_str), "and")
    }
}

/// The comparisons in a text that are never true; `sources` returns the code of the tools the snippet names.
pub(crate) fn compared<E>(
    text: &str,
    sources: impl FnOnce() -> Result<String, E>,
) -> Result<Vec<Compared>, E> {
    let tokens = Tokens::read(text);
    let comparisons = comparisons(&tokens);
    if comparisons.is_empty() {
        return Ok(Vec::new());
    }
    let Ok(file) = syn::parse_file(&sources()?) else { return Ok(Vec::new()) };
    let types = Types::read(&file.items);
    Ok(comparisons
        .into_iter()
        .filter_map(|comparison| {
            let texts = types.texts(comparison.field, comparison.is_unwrapped)?;
            let Comparison { field, text, range, .. } = comparison;
            (!texts.contains(&text)).then(|| Compared { field: field.to_owned(), text, texts, range })
        })
        .collect())
}

/// The comparisons of fields with strings, except for fields that a type of the snippet also has.
fn comparisons<'a>(tokens: &Tokens<'a>) -> Vec<Comparison<'a>> {
    let found = (1..tokens.len()).filter_map(|sign| {
        let is_equal = tokens.is_sign(sign, '=') || tokens.is_sign(sign, '!');
        if !is_equal || !tokens.is_sign(sign + 1, '=') {
            return None;
        }
        let text: LitStr = syn::parse_str(tokens.literal_text(sign + 2)?).ok()?;
        // A method on the string literal makes a different string.
        if tokens.is_sign(sign + 3, '.') {
            return None;
        }
        let (field, is_unwrapped) = field_before(tokens, sign)?;
        Some(Comparison { field, is_unwrapped, text: text.value(), range: tokens.range(sign + 2) })
    });
    let has_types = tokens.words().any(|(_, word)| matches!(word, "struct" | "enum"));
    let is_own = |field: &str| {
        has_types
            && tokens.words().any(|(index, word)| {
                word == field && tokens.is_sign(index + 1, ':') && !tokens.is_sign(index + 2, ':')
            })
    };
    found.filter(|comparison| !is_own(comparison.field)).collect()
}

/// The field whose value ends before a token, and whether its `Option` is unwrapped.
fn field_before<'a>(tokens: &Tokens<'a>, end: usize) -> Option<(&'a str, bool)> {
    let mut last = end.checked_sub(1)?;
    let mut is_unwrapped = false;
    while tokens.kind(last) == Some(Kind::Close('(')) {
        let name = tokens.open(last)?.checked_sub(1)?;
        let word = tokens.word(name);
        if !ON_THE_WAY.contains(&word) || !tokens.is_sign(name.checked_sub(1)?, '.') {
            return None;
        }
        is_unwrapped |= UNWRAPS.contains(&word);
        last = name.checked_sub(2)?;
    }
    let field = tokens.word(last);
    let is_field = !field.is_empty() && tokens.is_sign(last.checked_sub(1)?, '.');
    is_field.then_some((field, is_unwrapped))
}

/// The fields and enums of generated code.
struct Types {
    /// For each field name its types, and whether each is an `Option`.
    fields: BTreeMap<String, Vec<(String, bool)>>,
    /// The strings of each string enum.
    texts: BTreeMap<String, Vec<String>>,
}

impl Types {
    fn read(items: &[Item]) -> Self {
        let mut types = Types { fields: BTreeMap::new(), texts: BTreeMap::new() };
        for item in items {
            match item {
                Item::Struct(item) => types.add_fields(&item.fields),
                Item::Impl(item) => {
                    if let Some(texts) = enums::texts(item) {
                        types.texts.insert(type_name(&item.self_ty).0, texts);
                    }
                }
                _ => {}
            }
        }
        types
    }

    fn add_fields(&mut self, fields: &Fields) {
        for field in fields {
            let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
            self.fields.entry(name).or_default().push(type_name(&field.ty));
        }
    }

    /// The strings of all types that a field may have, if each is an enum. An `Option` does not compare with a string.
    fn texts(&self, field: &str, is_unwrapped: bool) -> Option<Vec<String>> {
        let types = self.fields.get(field)?.iter().filter(|(_, is_option)| *is_option == is_unwrapped);
        let mut texts: Vec<String> = Vec::new();
        for (name, _) in types {
            for text in self.texts.get(name)? {
                if !texts.contains(text) {
                    texts.push(text.clone());
                }
            }
        }
        (!texts.is_empty()).then_some(texts)
    }
}

/// The name of a type, and whether it was in an `Option`; empty for a type without a name.
fn type_name(of: &Type) -> (String, bool) {
    let Type::Path(path) = of else { return (String::new(), false) };
    let Some(last) = path.path.segments.last() else { return (String::new(), false) };
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if last.ident == "Option" => {
            let inner = arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(type_name(inner).0),
                _ => None,
            });
            (inner.unwrap_or_default(), true)
        }
        PathArguments::None => (last.ident.to_string(), false),
        _ => (String::new(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = r#"
        pub struct Order { pub status: OrderStatus, pub kind: String, pub colour: Option<OrderColour> }
        pub struct Note { pub kind: NoteKind }
        impl bridge::convert::GeneratedText for OrderStatus {
            const TEXTS: &'static [&'static str] = &["pending", "shipped"];
        }
        impl bridge::convert::GeneratedText for OrderColour { const TEXTS: &'static [&'static str] = &["red"]; }
        impl bridge::convert::GeneratedText for NoteKind { const TEXTS: &'static [&'static str] = &["short"]; }
    "#;

    fn found(snippet: &str) -> Vec<String> {
        let compared = compared(snippet, || Ok::<_, ()>(CODE.to_owned())).unwrap();
        compared.into_iter().map(|compared| compared.text).collect()
    }

    #[test]
    fn strings_that_no_variant_has_are_found() {
        for (snippet, text) in [
            (r#"o.status == "Shipped""#, "Shipped"),
            (r#"orders.iter().filter(|o| o.status != "lost").count()"#, "lost"),
            (r#"if o.status.clone() == "sent" { 1 } else { 2 }"#, "sent"),
            (r##"f(&o).status == r#"Shipped"#"##, "Shipped"),
            (r#"o.colour.unwrap() == "blue""#, "blue"),
            (r#"o.colour.as_ref().expect("one") == "blue""#, "blue"),
        ] {
            assert_eq!(found(snippet), [text], "{snippet}");
        }
    }

    #[test]
    fn uncertain_comparisons_are_not_reported() {
        for snippet in [
            r#"o.status == "shipped""#,
            r#"o.status.as_str() == "Shipped""#,
            r#"o.status.to_string() == "Shipped""#,
            r#"o.status == "Shipped".to_lowercase()"#,
            r#"o.kind == "long""#,
            r#"o.title == "x""#,
            r#"o.colour == "blue""#,
            r#"status == "Shipped""#,
            r#"struct Own { status: String } let o = Own { status: "a".into() }; o.status == "Shipped""#,
            r#"o.status >= "Shipped""#,
            r#"let x = o.status; "Shipped""#,
        ] {
            assert_eq!(found(snippet), [""; 0], "{snippet}");
        }
    }

    #[test]
    fn hints_suggest_the_nearest_string() {
        let compared = compared(r#"o.status == "Shipped""#, || Ok::<_, ()>(CODE.to_owned())).unwrap();
        let first = compared.first().unwrap();
        assert_eq!(first.message(), r#"`status` is never "Shipped": its values are `pending` and `shipped`"#);
        assert!(first.hint().starts_with(r#"did you mean "shipped"? "#), "{}", first.hint());
    }
}
