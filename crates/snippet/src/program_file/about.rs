//! Reads the doc comment at the start of a saved program: its description, tags and examples.

use serde_json::{Map, Value};
use syn::{Attribute, Expr, Lit, Meta};

use super::flaw::Flaw;

/// Maximum length of a description, in bytes: more than a page of text.
const DESCRIPTION_LIMIT: usize = 8 << 10;
/// Maximum number of tags and examples.
const LISTED: usize = 100;

/// The content of a program's doc comment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// The program's purpose, as Markdown; the first line is its title.
    pub description: String,
    /// Words that it is found by.
    pub tags: Vec<String>,
    /// Its examples.
    pub examples: Vec<Example>,
}

/// An example: `Example: customer = "c-17", limit = 3 => 12.5`.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The arguments, by name.
    pub arguments: Map<String, Value>,
    /// The result, if it is stated.
    pub result: Option<Value>,
    /// As it is written.
    pub text: String,
}

impl About {
    /// Reads the inner doc comments among `attributes`.
    ///
    /// # Errors
    /// Returns the error in it.
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self, Flaw> {
        let mut about = About::default();
        let mut description: Vec<String> = Vec::new();
        for line in doc_lines(attributes) {
            let text = line.trim();
            if let Some(tags) = text.strip_prefix("Tags:") {
                about
                    .tags
                    .extend(tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned));
            } else if let Some(example) = text.strip_prefix("Example:") {
                let read = Example::parse(example);
                about.examples.push(
                    read.map_err(|error| Flaw::new(format!("the line `{text}` is no example: {error}")))?,
                );
            } else {
                description.push(line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned());
            }
        }
        about.description = description.join("\n").trim().to_owned();
        if about.description.len() > DESCRIPTION_LIMIT {
            return Err(Flaw::new(format!("the description has more than {DESCRIPTION_LIMIT} bytes")));
        }
        if about.tags.len() > LISTED || about.examples.len() > LISTED {
            return Err(Flaw::new(format!("there are more than {LISTED} tags or examples")));
        }
        Ok(about)
    }

    /// The first line of the description.
    #[must_use]
    pub fn title(&self) -> &str {
        self.description.lines().next().unwrap_or_default()
    }
}

/// The lines of doc comments.
pub(super) fn doc_lines(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(literal) = &pair.value else { continue };
        if let (true, Lit::Str(text)) = (pair.path.is_ident("doc"), &literal.lit) {
            lines.extend(text.value().lines().map(str::to_owned));
            if text.value().is_empty() {
                lines.push(String::new());
            }
        }
    }
    lines
}

impl Example {
    fn parse(text: &str) -> Result<Self, Flaw> {
        let mut rest = text.trim();
        let mut arguments = Map::new();
        while !rest.is_empty() && !rest.starts_with("=>") {
            let (name, after) = rest
                .split_once('=')
                .ok_or_else(|| Flaw::new(format!("write `name = VALUE` instead of {rest:?}")))?;
            let name = name.trim();
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)) {
                return Err(Flaw::new(format!("{name:?} is not the name of an argument")));
            }
            let (value, after) =
                value(after).map_err(|error| Flaw::new(format!("the value of {name}: {error}")))?;
            if arguments.insert(name.to_owned(), value).is_some() {
                return Err(Flaw::new(format!("{name} has two values")));
            }
            rest = after.trim_start();
            match rest.strip_prefix(',') {
                Some(more) => rest = more.trim_start(),
                None if rest.is_empty() || rest.starts_with("=>") => {}
                None => return Err(Flaw::new(format!("a comma or `=>` is missing before {rest:?}"))),
            }
        }
        let result = match rest.strip_prefix("=>").map(str::trim) {
            None | Some("…" | "...") => None,
            Some(result) => {
                let (value, after) =
                    value(result).map_err(|error| Flaw::new(format!("the result: {error}")))?;
                if !after.trim().is_empty() {
                    return Err(Flaw::new(format!("after the result there is {:?}", after.trim())));
                }
                Some(value)
            }
        };
        Ok(Example { arguments, result, text: text.trim().to_owned() })
    }
}

/// The JSON value at the start of `text`, and what follows it.
fn value(text: &str) -> Result<(Value, &str), Flaw> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok((value, text.get(values.byte_offset()..).unwrap_or_default())),
        Some(Err(error)) => Err(Flaw::new(format!("this is not JSON: {error}"))),
        None => Err(Flaw::new("there is none; write JSON")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn about(text: &str) -> Result<About, Flaw> {
        About::of(&syn::parse_str::<syn::File>(text).unwrap().attrs)
    }

    #[test]
    fn description_tags_and_examples_are_told_apart() {
        let read = about(
            "//! Revenue by status.\n//!\n//! For one customer.\n//! Tags: orders, revenue\n\
             //! Example: customer = \"c-17, x\", limit = 3 => {\"paid\": 12.5}\n\
             //! Example: => […]\nfn f() {}",
        );
        assert!(read.unwrap_err().to_string().contains("`Example: => […]`"));
        let read = about(
            "//! Revenue by status.\n//!\n//! For one customer.\n//! Tags: orders, revenue\n\
             //! Example: customer = \"c-17, x\", limit = 3 => {\"paid\": 12.5}\n//! Example: => …\nfn f() {}",
        )
        .unwrap();
        assert_eq!(read.description, "Revenue by status.\n\nFor one customer.");
        assert_eq!(
            (read.title(), &read.tags[..]),
            ("Revenue by status.", &["orders".to_owned(), "revenue".to_owned()][..])
        );
        assert_eq!(
            Value::Object(read.examples[0].arguments.clone()),
            json!({ "customer": "c-17, x", "limit": 3 })
        );
        assert_eq!(read.examples[0].result, Some(json!({ "paid": 12.5 })));
        assert_eq!((read.examples[1].arguments.len(), &read.examples[1].result), (0, &None));
    }

    #[test]
    fn wrong_examples_say_what_is_wrong() {
        for (text, says) in [
            ("customer", "write `name = VALUE`"),
            ("a b = 1", "not the name of an argument"),
            ("a = c-17", "the value of a: this is not JSON"),
            ("a = 1 b = 2", "a comma or `=>` is missing"),
            ("a = 1, a = 2", "a has two values"),
            ("a = 1 => 2 3", "after the result there is \"3\""),
        ] {
            let error = Example::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
