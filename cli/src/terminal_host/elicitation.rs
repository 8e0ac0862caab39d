//! A server's question to the person at the terminal: a form, or an address to visit.

use printable::{exact, prose};
use serde_json::{Map, Value, json};
use terminal::TerminalPrompt;

use super::form::{Choice, Field, Kind, fields};

/// Most characters of a server's text in a question.
const LONGEST_TEXT: usize = 2_000;

/// Asks, and gives MCP's `ElicitResult`.
pub(super) async fn elicit(
    person: &TerminalPrompt,
    server: &str,
    parameters: &Value,
) -> Result<Value, String> {
    let asked = if parameters.get("mode").and_then(Value::as_str) == Some("url") {
        visit(person, server, parameters).await
    } else {
        let schema = parameters.get("requestedSchema").unwrap_or(&Value::Null);
        let fields = fields(schema)?;
        fill_in(person, server, &told(parameters, "message"), &fields).await
    };
    // A terminal that is gone is a person that has left.
    Ok(asked.unwrap_or_else(|| json!({ "action": "cancel" })))
}

/// A form; `None` where the person leaves it.
async fn fill_in(person: &TerminalPrompt, server: &str, message: &str, fields: &[Field]) -> Option<Value> {
    let head = format!(
        "toolsmith: the server {server} asks (its own words; what you answer goes to it):\n  {message}\n"
    );
    // One question from its beginning to its end: nothing else is written between its fields.
    let question = person.question().await?;
    let begins = |typed: &str| Ok(typed.to_ascii_lowercase());
    match question.answer(&head, "[a] answer  [d] decline  [c] cancel: ", begins).await?.as_str() {
        "a" => {}
        "d" => return Some(json!({ "action": "decline" })),
        _ => return None,
    }
    let mut content = Map::new();
    for field in fields {
        let read = |typed: &str| field.read(typed).map_err(|wrong| format!("  {wrong}"));
        if let Some(value) = question.answer(&prompt(field), ": ", read).await? {
            content.insert(field.name.clone(), value);
        }
    }
    Some(json!({ "action": "accept", "content": content }))
}

fn prompt(field: &Field) -> String {
    let kind = match &field.kind {
        Kind::Text => "text",
        Kind::Integer => "whole number",
        Kind::Number => "number",
        Kind::Boolean => "yes or no",
        Kind::Choice(_) => "one of these",
        Kind::Choices(_) => "any of these, with commas between",
    };
    let mut text = format!("  {} ({kind}", prose(&field.title));
    if !field.is_required {
        text.push_str(", may stay empty");
    }
    text.push(')');
    if !field.description.is_empty() {
        text.push_str(&format!(" {}", prose(&short(&field.description))));
    }
    if let Kind::Choice(choices) | Kind::Choices(choices) = &field.kind {
        let line =
            |(index, choice): (usize, &Choice)| format!("\n    {} {}", index + 1, prose(&choice.title));
        text.extend(choices.iter().enumerate().map(line));
        text.push_str("\n ");
    }
    if let Some(default) = &field.default {
        text.push_str(&format!(" [{}]", exact(&short(&default.to_string()))));
    }
    text
}

/// An address that the person is to visit; `None` where they don't answer.
async fn visit(person: &TerminalPrompt, server: &str, parameters: &Value) -> Option<Value> {
    let address = parameters.get("url").and_then(Value::as_str).unwrap_or_default();
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    // What is opened is what was shown, and whole.
    if !is_web || address.chars().count() > LONGEST_TEXT {
        return Some(json!({ "action": "decline" }));
    }
    let head = format!(
        "toolsmith: the server {server} wants you to visit an address (its own words):\n  {}\n  {}\n",
        told(parameters, "message"),
        exact(address)
    );
    let choices = "[o] open it in the browser  [v] I have visited it  [d] decline  [c] cancel: ";
    let chosen = person.answer(&head, choices, |typed| Ok(typed.to_ascii_lowercase())).await?;
    match chosen.as_str() {
        "o" if crate::browser::open(address) => Some(json!({ "action": "accept" })),
        "v" => Some(json!({ "action": "accept" })),
        "d" => Some(json!({ "action": "decline" })),
        _ => None,
    }
}

/// A text of the server, fit to be shown.
fn told(parameters: &Value, member: &str) -> String {
    prose(&short(parameters.get(member).and_then(Value::as_str).unwrap_or_default()))
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}
