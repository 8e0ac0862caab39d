//! Resolves references within a schema document. Nothing is ever fetched.

use std::collections::HashMap;

use serde_json::Value;

/// A schema document.
pub(super) struct Document<'a> {
    root: &'a Value,
    id: Option<&'a str>,
    anchors: HashMap<&'a str, &'a Value>,
    has_resources: bool,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let id = ["$id", "id"].iter().find_map(|keyword| root.get(keyword)?.as_str());
        let id = id.map(|id| id.split_once('#').map_or(id, |(id, _)| id));
        let mut document = Self { root, id, anchors: HashMap::new(), has_resources: false };
        document.survey(root, true);
        document
    }

    /// Collects anchors, and notes whether other resources are embedded.
    fn survey(&mut self, value: &'a Value, is_root: bool) {
        match value {
            Value::Object(members) => {
                let text = |keyword| members.get(keyword).and_then(Value::as_str);
                let own = text("$id").or_else(|| text("id"));
                let named = own.and_then(|id| id.strip_prefix('#'));
                let names = [text("$anchor"), text("$dynamicAnchor"), named];
                for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
                    self.anchors.entry(name).or_insert(value);
                }
                self.has_resources |= !is_root && text("$id").is_some_and(|id| !id.starts_with('#'));
                members.values().for_each(|member| self.survey(member, false));
            }
            Value::Array(items) => items.iter().for_each(|item| self.survey(item, false)),
            _ => {}
        }
    }

    /// Resolves a reference, if its target is unambiguous and in this document.
    ///
    /// A document that embeds other resources, each with its own identifier, is not resolved: the same reference means
    /// different things in different places, and authors tend not to know.
    pub(super) fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if self.has_resources || !(document.is_empty() || self.id == Some(document)) {
            return None;
        }
        let fragment = decode(fragment)?;
        let target = match fragment.strip_prefix('/') {
            Some(_) => self.root.pointer(&fragment)?,
            None if fragment.is_empty() => self.root,
            None => self.anchors.get(fragment.as_str())?,
        };
        (target.is_object() || target.is_boolean()).then_some(target)
    }
}

/// Undoes the percent-encoding of a fragment.
fn decode(fragment: &str) -> Option<String> {
    let mut parts = fragment.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}
