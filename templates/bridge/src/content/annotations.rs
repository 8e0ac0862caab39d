//! The optional members of content blocks: those of another type than MCP's are left out.

use serde_json::{Map, Value};

/// Removes optional members that strict clients refuse, and keeps all others.
pub(super) fn clean(members: &mut Map<String, Value>) {
    members.retain(|key, value| match key.as_str() {
        "annotations" => annotations(value),
        "_meta" => value.is_object(),
        "title" | "description" | "mimeType" => value.is_string(),
        "size" => value.is_number(),
        "icons" => value.as_array().is_some_and(|icons| icons.iter().all(is_icon)),
        _ => true,
    });
}

/// Removes annotations that strict clients refuse; `false` if there are none (MCP, "Resources", "Annotations").
fn annotations(value: &mut Value) -> bool {
    let Some(members) = value.as_object_mut() else { return false };
    members.retain(|key, value| match key.as_str() {
        "audience" => {
            if value.is_string() {
                *value = Value::Array(vec![value.take()]);
            }
            let is_role = |role: &Value| role == "user" || role == "assistant";
            value.as_array().is_some_and(|roles| roles.iter().all(is_role))
        }
        "priority" => value.as_f64().is_some_and(|priority| (0.0..=1.0).contains(&priority)),
        "lastModified" => value.as_str().is_some_and(is_time),
        _ => true,
    });
    true
}

fn is_icon(icon: &Value) -> bool {
    let is_text = |key: &str| icon.get(key).is_none_or(Value::is_string);
    let sizes = icon.get("sizes");
    icon.get("src").is_some_and(Value::is_string)
        && is_text("mimeType")
        && sizes.is_none_or(|sizes| sizes.as_array().is_some_and(|sizes| sizes.iter().all(Value::is_string)))
        && icon.get("theme").is_none_or(|theme| theme == "light" || theme == "dark")
}

/// Whether a text is a time with an offset, such as `2026-01-12T15:00:58Z` (RFC 3339).
fn is_time(text: &str) -> bool {
    let has_form = |text: &str, form: &str| {
        text.len() == form.len()
            && text
                .bytes()
                .zip(form.bytes())
                .all(|(c, form)| if form == b'0' { c.is_ascii_digit() } else { c == form })
    };
    let Some((date, time)) = text.split_once('T') else { return false };
    let (clock, has_offset) = match (time.strip_suffix('Z'), time.rfind(['+', '-'])) {
        (Some(clock), _) => (clock, true),
        (None, Some(at)) => (&time[..at], has_form(&time[at + 1..], "00:00")),
        (None, None) => (time, false),
    };
    let (clock, is_fraction) = match clock.split_once('.') {
        Some((clock, digits)) => (clock, !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())),
        None => (clock, true),
    };
    has_form(date, "0000-00-00") && has_form(clock, "00:00:00") && has_offset && is_fraction
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_of_other_types_are_left_out() {
        let mut members = json!({
            "annotations": { "audience": "user", "priority": 2, "lastModified": "yesterday", "own": 1 },
            "_meta": null, "title": null, "description": 1, "size": "big", "icons": [{ "src": 1 }], "own": null,
        });
        clean(members.as_object_mut().unwrap());
        assert_eq!(members, json!({ "annotations": { "audience": ["user"], "own": 1 }, "own": null }));
        let whole = json!({
            "annotations": { "audience": ["user"], "priority": 0.5, "lastModified": "2026-01-12T15:00:58.25+01:00" },
            "_meta": { "a": 1 }, "title": "t", "size": 1, "icons": [{ "src": "a:b", "sizes": ["any"], "theme": "dark" }],
        });
        let mut same = whole.clone();
        clean(same.as_object_mut().unwrap());
        assert_eq!(same, whole);
    }
}
