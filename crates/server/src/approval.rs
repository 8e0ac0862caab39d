//! Permission by the client's user, through an elicitation form, or on the local page if the client has none.
//!
//! A client that is asked by the response to its request (MCP 2026-07-28) receives a sealed state with the tools in
//! question. It repeats the request with the answer, and the program, compiled by then, runs. Nothing waits for the
//! client in between.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::permission::{Answer, AnsweredBy, Prompter, Question, Reason, RequestedTool};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::caller::{Caller, Unanswered};
use super::open_questions::{self, Lasting, Offer};
use super::page_prompt::PagePrompt;
use super::session::ClientSession;

/// A tool that a question was about, in the version that the user saw.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct AskedTool {
    server: String,
    tool: String,
    hash: String,
    reached: String,
}

impl AskedTool {
    fn of(requested: &RequestedTool) -> Self {
        let RequestedTool { server, tool, hash, reached, .. } = requested.clone();
        AskedTool { server, tool, hash, reached }
    }
}

/// An answer from before the program was run.
#[derive(Debug, Clone)]
pub(crate) struct PriorAnswer {
    pub(crate) tools: Vec<AskedTool>,
    pub(crate) answer: Answer,
}

/// A question that the response to the request will carry.
#[derive(Debug, Clone)]
pub(crate) struct PendingQuestion {
    pub(crate) tools: Vec<AskedTool>,
    /// The parameters of `elicitation/create`.
    pub(crate) form: Value,
}

/// The terms on which the user of one client can be asked.
pub(crate) struct Terms {
    /// Whether an answer can apply to a session.
    pub(crate) has_session: bool,
    /// The reason for a refusal if no user can be asked.
    pub(crate) absence: Reason,
}

impl Terms {
    /// Of a client's user.
    pub(crate) fn of(session: &ClientSession) -> Self {
        Terms { has_session: session.lasts(), absence: session.absence() }
    }
}

/// Asks the user of one request.
#[derive(Clone)]
pub(crate) struct Approver(Arc<Inner>);

struct Inner {
    caller: Arc<Caller>,
    given: Option<PriorAnswer>,
    pending: Mutex<Option<PendingQuestion>>,
    terms: Terms,
    /// Ends the execution that has a pending question.
    stop: CancellationToken,
}

impl Approver {
    pub(crate) fn new(
        caller: Arc<Caller>,
        given: Option<PriorAnswer>,
        terms: Terms,
        stop: CancellationToken,
    ) -> Self {
        Approver(Arc::new(Inner { caller, given, pending: Mutex::default(), terms, stop }))
    }

    /// The question that ended the execution, if any.
    pub(crate) fn take_pending(&self) -> Option<PendingQuestion> {
        self.0.pending.lock().take()
    }
}

impl Inner {
    /// The prior answer, if it covers all of these tools in their present version.
    fn given(&self, question: &Question) -> Option<Answer> {
        let given = self.given.as_ref()?;
        let known = |tool: &RequestedTool| given.tools.contains(&AskedTool::of(tool));
        question.tools().iter().all(known).then_some(given.answer)
    }

    fn asks_client(&self) -> bool {
        self.caller.abilities.elicits
    }

    /// The page, if it answers questions.
    fn page(&self) -> Option<&PagePrompt> {
        self.caller.page().filter(|page| page.answers())
    }

    async fn answer_on_page(&self, page: &PagePrompt, question: &Question) -> Answer {
        // A permanent permission covers all clients of this process, so a subject's question does not offer it.
        let lasting = Lasting { session: self.terms.has_session, always: page.asker.subject.is_none() };
        ask_on_page(&self.caller, page, question.text(), open_questions::offers(question, lasting)).await
    }

    async fn answer(&self, question: &Question) -> Answer {
        if let Some(page) = self.page().filter(|_| !self.asks_client()) {
            return self.answer_on_page(page, question).await;
        }
        let is_program = matches!(question, Question::Program { .. });
        if let Some(given) = is_program.then(|| self.given(question)).flatten() {
            return given;
        }
        let is_asked_by_response = self.caller.is_asked_by_response();
        // Answers to a question in a response are about all tools at once.
        let offered = Offered {
            session: self.terms.has_session,
            choice: question.offers_choice() && !is_asked_by_response,
        };
        let form = form(question, offered);
        if is_program && is_asked_by_response && self.caller.answers_with_question() {
            let tools = question.tools().iter().map(AskedTool::of).collect();
            *self.pending.lock() = Some(PendingQuestion { tools, form });
            self.stop.cancel();
            return std::future::pending().await;
        }
        self.caller.progress(0.0, None, Some("waiting for permission".to_owned())).await;
        let _shown = self.caller.page().map(|page| page.show(question.text()));
        ask_client(&self.caller, form, offered).await
    }
}

impl Prompter for Approver {
    fn is_there(&self) -> bool {
        self.0.asks_client() || self.0.page().is_some()
    }

    fn absence(&self) -> Reason {
        self.0.terms.absence
    }

    fn lateness(&self, limit: Duration) -> Reason {
        if self.0.asks_client() { Reason::Late(limit) } else { Reason::LateOnPage(limit) }
    }

    fn answered_by(&self) -> AnsweredBy {
        if self.0.asks_client() { AnsweredBy::Client } else { AnsweredBy::Page }
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        async move {
            if !self.is_there() {
                return Answer::Nobody;
            }
            self.0.answer(question).await
        }
        .boxed()
    }
}

/// Asks the client's user by a form.
pub(crate) async fn ask_client(caller: &Caller, form: Value, offered: Offered) -> Answer {
    let answer = caller.ask("elicitation/create", form).await;
    answer.map_or_else(|why| unanswered(&why), |answer| read(&answer, offered))
}

/// Asks on the local page.
pub(crate) async fn ask_on_page(
    caller: &Caller,
    page: &PagePrompt,
    text: String,
    offers: Vec<Offer>,
) -> Answer {
    let answer = caller.ask_on_page(text.len(), page.ask(text, offers)).await;
    answer.unwrap_or_else(|why| unanswered(&why))
}

fn unanswered(why: &Unanswered) -> Answer {
    match why {
        Unanswered::Late(limit) => Answer::Late(*limit),
        Unanswered::Busy(_) => Answer::Busy,
        // Who can't be reached gives no consent.
        _ => Answer::Declined,
    }
}

/// The answers that a form offers beside yes and no.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offered {
    /// For the rest of the session.
    pub(crate) session: bool,
    /// For each server.
    pub(crate) choice: bool,
}

/// A question as the parameters of `elicitation/create`.
fn form(question: &Question, offered: Offered) -> Value {
    let mut answers = vec![("once", "Yes, this once"), ("no", "No")];
    if offered.choice {
        answers.insert(1, ("choose", "Decide for each server"));
    }
    if offered.session {
        answers.insert(1, ("session", "Yes, for this session"));
    }
    let (values, names): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    json!({
        "mode": "form",
        "message": question.text(),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "answer": {
                    "type": "string", "title": "Permission", "enum": values, "enumNames": names,
                },
            },
            "required": ["answer"],
        },
    })
}

/// Reads the answer from an `ElicitResult`.
pub(crate) fn read(result: &Value, offered: Offered) -> Answer {
    match (result["action"].as_str(), result["content"]["answer"].as_str()) {
        (Some("accept"), Some("once")) => Answer::Once,
        (Some("accept"), Some("session")) if offered.session => Answer::Session,
        (Some("accept"), Some("choose")) if offered.choice => Answer::Choose,
        (Some("decline" | "cancel"), _) => Answer::Declined,
        _ => Answer::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_yes_is_accepted() {
        let answer =
            |action: &str, answer: Value| json!({ "action": action, "content": { "answer": answer } });
        let all = Offered { session: true, choice: true };
        let none = Offered::default();
        assert_eq!(read(&answer("accept", json!("once")), none), Answer::Once);
        for (word, given) in [("session", Answer::Session), ("choose", Answer::Choose)] {
            assert_eq!(read(&answer("accept", json!(word)), all), given);
            assert_eq!(read(&answer("accept", json!(word)), none), Answer::No);
        }
        for action in ["decline", "cancel"] {
            assert_eq!(read(&answer(action, json!("once")), all), Answer::Declined);
        }
        for no in [answer("accept", json!("no")), answer("accept", json!(true)), json!(7)] {
            assert_eq!(read(&no, all), Answer::No);
        }
    }
}
