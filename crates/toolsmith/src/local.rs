//! The functions of this program, as servers within this process.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use mcp::{InProcessServer, Introduction, OpenError, ProgressSink, Tools};
use report::{Kind, Report};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use crate::tool::{Progress, Tool, ToolError};

/// The tools of one server.
pub(crate) struct LocalTools {
    tools: Arc<Listed>,
    identity: String,
}

struct Listed {
    server: String,
    list: Box<RawValue>,
    tools: Vec<Tool>,
}

impl LocalTools {
    /// # Errors
    /// If two tools have the same name.
    pub(crate) fn new(server: &str, tools: Vec<Tool>) -> Result<Self, Report> {
        let mut names = BTreeSet::new();
        if let Some(tool) = tools.iter().find(|tool| !names.insert(&tool.name)) {
            let message = format!("two tools of {server:?} have the name {:?}", tool.name);
            return Err(Report::new(Kind::Configuration, message).hint("give each another name or server"));
        }
        let list = json!({ "tools": tools.iter().map(Tool::listed).collect::<Vec<_>>() });
        let list = to_raw_value(&list).unwrap_or_default();
        // Functions of the same schemas are called in the same way, also by a program that was compiled before.
        let identity = blake3::hash(list.get().as_bytes()).to_hex().to_string();
        Ok(LocalTools { tools: Arc::new(Listed { server: server.to_owned(), list, tools }), identity })
    }
}

impl InProcessServer for LocalTools {
    fn open(&self, _connect_timeout: Duration) -> BoxFuture<'_, Result<Arc<dyn Tools>, OpenError>> {
        ready(Ok(self.tools.clone() as Arc<dyn Tools>)).boxed()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }
}

impl Tools for Listed {
    fn introduction(&self) -> Introduction {
        Introduction {
            name: self.server.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: String::new(),
        }
    }

    fn list(&self) -> &RawValue {
        &self.list
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Option<&'a RawValue>,
        progress: ProgressSink,
    ) -> BoxFuture<'a, Option<Box<RawValue>>> {
        async move {
            let tool = self.tools.iter().find(|tool| tool.name == name)?;
            result(&called(tool, arguments, Progress::new(progress)).await)
        }
        .boxed()
    }
}

/// The answer of a tool. Its task ends when this future is dropped; a panic in it is its error.
async fn called(
    tool: &Tool,
    arguments: Option<&RawValue>,
    progress: Progress,
) -> Result<Box<RawValue>, ToolError> {
    let arguments = match arguments {
        Some(arguments) => arguments.to_owned(),
        None => to_raw_value(&json!({}))?,
    };
    let call = tool.call.clone();
    let task = tokio::spawn(async move { call(&arguments, progress).await });
    match AbortOnDropHandle::new(task).await {
        Ok(answer) => answer,
        Err(error) if error.is_panic() => {
            Err(ToolError(format!("the tool panicked: {}", text_of(&*error.into_panic()))))
        }
        Err(_) => Err(ToolError("the runtime of the tool has ended".to_owned())),
    }
}

/// The message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// A `CallToolResult` (MCP).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content: [Value; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
}

fn result(called: &Result<Box<RawValue>, ToolError>) -> Option<Box<RawValue>> {
    let text = |text: &str| [json!({ "type": "text", "text": text })];
    let result = match called {
        Ok(answer) => {
            CallResult { content: text(answer.get()), structured_content: Some(answer), is_error: false }
        }
        Err(error) => CallResult { content: text(&error.0), structured_content: None, is_error: true },
    };
    to_raw_value(&result).ok()
}
