//! `emit` and the types it takes: strings, content blocks, and values that are content blocks in JSON.

use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::client::report;
use crate::content::Content;
use crate::convert::{ToJson, serialize};
use crate::resource::ResourceContent;
use crate::result::ToolResult;
use crate::wire::ToHost;

/// A value that [`emit`] takes.
#[diagnostic::on_unimplemented(
    message = "`emit` does not take `{Self}`",
    label = "neither a string nor content blocks",
    note = "`emit` takes a string, a `Content`, a `ToolResult`, a tool's typed output, a `Value`, or a reference to or a \
            list of these; print or return other values"
)]
pub trait Emittable {
    /// Calls `take` for each of its content blocks, in order.
    fn blocks(&self, take: &mut dyn FnMut(&Content));
}

/// Adds content to the outcome: a string, a content block, or all blocks of a [`ToolResult`] or of a typed output. A
/// value that is no content block is added as its JSON.
///
/// The host repairs blocks that break MCP's rules: a program only passes on what a server answered.
pub fn emit(content: impl Emittable) {
    emit_blocks(&content);
}

fn emit_blocks(content: &dyn Emittable) {
    content.blocks(&mut |block| match to_raw_value(block) {
        Ok(content) => report(&ToHost::Emit { content }),
        Err(error) => eprintln!("emit: {error}"),
    });
}

/// Calls `take` for each block of a generated type.
pub fn typed_blocks(value: &dyn ToJson, take: &mut dyn FnMut(&Content)) {
    match serialize(value, serde_json::value::Serializer) {
        Ok(value) => json_blocks(value, take),
        Err(error) => eprintln!("emit: {error}"),
    }
}

/// A block, a list of blocks, or an object with such a list as its `content`, like `CallToolResult`; any other value is
/// a text.
fn json_blocks(mut value: Value, take: &mut dyn FnMut(&Content)) {
    let list = if Content::is_block(&value) { None } else { value.get_mut("content") };
    let list = list.filter(|list| list.is_array()).map(Value::take);
    match list.unwrap_or(value) {
        Value::Array(items) if items.iter().any(Content::is_block) => {
            items.into_iter().for_each(|item| take(&Content::received(item)));
        }
        Value::String(text) => take(&Content::text(text)),
        value if Content::is_block(&value) => take(&Content::received(value)),
        value => take(&Content::text(value.to_string())),
    }
}

impl Emittable for Value {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        json_blocks(self.clone(), take);
    }
}

impl Emittable for Content {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        take(self);
    }
}

impl Emittable for ToolResult {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        self.content.blocks(take);
    }
}

impl Emittable for ResourceContent {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        Content::from(self).blocks(take);
    }
}

impl Emittable for str {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        Content::text(self).blocks(take);
    }
}

impl Emittable for String {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        self.as_str().blocks(take);
    }
}

impl<T: Emittable + ?Sized> Emittable for &T {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        (**self).blocks(take);
    }
}

impl<T: Emittable> Emittable for [T] {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        self.iter().for_each(|item| item.blocks(take));
    }
}

impl<T: Emittable> Emittable for Vec<T> {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) {
        self.as_slice().blocks(take);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Content, Emittable, ToolResult, Value};

    fn taken(content: impl Emittable) -> Vec<Value> {
        let mut taken = Vec::new();
        content.blocks(&mut |block| taken.push(block.as_json().clone()));
        taken
    }

    #[test]
    fn blocks_are_taken_from_all_supported_types() {
        let text = json!({ "type": "text", "text": "a" });
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        assert_eq!(taken("a"), std::slice::from_ref(&text));
        assert_eq!(taken([&"a".to_owned()].as_slice()), std::slice::from_ref(&text));
        let content = vec![Content::text("a"), Content::image("AAAA", "image/png")];
        let both = vec![text, image];
        assert_eq!(taken(&content), both);
        assert_eq!(taken(json!(both)), both);
        assert_eq!(taken(json!({ "content": both })), both);
        let result = ToolResult { content, structured: Some(json!({ "a": 1 })), view: None };
        assert_eq!(taken(result), both);
    }

    #[test]
    fn blocks_are_repaired_and_other_values_are_texts() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let image = json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
        let sent = json!({ "content": [{ "type": "text", "text": null }, { "type": "image", "data": "iVBORw0KGgo" }, "a"] });
        assert_eq!(taken(sent), [text(""), image, text("a")]);
        assert_eq!(taken(json!({ "orders": [1] })), [text("{\"orders\":[1]}")]);
        assert_eq!(taken(json!([1, "b"])), [text("[1,\"b\"]")]);
        assert_eq!((taken(json!("a")), taken(json!(null))), (vec![text("a")], vec![text("null")]));
    }
}
