//! The errors of servers that a command has reported, so that they are not reported a second time as notices.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

/// The servers that commands have reported about.
#[derive(Debug, Clone, Default)]
pub(super) struct ReportedErrors(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The number of commands in progress, by server.
    commands: BTreeMap<String, usize>,
    /// The last reported error, by server.
    errors: BTreeMap<String, Option<String>>,
}

/// A command in progress, which reports the errors of its server itself.
pub(super) struct Reporting(ReportedErrors, String);

impl ReportedErrors {
    /// A command reports the errors of this server until the result is dropped.
    pub(super) fn during_command(&self, server: &str) -> Reporting {
        *self.0.lock().commands.entry(server.to_owned()).or_default() += 1;
        Reporting(self.clone(), server.to_owned())
    }

    /// A command has reported this error.
    pub(super) fn add(&self, server: &str, error: Option<String>) {
        self.0.lock().errors.insert(server.to_owned(), error);
    }

    /// Whether a command reports the error, or has reported it.
    pub(super) fn has(&self, server: &str, error: Option<&str>) -> bool {
        let state = self.0.lock();
        state.commands.contains_key(server)
            || state.errors.get(server).is_some_and(|known| known.as_deref() == error)
    }
}

impl Drop for Reporting {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        let left = state.commands.remove(&self.1).unwrap_or_default().saturating_sub(1);
        if left > 0 {
            state.commands.insert(self.1.clone(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_reported_by_its_command_or_as_a_notice() {
        let reported = ReportedErrors::default();
        assert!(!reported.has("shop", Some("it died")));
        let command = reported.during_command("shop");
        assert!(reported.has("shop", Some("it died")) && !reported.has("other", Some("it died")));
        reported.add("shop", Some("it died".to_owned()));
        drop(command);
        assert!(reported.has("shop", Some("it died")));
        assert!(!reported.has("shop", Some("it died again")) && !reported.has("shop", None));
    }
}
