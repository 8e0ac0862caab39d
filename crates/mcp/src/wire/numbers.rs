//! Replaces numbers that JSON does not have but some libraries write.

/// Longest first: `-Infinity` contains `Infinity`.
const NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Replaces NaN and infinities outside of strings with `null`; returns `None` if there are none.
pub(super) fn without_nan(text: &str) -> Option<String> {
    let mut mended = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(rest) = text.get(at..) {
        let Some(found) = rest.find(['"', 'N', 'I', '-']) else { break };
        at += found;
        let rest = rest.get(found..).unwrap_or_default();
        if rest.starts_with('"') {
            at += string_length(rest);
        } else if let Some(number) = NUMBERS.iter().find(|number| rest.starts_with(**number)) {
            mended.push_str(text.get(copied..at).unwrap_or_default());
            mended.push_str("null");
            at += number.len();
            copied = at;
        } else {
            at += 1;
        }
    }
    if copied == 0 {
        return None;
    }
    mended.push_str(text.get(copied..).unwrap_or_default());
    Some(mended)
}

/// The length of the string literal at the start of a text, in bytes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::without_nan;

    #[test]
    fn numbers_are_replaced_outside_of_strings() {
        let text = r#"{"NaN":[NaN, -Infinity,Infinity,-1],"a\"NaN\\":"Infinity","é":NaN}"#;
        let mended = r#"{"NaN":[null, null,null,-1],"a\"NaN\\":"Infinity","é":null}"#;
        assert_eq!(without_nan(text).as_deref(), Some(mended));
        for text in ["", "\"", "\"NaN", r#"{"a":-1,"b":"NaN"}"#, "Na", "-"] {
            assert_eq!(without_nan(text), None, "{text}");
        }
    }
}
