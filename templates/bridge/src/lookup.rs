//! Looks up tools from a snippet, with the same search and descriptions that models have as tools.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;

use crate::client::Ticket;
use crate::convert::{Argument, OptionalArgument};
use crate::error::{ToolError, ToolErrorKind};
use crate::wire::{CallFailure, FailureKind, FoundTool, Question};

/// Finds tools by what they do: `search_tools("orders").server("shop").limit(5).await?`.
pub fn search_tools(query: impl Argument<String>) -> SearchTools {
    let query = query.into_argument();
    SearchTools {
        request: Request::new("search_tools", Question::Search { query, server: None, limit: None }),
    }
}

/// Describes tools in full, each named as `module::function`: `describe_tools(["shop::list_orders"]).await?`.
pub fn describe_tools(tools: impl Argument<Vec<String>>) -> DescribeTools {
    let tools = tools.into_argument();
    DescribeTools { request: Request::new("describe_tools", Question::Describe { tools }) }
}

/// A search that starts when awaited; see [`search_tools`].
#[derive(Debug)]
#[must_use = "a search does nothing until it is awaited: `search_tools(…).await?`"]
pub struct SearchTools {
    request: Request,
}

impl SearchTools {
    /// Only tools of this server, by its name or module.
    pub fn server<Form>(mut self, name: impl OptionalArgument<String, Form>) -> Self {
        if let Question::Search { server, .. } = &mut self.request.question {
            *server = name.into_optional();
        }
        self
    }

    /// Limits the number of tools.
    pub fn limit<Form>(mut self, count: impl OptionalArgument<i64, Form>) -> Self {
        if let Question::Search { limit, .. } = &mut self.request.question {
            let count = count.into_optional();
            *limit = count.map(|count| u32::try_from(count.max(0)).unwrap_or(u32::MAX));
        }
        self
    }
}

impl Future for SearchTools {
    type Output = Result<Vec<FoundTool>, ToolError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.request.poll(context)
    }
}

/// A query that is sent when awaited; see [`describe_tools`].
#[derive(Debug)]
#[must_use = "a query does nothing until it is awaited: `describe_tools(…).await?`"]
pub struct DescribeTools {
    request: Request,
}

impl Future for DescribeTools {
    type Output = Result<String, ToolError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.request.poll(context)
    }
}

/// A question to the host.
#[derive(Debug)]
pub(crate) struct Request {
    /// The helper function that sends it.
    function: &'static str,
    pub(crate) question: Question,
    ticket: Option<Ticket>,
}

impl Request {
    pub(crate) fn new(function: &'static str, question: Question) -> Self {
        Request { function, question, ticket: None }
    }

    /// Sends the question on the first poll, then waits for the answer.
    pub(crate) fn poll<T: DeserializeOwned>(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, ToolError>> {
        let ticket = match &mut self.ticket {
            Some(ticket) => ticket,
            None => match Ticket::ask(&self.question) {
                Ok(ticket) => self.ticket.insert(ticket),
                Err(failure) => return Poll::Ready(Err(self.error(failure))),
            },
        };
        let answer = match ticket.poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(answer) => answer,
        };
        let answer = answer.and_then(|answer| {
            serde_json::from_str(&answer).map_err(|error| CallFailure {
                kind: FailureKind::Protocol,
                message: format!("the answer can't be read: {error}"),
            })
        });
        Poll::Ready(answer.map_err(|failure| self.error(failure)))
    }

    fn error(&self, failure: CallFailure) -> ToolError {
        ToolError {
            kind: ToolErrorKind::from(failure.kind),
            server: "toolsmith".to_owned(),
            tool: self.function.to_owned(),
            message: failure.message,
            content: Vec::new(),
            raw: None,
        }
    }
}
