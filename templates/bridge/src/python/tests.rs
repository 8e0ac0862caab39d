//! Examples of literals, and random values written as Python writes them.

use serde_json::{Map, Value, json};

use super::to_json;

fn read(text: &str) -> Option<Value> {
    to_json(text).map(|json| serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}")))
}

#[test]
fn literals_are_read() {
    for (text, value) in [
        ("[{'n': 1, 'ok': True, 'x': None}]", json!([{ "n": 1, "ok": true, "x": null }])),
        (
            " {'a': (1, 2.5), 'b': (1,), 'c': (), 'd': (3)}\n",
            json!({ "a": [1, 2.5], "b": [1], "c": [], "d": 3 }),
        ),
        (
            r#"['it\'s', "a \"b\"", 'é\n\t\x41\u00e9\U0001f600\101', 'a"b']"#,
            json!(["it's", "a \"b\"", "é\n\tAé😀A", "a\"b"]),
        ),
        ("{1: 'a', -2: 'b', True: 'c', None: 'd'}", json!({ "1": "a", "-2": "b", "true": "c", "null": "d" })),
        ("[1., .5, +3, -0.0, 1e5, 1E-2, 00]", json!([1.0, 0.5, 3, -0.0, 1e5, 1e-2, 0])),
        ("['''a\nb''', [1, 2,], {'a': [],},]", json!(["a\nb", [1, 2], { "a": [] }])),
        (
            r"'a\qb\
c'",
            json!("a\\qbc"),
        ),
        ("False", json!(false)),
    ] {
        assert_eq!(read(text), Some(value), "{text}");
    }
}

#[test]
fn non_literals_are_refused() {
    for text in [
        "",
        "hello",
        "{1, 2}",
        "set()",
        "b'a'",
        "1j",
        "0x10",
        "1_000",
        "007",
        "nan",
        "[inf]",
        "{'a': 1, 'a': 2}",
        "{1: 1, '1': 2}",
        "{(1, 2): 3}",
        "{1.5: 2}",
        "[1 2]",
        "['a' 'b']",
        "[1",
        "{'a'}",
        "{'a': }",
        "'a",
        "'a\nb'",
        r"'\ud800'",
        r"'\x4'",
        r"'\N{BULLET}'",
        "datetime.date(2024, 1, 1)",
        "[1] 2",
        "(1",
        "[,]",
        "1.2.3",
        "--1",
        "1e",
        "True2",
        "true",
        "null",
        "{'a': undefined}",
        "[1];",
        "- 1",
    ] {
        assert_eq!(to_json(text), None, "{text}");
    }
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(127)).is_some());
    assert_eq!(to_json(&nested(200_000)), None);
    assert_eq!(to_json(&"(".repeat(200_000)), None);
    let values = format!("{}1{}", "(".repeat(127), ")".repeat(127));
    assert_eq!(read(&values), Some(json!(1)), "each value is read once");
}

/// A pseudo-random number generator with the same sequence each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        // Knuth's constants (MMIX).
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn text(&mut self) -> String {
        const CHARACTERS: [char; 14] =
            ['a', 'Z', '0', ' ', '\'', '"', '\\', '\n', '\r', '\t', 'é', '😀', '\u{0}', '\u{2028}'];
        (0..self.below(6)).map(|_| CHARACTERS[self.below(CHARACTERS.len())]).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 => json!(i64::try_from(self.below(2_000)).unwrap_or(0) - 1_000),
            3 => json!(f64::from(u32::try_from(self.below(4_000)).unwrap_or(0)) / 8.0 - 200.0),
            4 | 5 => Value::String(self.text()),
            6 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let fields = (0..self.below(4)).map(|_| (self.text(), self.value(depth - 1)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }
}

/// A string as written by Python's `repr`.
fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut written = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            same if same == quote => written.extend(['\\', same]),
            control if control < ' ' => written.push_str(&format!("\\x{:02x}", u32::from(control))),
            '\u{2028}' => written.push_str("\\u2028"),
            other => written.push(other),
        }
    }
    written.push(quote);
    written
}

fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => repr_text(text),
        Value::Array(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

#[test]
fn written_values_are_read_back() {
    let mut chance = Chance(1);
    for _ in 0..2_000 {
        let value = chance.value(4);
        let text = repr(&value);
        assert_eq!(read(&text).as_ref(), Some(&value), "{text}");
    }
}

/// Any damage to a text: no panic, and only JSON.
#[test]
fn damaged_literals_return_json_or_none() {
    let mut chance = Chance(2);
    for _ in 0..5_000 {
        let mut text: Vec<char> = repr(&chance.value(4)).chars().collect();
        const SIGNS: [char; 12] = ['\'', '"', '\\', '{', '}', '[', ']', '(', ',', ':', '-', 'é'];
        let place = chance.below(text.len());
        match chance.below(3) {
            0 => drop(text.remove(place)),
            1 => text.insert(place, SIGNS[chance.below(SIGNS.len())]),
            _ => text.truncate(place),
        }
        let text: String = text.into_iter().collect();
        drop(read(&text));
    }
}
