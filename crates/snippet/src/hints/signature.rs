//! Parses a tool's signature, as codegen writes it, into arguments, result and types.
//!
//! Signatures are written for models, and their form may change: what can't be parsed is skipped.

use crate::lexical::is_of_word;

/// A signature's parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The arguments, which are the fields of the input struct.
    pub(crate) input: Vec<Field>,
    /// The type of the result.
    pub(crate) output: String,
    /// The other types.
    types: Vec<(String, Shape)>,
}

/// A field of a struct, or an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// Its type, without the `Option` of an optional field or of one that may be null; empty if not given.
    pub(crate) kind: String,
    /// Whether it is optional.
    pub(crate) optional: bool,
    /// Whether it is marked as a setter.
    pub(super) is_setter: bool,
}

impl Field {
    /// The value of an optional field that is not given.
    pub(crate) fn absent(&self) -> &'static str {
        if self.kind.starts_with("IndexMap<") && self.name.starts_with("extra") {
            "Default::default()"
        } else {
            "None"
        }
    }
}

/// The definition of a type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A struct, by its fields.
    Struct(Vec<Field>),
    /// An enum, by its variants.
    Enum(Vec<Variant>),
    /// An alias.
    Alias(String),
}

/// A variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: String,
    /// Its text, if the name does not show it.
    pub(crate) text: Option<String>,
    /// The type of the value in it.
    pub(crate) held: Option<String>,
}

impl Variant {
    #[cfg(test)]
    pub(crate) fn of(name: &str, text: Option<&str>, held: Option<&str>) -> Self {
        Variant { name: name.to_owned(), text: text.map(str::to_owned), held: held.map(str::to_owned) }
    }

    fn read(text: &str) -> Self {
        let name = leading_name(text).to_owned();
        let rest = text.get(name.len()..).unwrap_or("").trim_start();
        let held = rest.strip_prefix('(').map(|rest| inside(rest).0.to_owned());
        let text = rest.strip_prefix('=').and_then(|rest| serde_json::from_str(rest.trim()).ok());
        Variant { name, text, held }
    }

    /// Whether it stands for all texts that are not listed.
    pub(crate) fn is_any_text(&self) -> bool {
        matches!(self.name.as_str(), "Other" | "Unlisted") && self.held.as_deref() == Some("String")
    }
}

impl Signature {
    /// Parses `signature`; `prefix` is the common prefix of the tool's type names.
    pub(crate) fn read(signature: &str, prefix: &str) -> Self {
        let mut form = Signature::default();
        let mut required = Vec::new();
        for line in signature.lines().map(without_remarks) {
            form.read_line(line.trim(), prefix, &mut required);
        }
        // An argument that may be null is required too, and its field is an `Option`.
        form.input.iter_mut().filter(|field| required.contains(&field.name)).for_each(|field| {
            field.optional = false;
        });
        form
    }

    /// Reads a line; `required` are the names in a line of a call without types.
    fn read_line(&mut self, line: &str, prefix: &str, required: &mut Vec<String>) {
        if let Some((name, body)) = line.strip_prefix("enum ").and_then(|rest| rest.split_once(" {")) {
            let variants = parts(inside(body).0).into_iter().map(Variant::read);
            self.types.push((name.to_owned(), Shape::Enum(variants.collect())));
            return;
        }
        if let Some((name, other)) = line.strip_prefix("type ").and_then(|rest| rest.split_once(" = ")) {
            self.types.push((name.to_owned(), Shape::Alias(other.to_owned())));
            return;
        }
        let name = leading_name(line);
        let rest = line.get(name.len()..).unwrap_or("").trim_start();
        let Some(bracket) = rest.chars().next().filter(|_| !name.is_empty()) else { return };
        let (body, after) = inside(rest.get(1..).unwrap_or(""));
        let mut fields: Vec<Field> = parts(body).into_iter().filter_map(field).collect();
        if bracket == '(' {
            fields.iter_mut().for_each(|field| field.optional = field.is_setter);
        }
        match bracket {
            // If there are two lines for one call, the one with types counts.
            '(' if self.input.iter().all(|field| field.kind.is_empty())
                && fields.iter().any(|field| !field.kind.is_empty()) =>
            {
                self.input = fields;
            }
            '(' => required.extend(fields.into_iter().map(|field| field.name)),
            '{' if name.strip_prefix(prefix) == Some("Input") => self.input = fields,
            '{' => self.types.push((name.to_owned(), Shape::Struct(fields))),
            _ => {}
        }
        let Some((_, output)) = after.split_once("-> ").filter(|_| self.output.is_empty()) else { return };
        match output.trim().strip_prefix('{') {
            // A struct that is shown without its name.
            Some(body) => {
                let fields = parts(inside(body).0).into_iter().filter_map(field).collect();
                self.output = format!("{prefix}Output");
                self.types.push((self.output.clone(), Shape::Struct(fields)));
            }
            None => output.trim().clone_into(&mut self.output),
        }
    }

    /// Like [`Signature::shape`].
    pub(crate) fn into_shape(self, name: &str) -> Option<Shape> {
        self.types.into_iter().find(|(other, _)| other == name).map(|(_, shape)| shape)
    }

    /// The definition of the type called `name`, if the signature has it; for the input, see [`Signature::input`].
    pub(crate) fn shape(&self, name: &str) -> Option<&Shape> {
        self.types.iter().find(|(other, _)| other == name).map(|(_, shape)| shape)
    }

    /// The names of the types.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|(name, _)| name.as_str())
    }

    /// The fields of the type called `name`.
    pub(crate) fn fields(&self, name: &str) -> Option<&[Field]> {
        match self.shape(name)? {
            Shape::Struct(fields) => Some(fields),
            Shape::Enum(_) | Shape::Alias(_) => None,
        }
    }
}

/// The letters and digits of a text, in lower case.
pub(crate) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `line` without its comments.
pub(crate) fn without_remarks(line: &str) -> String {
    if line.trim_start().starts_with("///") {
        return String::new();
    }
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before.trim_end());
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// The characters outside texts in quotes.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.char_indices().filter(move |(_, character)| {
        let was_quoted = is_quoted;
        match character {
            '"' if !is_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        is_escaped = was_quoted && !is_escaped && *character == '\\';
        !was_quoted && !is_quoted
    })
}

/// The text up to the matching closing bracket, and the rest.
fn inside(text: &str) -> (&str, &str) {
    let mut depth = 0_i64;
    for (index, character) in unquoted(text) {
        match character {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' if depth == 0 => {
                return (&text[..index], text.get(index + 1..).unwrap_or(""));
            }
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    (text, "")
}

/// Splits at commas outside brackets.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i64, 0);
    for (index, character) in unquoted(text) {
        match character {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn field(text: &str) -> Option<Field> {
    let (name, kind) = text.split_once(':').unwrap_or((text, ""));
    let (name, mark) = match name.trim().strip_suffix('?') {
        Some(name) => (name, true),
        None => (name.trim(), false),
    };
    let kind = kind.trim();
    let kind = kind.strip_suffix(" or null").unwrap_or(kind);
    let some = within_option(kind);
    let is_name = !name.is_empty() && leading_name(name) == name;
    is_name.then(|| Field {
        name: name.to_owned(),
        // An optional field that may be null is an `Option<Option<…>>`.
        kind: some.map_or(kind, |some| within_option(some).unwrap_or(some)).to_owned(),
        optional: mark || some.is_some(),
        is_setter: mark,
    })
}

/// The type in an `Option`.
fn within_option(kind: &str) -> Option<&str> {
    kind.strip_prefix("Option<")?.strip_suffix('>')
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|c| !is_of_word(c)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::{Field, Shape, Signature, Variant};

    fn field(name: &str, kind: &str, optional: bool) -> Field {
        Field { name: name.to_owned(), kind: kind.to_owned(), optional, is_setter: false }
    }

    fn setter(name: &str, kind: &str) -> Field {
        Field { is_setter: true, ..field(name, kind, true) }
    }

    #[test]
    fn a_signature_is_parsed() {
        let form = Signature::read(
            "/// Write (a note).\n\
             note(text: String /* a, {b */, tags?: Vec<(String, i64)> /* c; default [] */) -> NoteOutput\n\
             enum NoteKind { Short, Dark = \"a, \\\"b}\", Other(String) }\n\
             type NoteIds = Vec<i64>\n\
             NoteEmpty {}\n\
             NoteOutput { id: i64, at: Option<IndexMap<String, i64>> /* when */ }",
            "Note",
        );
        assert_eq!(form.input, [field("text", "String", false), setter("tags", "Vec<(String, i64)>")]);
        assert_eq!(form.output, "NoteOutput");
        let variants = vec![
            Variant::of("Short", None, None),
            Variant::of("Dark", Some("a, \"b}"), None),
            Variant::of("Other", None, Some("String")),
        ];
        assert_eq!(form.shape("NoteKind"), Some(&Shape::Enum(variants)));
        assert_eq!(form.shape("NoteIds"), Some(&Shape::Alias("Vec<i64>".to_owned())));
        assert_eq!(form.fields("NoteEmpty"), Some(&[][..]));
        let fields = [field("id", "i64", false), field("at", "IndexMap<String, i64>", true)];
        assert_eq!(form.fields("NoteOutput"), Some(&fields[..]));
    }

    #[test]
    fn a_result_without_a_name_is_the_output() {
        let form = Signature::read(
            "send(to /* to-whom */?: String) -> { id: i64, copies: Vec<Email> } /* observed */\nEmail { id: i64 }",
            "Send",
        );
        assert_eq!(form.input, [setter("to", "String")]);
        assert_eq!(form.output, "SendOutput");
        let fields = [field("id", "i64", false), field("copies", "Vec<Email>", false)];
        assert_eq!(form.fields("SendOutput"), Some(&fields[..]));
        assert_eq!(form.fields("Email"), Some(&fields[..1]));
    }

    #[test]
    fn a_literal_has_the_arguments_too() {
        let lines = [
            "MoveInput { from: String, mode: Option<MoveMode> }.call() -> MoveOutput",
            "move_(from).mode(mode)",
            "move_(from, to)",
        ];
        for order in [[0, 1], [1, 0], [0, 2], [2, 0]] {
            let form = Signature::read(&order.map(|index| lines[index]).join("\n"), "Move");
            assert_eq!(form.input, [field("from", "String", false), field("mode", "MoveMode", true)]);
            assert_eq!(form.output, "MoveOutput");
            assert_eq!(form.names().count(), 0);
        }
    }

    #[test]
    fn null_is_not_part_of_a_type() {
        let form =
            Signature::read("note(text: Option<String>, tag?: String or null /* a */) -> NoteOutput", "Note");
        assert_eq!(form.input, [field("text", "String", false), setter("tag", "String")]);
        let literal = "NoteInput { text: Option<String>, tag: Option<Option<String>> }.call() -> NoteOutput\nnote(text)";
        assert_eq!(
            Signature::read(literal, "Note").input,
            [field("text", "String", false), field("tag", "String", true)]
        );
    }

    #[test]
    fn invalid_signatures_parse_as_empty() {
        for text in [
            "", "(", "a", "a(", "a(b: ", "{ } -> ", "a() -> {", "enum", "enum X {", "ä{ö: <", "a(?: b)",
            "/* a",
        ] {
            let form = Signature::read(text, "A");
            assert!(form.input.is_empty(), "{text}: {form:?}");
        }
    }
}
