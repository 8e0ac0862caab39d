//! Answers lookups of programs. The reference is created by the first lookup, because most programs make none.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use report::Report;
use runner::{CallFailure, Catalog, FailureKind, FoundTool, Question};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Found, Reference, found_by_default};

/// A reference that is created on first use.
#[derive(Debug)]
pub struct Lookup {
    catalog: Arc<Catalog>,
    about: BTreeMap<String, String>,
    /// The reference, or why it could not be created.
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
    /// If the cache with its texts can't be read; as a message.
    pub(crate) fn reference(&self) -> Result<&Arc<Reference>, &str> {
        let created = self.reference.get_or_init(|| {
            let created = Reference::new(self.catalog.clone(), &self.about);
            created.map(Arc::new).map_err(|error| Report::from(error).for_model())
        });
        created.as_ref().map_err(String::as_str)
    }

    /// Answers a program's lookup.
    ///
    /// # Errors
    /// If it names a server that does not exist, or there is no reference.
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
                Err(failed("resources can't be looked up here"))
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
