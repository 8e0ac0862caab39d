//! Fills the placeholders of answers from the request.

use serde_json::Value;

use crate::request::ModelRequest;
use crate::script::Answer;

/// The answer with all placeholders filled.
pub(crate) fn filled(answer: &Answer, request: &ModelRequest) -> Answer {
    let mut answer = answer.clone();
    for text in [&mut answer.thinking, &mut answer.text, &mut answer.message].into_iter().flatten() {
        *text = fill(text, request);
    }
    for call in &mut answer.calls {
        fill_value(&mut call.arguments, request);
    }
    answer
}

fn fill_value(value: &mut Value, request: &ModelRequest) {
    match value {
        Value::String(text) => *text = fill(text, request),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, request)),
        Value::Object(members) => members.values_mut().for_each(|member| fill_value(member, request)),
        _ => {}
    }
}

fn fill(text: &str, request: &ModelRequest) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        match after.split_once("}}") {
            Some((name, after)) => {
                filled.push_str(&value(name, request));
                rest = after;
            }
            None => {
                filled.push_str("{{");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn value(name: &str, request: &ModelRequest) -> String {
    let after = |text: &str| request.user.split_once(text).map(|(_, after)| after).unwrap_or_default();
    match name.split_once(':') {
        Some(("after", text)) => after(text).lines().next().unwrap_or_default().trim().to_owned(),
        Some(("word", text)) => after(text).split_whitespace().next().unwrap_or_default().to_owned(),
        Some(("json", pointer)) => {
            let result: Value = serde_json::from_str(request.result()).unwrap_or_default();
            match result.pointer(pointer).cloned().unwrap_or_default() {
                Value::String(text) => text,
                other => other.to_string(),
            }
        }
        _ => match name {
            "user" => request.user.clone(),
            "first_user" => request.first_user.clone(),
            "system" => request.system.clone(),
            "result" => request.result().to_owned(),
            "turn" => request.turn.to_string(),
            "id" => first_id(request.result()).to_owned(),
            other => format!("(nothing is called {other})"),
        },
    }
}

/// The first id of 32 hexadecimal digits.
fn first_id(text: &str) -> &str {
    text.split(|character: char| !character.is_ascii_alphanumeric())
        .find(|word| word.len() == 32 && word.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .unwrap_or_default()
}
