//! Tells the user once what is wrong with the store, not with each request.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The time during which the same subject is not mentioned again.
const QUIET: Duration = Duration::from_secs(600);

/// Shows a line to the user.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// The subject of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// The store can't be read.
    Reading,
    /// The store can't be written to.
    Writing,
    /// Machines can't wait for each other.
    Leases,
    /// The store works again.
    Resumed,
    /// An entry was refused.
    Refused,
}

/// The lines so far.
pub(crate) struct Notes {
    notify: Notify,
    last: Mutex<HashMap<Subject, Instant>>,
}

impl Notes {
    pub(crate) fn new(notify: Notify) -> Self {
        Notes { notify, last: Mutex::default() }
    }

    /// Shows a line, unless the subject was mentioned lately.
    pub(crate) fn say(&self, subject: Subject, line: &str) {
        let now = Instant::now();
        let mut last = self.last.lock();
        if last.get(&subject).is_none_or(|before| now.duration_since(*before) >= QUIET) {
            last.insert(subject, now);
            drop(last);
            (self.notify)(line);
        }
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Notes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_subject_is_mentioned_once_in_a_while() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let shown = lines.clone();
        let notes = Notes::new(Arc::new(move |line| shown.lock().push(line.to_owned())));
        notes.say(Subject::Reading, "one");
        notes.say(Subject::Reading, "two");
        notes.say(Subject::Writing, "three");
        tokio::time::advance(QUIET).await;
        notes.say(Subject::Reading, "four");
        assert_eq!(*lines.lock(), ["one", "three", "four"]);
    }
}
