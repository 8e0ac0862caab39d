//! Builds schemas from bytes. Each byte makes one choice, so fewer and smaller bytes make a simpler schema.

use codegen::Tool;
use serde_json::{Map, Value, json};

const KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "enum",
    "const",
    "additionalProperties",
    "nullable",
    "description",
    "default",
    "prefixItems",
    "patternProperties",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "format",
    "discriminator",
    "title",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "extends",
    "not",
    "if",
    "$anchor",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveRef",
    "definitions",
    "exclusiveMinimum",
    "id",
    "pattern",
    "propertyNames",
    "examples",
    "x-nullable",
    " conditional",
];

const TYPES: &[&str] =
    &["object", "string", "array", "integer", "number", "boolean", "null", "any", "text", ""];

const NAMES: &[&str] = &[
    "a", "b", "A", "B", "kind", "type", "", "1st", "Self", "fooBar", "foo_bar", "extra", "x", "*/", "{}",
    "\u{202e}", "+1", "-1", "$ref", "日本", "Other", "Input", "a/b~c", "call",
];

const REFERENCES: &[&str] = &[
    "#/$defs/A",
    "#/$defs/B",
    "#",
    "#/definitions/A",
    "#/properties/a",
    "#A",
    "#/%24defs/B",
    "#/$defs",
    "#/$defs/A/items",
    "#/%",
    "",
    "https://example.com/",
    "A",
    "#/properties/c/anyOf/0",
];

/// The remaining bytes. After the last byte, every choice is the simplest one.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    fn pick(&mut self, list: &[&str]) -> String {
        list[self.below(list.len())].to_owned()
    }

    fn name(&mut self) -> String {
        // The first ones are used more often, so that names collide.
        let list = if self.one_in(3) { NAMES } else { &NAMES[..6] };
        self.pick(list)
    }

    fn list(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> Value) -> Value {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn map(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> Value) -> Value {
        let entries: Map<String, Value> =
            (0..self.below(most + 1)).map(|_| (self.name(), make(self))).collect();
        Value::Object(entries)
    }

    fn scalar(&mut self) -> Value {
        match self.below(9) {
            0 => Value::Null,
            1 => json!(self.one_in(2)),
            2 => json!(self.below(5)),
            3 => json!(-1.5),
            4 => json!(u64::MAX),
            5 => json!(i64::MIN),
            6 => json!(1e300),
            _ => json!(self.name()),
        }
    }

    /// JSON that may be invalid for its keyword.
    fn anything(&mut self, depth: usize) -> Value {
        match self.below(5) {
            0 | 1 => self.scalar(),
            2 => self.list(3, |bytes| bytes.schema(depth + 1)),
            3 => self.map(3, |bytes| bytes.schema(depth + 1)),
            _ => self.schema(depth + 1),
        }
    }

    fn schema(&mut self, depth: usize) -> Value {
        if depth > 7 {
            return json!(true);
        }
        match self.below(12) {
            0 => json!(!self.one_in(4)),
            1 => json!({ "type": self.pick(TYPES) }),
            2 => json!({ "$ref": self.pick(REFERENCES) }),
            3 => self.anything(depth),
            4 | 5 => json!({ "type": "object", "properties": self.map(3, |bytes| bytes.schema(depth + 1)) }),
            6 => {
                json!({ "oneOf": self.list(3, |bytes: &mut Self| {
                    json!({
                        "type": "object",
                        "properties": { "kind": { "const": bytes.name() }, "a": bytes.schema(depth + 1) },
                        "required": ["kind", bytes.name()],
                    })
                }) })
            }
            _ => {
                let mut keywords = Map::new();
                for _ in 0..=self.below(5) {
                    // The first ones matter most.
                    let list = if self.one_in(2) { KEYWORDS } else { &KEYWORDS[..14] };
                    let keyword = self.pick(list);
                    let value = self.value(&keyword, depth);
                    keywords.insert(keyword, value);
                }
                Value::Object(keywords)
            }
        }
    }

    fn value(&mut self, keyword: &str, depth: usize) -> Value {
        if self.one_in(12) {
            return self.anything(depth);
        }
        match keyword {
            "type" if self.one_in(3) => self.list(3, |bytes| json!(bytes.pick(TYPES))),
            "type" => json!(self.pick(TYPES)),
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies" => self.map(3, |bytes| bytes.schema(depth + 1)),
            "required" => self.list(3, |bytes| json!(bytes.name())),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" | " conditional" => {
                self.list(3, |bytes| bytes.schema(depth + 1))
            }
            "$ref" | "$dynamicRef" | "$recursiveRef" => json!(self.pick(REFERENCES)),
            "enum" | "examples" => self.list(4, Self::scalar),
            "const" | "default" => self.scalar(),
            "nullable" | "x-nullable" => json!(!self.one_in(4)),
            "minItems" | "maxItems" | "minimum" | "maximum" | "exclusiveMinimum" => json!(self.below(4)),
            "format" => json!(self.pick(&["uint64", "int32", "date-time"])),
            "discriminator" => json!({ "propertyName": self.name() }),
            "title" | "description" | "$anchor" | "$dynamicAnchor" | "$id" | "id" | "pattern" => {
                json!(self.name())
            }
            _ => self.schema(depth + 1),
        }
    }

    /// Definitions that refer to each other and to the root, with properties that refer to them.
    fn document(&mut self) -> Value {
        if self.one_in(5) {
            return self.schema(0);
        }
        let required = if self.one_in(2) { vec!["a", "missing"] } else { Vec::new() };
        if self.one_in(2) {
            return json!({ "type": "object", "properties": { "a": self.schema(1) }, "required": required });
        }
        json!({
            "type": "object",
            "properties": { "a": self.schema(1), "b": self.schema(1), "c": { "$ref": "#/$defs/A" } },
            "required": required,
            "$defs": { "A": self.schema(1), "B": self.schema(1) },
        })
    }
}

/// A tool with schemas made from the bytes.
pub(crate) fn tool(bytes: &[u8]) -> Tool {
    let mut bytes = Bytes(bytes.iter());
    let output_schema = bytes.one_in(3).then(|| bytes.document());
    Tool {
        name: bytes.name(),
        description: bytes.one_in(2).then(|| bytes.name()),
        input_schema: bytes.document(),
        output_schema,
        answers: codegen::Answers::default(),
    }
}
