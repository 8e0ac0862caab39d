//! The results of calls: puts a `CallToolResult` into MCP's form, so that all its readers understand it alike.
//!
//! Servers send `null` for absent members, texts instead of lists, blocks without a type, or data without any of MCP's
//! members. Nothing of it is lost: other data becomes structured content, and a member of `_meta` says what was changed.
//! A failure that only the structured content explains gets a text block, which all clients show.

mod block;
mod failure;
mod members;

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use self::{
    block::{Blocks, text_block},
    members::{Members, is_null, unquoted},
};

/// The member of a result's `_meta` that lists how the server's answer differed from MCP's form: a list of texts.
pub const REPAIRED_META: &str = "io.toolsmith/repaired";

/// Maximum size of data that is also added as text, in bytes: for clients that show only text.
const MAX_COPIED_BYTES: usize = 64 * 1024;

/// Limit on the listed differences.
const MAX_CHANGES: usize = 8;

/// Members of a result that are no data.
const PROTOCOL_MEMBERS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// The values that `structuredContent` may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    /// An object (MCP 2025-11-25 and earlier): a text stands for the JSON in it.
    Object,
    /// Any JSON value.
    Any,
}

/// Returns the result in MCP's form, unchanged if it already has it, and whether the tool reports a failure.
pub(crate) fn in_form(raw: Box<RawValue>, structure: Structure) -> (Box<RawValue>, bool) {
    let mut form = Form::default();
    form.read(&raw, structure);
    let is_error = form.is_error;
    let written = if form.is_changed { to_raw_value(&form).ok() } else { None };
    (written.unwrap_or(raw), is_error)
}

/// The parts of a result.
#[derive(Default)]
struct Form<'a> {
    content: Vec<Cow<'a, RawValue>>,
    structured: Option<Cow<'a, RawValue>>,
    is_error: bool,
    meta: Option<&'a RawValue>,
    others: Vec<(Cow<'a, str>, &'a RawValue)>,
    /// Whether it must be written anew.
    is_changed: bool,
    changes: Vec<String>,
}

impl<'a> Form<'a> {
    fn read(&mut self, raw: &'a RawValue, structure: Structure) {
        match Members::of(raw) {
            Some(members) => self.read_members(members, structure),
            None => self.read_bare(raw),
        }
        if self.is_error {
            self.explain_failure();
        }
    }

    fn read_members(&mut self, members: Members<'a>, structure: Structure) {
        let has_none = members.0.is_empty();
        let (mut content, mut old_form) = (None, None);
        for (name, value) in members.0 {
            match &*name {
                "content" => content = Some(value),
                "structuredContent" => self.read_structured(value, structure),
                "isError" => self.read_is_error(value),
                "_meta" => self.read_meta(value),
                "toolResult" => old_form = Some((name, value)),
                _ => self.others.push((name, value)),
            }
        }
        self.read_content(content);
        let is_silent = self.content.is_empty() && self.structured.is_none();
        match old_form {
            Some((_, value)) if is_silent => {
                self.change("it has the old form `toolResult`");
                self.read_data(value);
            }
            Some(member) => self.others.push(member),
            None if is_silent => self.read_others(has_none),
            None => {}
        }
    }

    /// Reads a result that is no object.
    fn read_bare(&mut self, raw: &'a RawValue) {
        if raw.get().starts_with('[') && Blocks::is_list_of_blocks(raw) {
            self.change("it is a list of content blocks");
            self.read_content(Some(raw));
            return;
        }
        self.change("it is not an object");
        self.read_data(raw);
    }

    /// Reads data that is in no member of MCP: a text as text, and any other value as structured content.
    fn read_data(&mut self, data: &'a RawValue) {
        match unquoted(data) {
            Some(text) => self.content.push(Cow::Owned(text_block(&text))),
            None => self.hold(Cow::Borrowed(data)),
        }
    }

    /// Keeps data as structured content, and as text if it is short; `null` only as text.
    fn hold(&mut self, data: Cow<'a, RawValue>) {
        if data.get().len() <= MAX_COPIED_BYTES {
            self.content.push(Cow::Owned(text_block(data.get())));
        }
        self.structured = Some(data).filter(|data| !is_null(data));
    }

    /// Reads the members of a result that has none of MCP's.
    fn read_others(&mut self, is_empty: bool) {
        let (kept, data): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.others).into_iter().partition(|(name, _)| is_of_protocol(name));
        self.others = kept;
        if data.is_empty() && !is_empty {
            return;
        }
        self.change("it has neither `content` nor `structuredContent`");
        if let Ok(data) = to_raw_value(&Members(data)) {
            self.hold(Cow::Owned(data));
        }
    }

    fn read_content(&mut self, content: Option<&'a RawValue>) {
        let Some(content) = content.filter(|content| !is_null(content)) else {
            self.is_changed = true;
            return;
        };
        let Blocks { blocks, is_changed, changes, data } = Blocks::read(content);
        self.content = blocks;
        self.is_changed |= is_changed;
        changes.into_iter().for_each(|change| self.change(change));
        if self.structured.is_none() {
            self.structured = data.map(Cow::Borrowed);
        }
    }

    fn read_structured(&mut self, value: &'a RawValue, structure: Structure) {
        if is_null(value) {
            self.is_changed = true;
            return;
        }
        let text = unquoted(value).filter(|_| structure == Structure::Object);
        let in_text = text.filter(|text| text.trim_start().starts_with(['{', '[']));
        let parsed = in_text
            .filter(|text| strict_json::check_names(text).is_ok())
            .and_then(|text| RawValue::from_string(text.trim().to_owned()).ok());
        if parsed.is_some() {
            self.change("its `structuredContent` is a text with JSON");
        }
        self.structured = Some(parsed.map_or(Cow::Borrowed(value), Cow::Owned));
    }

    fn read_is_error(&mut self, value: &'a RawValue) {
        self.is_error = match value.get() {
            "true" => true,
            "false" => return,
            "null" => {
                self.is_changed = true;
                return;
            }
            other => {
                self.change("its `isError` is not a boolean");
                means_true(other)
            }
        };
    }

    fn read_meta(&mut self, value: &'a RawValue) {
        if value.get().starts_with('{') {
            self.meta = Some(value);
        } else if is_null(value) {
            self.is_changed = true;
        } else {
            self.change("its `_meta` is not an object and was dropped");
        }
    }

    /// Adds the parts of the structured content that no text block has.
    fn explain_failure(&mut self) {
        let texts: Vec<Cow<'_, str>> = self.content.iter().filter_map(|block| block::text(block)).collect();
        let structured = self.structured.as_deref();
        let added = structured.map(|structured| failure::explained(&texts.join("\n"), structured));
        for text in added.into_iter().flatten() {
            self.is_changed = true;
            self.content.push(Cow::Owned(text_block(&text)));
        }
    }

    fn change(&mut self, change: &str) {
        self.is_changed = true;
        if self.changes.len() < MAX_CHANGES && !self.changes.iter().any(|known| known == change) {
            self.changes.push(change.to_owned());
        }
    }
}

/// Whether a member belongs to the protocol.
fn is_of_protocol(name: &str) -> bool {
    PROTOCOL_MEMBERS.contains(&name)
}

/// Whether a value that is no boolean stands for true: words for false, zero, and what is empty do not.
fn means_true(value: &str) -> bool {
    let text: Result<String, _> = serde_json::from_str(value);
    match text {
        Ok(text) => !matches!(text.trim().to_ascii_lowercase().as_str(), "" | "false" | "no" | "0" | "null"),
        Err(_) => {
            let without_space: String = value.split_whitespace().collect();
            !matches!(without_space.as_str(), "[]" | "{}") && value.parse::<f64>() != Ok(0.0)
        }
    }
}

impl Serialize for Form<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(structured) = &self.structured {
            map.serialize_entry("structuredContent", structured)?;
        }
        if self.is_error {
            map.serialize_entry("isError", &true)?;
        }
        let changes = Some(&self.changes).filter(|changes| !changes.is_empty());
        match (self.meta, changes.and_then(|changes| to_raw_value(changes).ok())) {
            (Some(meta), None) => map.serialize_entry("_meta", meta)?,
            (meta, Some(changes)) => {
                let mut meta = meta.and_then(Members::of).unwrap_or_default();
                meta.0.push((REPAIRED_META.into(), &changes));
                map.serialize_entry("_meta", &meta)?;
            }
            (None, None) => {}
        }
        for (name, value) in &self.others {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
