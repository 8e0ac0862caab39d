//! The open questions about permissions and of servers: their text as at a terminal, and their answers.

use std::time::{SystemTime, UNIX_EPOCH};

use history::shown::from;
use history::{Reader, Summary};
use maud::{Markup, html};
use mcp::form::{Choice, Field, Kind};
use serde_json::{Map, Value};
use server::open_questions::{ACCEPT, Asker, NotAccepted, OpenQuestion, OpenQuestions};

use crate::access::Visitor;
use crate::action::Action;
use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::shown;
use crate::site::executions_that_wait;
use crate::text::{breakable, line, time};

/// Maximum length of a title or a description of a server's form, in characters.
const TEXT: usize = 2_000;

/// The page of a process that serves clients.
pub(crate) fn page(questions: &OpenQuestions, visitor: &Visitor) -> Document {
    let body = html! {
        h1 { "Questions" }
        @if !visitor.may_act() {
            p.note {
                "This page only reads. To answer the questions of clients that can't ask their user, start "
                code { "serve" } " with " code { "--allow-actions" } ", too. Until then, what would need an answer is refused."
            }
        }
        (list(&questions.list(), visitor))
    };
    layout::page("Questions", Section::Questions, body)
}

/// The page of a process that serves no clients: which executions of other processes wait.
///
/// # Errors
/// If the history can't be read.
pub(crate) fn elsewhere(reader: Option<&Reader>) -> Result<Document, PageError> {
    let waiting = executions_that_wait(reader)?;
    let body = html! {
        h1 { "Questions" }
        p {
            "This page belongs to " code { "toolsmith ui" } ", which serves no clients. The questions of a server are on its "
            "own page: " code { "toolsmith serve --ui --allow-actions" } "."
        }
        section #open aria-label="Executions that wait" data-live {
            @if waiting.is_empty() { p.summary { "No execution waits for an answer." } }
            @else {
                p.summary { "These executions wait for your answer in their client, at their terminal or on that page:" }
                ul { @for summary in &waiting { li { (waiting_link(summary)) } } }
            }
        }
    };
    Ok(layout::page("Questions", Section::Questions, body))
}

fn waiting_link(summary: &Summary) -> Markup {
    html! {
        a href=(format!("execution?id={}", summary.id)) { bdi { (breakable(&line(&summary.title))) } }
        " of " bdi { (line(&from(summary))) } ", since " (time(summary.begun))
    }
}

/// The open questions. The script adds later ones below, and leaves those that are closed in their places.
fn list(open: &[OpenQuestion], visitor: &Visitor) -> Markup {
    let summary = match open.len() {
        0 => "No question is open.".to_owned(),
        1 => "1 question is open.".to_owned(),
        count => format!("{count} questions are open."),
    };
    html! {
        section #open aria-label="Open questions" data-live="keep" {
            p.summary { (summary) }
            @for question in open { (one(question, visitor)) }
        }
    }
}

fn one(question: &OpenQuestion, visitor: &Visitor) -> Markup {
    let heading = heading(question.number);
    html! {
        article.question id=(format!("open-{}", question.number)) aria-labelledby=(heading) {
            (asked(question))
            div.answers { (answers(question, visitor)) }
        }
    }
}

fn heading(number: u64) -> String {
    format!("question-{number}")
}

/// Shows the asker and the question.
fn asked(question: &OpenQuestion) -> Markup {
    html! {
        h2 id=(heading(question.number)) {
            (if question.fields.is_some() { "Question for the user of " } else { "Permission for " })
            bdi { (asker(&question.asker)) }
        }
        p {
            "Asked at " (time(milliseconds(question.asked)))
            @if let Some(execution) = &question.asker.execution {
                " by " a href=(format!("execution?id={execution}")) { "this execution" }
            }
            "."
        }
        pre tabindex="0" { bdi { (question.text) } }
    }
}

/// The form; none for a question that is answered elsewhere.
fn answers(question: &OpenQuestion, visitor: &Visitor) -> Markup {
    html! {
        @if question.offers.is_empty() {
            p { "The client asks its user, and the answer is given there." }
        } @else if visitor.may_act() {
            form.try action="answer" method="post" {
                (visitor.field())
                input type="hidden" name="question" value=(question.number);
                (shown::field(&digest(question)))
                (form_fields(question))
                (buttons(question))
            }
        }
    }
}

/// A digest of all that the page shows of a question.
fn digest(question: &OpenQuestion) -> String {
    shown::digest(&[&asked(question).0, &form_fields(question).0, &buttons(question).0])
}

fn form_fields(question: &OpenQuestion) -> Markup {
    html! {
        @for (place, field) in question.fields.iter().flatten().enumerate() {
            (form_field(question.number, place, field))
        }
    }
}

fn buttons(question: &OpenQuestion) -> Markup {
    html! {
        div.actions {
            @for offer in &question.offers {
                // With an id, the focus never moves to the same answer of another question.
                button type="submit" id=(format!("answer-{}-{}", question.number, offer.word)) name="answer"
                    value=(offer.word) { (offer.label) }
            }
        }
    }
}

/// Names the asker in one line. A client's name is its own claim.
fn asker(asker: &Asker) -> String {
    let client = asker.client.as_deref().unwrap_or("a client without a name");
    let parts = [Some(client), Some(asker.transport), asker.subject.as_deref()];
    line(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The name of the input for the field at a place. Names of fields can be anything, and are not in the form.
fn input_name(place: usize) -> String {
    format!("field-{place}")
}

/// A field of a server's form.
fn form_field(question: u64, place: usize, field: &Field) -> Markup {
    let id = format!("question-{question}-{place}");
    let about = line(&short(&field.description));
    html! {
        @match &field.kind {
            Kind::Choices(choices) => fieldset {
                legend { (label(field)) }
                @for choice in choices { (check_box(&id, place, field, choice)) }
                @if !about.is_empty() { small { bdi { (about) } } }
            },
            kind => label {
                span { (label(field)) }
                (input(&id, place, kind, field.default.as_ref()))
                @if !about.is_empty() { small { bdi { (about) } } }
            },
        }
    }
}

fn label(field: &Field) -> Markup {
    let kind = match field.kind {
        Kind::Integer => Some("whole number"),
        Kind::Number => Some("number"),
        _ => None,
    };
    let optional = (!field.is_required).then_some("optional");
    let hints: Vec<&str> = kind.into_iter().chain(optional).collect();
    html! {
        bdi { (line(&short(&field.title))) }
        @if !hints.is_empty() { " (" (hints.join(", ")) ")" }
    }
}

fn check_box(id: &str, place: usize, field: &Field, choice: &Choice) -> Markup {
    let is_default =
        |default: &Value| default.as_array().is_some_and(|all| all.contains(&choice.value.as_str().into()));
    html! {
        label.inline {
            input type="checkbox" id=(format!("{id}-{}", choice.value)) name=(input_name(place)) value=(choice.value)
                checked[field.default.as_ref().is_some_and(is_default)];
            " " bdi { (line(&short(&choice.title))) }
        }
    }
}

fn input(id: &str, place: usize, kind: &Kind, default: Option<&Value>) -> Markup {
    let name = input_name(place);
    // As JSON, a text has quotation marks.
    let default = default.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let select = |choices: &[(&str, &str)]| {
        html! {
            select id=(id) name=(name) {
                option value="" { "–" }
                @for (value, title) in choices {
                    option value=(value) selected[default.as_deref() == Some(*value)] { (line(&short(title))) }
                }
            }
        }
    };
    match kind {
        Kind::Choice(choices) => {
            let choices: Vec<(&str, &str)> =
                choices.iter().map(|choice| (choice.value.as_str(), choice.title.as_str())).collect();
            select(&choices)
        }
        Kind::Boolean => select(&[("true", "yes"), ("false", "no")]),
        kind => html! {
            input type="text" id=(id) name=(name) value=(default.unwrap_or_default()) autocomplete="off" spellcheck="false"
                inputmode=[(*kind != Kind::Text).then_some("decimal")];
        },
    }
}

/// The beginning of a server's text.
fn short(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

/// The content that a form says. Fields that are left empty are left out, except required texts.
fn content(fields: &[Field], action: &Action) -> Result<Map<String, Value>, PageError> {
    let mut content = Map::new();
    for (place, field) in fields.iter().enumerate() {
        let name = input_name(place);
        let value = match &field.kind {
            // Each box has one choice; a comma can be part of it.
            Kind::Choices(choices) => {
                let chosen: Vec<Value> = choices
                    .iter()
                    .filter(|choice| action.form.all(&name).any(|given| given == choice.value))
                    .map(|choice| choice.value.as_str().into())
                    .collect();
                (!chosen.is_empty() || field.is_required).then(|| chosen.into())
            }
            // By its value alone, which another choice may have as its title.
            Kind::Choice(choices)
                if choices.iter().any(|choice| action.form.get(&name) == Some(&*choice.value)) =>
            {
                action.form.get(&name).map(Value::from)
            }
            _ => {
                // The form has shown the default: who has removed it does not want to send it.
                let field = Field { default: None, ..field.clone() };
                field.read(action.form.get(&name).unwrap_or_default()).map_err(|wrong| {
                    PageError::wrong(format!("{}: {wrong}. Go back to the form", line(&short(&field.title))))
                })?
            }
        };
        content.extend(value.map(|value| (field.name.clone(), value)));
    }
    Ok(content)
}

/// Gives the answer in a form.
///
/// # Errors
/// If the question is not open, is not the one that the form showed, does not offer the answer, or a field is wrong.
pub(crate) fn answer(questions: Option<&OpenQuestions>, action: &Action) -> Result<(), PageError> {
    let questions = questions.ok_or_else(|| PageError::missing("this process serves no clients"))?;
    let number = action.required("question")?;
    let number = number.parse().map_err(|_| PageError::wrong("the question is not a number"))?;
    let word = action.required("answer")?;
    // No other question gets its number later.
    let question = questions.get(number).ok_or_else(|| PageError::wrong(NotAccepted::Closed.to_string()))?;
    if !shown::is_of(action, &digest(&question)) {
        return Err(shown::differs("the question"));
    }
    let content = match question.fields.filter(|_| word == ACCEPT) {
        Some(fields) => content(&fields, action)?,
        None => Map::new(),
    };
    questions.answer(number, word, &content).map_err(|why| PageError::wrong(why.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_of_a_servers_form_is_markup() {
        let hostile = "<script>\"'";
        let schema = json!({ "required": [hostile], "properties": {
            hostile: { "type": "string", "title": hostile, "description": hostile, "default": hostile },
            "one": { "enum": [hostile, "b"], "enumNames": [hostile, "B"], "default": "b" },
            "some": { "type": "array", "items": { "enum": [hostile, "c"] }, "default": ["c"] },
            "sure": { "type": "boolean", "default": true }, "size": { "type": "number", "default": 1.5 },
        } });
        let fields = mcp::form::fields(&schema).unwrap();
        let shown = fields.iter().enumerate().map(|(place, field)| form_field(7, place, field).into_string());
        let shown: String = shown.collect();
        assert!(!shown.contains("<script") && !shown.contains("\"\"'"), "{shown}");
        for part in [
            "id=\"question-7-0\" name=\"field-0\" value=\"&lt;script&gt;&quot;'\"",
            "<option value=\"b\" selected>B</option>",
            "name=\"field-2\" value=\"c\" checked>",
            "<option value=\"true\" selected>yes</option>",
            "value=\"1.5\"",
            "(number, optional)",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
