//! Answers to what programs ask about tools. The reference that it takes is made with the first question: most
//! programs ask none.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use runner::{CallFailure, Catalog, FailureKind, FoundTool, Question};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Found, Reference, found_by_default};

/// A reference that is made when it is needed.
#[derive(Debug)]
pub struct Lookup {
    catalog: Arc<Catalog>,
    about: BTreeMap<String, String>,
    /// Or why there is none.
    reference: OnceLock<Result<Arc<Reference>, String>>,
}

impl Lookup {
    /// Looks up in `catalog`; `about` has a line about each server, by its name.
    pub fn new(catalog: Arc<Catalog>, about: BTreeMap<String, String>) -> Self {
        Lookup { catalog, about, reference: OnceLock::new() }
    }

    /// The reference.
    ///
    /// # Errors
    /// Where the cache that holds its texts can't be read; in words.
    pub(crate) fn reference(&self) -> Result<&Arc<Reference>, &str> {
        let made = self.reference.get_or_init(|| {
            let made = Reference::new(self.catalog.clone(), &self.about);
            made.map(Arc::new).map_err(|error| error.to_string())
        });
        made.as_ref().map_err(String::as_str)
    }

    /// The answer to a program's question.
    ///
    /// # Errors
    /// Where it names a server that does not exist, or there is no reference.
    pub(crate) fn answer(&self, question: &Question) -> Result<Box<RawValue>, CallFailure> {
        let failed = |message: &str| failure(FailureKind::Unavailable, message.to_owned());
        let reference = self.reference().map_err(failed)?;
        match question {
            Question::Search { query, server, limit } => {
                let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
                let limit = limit.unwrap_or_else(|| found_by_default(query));
                let found = reference.search(query, server.as_deref(), limit);
                let found = found.map_err(|unknown| {
                    failure(FailureKind::InvalidParams, format!("the server {unknown}"))
                })?;
                raw(&found.into_iter().map(found_tool).collect::<Vec<_>>())
            }
            Question::Describe { tools } => raw(&reference.describe_text(tools, |_, _| None)),
            Question::Resources { .. } | Question::Resource { .. } => {
                Err(failed("what is known of tools says nothing of resources"))
            }
        }
    }
}

impl From<Arc<Reference>> for Lookup {
    fn from(reference: Arc<Reference>) -> Self {
        let lookup = Lookup::new(reference.catalog.clone(), BTreeMap::new());
        Lookup { reference: OnceLock::from(Ok(reference)), ..lookup }
    }
}

fn found_tool(found: Found) -> FoundTool {
    let Found { server, module, tool, function, signature, score: _ } = found;
    FoundTool { server, module, tool, function, signature }
}

fn raw(answer: &impl Serialize) -> Result<Box<RawValue>, CallFailure> {
    to_raw_value(answer).map_err(|error| failure(FailureKind::Protocol, error.to_string()))
}

fn failure(kind: FailureKind, message: String) -> CallFailure {
    CallFailure { kind, message }
}
