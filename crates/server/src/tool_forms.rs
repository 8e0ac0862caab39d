//! The tools of code mode in the forms that clients of different kinds get, each described once for a snapshot.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use answer::client_profile::{ClientProfile, UNKNOWN, WHOLE};
use config::Serve;
use gateway::reference::DESCRIPTION_TOKENS;
use parking_lot::Mutex;
use serde_json::Value;

/// A form of the tools of code mode, which depend on it and on the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ToolForm {
    /// Maximum length of a description.
    pub(crate) description_cap: usize,
    /// Whether an execution returns its outcome as structured content too.
    pub(crate) is_structured: bool,
}

impl ToolForm {
    /// For a client; the configuration decides first.
    pub(crate) fn of(client: &ClientProfile, serve: &Serve) -> Self {
        // Who configures more than the default knows that the client shows it, unless that is measured.
        let is_configured = *client == UNKNOWN && serve.description_tokens > DESCRIPTION_TOKENS;
        ToolForm {
            description_cap: if is_configured { WHOLE } else { client.description_cap },
            is_structured: serve.structured_outcome.unwrap_or(client.takes_structured),
        }
    }
}

/// The tools in one form.
#[derive(Debug)]
pub(crate) struct FormedTools {
    pub(crate) tools: Vec<Value>,
    /// The hash of the whole list that clients with this form see, once it is needed.
    pub(crate) digest: OnceLock<blake3::Hash>,
}

/// The forms that were needed so far.
#[derive(Debug, Default)]
pub(crate) struct ToolForms(Mutex<BTreeMap<ToolForm, Arc<FormedTools>>>);

impl ToolForms {
    /// The tools in this form, described if they were not before.
    pub(crate) fn get(&self, form: ToolForm, describe: impl FnOnce() -> Vec<Value>) -> Arc<FormedTools> {
        let mut forms = self.0.lock();
        let formed = || Arc::new(FormedTools { tools: describe(), digest: OnceLock::new() });
        forms.entry(form).or_insert_with(formed).clone()
    }
}
