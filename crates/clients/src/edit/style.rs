//! Writes new entries of YAML in the style of the file: block or flow, its indentation, its spaces in braces.

use std::ops::Range;

use serde_json::Value as Json;
use yaml_edit::{Mapping, MappingEntry, ScalarValue, YamlNode, YamlValue};

use super::change::Entry;

/// Adds an entry behind the others of a section. `None` if the section has an unusual form.
pub(super) fn add(text: &str, servers: &Mapping, name: &str, entry: &Entry) -> Option<String> {
    let last = span(&servers.entries().last()?)?;
    let end = text.get(..last.end)?.trim_end().len();
    if servers.is_flow_style() {
        let first = span(&servers.entries().next()?)?;
        let before = text.get(..first.start)?;
        let own_line = before.rfind('\n').map(|at| &before[at..]).filter(|line| line.trim().is_empty());
        let new = in_flow(text, servers, name, entry);
        let Some(gap) = own_line else { return Some(inserted(text, end, &format!(", {new}"))) };
        // A comment at the end of the last entry's line stays there.
        let line = text.get(end..)?.lines().next().unwrap_or_default();
        let behind = line.trim_start();
        let (comma, behind) = behind.strip_prefix(',').map_or((false, behind), |behind| (true, behind));
        return Some(match behind.trim_start() {
            comment if comment.starts_with('#') && comma => {
                inserted(text, end + line.len(), &format!("{gap}{new},"))
            }
            comment if comment.starts_with('#') => {
                inserted(&inserted(text, end + line.len(), &format!("{gap}{new}")), end, ",")
            }
            _ => inserted(text, end, &format!(",{gap}{new}")),
        });
    }
    let column = column(text, last.start)?;
    let line = if servers.entries().all(|entry| is_flow(&entry)) {
        format!("{}{}\n", " ".repeat(column), in_flow(text, servers, name, entry))
    } else {
        let mut block = String::new();
        write_block(&mut block, (name, &object(entry)), column, column);
        block
    };
    let at = below(text, end, column);
    let gap = if text.get(..at)?.ends_with('\n') { "" } else { "\n" };
    Some(inserted(text, at, &format!("{gap}{line}")))
}

/// Replaces an entry in flow style by another one. `None` if it is not in flow style.
pub(super) fn replace(text: &str, servers: &Mapping, name: &str, entry: &Entry) -> Option<String> {
    let old = servers.find_entry_by_key(name).filter(is_flow)?;
    let range = range(&old.value_node()?);
    let new = flow(&object(entry), spaces(text.get(range.clone())?));
    Some([text.get(..range.start)?, &new, text.get(range.end..)?].concat())
}

/// Removes an entry from a section in flow style that has others. `None` for another section, and if comments, which may
/// be of other entries, are between.
pub(super) fn remove(text: &str, servers: &Mapping, name: &str) -> Option<String> {
    if !servers.is_flow_style() {
        return None;
    }
    let spans: Vec<Range<usize>> = servers.entries().map(|entry| span(&entry)).collect::<Option<_>>()?;
    let at = servers.entries().position(|entry| entry.key_matches(name))?;
    let own = spans.get(at)?;
    let gone = match (spans.get(at + 1), at.checked_sub(1).and_then(|before| spans.get(before))) {
        (Some(next), _) => own.start..next.start,
        (None, Some(before)) => before.end..own.end,
        (None, None) => return None,
    };
    let is_plain = !text.get(gone.clone())?.contains('#');
    is_plain.then(|| [&text[..gone.start], &text[gone.end..]].concat())
}

fn inserted(text: &str, at: usize, new: &str) -> String {
    [&text[..at], new, &text[at..]].concat()
}

fn object(entry: &Entry) -> Json {
    Json::Object(entry.iter().cloned().collect())
}

/// The bytes of a key with its value.
fn span(entry: &MappingEntry) -> Option<Range<usize>> {
    let key = range(&entry.key_node()?);
    let end = entry.value_node().map_or(key.end, |value| range(&value).end);
    Some(key.start..end.max(key.end))
}

fn range(node: &YamlNode) -> Range<usize> {
    let range = node.byte_range();
    range.start as usize..range.end as usize
}

fn is_flow(entry: &MappingEntry) -> bool {
    entry.value_node().is_some_and(|value| value.as_mapping().is_some_and(Mapping::is_flow_style))
}

/// The column of a key that is the first word of its line.
fn column(text: &str, start: usize) -> Option<usize> {
    let line = text.get(..start)?.rsplit('\n').next()?;
    (!line.is_empty() && line.bytes().all(|byte| byte == b' ')).then_some(line.len())
}

/// The start of the line behind an entry that ends at `end`, and behind the comments that are indented like its keys.
fn below(text: &str, end: usize, column: usize) -> usize {
    let mut at = end;
    for (number, line) in text[end..].split_inclusive('\n').enumerate() {
        let indented = line.len() - line.trim_start_matches(' ').len();
        if number > 0 && !(indented > column && line[indented..].starts_with('#')) {
            break;
        }
        at += line.len();
    }
    at
}

/// Writes a key with its value as lines, each level `step` deeper.
fn write_block(block: &mut String, (key, value): (&str, &Json), column: usize, step: usize) {
    let indentation = " ".repeat(column);
    let key = scalar(&Json::from(key), false);
    match value {
        Json::Object(members) if !members.is_empty() => {
            block.push_str(&format!("{indentation}{key}:\n"));
            members.iter().for_each(|(key, value)| write_block(block, (key, value), column + step, step));
        }
        Json::Array(items) if !items.is_empty() && items.iter().all(|item| !item.is_object()) => {
            block.push_str(&format!("{indentation}{key}:\n"));
            let deeper = " ".repeat(column + step);
            items.iter().for_each(|item| block.push_str(&format!("{deeper}- {}\n", in_block(item))));
        }
        value => block.push_str(&format!("{indentation}{key}: {}\n", in_block(value))),
    }
}

/// A value on a line of block style, where signs of flow style need no quotes.
fn in_block(value: &Json) -> String {
    match value {
        Json::Object(_) | Json::Array(_) => flow(value, " "),
        value => scalar(value, false),
    }
}

fn in_flow(text: &str, servers: &Mapping, name: &str, entry: &Entry) -> String {
    let like =
        servers.entries().find(is_flow).and_then(|entry| entry.value_node()).map(|value| range(&value));
    let pad = spaces(like.and_then(|range| text.get(range)).unwrap_or("{ "));
    format!("{}: {}", scalar(&Json::from(name), true), flow(&object(entry), pad))
}

/// The space after a brace.
fn spaces(flow: &str) -> &'static str {
    if flow.strip_prefix('{').is_some_and(|rest| rest.starts_with(char::is_whitespace)) { " " } else { "" }
}

/// A value of YAML in one line.
pub fn in_one_line(value: &Json) -> String {
    flow(value, " ")
}

/// A value in one line, with `pad` within braces.
fn flow(value: &Json, pad: &str) -> String {
    match value {
        Json::Object(members) if !members.is_empty() => {
            let member = |(key, value): (&String, &Json)| {
                format!("{}: {}", scalar(&Json::from(key.as_str()), true), flow(value, pad))
            };
            format!("{{{pad}{}{pad}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Json::Array(items) => {
            format!("[{}]", items.iter().map(|item| flow(item, pad)).collect::<Vec<_>>().join(", "))
        }
        value => scalar(value, true),
    }
}

/// A text, number or boolean; in flow style, signs of flow style are quoted.
fn scalar(value: &Json, in_flow: bool) -> String {
    let Json::String(text) = value else { return value.to_string() };
    let is_plain = text.chars().all(|c| !c.is_control() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'));
    let is_flow_sign = |c: char| matches!(c, ',' | '[' | ']' | '{' | '}' | ':' | '#' | '"' | '\'');
    if is_plain && !(in_flow && text.contains(is_flow_sign)) {
        return yaml(value).to_yaml_string(0).trim_end().to_owned();
    }
    let quoted = value.to_string();
    // JSON leaves these as they are.
    let escapes = [('\u{7f}', "\\x7F"), ('\u{85}', "\\N"), ('\u{2028}', "\\L"), ('\u{2029}', "\\P")];
    escapes.iter().fold(quoted, |quoted, (sign, escape)| quoted.replace(*sign, escape))
}

/// A value for the editor.
pub(super) fn yaml(value: &Json) -> YamlValue {
    match value {
        Json::Null => YamlValue::Scalar(ScalarValue::null()),
        Json::Bool(value) => YamlValue::Scalar(ScalarValue::from(*value)),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => YamlValue::Scalar(ScalarValue::from(whole)),
            (None, other) => YamlValue::Scalar(ScalarValue::from(other.unwrap_or(f64::NAN))),
        },
        // Booleans of YAML 1.1: parsers read them as such, and the editor does not quote them.
        Json::String(text) if matches!(text.as_str(), "y" | "Y" | "n" | "N") => {
            YamlValue::Scalar(ScalarValue::single_quoted(text.as_str()))
        }
        Json::String(text) => YamlValue::Scalar(ScalarValue::from(text.as_str())),
        Json::Array(items) => YamlValue::Sequence(items.iter().map(yaml).collect()),
        Json::Object(entries) => {
            YamlValue::Mapping(entries.iter().map(|(key, value)| (key.clone(), yaml(value))).collect())
        }
    }
}
