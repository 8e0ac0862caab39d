//! Converts the error that a snippet ends with to `anyhow`'s, keeping the tool it comes from.

use std::error::Error;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::error::ToolError;

/// A message with the tool error that it comes from.
#[derive(Debug)]
pub(crate) struct OfTool {
    message: String,
    pub(crate) tool: ToolError,
}

impl fmt::Display for OfTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

// Without a source: the message includes it already.
impl Error for OfTool {}

/// The tool error in `error` or its causes.
pub(crate) fn tool(error: &anyhow::Error) -> Option<&ToolError> {
    let of_cause = |cause: &'_ (dyn Error + 'static)| cause.is::<ToolError>() || cause.is::<OfTool>();
    match error.chain().find(|cause| of_cause(*cause)) {
        Some(cause) => {
            cause.downcast_ref::<ToolError>().or_else(|| Some(&cause.downcast_ref::<OfTool>()?.tool))
        }
        None => {
            // A context is not a cause, and a boxed error is not found directly.
            let boxed = || error.downcast_ref::<Box<dyn Error + Send + Sync>>()?.downcast_ref::<ToolError>();
            error.downcast_ref::<ToolError>().or_else(boxed)
        }
    }
}

/// The error of a `?` that does not convert by itself, as in `.map_err(::bridge::fault)?`.
#[allow(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
pub fn fault<E: Fault>(error: E) -> anyhow::Error {
    error.fault()
}

/// An error that may be a tool error.
pub trait Fault {
    /// The error as one of `anyhow`'s.
    fn fault(&self) -> anyhow::Error;
}

impl Fault for ToolError {
    fn fault(&self) -> anyhow::Error {
        anyhow::Error::new(self.clone())
    }
}

impl Fault for anyhow::Error {
    fn fault(&self) -> anyhow::Error {
        with_tool(format!("{self:#}"), tool(self)).at(self.place())
    }
}

impl Fault for dyn Error {
    fn fault(&self) -> anyhow::Error {
        match self.downcast_ref::<ToolError>() {
            Some(tool) => tool.fault(),
            None => of_source(&self),
        }
    }
}

impl Fault for dyn Error + Send {
    fn fault(&self) -> anyhow::Error {
        let error: &(dyn Error + 'static) = self;
        error.fault()
    }
}

impl Fault for dyn Error + Send + Sync {
    fn fault(&self) -> anyhow::Error {
        let error: &(dyn Error + 'static) = self;
        error.fault()
    }
}

impl<E: Fault + ?Sized> Fault for &E {
    fn fault(&self) -> anyhow::Error {
        (**self).fault()
    }
}

impl<E: Fault + ?Sized> Fault for Box<E> {
    fn fault(&self) -> anyhow::Error {
        (**self).fault()
    }
}

impl<E: Fault + ?Sized> Fault for Rc<E> {
    fn fault(&self) -> anyhow::Error {
        (**self).fault()
    }
}

impl<E: Fault + ?Sized> Fault for Arc<E> {
    fn fault(&self) -> anyhow::Error {
        (**self).fault()
    }
}

/// An error by its message, with the tool error among its causes.
pub(crate) fn of_source<E: Error + ?Sized>(error: &E) -> anyhow::Error {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let tool = causes.filter_map(|cause| cause.downcast_ref::<ToolError>()).next();
    with_tool(error.to_string(), tool)
}

fn with_tool(message: String, tool: Option<&ToolError>) -> anyhow::Error {
    match tool {
        Some(tool) => anyhow::Error::new(OfTool { message, tool: tool.clone() }),
        None => anyhow::Error::msg(message),
    }
}
