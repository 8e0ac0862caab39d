//! Content blocks, with a minimal picture and a minimal sound.

use serde_json::{Value, json};

/// One red pixel, as PNG in base64.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// A millisecond of silence, as WAV in base64.
const SOUND: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

/// A block of text.
pub(crate) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// A block with the picture.
pub(crate) fn image() -> Value {
    json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" })
}

/// A block with the sound.
pub(crate) fn audio() -> Value {
    json!({ "type": "audio", "data": SOUND, "mimeType": "audio/wav" })
}

/// A block with an embedded resource.
pub(crate) fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } })
}

/// The contents of a resource that holds the picture.
pub(crate) fn picture_at(uri: &str) -> Value {
    json!({ "uri": uri, "mimeType": "image/png", "blob": PICTURE })
}
