//! The blocks of a result's `content`.

use std::borrow::Cow;

use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

use super::members::{Members, is_null, unquoted};

/// The blocks of a result, and how they differed from MCP's form.
#[derive(Default)]
pub(super) struct Blocks<'a> {
    pub(super) blocks: Vec<Cow<'a, RawValue>>,
    /// Whether any block was changed, with or without a word about it.
    pub(super) is_changed: bool,
    pub(super) changes: Vec<&'static str>,
    /// The value that is the only data of the blocks, if it is not in MCP's form.
    pub(super) data: Option<&'a RawValue>,
}

/// A text block.
pub(super) fn text_block(text: &str) -> Box<RawValue> {
    to_raw_value(&json!({ "type": "text", "text": text })).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The text of a text block, or of an embedded resource.
pub(super) fn text(block: &RawValue) -> Option<Cow<'_, str>> {
    let members = Members::of(block)?;
    match &*unquoted(members.get("type")?)? {
        "text" => unquoted(members.get("text")?),
        "resource" => unquoted(Members::of(members.get("resource")?)?.get("text")?),
        _ => None,
    }
}

/// The type of a block that names none.
fn implied_type(members: &Members<'_>) -> Option<&'static str> {
    let text = |name| members.get(name).and_then(unquoted);
    let has = |name| members.get(name).is_some_and(|value| !is_null(value));
    let media = text("mimeType").unwrap_or_default();
    if has("text") {
        Some("text")
    } else if text("data").is_some() && media.starts_with("image/") {
        Some("image")
    } else if text("data").is_some() && media.starts_with("audio/") {
        Some("audio")
    } else if members.get("resource").is_some_and(|resource| resource.get().starts_with('{')) {
        Some("resource")
    } else if text("uri").is_some() && text("name").is_some() {
        Some("resource_link")
    } else {
        None
    }
}

/// Whether a value is meant as a content block.
fn is_block(raw: &RawValue) -> bool {
    Members::of(raw).is_some_and(|members| {
        let named = members.get("type").and_then(unquoted);
        match named.as_deref() {
            Some("text" | "image" | "audio" | "resource" | "resource_link") => true,
            Some(_) => members.get("data").is_some() || members.get("text").is_some(),
            None => implied_type(&members).is_some_and(|_| members.get("id").is_none()),
        }
    })
}

fn elements(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

impl<'a> Blocks<'a> {
    /// Whether a value is a list that has only content blocks.
    pub(super) fn is_list_of_blocks(raw: &RawValue) -> bool {
        let elements = elements(raw);
        !elements.is_empty() && elements.into_iter().all(is_block)
    }

    /// Reads `content`, which is not `null`.
    pub(super) fn read(content: &'a RawValue) -> Self {
        let mut blocks = Self::default();
        match content.get().as_bytes().first() {
            Some(b'[') => blocks.read_list(content),
            Some(b'"') => {
                blocks.change("its `content` is a text instead of a list");
                blocks.push_text(&unquoted(content).unwrap_or_default());
            }
            Some(b'{') if is_block(content) => {
                blocks.change("its `content` is one block instead of a list");
                blocks.read_block(content);
            }
            _ => {
                blocks.change("its `content` is not a list");
                blocks.push_data(content);
            }
        }
        blocks
    }

    fn read_list(&mut self, content: &'a RawValue) {
        let elements = elements(content);
        let is_text = |element: &&RawValue| element.get().starts_with('"');
        if !elements.is_empty()
            && elements
                .iter()
                .all(|element| !is_text(element) && !is_named_block(element) && !is_block(element))
        {
            self.change("its `content` has values instead of content blocks");
            elements.iter().for_each(|element| self.push_text(element.get()));
            self.data = Some(content);
            return;
        }
        elements.iter().for_each(|element| self.read_block(element));
        if elements.len() != 1 {
            self.data = None;
        }
    }

    fn read_block(&mut self, block: &'a RawValue) {
        let Some(members) = Members::of(block) else {
            self.change("its `content` has a block that is not an object");
            let text = unquoted(block);
            return self.push_text(text.as_deref().unwrap_or(block.get()));
        };
        let named = members.get("type").and_then(unquoted);
        let implied = if named.is_none() { implied_type(&members) } else { None };
        let Some(kind) = named.or(implied.map(Cow::Borrowed)) else {
            self.change("its `content` has a block without `type`");
            return self.push_text(block.get());
        };
        if kind == "text" && members.get("text").is_none() {
            self.change("its `content` has a text block without `text`");
            return self.push_text(block.get());
        }
        let kind_written = implied.and_then(|implied| to_raw_value(implied).ok());
        if kind_written.is_some() {
            self.change("its `content` has a block without `type`");
        }
        let text = members.get("text").filter(|text| kind == "text" && !text.get().starts_with('"'));
        if let Some(text) = text {
            self.change("its `content` has a text block whose `text` is not a string");
            self.data = Some(text).filter(|text| !is_null(text));
        }
        let text_written = text.and_then(|text| to_raw_value(text.get()).ok());
        let resource_written = members.get("resource").and_then(without_nulls);
        let has_null = members.0.iter().any(|(_, value)| is_null(value));
        let written = [("type", kind_written), ("text", text_written), ("resource", resource_written)];
        if !has_null && written.iter().all(|(_, value)| value.is_none()) {
            self.blocks.push(Cow::Borrowed(block));
            return;
        }
        self.is_changed = true;
        let edited = edited(members, &written);
        self.blocks.push(to_raw_value(&edited).map_or(Cow::Borrowed(block), Cow::Owned));
    }

    /// Keeps a value that is no block as structured content, and its JSON as text.
    fn push_data(&mut self, data: &'a RawValue) {
        self.push_text(data.get());
        self.data = Some(data);
    }

    fn push_text(&mut self, text: &str) {
        self.blocks.push(Cow::Owned(text_block(text)));
    }

    fn change(&mut self, change: &'static str) {
        self.is_changed = true;
        self.changes.push(change);
    }
}

/// Whether a value is an object with a `type`, which may be unknown.
fn is_named_block(raw: &RawValue) -> bool {
    let members = Members::of(raw);
    members.is_some_and(|members| {
        members.get("type").is_some_and(|named| named.get().starts_with('"')) && members.get("id").is_none()
    })
}

/// The members without `null`, and with these values instead of their own.
fn edited<'b>(members: Members<'b>, written: &'b [(&'static str, Option<Box<RawValue>>)]) -> Members<'b> {
    let written: Vec<_> =
        written.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
    let new = |name: &str| written.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let added = written.iter().filter(|(name, _)| members.get(name).is_none());
    let added: Vec<_> = added.map(|(name, value)| (Cow::Borrowed(*name), *value)).collect();
    let kept = members.0.into_iter().map(|(name, value)| {
        let value = new(&name).unwrap_or(value);
        (name, value)
    });
    Members(added.into_iter().chain(kept).filter(|(_, value)| !is_null(value)).collect())
}

/// The object without members that are `null`; `None` if it has none.
fn without_nulls(raw: &RawValue) -> Option<Box<RawValue>> {
    let mut members = Members::of(raw)?;
    let count = members.0.len();
    members.0.retain(|(_, value)| !is_null(value));
    if members.0.len() < count { to_raw_value(&members).ok() } else { None }
}
