//! The output of an execution: result, printed texts and emitted content. Images are shown if they are of a known
//! raster format; everything else is text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use history::shown::kept;
use maud::{Markup, html};
use serde_json::Value;

use crate::text::{line, lines};

/// A raster image.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// Its media type, from its first bytes.
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// The first bytes of the formats that are shown. SVG is none of them: it is a document, and can contain scripts.
const FORMATS: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// The place of WebP's own mark, after that of its container.
const WEBP: std::ops::Range<usize> = 8..12;

/// The sections about the output of an outcome.
pub(crate) fn sections(id: &str, outcome: &Value) -> Markup {
    let texts = [("Result", "result"), ("Output", "stdout"), ("Standard error", "stderr")];
    let texts = texts.map(|(name, member)| (name, kept(&outcome[member])));
    let content: Vec<&Value> = outcome["content"].as_array().into_iter().flatten().collect();
    html! {
        @for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            h2 { (name) }
            pre tabindex="0" role="region" aria-label=(name) { bdi { (lines(text)) } }
        }
        @if !content.is_empty() {
            h2 { "Content" }
            @for (place, part) in content.iter().enumerate() { (emitted(id, place, part)) }
        }
    }
}

fn emitted(id: &str, place: usize, part: &Value) -> Markup {
    if let Some(image) = image(part) {
        let name = format!("Image {} of the snippet ({})", place + 1, image.media_type);
        return html! {
            figure { img src=(format!("image?id={id}&part={place}")) alt=(name) loading="lazy"; figcaption { (name) } }
        };
    }
    let value = &part["value"];
    match value["type"].as_str() {
        Some("text") => {
            html! { pre tabindex="0" { bdi { (lines(value["text"].as_str().unwrap_or_default())) } } }
        }
        Some("image" | "audio") => {
            let media_type = value["mimeType"].as_str().unwrap_or("without a type");
            html! { p { "A part that is not shown: " bdi { (line(media_type)) } "." } }
        }
        _ => html! { pre tabindex="0" { bdi { (lines(&kept(part))) } } },
    }
}

/// The image that a kept part of the content is: if its bytes are of a known raster format, and its type says the same.
pub(crate) fn image(part: &Value) -> Option<Image> {
    let value = &part["value"];
    if value["type"] != "image" {
        return None;
    }
    let bytes = STANDARD.decode(value["data"].as_str()?).ok()?;
    let (media_type, _) = FORMATS.iter().find(|(_, start)| bytes.starts_with(start))?;
    let is_whole_mark = *media_type != "image/webp" || bytes.get(WEBP) == Some(b"WEBP");
    let claimed = value["mimeType"].as_str()?.trim().eq_ignore_ascii_case(media_type);
    (claimed && is_whole_mark).then_some(Image { media_type, bytes })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn part(media_type: &str, bytes: &[u8]) -> Value {
        json!({ "value": { "type": "image", "mimeType": media_type, "data": STANDARD.encode(bytes) }, "bytes": 1 })
    }

    #[test]
    fn only_raster_images_of_their_type_are_images() {
        let png = b"\x89PNG\r\n\x1a\nrest";
        assert_eq!(image(&part("image/png", png)).unwrap().media_type, "image/png");
        assert!(image(&part("image/webp", b"RIFF....WEBPVP8 ")).is_some());
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
        for (media_type, bytes) in [
            ("image/svg+xml", svg.as_slice()),
            ("image/png", svg),
            ("image/svg+xml", png),
            ("text/html", png),
            ("image/webp", b"RIFF....AVI "),
            ("image/png", b""),
        ] {
            assert_eq!(image(&part(media_type, bytes)), None, "{media_type}");
        }
        let broken = json!({ "value": { "type": "image", "mimeType": "image/png", "data": "?" } });
        assert_eq!(image(&broken), None);
    }

    #[test]
    fn other_content_is_text() {
        let hostile = "<script>alert(1)</script>";
        let outcome = json!({
            "result": { "value": hostile, "bytes": 1 },
            "stdout": { "text": hostile, "bytes": 1 },
            "content": [
                { "value": { "type": "text", "text": hostile } },
                { "value": { "type": "image", "mimeType": hostile, "data": "" } },
                { "value": { "type": hostile } },
                { "text": hostile, "cut": true, "bytes": 9 },
            ],
        });
        let page = sections("a", &outcome).into_string();
        assert!(!page.contains("<script") && page.matches("&lt;script&gt;").count() == 6, "{page}");
    }
}
