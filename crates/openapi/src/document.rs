//! An OpenAPI document as JSON: reads its text, checks its version, and follows its references.
//!
//! `oas3` reads the typed parts of an operation. Schemas stay JSON, because its type for them loses keywords that it
//! does not know, and can't have those of 3.0.

use serde_json::Value;

use crate::error::Error;

/// Maximum size of a document, in bytes (32 MiB): GitHub's, the largest that is known, has 13 MB.
pub(crate) const MAX_BYTES: usize = 32 << 20;

/// Maximum number of nodes of a YAML document, and of what its aliases repeat: GitHub's document has 600,000.
const MAX_NODES: usize = 4_000_000;

/// Maximum depth of a YAML document, as serde_json has for JSON.
const MAX_DEPTH: usize = 128;

/// Limit on references that lead to references.
const MAX_HOPS: usize = 16;

/// The version of the specification that a document follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// 3.0: schemas in a dialect of their own.
    V3_0,
    /// 3.1 and later 3.x: schemas are JSON Schema 2020-12.
    V3_1,
}

/// A document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) root: Value,
    pub(crate) version: Version,
}

impl Document {
    /// Reads JSON, or YAML if the text does not begin like a JSON object.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::TooLarge(MAX_BYTES));
        }
        let text = strict_json::without_mark(text);
        let root: Value = if text.trim_start().starts_with('{') {
            strict_json::from_str(text).map_err(|error| Error::Syntax(error.to_string()))?
        } else {
            let options = serde_saphyr::options! {
                budget: serde_saphyr::budget! { max_depth: MAX_DEPTH, max_nodes: MAX_NODES, max_events: 3 * MAX_NODES,
                    max_total_scalar_bytes: MAX_BYTES },
            };
            serde_saphyr::from_str_with_options(text, options)
                .map_err(|error| Error::Syntax(error.to_string()))?
        };
        let version = version(&root)?;
        if !root["paths"].is_object() {
            return Err(Error::NoPaths);
        }
        Ok(Document { root, version })
    }

    /// The value at a JSON pointer of this document, such as `#/components/schemas/Pet`.
    pub(crate) fn at(&self, reference: &str) -> Option<&Value> {
        let pointer = reference.strip_prefix('#')?;
        match pointer.contains('%') {
            true => self.root.pointer(&decoded(pointer)),
            false => self.root.pointer(pointer),
        }
    }

    /// Follows references until there is an object that is none.
    pub(crate) fn resolved<'a>(&'a self, mut value: &'a Value) -> Result<&'a Value, Error> {
        for _ in 0..MAX_HOPS {
            let Some(reference) = value["$ref"].as_str() else { return Ok(value) };
            is_local(reference)?;
            value = self.at(reference).ok_or_else(|| Error::Dangling(bounded(reference)))?;
        }
        Err(Error::Circular(bounded(value["$ref"].as_str().unwrap_or_default())))
    }
}

fn version(root: &Value) -> Result<Version, Error> {
    if let Some(version) = root["swagger"].as_str() {
        return Err(Error::Swagger(bounded(version)));
    }
    let version = root["openapi"].as_str().ok_or(Error::NotOpenApi)?;
    match version.split('.').take(2).collect::<Vec<_>>()[..] {
        ["3", "0"] => Ok(Version::V3_0),
        ["3", minor] if minor.parse::<u8>().is_ok() => Ok(Version::V3_1),
        _ => Err(Error::Version(bounded(version))),
    }
}

/// Refuses references into other documents: nothing but the configured document is read.
pub(crate) fn is_local(reference: &str) -> Result<(), Error> {
    if reference.starts_with('#') { Ok(()) } else { Err(Error::Remote(bounded(reference))) }
}

/// A quote from the document, safe to show.
pub(crate) fn bounded(text: &str) -> String {
    let text = printable::prose(text);
    let mut short: String = text.chars().take(200).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Decodes percent-encoding, which a reference's fragment may have (RFC 6901, section 6).
fn decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match (first, hex.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
