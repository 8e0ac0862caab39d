//! Asks the user a server's elicitation: a form, or an address to visit.

use mcp::QuestionError;
use mcp::form::{Choice, Field, Kind, fields};
use printable::{exact, prose};
use serde_json::{Map, Value, json};
use terminal::{AskAgain, TerminalPrompt};

/// Maximum length of a server's text in a question, in characters.
const TEXT_LENGTH: usize = 2_000;

/// Asks the user, and returns MCP's `ElicitResult`.
pub(super) async fn elicit(
    user: &TerminalPrompt,
    server: &str,
    parameters: &Value,
) -> Result<Value, QuestionError> {
    let answer = if parameters.get("mode").and_then(Value::as_str) == Some("url") {
        visit(user, server, parameters).await
    } else {
        let schema = parameters.get("requestedSchema").unwrap_or(&Value::Null);
        let fields = fields(schema).map_err(|error| QuestionError::Form(error.to_string()))?;
        fill_in(user, server, &server_text(parameters, "message"), &fields).await
    };
    // If the terminal is closed, the elicitation is cancelled.
    Ok(answer.unwrap_or_else(|| json!({ "action": "cancel" })))
}

/// Asks for the fields of a form; returns `None` if the user cancels.
async fn fill_in(user: &TerminalPrompt, server: &str, message: &str, fields: &[Field]) -> Option<Value> {
    let head = format!(
        "toolsmith: the server {server} asks (in its own words; it receives your answers):\n  {message}\n"
    );
    // Keep the terminal for the whole form, so that nothing is written between its fields.
    let question = user.question().await?;
    let begins = |typed: &str| one_of(typed, &["a", "d", "c"]);
    match question.answer(&head, "[a] answer  [d] decline  [c] cancel: ", begins).await?.as_str() {
        "a" => {}
        "d" => return Some(json!({ "action": "decline" })),
        _ => return None,
    }
    let mut content = Map::new();
    for field in fields {
        let read = |typed: &str| field.read(typed).map_err(|wrong| AskAgain(format!("  {wrong}")));
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
        Kind::Choices(_) => "any of these, separated by commas",
    };
    let mut text = format!("  {} ({kind}", prose(&field.title));
    if !field.is_required {
        text.push_str(", optional");
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

/// Asks the user to visit an address; returns `None` without an answer.
async fn visit(user: &TerminalPrompt, server: &str, parameters: &Value) -> Option<Value> {
    let address = parameters.get("url").and_then(Value::as_str).unwrap_or_default();
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    // The address must be shown in full before it is opened.
    if !is_web || address.chars().count() > TEXT_LENGTH {
        return Some(json!({ "action": "decline" }));
    }
    let head = format!(
        "toolsmith: the server {server} asks you to visit an address (in its own words):\n  {}\n  {}\n",
        server_text(parameters, "message"),
        exact(address)
    );
    let choices = "[o] open it in the browser  [v] I have visited it  [d] decline  [c] cancel: ";
    let chosen = user.answer(&head, choices, |typed| one_of(typed, &["o", "v", "d", "c"])).await?;
    match chosen.as_str() {
        "o" if crate::browser::open(address) => Some(json!({ "action": "accept" })),
        "v" => Some(json!({ "action": "accept" })),
        "d" => Some(json!({ "action": "decline" })),
        _ => None,
    }
}

/// The typed letter, if it is one of these.
fn one_of(typed: &str, letters: &[&str]) -> Result<String, AskAgain> {
    let typed = typed.to_ascii_lowercase();
    if letters.contains(&typed.as_str()) {
        return Ok(typed);
    }
    Err(AskAgain(format!("  type one of the letters {}\n", letters.join(", "))))
}

/// A text of the server, escaped and shortened.
fn server_text(parameters: &Value, member: &str) -> String {
    prose(&short(parameters.get(member).and_then(Value::as_str).unwrap_or_default()))
}

fn short(text: &str) -> String {
    text.chars().take(TEXT_LENGTH).collect()
}
