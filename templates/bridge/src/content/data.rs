//! The binary data of content blocks: Base64 in the forms that servers send, and the type that the bytes show.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// A decoder of Base64 with or without padding, whatever its last bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Data as standard Base64, and the type that they name themselves.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) base64: String,
    pub(crate) mime_type: Option<String>,
}

impl Data {
    fn of_bytes(bytes: &[u8]) -> Self {
        Data { base64: BASE64_STANDARD.encode(bytes), mime_type: None }
    }

    /// Reads what a server sent as data.
    ///
    /// # Errors
    /// If it has no single meaning, with the reason.
    pub(crate) fn read(sent: Value) -> Result<Self, &'static str> {
        match sent {
            Value::String(text) => Data::of_text(text),
            Value::Array(items) => {
                let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
                let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
                bytes.map(|bytes| Data::of_bytes(&bytes)).ok_or("its data is not Base64")
            }
            // Node's form of a `Buffer`.
            Value::Object(mut members) if members.get("type").is_some_and(|kind| kind == "Buffer") => {
                Data::read(members.remove("data").unwrap_or_default())
            }
            Value::Null => Err("it has no data"),
            _ => Err("its data is not Base64"),
        }
    }

    fn of_text(text: String) -> Result<Self, &'static str> {
        let sent = text.trim();
        if let Some(data) = of_data_uri(sent) {
            return data;
        }
        if is_address(sent) {
            return Err("its data is an address, not Base64");
        }
        if sent.starts_with('<') && sent.contains("<svg") {
            return Ok(Data {
                mime_type: Some("image/svg+xml".to_owned()),
                ..Data::of_bytes(text.as_bytes())
            });
        }
        let base64 = match standard(of_python_bytes(sent)).ok_or("its data is not Base64")? {
            Cow::Borrowed(same) if same.len() == text.len() => text,
            base64 => base64.into_owned(),
        };
        Ok(Data { base64, mime_type: None })
    }

    /// The type that the first bytes show.
    pub(crate) fn shown_type(&self) -> Option<&'static str> {
        // A multiple of four characters.
        const LOOK: usize = 1024;
        let start = self.base64.get(..LOOK).unwrap_or(&self.base64);
        shown_type(&BASE64_STANDARD.decode(start).ok()?)
    }
}

/// Base64 in the standard alphabet with padding: white space, the URL-safe alphabet and missing padding are repaired.
pub(crate) fn standard(text: &str) -> Option<Cow<'_, str>> {
    if BASE64_STANDARD.decode(text).is_ok() {
        return Some(Cow::Borrowed(text));
    }
    let plain = text.chars().filter(|c| !c.is_ascii_whitespace()).map(|c| match c {
        '-' => '+',
        '_' => '/',
        c => c,
    });
    let bytes = LENIENT.decode(plain.collect::<String>().trim_end_matches('=')).ok()?;
    Some(Cow::Owned(BASE64_STANDARD.encode(bytes)))
}

/// The data of a `data:` URI (RFC 2397); `None` for another text.
fn of_data_uri(text: &str) -> Option<Result<Data, &'static str>> {
    let rest = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and(text.get(5..))?;
    let Some((head, body)) = rest.split_once(',') else {
        return Some(Err("its data is a `data:` URI without data"));
    };
    let (head, is_base64) = match head.rsplit_once(';') {
        Some((head, last)) if last.trim().eq_ignore_ascii_case("base64") => (head, true),
        _ if head.eq_ignore_ascii_case("base64") => ("", true),
        _ => (head, false),
    };
    let mime_type =
        head.split(';').next().map(str::trim).filter(|kind| kind.contains('/')).map(str::to_owned);
    let bytes = percent_decoded(body);
    if !is_base64 {
        let mime_type = mime_type.or_else(|| Some("text/plain".to_owned()));
        return Some(Ok(Data { mime_type, ..Data::of_bytes(&bytes) }));
    }
    let base64 = str::from_utf8(&bytes).ok().and_then(standard).map(Cow::into_owned);
    Some(
        base64
            .map(|base64| Data { base64, mime_type })
            .ok_or("its data is a `data:` URI whose data is not Base64"),
    )
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// The text in Python's notation of bytes, `b'…'`; any other text is unchanged.
fn of_python_bytes(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix('b')?.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

/// Whether a text is an address, such as `https://example.com/a.png`.
fn is_address(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    };
    text.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme))
}

/// The type that the first bytes of a file show.
fn shown_type(bytes: &[u8]) -> Option<&'static str> {
    let text = || String::from_utf8_lossy(bytes);
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some("audio/wav"),
        [b'I', b'D', b'3', ..] | [0xff, 0xfb | 0xf3 | 0xf2, ..] => Some("audio/mpeg"),
        [b'O', b'g', b'g', b'S', ..] => Some("audio/ogg"),
        [b'f', b'L', b'a', b'C', ..] => Some("audio/flac"),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some("image/bmp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ if text().trim_start().starts_with('<') && text().contains("<svg") => Some("image/svg+xml"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(sent: &Value) -> Result<(String, Option<String>), &'static str> {
        Data::read(sent.clone()).map(|data| (data.base64, data.mime_type))
    }

    #[test]
    fn data_with_one_meaning_becomes_standard_base64() {
        for (sent, base64, mime_type) in [
            (json!("+/8="), "+/8=", None),
            (json!("-_8"), "+/8=", None),
            (json!(" +/\r\n8=\n"), "+/8=", None),
            (json!("+/9="), "+/8=", None),
            (json!("b'+/8='"), "+/8=", None),
            (json!("data:image/png;base64,+/8="), "+/8=", Some("image/png")),
            (json!("DATA:image/png;name=a;base64,-_8%3D"), "+/8=", Some("image/png")),
            (json!("data:;base64,+/8="), "+/8=", None),
            (json!("data:,a%20b"), "YSBi", Some("text/plain")),
            (json!("data:image/svg+xml;utf8,<svg/>"), "PHN2Zy8+", Some("image/svg+xml")),
            (json!("<svg/>"), "PHN2Zy8+", Some("image/svg+xml")),
            (json!([251, 255]), "+/8=", None),
            (json!({ "type": "Buffer", "data": [251, 255] }), "+/8=", None),
            (json!(""), "", None),
        ] {
            assert_eq!(read(&sent), Ok((base64.to_owned(), mime_type.map(str::to_owned))), "{sent}");
        }
    }

    #[test]
    fn other_data_is_refused_with_a_reason() {
        for (sent, why) in [
            (json!("https://example.com/a.png"), "an address"),
            (json!("file:///a.png"), "an address"),
            (json!("data:image/png"), "without data"),
            (json!("data:image/png;base64,é"), "not Base64"),
            (json!("A"), "not Base64"),
            (json!("a.png"), "not Base64"),
            (json!([256]), "not Base64"),
            (json!(5), "not Base64"),
            (json!(null), "no data"),
        ] {
            assert!(read(&sent).unwrap_err().contains(why), "{sent}");
        }
    }

    #[test]
    fn types_are_read_from_the_first_bytes() {
        let of = |bytes: &[u8]| Data::of_bytes(bytes).shown_type();
        assert_eq!(of(b"\x89PNG\r\n\x1a\n..."), Some("image/png"));
        assert_eq!(of(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(of(b"GIF89a"), Some("image/gif"));
        assert_eq!(
            (of(b"RIFF....WEBPVP8 "), of(b"RIFF....WAVEfmt ")),
            (Some("image/webp"), Some("audio/wav"))
        );
        assert_eq!((of(b"ID3\x03"), of(b"%PDF-1.7")), (Some("audio/mpeg"), Some("application/pdf")));
        assert_eq!(of(b"<?xml version=\"1.0\"?>\n<svg>"), Some("image/svg+xml"));
        assert_eq!((of(b"plain"), of(b"")), (None, None));
        assert_eq!(of(&[b"<svg>".as_slice(), &[b'x'; 5_000]].concat()), Some("image/svg+xml"));
    }
}
