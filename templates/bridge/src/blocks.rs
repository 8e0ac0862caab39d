//! `emit` and the types it takes: strings, content blocks, and values that are content blocks in JSON.

use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::client::report;
use crate::content::{Content, ContentError};
use crate::convert::{ToJson, serialize};
use crate::resource::ResourceContent;
use crate::result::ToolResult;
use crate::wire::ToHost;

/// A value that [`emit`] takes.
#[diagnostic::on_unimplemented(
    message = "`emit` does not take `{Self}`",
    label = "neither a string nor content blocks",
    note = "`emit` takes a string, a `Content`, a `ToolResult`, a tool's output that is content blocks, a `Value`, or a \
            reference to or a list of these; print or return other values"
)]
pub trait Emittable {
    /// Calls `take` for each of its content blocks, in order.
    ///
    /// # Errors
    /// If it is neither a content block nor a list of them, with the reason.
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError>;
}

/// Adds content to the outcome: a string, a content block, or all blocks of a [`ToolResult`] or of a typed output.
///
/// # Panics
/// If a value is not a content block in JSON (MCP, "Tools", "Tool Result"), which the outcome would lack.
#[track_caller]
pub fn emit(content: impl Emittable) {
    emit_blocks(&content);
}

#[track_caller]
fn emit_blocks(content: &dyn Emittable) {
    if let Err(error) = content.blocks(&mut send) {
        panic!("emit: {error}");
    }
}

fn send(block: &Content) {
    match to_raw_value(block) {
        Ok(content) => report(&ToHost::Emit { content }),
        Err(error) => eprintln!("emit: {error}"),
    }
}

/// Calls `take` for each block of a generated type.
///
/// # Errors
/// As for [`Emittable::blocks`].
pub fn typed_blocks(value: &dyn ToJson, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
    let value = serialize(value, serde_json::value::Serializer).map_err(ContentError::Json)?;
    json_blocks(value, take)
}

/// A block, a list of blocks, or an object with such a list as its `content`, like `CallToolResult`.
fn json_blocks(mut value: Value, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
    let is_block = value.get("type").is_some_and(Value::is_string);
    let list = if is_block { None } else { value.get_mut("content").filter(|list| list.is_array()) };
    match list.map(Value::take).unwrap_or(value) {
        Value::Array(items) => {
            items.into_iter().try_for_each(|item| Content::of_json(item).map(|block| take(&block)))
        }
        value => Content::of_json(value).map(|block| take(&block)),
    }
}

impl Emittable for Value {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        json_blocks(self.clone(), take)
    }
}

impl Emittable for Content {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        take(self);
        Ok(())
    }
}

impl Emittable for ToolResult {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        self.content.blocks(take)
    }
}

impl Emittable for ResourceContent {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        Content::from(self).blocks(take)
    }
}

impl Emittable for str {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        Content::text(self).blocks(take)
    }
}

impl Emittable for String {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        self.as_str().blocks(take)
    }
}

impl<T: Emittable + ?Sized> Emittable for &T {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        (**self).blocks(take)
    }
}

impl<T: Emittable> Emittable for [T] {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        self.iter().try_for_each(|item| item.blocks(take))
    }
}

impl<T: Emittable> Emittable for Vec<T> {
    fn blocks(&self, take: &mut dyn FnMut(&Content)) -> Result<(), ContentError> {
        self.as_slice().blocks(take)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Content, Emittable, ToolResult, Value};

    fn taken(content: impl Emittable) -> Result<Vec<Value>, String> {
        let mut taken = Vec::new();
        content
            .blocks(&mut |block| taken.push(block.as_json().clone()))
            .map_err(|error| error.to_string())?;
        Ok(taken)
    }

    #[test]
    fn blocks_are_taken_from_all_supported_types() {
        let text = json!({ "type": "text", "text": "a" });
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        assert_eq!(taken("a"), Ok(vec![text.clone()]));
        assert_eq!(taken([&"a".to_owned()].as_slice()), Ok(vec![text.clone()]));
        let content = vec![Content::text("a"), Content::image("AAAA", "image/png")];
        let both = vec![text, image];
        assert_eq!(taken(&content), Ok(both.clone()));
        assert_eq!(taken(json!(both)), Ok(both.clone()));
        assert_eq!(taken(json!({ "content": both })), Ok(both.clone()));
        assert_eq!(taken(ToolResult { content, structured: Some(json!({ "a": 1 })) }), Ok(both));
    }

    #[test]
    fn invalid_blocks_are_errors_with_a_reason() {
        for (value, why) in [
            (json!({ "type": "blob", "data": "AAAA" }), "its `type` is \"blob\""),
            (json!({ "type": "image", "data": "AAAA" }), "no string `mimeType`"),
            (json!({ "type": "resource", "resource": 1 }), "no object `resource`"),
            (json!({ "data": "AAAA" }), "{\"data\":\"AAAA\"} has no `type`"),
            (json!([{ "type": "text", "text": "a" }, 5]), "5 is not an object"),
        ] {
            let error = taken(&value).unwrap_err();
            assert!(error.contains(why) && error.contains("resource_link"), "{error}");
        }
    }
}
