//! The differences between two JSON values, one a line.

use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum number of lines, and of characters of a value in a line.
const LINES: usize = 20;
const SHOWN: usize = 120;

/// The differences of `now` from `recorded`, each with its place as a JSON pointer.
pub fn differences(recorded: &Value, now: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare(recorded, now, "", &mut lines);
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    lines
}

/// A result as a value; `null` if there is none.
pub fn value(raw: Option<&RawValue>) -> Value {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn compare(recorded: &Value, now: &Value, place: &str, lines: &mut Vec<String>) {
    match (recorded, now) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                let place = format!("{place}/{}", escaped(name));
                match after.get(name) {
                    Some(now) => compare(value, now, &place, lines),
                    None => lines.push(format!("{place}: {}, now missing", shown(value))),
                }
            }
            for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
                lines.push(format!("{place}/{}: missing, now {}", escaped(name), shown(value)));
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (value, now)) in before.iter().zip(after).enumerate() {
                compare(value, now, &format!("{place}/{index}"), lines);
            }
            if before.len() != after.len() {
                lines.push(format!("{}: {} items, now {}", root(place), before.len(), after.len()));
            }
        }
        _ if recorded == now => {}
        _ => lines.push(format!("{}: {}, now {}", root(place), shown(recorded), shown(now))),
    }
}

/// The whole value has no place of its own.
fn root(place: &str) -> &str {
    if place.is_empty() { "the value" } else { place }
}

/// A name in a JSON pointer (RFC 6901, section 3).
fn escaped(name: &str) -> String {
    printable::exact(&name.replace('~', "~0").replace('/', "~1"))
}

fn shown(value: &Value) -> String {
    let text = printable::exact(&value.to_string());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_difference_has_its_place() {
        let before = json!({ "a": 1, "b": [1, 2, 3], "c/d": { "e": "x" }, "gone": null });
        let after = json!({ "a": 1, "b": [1, 4], "c/d": { "e": "y" }, "new": true });
        assert_eq!(
            differences(&before, &after),
            [
                "/b/1: 2, now 4",
                "/b: 3 items, now 2",
                "/c~1d/e: \"x\", now \"y\"",
                "/gone: null, now missing",
                "/new: missing, now true"
            ]
        );
        assert!(differences(&before, &before).is_empty());
        assert_eq!(differences(&json!(1), &json!("1")), ["the value: 1, now \"1\""]);
    }

    #[test]
    fn long_differences_are_cut() {
        let numbers = |start: u32| Value::from((start..start + 100).collect::<Vec<_>>());
        let lines = differences(&numbers(0), &numbers(1000));
        assert_eq!((lines.len(), lines[LINES].as_str()), (LINES + 1, "… and 80 more"));
        let line = differences(&json!("a".repeat(10_000)), &json!(1)).remove(0);
        assert!(line.len() < 200, "{line}");
    }
}
