//! Permission by the client's user, through an elicitation form.
//!
//! A client that is asked by the response to its request (MCP 2026-07-28) receives a sealed state with the tools in
//! question. It repeats the request with the answer, and the program, compiled by then, runs. Nothing waits for the
//! client in between.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::permission::{Answer, Prompter, Question, Reason, RequestedTool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::caller::{Caller, Unanswered};
use crate::audit;

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

/// An answer of the user, for the audit log.
#[derive(Debug, Clone)]
pub(crate) struct Approval {
    /// What the question was about: a `program` or a `call`.
    pub(crate) question: &'static str,
    pub(crate) tools: Vec<String>,
    pub(crate) answer: audit::Answer,
}

/// Asks the client of one request.
#[derive(Clone)]
pub(crate) struct Approver(Arc<Inner>);

struct Inner {
    caller: Arc<Caller>,
    given: Option<PriorAnswer>,
    pending: Mutex<Option<PendingQuestion>>,
    approvals: Mutex<Vec<Approval>>,
    /// Whether an answer can apply to a session.
    has_session: bool,
    /// Ends the execution that has a pending question.
    stop: CancellationToken,
}

impl Approver {
    pub(crate) fn new(
        caller: Arc<Caller>,
        given: Option<PriorAnswer>,
        has_session: bool,
        stop: CancellationToken,
    ) -> Self {
        let (pending, approvals) = (Mutex::default(), Mutex::default());
        Approver(Arc::new(Inner { caller, given, pending, approvals, has_session, stop }))
    }

    /// The question that ended the execution, if any.
    pub(crate) fn take_pending(&self) -> Option<PendingQuestion> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the answers so far.
    pub(crate) fn take_approvals(&self) -> Vec<Approval> {
        std::mem::take(&mut self.0.approvals.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    /// The prior answer, if it covers all of these tools in their present version.
    fn given(&self, question: &Question) -> Option<Answer> {
        let given = self.given.as_ref()?;
        let known = |tool: &RequestedTool| given.tools.contains(&AskedTool::of(tool));
        question.tools().iter().all(known).then_some(given.answer)
    }

    async fn answer(&self, question: &Question) -> Answer {
        let is_program = matches!(question, Question::Program { .. });
        if let Some(given) = is_program.then(|| self.given(question)).flatten() {
            return given;
        }
        let form = form(question, self.has_session);
        if is_program && self.caller.is_asked_by_response() {
            let tools = question.tools().iter().map(AskedTool::of).collect();
            *self.pending.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(PendingQuestion { tools, form });
            self.stop.cancel();
            return std::future::pending().await;
        }
        match self.caller.ask("elicitation/create", form).await {
            Ok(answer) => read(&answer, self.has_session),
            Err(Unanswered::Late(limit)) => Answer::Late(limit),
            Err(Unanswered::Busy(_)) => Answer::Busy,
            // A client that can't be reached gives no consent.
            Err(_) => Answer::No,
        }
    }
}

impl Prompter for Approver {
    fn is_there(&self) -> bool {
        self.0.caller.abilities.elicits
    }

    fn absence(&self) -> Reason {
        Reason::NoElicitation
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        async move {
            if !self.is_there() {
                return Answer::Nobody;
            }
            let answer = self.0.answer(question).await;
            let tools = question.tools().iter().map(RequestedTool::name).collect();
            let question = match question {
                Question::Program { .. } => "program",
                Question::Call { .. } => "call",
            };
            let approval = Approval { question, tools, answer: logged(answer) };
            self.0.approvals.lock().unwrap_or_else(PoisonError::into_inner).push(approval);
            answer
        }
        .boxed()
    }
}

fn logged(answer: Answer) -> audit::Answer {
    match answer {
        Answer::Once => audit::Answer::Once,
        // A permanent permission covers the session too; clients are not offered one.
        Answer::Session | Answer::Always => audit::Answer::Session,
        Answer::No => audit::Answer::No,
        Answer::Late(_) => audit::Answer::Late,
        Answer::Nobody | Answer::Busy => audit::Answer::Nobody,
    }
}

/// A question as the parameters of `elicitation/create`.
fn form(question: &Question, has_session: bool) -> Value {
    let mut answers = vec![("once", "Yes, this once"), ("no", "No")];
    if has_session {
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
pub(crate) fn read(result: &Value, has_session: bool) -> Answer {
    match (result["action"].as_str(), result["content"]["answer"].as_str()) {
        (Some("accept"), Some("once")) => Answer::Once,
        (Some("accept"), Some("session")) if has_session => Answer::Session,
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
        assert_eq!(read(&answer("accept", json!("once")), false), Answer::Once);
        assert_eq!(read(&answer("accept", json!("session")), true), Answer::Session);
        assert_eq!(read(&answer("accept", json!("session")), false), Answer::No);
        for no in [
            answer("accept", json!("no")),
            answer("decline", json!("once")),
            answer("accept", json!(true)),
            json!(7),
        ] {
            assert_eq!(read(&no, true), Answer::No);
        }
    }
}
