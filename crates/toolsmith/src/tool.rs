//! Functions of this program as tools.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{ProgressMade, ProgressSink};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The server of tools that name none: snippets call them as `local::NAME(…)`.
pub(crate) const LOCAL: &str = "local";

/// The error of a tool: its text is what the snippet reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError(pub String);

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        ToolError(error.to_string())
    }
}

/// Reports the progress of a tool's call, to those who read the [events](crate::Event::ToolProgress) of the execution.
/// It restarts the time limit of the call (30 s), up to 20 times that limit in total.
///
/// ```
/// use toolsmith::Progress;
///
/// /// Copies pages.
/// #[toolsmith::tool]
/// async fn copy(pages: u32, progress: Progress) -> Result<u32, std::io::Error> {
///     for page in 1..=pages {
///         progress.report(page.into(), Some(pages.into()), "copied a page");
///     }
///     Ok(pages)
/// }
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Progress(ProgressSink);

impl Progress {
    pub(crate) fn new(sink: ProgressSink) -> Self {
        Progress(sink)
    }

    /// Reports how much is `done`, of about how much if that is known, and the current step. Never waits: reports that
    /// come faster than they are read are dropped. A message is cut to 1 000 characters.
    pub fn report(&self, done: f64, total: Option<f64>, message: &str) {
        let message: String = message.chars().take(MESSAGE_LIMIT).collect();
        (self.0)(ProgressMade { done, total, message: Some(message).filter(|message| !message.is_empty()) });
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Progress").finish_non_exhaustive()
    }
}

/// Limit on a message of progress, in characters: it is shown in one line.
const MESSAGE_LIMIT: usize = 1_000;

type Call = dyn Fn(&RawValue, Progress) -> BoxFuture<'static, Result<Box<RawValue>, ToolError>> + Send + Sync;

/// A function of this program that snippets can call. It runs in this process. State is what its closure captures.
///
/// ```
/// use std::sync::Arc;
/// use toolsmith::{Tool, ToolError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Price {
///     /// The id of the article.
///     article: String,
/// }
///
/// let prices = Arc::new(std::collections::BTreeMap::from([("tea".to_owned(), 450_u64)]));
/// let tool = Tool::new("price", "Returns the price of an article, in cents.", move |price: Price| {
///     let prices = prices.clone();
///     async move { prices.get(&price.article).copied().ok_or(ToolError("no such article".to_owned())) }
/// })
/// .server("shop")
/// .read_only();
/// ```
#[derive(Clone)]
pub struct Tool {
    pub(crate) server: String,
    pub(crate) name: String,
    description: String,
    input: Value,
    output: Value,
    is_read_only: bool,
    pub(crate) call: Arc<Call>,
}

impl Tool {
    /// A tool with this name and description. Its arguments are the fields of `A`, and its schemas are those of `A` and `O`.
    pub fn new<A, O, E, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema,
        E: Into<ToolError>,
        F: Future<Output = Result<O, E>> + Send + 'static,
    {
        Tool::with_progress(name, description, move |arguments: A, _| function(arguments))
    }

    /// Like [`Tool::new`], for a function that reports its progress.
    ///
    /// ```
    /// use toolsmith::{Progress, Tool, ToolError};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Copy {
    ///     pages: u32,
    /// }
    ///
    /// let tool = Tool::with_progress("copy", "Copies pages.", |copy: Copy, progress: Progress| async move {
    ///     for page in 1..=copy.pages {
    ///         progress.report(page.into(), Some(copy.pages.into()), "copied a page");
    ///     }
    ///     Ok::<_, ToolError>(copy.pages)
    /// });
    /// ```
    pub fn with_progress<A, O, E, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A, Progress) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema,
        E: Into<ToolError>,
        F: Future<Output = Result<O, E>> + Send + 'static,
    {
        let call = move |arguments: &RawValue, progress: Progress| {
            let arguments = serde_json::from_str::<A>(arguments.get());
            match arguments.map(|arguments| function(arguments, progress)) {
                Ok(answer) => async move {
                    let answer = answer.await.map_err(Into::into)?;
                    to_raw_value(&answer).map_err(ToolError::from)
                }
                .boxed(),
                Err(error) => {
                    let error = ToolError(format!("the arguments do not fit: {error}"));
                    futures::future::ready(Err(error)).boxed()
                }
            }
        };
        Tool {
            server: LOCAL.to_owned(),
            name: name.into(),
            description: description.into(),
            input: schema::<A>(),
            output: schema::<O>(),
            is_read_only: false,
            call: Arc::new(call),
        }
    }

    /// Sets the server that the tool belongs to, and so the module of its function (default: `local`).
    #[must_use]
    pub fn server(mut self, server: impl Into<String>) -> Self {
        self.server = server.into();
        self
    }

    /// States that the tool changes nothing: models and questions say so.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// The tool as in `tools/list` (MCP).
    pub(crate) fn listed(&self) -> Value {
        let mut listed = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input,
            "outputSchema": self.output,
        });
        if self.is_read_only {
            listed["annotations"] = json!({ "readOnlyHint": true });
        }
        listed
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tool")
            .field("server", &self.server)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Something that is a tool: a [`Tool`], or a function with the attribute [`tool`](macro@crate::tool).
pub trait IntoTool {
    /// Returns it as a tool.
    fn into_tool(self) -> Tool;
}

impl IntoTool for Tool {
    fn into_tool(self) -> Tool {
        self
    }
}

fn schema<T: JsonSchema>() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut schema = Value::from(schema);
    if let Some(object) = schema.as_object_mut() {
        // The name of the Rust type means nothing to a model, and `tools/list` has one dialect.
        object.remove("$schema");
        object.remove("title");
    }
    schema
}
