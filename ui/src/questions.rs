//! The open questions about permissions: their text as at a terminal, and their answers.

use std::time::{SystemTime, UNIX_EPOCH};

use maud::{Markup, html};
use server::open_questions::{Asker, OpenQuestion, OpenQuestions};

use crate::access::Visitor;
use crate::action::Action;
use crate::error::PageError;
use crate::layout::{self, Section};
use crate::text::{line, time};

/// The page; `None` if this process serves no clients.
pub(crate) fn page(questions: Option<&OpenQuestions>, visitor: &Visitor) -> Markup {
    let body = html! {
        h1 { "Questions" }
        @match questions {
            None => p {
                "This page belongs to " code { "toolsmith ui" } ", which serves no clients. The questions of a server are "
                "on its own page: " code { "toolsmith serve --ui --allow-actions" } "."
            },
            Some(questions) => {
                @if !visitor.may_act() {
                    p.note {
                        "This page only reads. To answer the questions of clients that can't ask their user, start "
                        code { "serve" } " with " code { "--allow-actions" } ", too. Until then, what would need an answer is "
                        "refused."
                    }
                }
                (list(&questions.list(), visitor))
            }
        }
    };
    layout::page("Questions", Section::Questions, &body)
}

fn list(open: &[OpenQuestion], visitor: &Visitor) -> Markup {
    html! {
        section #open aria-label="Open questions" data-live {
            @if open.is_empty() { p.summary { "No question is open." } }
            @for question in open { (one(question, visitor)) }
        }
    }
}

fn one(question: &OpenQuestion, visitor: &Visitor) -> Markup {
    let (shown, exact) = time(milliseconds(question.asked));
    let heading = format!("question-{}", question.number);
    html! {
        article.question aria-labelledby=(heading) {
            h2 id=(heading) { "Permission for " bdi { (asker(&question.asker)) } }
            p {
                "Asked at " time datetime=(exact) { (shown) }
                @if let Some(execution) = &question.asker.execution {
                    " by " a href=(format!("execution?id={execution}")) { "this execution" }
                } @else { " by a direct call" }
                "."
            }
            pre tabindex="0" { bdi { (question.text) } }
            (answers(question, visitor))
        }
    }
}

/// The buttons; none for a question that is answered elsewhere.
fn answers(question: &OpenQuestion, visitor: &Visitor) -> Markup {
    html! {
        @if question.offers.is_empty() {
            p { "The client asks its user, and the answer is given there." }
        } @else if visitor.may_act() {
            form.actions action="answer" method="post" {
                (visitor.field())
                input type="hidden" name="question" value=(question.number);
                @for offer in &question.offers {
                    button type="submit" name="answer" value=(offer.word) { (offer.label) }
                }
            }
        }
    }
}

/// Who asks, in one line. A client's name is its own claim.
fn asker(asker: &Asker) -> String {
    let client = asker.client.as_deref().unwrap_or("a client without a name");
    let parts = [Some(client), Some(asker.transport), asker.subject.as_deref()];
    line(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Gives the answer in a form.
///
/// # Errors
/// If the question is not open, or does not offer the answer.
pub(crate) fn answer(questions: Option<&OpenQuestions>, action: &Action) -> Result<(), PageError> {
    let questions = questions.ok_or_else(|| PageError::missing("this process serves no clients"))?;
    let number = action.required("question")?;
    let number = number.parse().map_err(|_| PageError::wrong("the question is not a number"))?;
    questions.answer(number, action.required("answer")?).map_err(|why| PageError::wrong(why.to_string()))
}
