//! The form of every error that reaches a user, a model or a script: its kind, what failed, where, and what to do.
//!
//! Each crate has its own typed errors and converts them into a [`Report`]. Nothing below the renderers
//! (`render`) writes help into a message, and nothing decides by the text of one.

mod count;
mod kind;
mod problem;
mod render;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

pub use count::{count, grouped, short_number};
pub use kind::Kind;
pub use problem::{Excerpt, Place, Problem};
pub use render::problems;

/// An error, ready to be shown. It contains no secrets: its creator masks them.
#[derive(Debug, Clone)]
pub struct Report {
    /// The kind of the error.
    pub kind: Kind,
    /// The failures and their reasons, each with its place if it has one; never empty.
    pub problems: Vec<Problem>,
    /// The remedies.
    pub hints: Vec<String>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Report {
    /// An error with this message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Report { kind, problems: vec![Problem::new(message)], hints: Vec::new(), source: None }
    }

    /// Several errors as one, such as all those of a file.
    pub fn of(kind: Kind, problems: Vec<Problem>) -> Self {
        Report { kind, problems, hints: Vec::new(), source: None }
    }

    /// Several errors as one: their problems, and each advice once. `None` if there are none.
    pub fn joined(reports: impl IntoIterator<Item = Report>) -> Option<Self> {
        reports.into_iter().reduce(|mut all, next| {
            all.problems.extend(next.problems);
            let new: Vec<String> = next.hints.into_iter().filter(|hint| !all.hints.contains(hint)).collect();
            all.hints.extend(new);
            all
        })
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the error below this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The first problem with the end of what failed: its message with a context before it.
    #[must_use]
    pub fn within(mut self, context: impl fmt::Display) -> Self {
        if let Some(first) = self.problems.first_mut() {
            first.message = format!("{context}: {}", first.message);
        }
        self
    }

    /// Returns the failures and their reasons, without help and lines of files.
    pub fn message(&self) -> String {
        self.problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message())
    }
}

impl Error for Report {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
