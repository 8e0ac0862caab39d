//! Questions about calls, to the program that uses this library.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::permission::{Answer, AnsweredBy, Prompter, Question, Reason};

/// A question whether a program may run, or a call may be made. Its text, by [`Display`](fmt::Display), is safe to show: it
/// has the tools, the arguments of a call, and what earlier answers it can carry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The tools in question, as `server.tool`.
    pub tools: Vec<String>,
    /// The arguments of the call, formatted and shortened; `None` for the question before a program runs.
    pub arguments: Option<String>,
    text: String,
}

impl fmt::Display for PermissionRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// The answer to a [`PermissionRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// This program, or this call, is allowed.
    Once,
    /// These tools are allowed for as long as the [`Toolsmith`](crate::Toolsmith) exists.
    Session,
    /// It is refused.
    No,
}

impl From<bool> for Decision {
    fn from(is_allowed: bool) -> Self {
        if is_allowed { Decision::Once } else { Decision::No }
    }
}

/// Answers questions.
pub(crate) type Ask = Arc<dyn Fn(PermissionRequest) -> BoxFuture<'static, Decision> + Send + Sync>;

/// Returns a callback as [`Ask`].
pub(crate) fn ask<F, D>(callback: impl Fn(PermissionRequest) -> F + Send + Sync + 'static) -> Ask
where
    F: Future<Output = D> + Send + 'static,
    D: Into<Decision> + 'static,
{
    Arc::new(move |request| callback(request).map(Into::into).boxed())
}

/// Asks through the callback, if there is one.
pub(crate) struct Callback(pub(crate) Option<Ask>);

impl Prompter for Callback {
    fn is_there(&self) -> bool {
        self.0.is_some()
    }

    fn absence(&self) -> Reason {
        Reason::NoCallback
    }

    fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::Client
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        async move {
            let Some(ask) = &self.0 else { return Answer::Nobody };
            let arguments = match question {
                Question::Call { arguments, .. } => Some(arguments.clone()),
                Question::Program { .. } => None,
            };
            let tools = question.tools().iter().map(gateway::permission::RequestedTool::name).collect();
            match ask(PermissionRequest { tools, arguments, text: question.text() }).await {
                Decision::Once => Answer::Once,
                Decision::Session => Answer::Session,
                Decision::No => Answer::No,
            }
        }
        .boxed()
    }
}
