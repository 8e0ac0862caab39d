//! Repairs content blocks that break MCP's rules: strict clients drop a whole answer because of one of them.
//!
//! A block is repaired where that has one meaning. Otherwise it is replaced by a text that says so. Neither is the
//! program's fault, which only passes on what a server answered.

use serde_json::{Map, Value, json};

use super::address;
use super::annotations::clean;
use super::data::Data;

/// The members in which servers send data, and those in which they send its type.
const DATA: [&str; 6] = ["data", "blob", "base64", "source", "image_url", "url"];
const MIME_TYPE: [&str; 7] =
    ["mimeType", "mime_type", "mimetype", "media_type", "mediaType", "content_type", "contentType"];

/// The other members of content blocks.
const OTHERS: [&str; 11] = [
    "type",
    "text",
    "uri",
    "name",
    "title",
    "description",
    "size",
    "icons",
    "resource",
    "annotations",
    "_meta",
];

/// Image types that clients compare with the data.
const CHECKED_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"];

/// Maximum number of characters that a text shows of a block that it replaces, and of each string in it.
const SHOWN: usize = 4_000;
const STRING_SHOWN: usize = 1_000;

type Members = Map<String, Value>;

/// The reason why a block has no single meaning, as the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unclear(String);

impl From<&str> for Unclear {
    fn from(reason: &str) -> Self {
        Unclear(reason.to_owned())
    }
}

/// The block as every client reads it: unchanged, repaired, or replaced by a text.
#[must_use]
pub fn presentable(block: Value) -> Value {
    match repaired(&block) {
        // Its members keep their order.
        Ok(same) if same == block => block,
        Ok(repaired) => repaired,
        Err(Unclear(reason)) => as_text(block, &reason),
    }
}

/// The block, repaired if it needs that.
///
/// # Errors
/// If it has no single meaning.
pub(super) fn repaired(block: &Value) -> Result<Value, Unclear> {
    let members = match block {
        Value::Object(members) => members.clone(),
        Value::String(text) => return Ok(json!({ "type": "text", "text": text })),
        other => return Ok(json!({ "type": "text", "text": other.to_string() })),
    };
    match Kind::of(&members)? {
        Kind::Text => text(members),
        Kind::Image => media(members, "image"),
        Kind::Audio => media(members, "audio"),
        Kind::Resource => resource(members),
        Kind::Link => link(members),
    }
}

/// Whether a value can be read as a content block.
pub(super) fn is_block(value: &Value) -> bool {
    value.as_object().is_some_and(|members| Kind::of(members).is_ok())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Image,
    Audio,
    Resource,
    Link,
}

impl Kind {
    /// The kind that the `type` names, or else the one that the members show.
    fn of(members: &Members) -> Result<Self, Unclear> {
        let name = members.get("type").and_then(Value::as_str);
        let plain = name.map(|name| name.replace(['_', '-', ' '], "").to_ascii_lowercase());
        match plain.as_deref() {
            Some("text") => return Ok(Kind::Text),
            Some("image" | "imageurl") => return Ok(Kind::Image),
            Some("audio") => return Ok(Kind::Audio),
            Some("resource" | "embeddedresource") => return Ok(Kind::Resource),
            Some("resourcelink") => return Ok(Kind::Link),
            _ => {}
        }
        let is_known = |key: &&String| OTHERS.iter().chain(&DATA).chain(&MIME_TYPE).any(|known| known == key);
        let is_text = |key: &str| members.get(key).is_some_and(Value::is_string);
        let has_contents = is_text("text") || is_text("blob");
        match () {
            () if !members.keys().all(|key| is_known(&key)) => Err(()),
            () if members.get("resource").is_some_and(Value::is_object) => Ok(Kind::Resource),
            () if is_text("uri") && has_contents => Ok(Kind::Resource),
            () if is_text("text") => Ok(Kind::Text),
            () if let Some(kind) = Kind::of_data(members) => Ok(kind),
            () if name.is_none() && is_text("uri") && is_text("name") => Ok(Kind::Link),
            () => Err(()),
        }
        .map_err(|()| match name {
            Some(name) => Unclear(format!("MCP has no blocks of the type {name:?}")),
            None => "it has no `type`".into(),
        })
    }

    /// The kind of a block with data of a known type.
    fn of_data(members: &Members) -> Option<Self> {
        let sent = members.get("data")?;
        let named = MIME_TYPE.iter().find_map(|key| members.get(*key)?.as_str());
        let data;
        let mime_type = match named {
            Some(named) => named,
            None => {
                data = Data::read(sent.clone()).ok()?;
                data.mime_type.as_deref().or_else(|| data.shown_type())?
            }
        };
        match mime_type.split_once('/')?.0 {
            "image" => Some(Kind::Image),
            "audio" => Some(Kind::Audio),
            _ => None,
        }
    }
}

fn text(mut members: Members) -> Result<Value, Unclear> {
    let text = match members.remove("text") {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => {
            let is_known = |key: &str| matches!(key, "type" | "annotations" | "_meta");
            if !members.iter().all(|(key, value)| is_known(key) || value.is_null()) {
                return Err("it has no `text`".into());
            }
            String::new()
        }
        Some(other) => other.to_string(),
    };
    members.insert("text".to_owned(), text.into());
    Ok(block(members, "text"))
}

fn media(mut members: Members, kind: &str) -> Result<Value, Unclear> {
    let named = mime_type(&mut members);
    let Sent { value, mime_type } = sent_data(&mut members);
    let data = Data::read(value)?;
    let named = data.mime_type.clone().or(named).or(mime_type);
    let shown = data.shown_type();
    let mime_type = match (named, shown) {
        (Some(named), Some(shown))
            if CHECKED_TYPES.contains(&named.as_str()) && CHECKED_TYPES.contains(&shown) =>
        {
            shown.to_owned()
        }
        (Some(named), _) if named.contains('/') => named,
        (_, Some(shown)) => shown.to_owned(),
        (Some(named), None) => format!("{kind}/{named}"),
        (None, None) => return Err("it has no `mimeType`, and its data is of no known type".into()),
    };
    members.insert("data".to_owned(), data.base64.into());
    members.insert("mimeType".to_owned(), mime_type.into());
    Ok(block(members, kind))
}

/// Data as they were sent, and the type next to them.
struct Sent {
    value: Value,
    mime_type: Option<String>,
}

/// Takes the data from the first member that has them. Model providers put them, or their address, into an object.
fn sent_data(members: &mut Members) -> Sent {
    let value = first(members, &DATA, |value| !value.is_null());
    match value {
        Some(Value::Object(mut source)) if source.get("type").is_none_or(|kind| kind != "Buffer") => {
            let mime_type = mime_type(&mut source);
            let value = source.remove("data").or_else(|| source.remove("url")).unwrap_or_default();
            Sent { value, mime_type }
        }
        value => Sent { value: value.unwrap_or_default(), mime_type: None },
    }
}

/// Takes the MIME type from the first member that has it.
fn mime_type(members: &mut Members) -> Option<String> {
    let is_name = |value: &Value| value.as_str().is_some_and(|name| !name.trim().is_empty());
    let found = first(members, &MIME_TYPE, is_name)?;
    found.as_str().map(|name| name.trim().to_owned())
}

/// Removes the first of these members that has a usable value, and those before it.
fn first(members: &mut Members, keys: &[&str], is_usable: impl Fn(&Value) -> bool) -> Option<Value> {
    keys.iter().find_map(|key| members.remove(*key).filter(&is_usable))
}

fn resource(mut members: Members) -> Result<Value, Unclear> {
    let mut contents = match members.remove("resource") {
        Some(Value::Object(contents)) => contents,
        Some(uri @ Value::String(_)) => Members::from_iter([("uri".to_owned(), uri)]),
        _ => ["uri", "text", "blob"]
            .iter()
            .chain(&MIME_TYPE)
            .filter_map(|key| Some(((*key).to_owned(), members.remove(*key)?)))
            .collect(),
    };
    if let Some([Value::Object(only)]) = contents.get("contents").and_then(Value::as_array).map(Vec::as_slice)
    {
        contents = only.clone();
    }
    let named = mime_type(&mut contents);
    let sent = contents.remove("uri").or_else(|| members.remove("uri"));
    let sent = sent.and_then(|uri| uri.as_str().map(str::to_owned));
    let uri = sent.as_deref().and_then(address::absolute);
    let blob = contents.remove("blob").or_else(|| contents.remove("data")).filter(|blob| !blob.is_null());
    let mut mime_type = named;
    match (contents.remove("text").filter(|text| !text.is_null()), blob) {
        (Some(Value::String(text)), _) => drop(contents.insert("text".to_owned(), text.into())),
        (Some(other), _) => drop(contents.insert("text".to_owned(), other.to_string().into())),
        (None, Some(blob)) => {
            let data = Data::read(blob)?;
            mime_type = data.mime_type.clone().or(mime_type).or_else(|| data.shown_type().map(str::to_owned));
            contents.insert("blob".to_owned(), data.base64.into());
        }
        (None, None) => {
            let uri = uri.ok_or("it has neither `text` nor `blob`")?;
            members.extend(contents);
            members.extend(mime_type.map(|name| ("mimeType".to_owned(), name.into())));
            members.insert("uri".to_owned(), uri.into());
            return link(members);
        }
    }
    let uri = uri.unwrap_or_else(|| address::placeholder(sent.as_deref()));
    contents.insert("uri".to_owned(), uri.into());
    contents.extend(mime_type.map(|name| ("mimeType".to_owned(), name.into())));
    clean(&mut contents);
    members.insert("resource".to_owned(), contents.into());
    Ok(block(members, "resource"))
}

fn link(mut members: Members) -> Result<Value, Unclear> {
    let sent = members.remove("uri").or_else(|| members.remove("url")).filter(|uri| !uri.is_null());
    let sent = sent.ok_or("it has no `uri`")?;
    let uri = sent.as_str().and_then(address::absolute).ok_or("its `uri` is not an absolute URI")?;
    let name = ["name", "title"].iter().find_map(|key| Some(members.get(*key)?.as_str()?.to_owned()));
    let name = name.unwrap_or_else(|| address::last_part(&uri).to_owned());
    let mime_type = mime_type(&mut members);
    members.extend(mime_type.map(|name| ("mimeType".to_owned(), name.into())));
    members.insert("uri".to_owned(), uri.into());
    members.insert("name".to_owned(), name.into());
    Ok(block(members, "resource_link"))
}

/// A block of this type whose optional members have MCP's types.
fn block(mut members: Members, kind: &str) -> Value {
    clean(&mut members);
    members.insert("type".to_owned(), kind.into());
    Value::Object(members)
}

/// The text that replaces a block.
fn as_text(mut block: Value, reason: &str) -> Value {
    shorten(&mut block);
    let json = cut(&block.to_string(), SHOWN);
    json!({ "type": "text", "text": format!("[a content block as text, because {reason}] {json}") })
}

/// Shortens long strings, such as data that are not Base64.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => *text = cut(text, STRING_SHOWN),
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}… ({} bytes more)", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
