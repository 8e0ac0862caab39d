//! Answers that say something of what was asked.

use serde_json::Value;

use crate::request::ModelRequest;
use crate::script::Answer;

/// The answer with everything put in.
pub(crate) fn filled(answer: &Answer, asked: &ModelRequest) -> Answer {
    let mut answer = answer.clone();
    for text in [&mut answer.thinking, &mut answer.text, &mut answer.message].into_iter().flatten() {
        *text = fill(text, asked);
    }
    for call in &mut answer.calls {
        fill_value(&mut call.arguments, asked);
    }
    answer
}

fn fill_value(value: &mut Value, asked: &ModelRequest) {
    match value {
        Value::String(text) => *text = fill(text, asked),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, asked)),
        Value::Object(members) => members.values_mut().for_each(|member| fill_value(member, asked)),
        _ => {}
    }
}

fn fill(text: &str, asked: &ModelRequest) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        filled.push_str(before);
        match behind.split_once("}}") {
            Some((name, behind)) => {
                filled.push_str(&value(name, asked));
                rest = behind;
            }
            None => {
                filled.push_str("{{");
                rest = behind;
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn value(name: &str, asked: &ModelRequest) -> String {
    let behind = |text: &str| asked.user.split_once(text).map(|(_, behind)| behind).unwrap_or_default();
    match name.split_once(':') {
        Some(("after", text)) => behind(text).lines().next().unwrap_or_default().trim().to_owned(),
        Some(("word", text)) => behind(text).split_whitespace().next().unwrap_or_default().to_owned(),
        Some(("json", pointer)) => {
            let result: Value = serde_json::from_str(asked.result()).unwrap_or_default();
            match result.pointer(pointer).cloned().unwrap_or_default() {
                Value::String(text) => text,
                other => other.to_string(),
            }
        }
        _ => match name {
            "user" => asked.user.clone(),
            "first_user" => asked.first_user.clone(),
            "system" => asked.system.clone(),
            "result" => asked.result().to_owned(),
            "turn" => asked.turn.to_string(),
            other => format!("(nothing is called {other})"),
        },
    }
}
