//! URIs of content blocks as strict clients read them.

use std::fmt::Write as _;

/// An absolute URI (RFC 3986) with the meaning of `sent`: characters that no URI has are encoded, and an absolute path
/// is a file. `None` if there is none.
pub(super) fn absolute(sent: &str) -> Option<String> {
    let sent = sent.trim();
    let is_letter = |at: usize| sent.as_bytes().get(at).is_some_and(u8::is_ascii_alphabetic);
    if is_letter(0)
        && (sent.get(1..3) == Some(":\\") || sent.get(1..3) == Some(":/") && sent.get(3..4) != Some("/"))
    {
        return Some(format!("file:///{}", encoded(&sent.replace('\\', "/"))));
    }
    if sent.starts_with('/') && !sent.starts_with("//") {
        return Some(format!("file://{}", encoded(sent)));
    }
    let (scheme, rest) = sent.split_once(':')?;
    let is_scheme = is_letter(0) && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (is_scheme && !rest.is_empty()).then(|| encoded(sent))
}

/// The URI of contents that have none, or only a relative one.
pub(super) fn placeholder(sent: Option<&str>) -> String {
    match sent.map(str::trim).filter(|sent| !sent.is_empty()) {
        Some(sent) => format!("resource:{}", encoded(sent)),
        None => "resource:unnamed".to_owned(),
    }
}

/// The last part of a URI's path, or else the URI.
pub(super) fn last_part(uri: &str) -> &str {
    let path = uri.split(['?', '#']).next().unwrap_or(uri).trim_end_matches('/');
    path.rsplit(['/', ':']).next().filter(|part| !part.is_empty()).unwrap_or(uri)
}

/// Encodes what no URI contains: white space, control characters, some signs, and characters beyond ASCII.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_made_absolute_and_encoded() {
        for (sent, uri) in [
            ("file:///a.txt", Some("file:///a.txt")),
            ("file:///a b.txt", Some("file:///a%20b.txt")),
            (" x://ä?a=%20&b=[1] ", Some("x://%C3%A4?a=%20&b=[1]")),
            ("urn:isbn:1", Some("urn:isbn:1")),
            ("/home/a b", Some("file:///home/a%20b")),
            ("C:\\a\\b.txt", Some("file:///C:/a/b.txt")),
            ("C:/a/b.txt", Some("file:///C:/a/b.txt")),
            ("notes.txt", None),
            ("//host/a", None),
            ("", None),
            ("a b:c", None),
            ("x:", None),
        ] {
            assert_eq!(absolute(sent).as_deref(), uri, "{sent}");
        }
        assert_eq!(placeholder(Some("a b.txt")), "resource:a%20b.txt");
        assert_eq!(placeholder(Some(" ")), "resource:unnamed");
        assert_eq!(
            (last_part("x://h/a/b.txt?c"), last_part("urn:a"), last_part("x://")),
            ("b.txt", "a", "x://")
        );
    }
}
