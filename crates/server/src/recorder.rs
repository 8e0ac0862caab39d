//! Stores the messages of a run in its conversation.
//!
//! A failing store is reported once, and does not fail the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::{Conversation, Event, NewConversation, Role, Store, StoreError, StoredMessage, Watcher};
use parking_lot::Mutex;

use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;

/// Reports a failing store to the user.
pub type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// The storage of this process's conversations, if any.
#[derive(Clone)]
pub struct Recording {
    store: Option<Store>,
    report: Report,
    /// Whether a failure was reported: all conversations share one store, and fail for the same reason.
    reported: Arc<AtomicBool>,
}

/// Stores the messages of one conversation, if there is a store.
pub struct Recorder {
    conversation: Option<Mutex<Conversation>>,
    id: Option<String>,
    recording: Recording,
}

/// A message that was queued for storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The id of the message.
    pub id: String,
    /// The message before it.
    pub parent: Option<String>,
    /// The role of its author.
    pub role: Role,
}

impl Recording {
    /// Uses this store, if any; `report` is called once if it fails.
    pub fn new(store: Option<Store>, report: Report) -> Self {
        Recording { store, report, reported: Arc::default() }
    }

    /// The store, if there is one.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Starts a new conversation.
    pub fn begin(&self, about: NewConversation) -> Recorder {
        self.recorder(self.store.as_ref().map(|store| store.begin(about)))
    }

    /// Resumes a conversation by its id or a prefix of it; returns its messages so far.
    ///
    /// # Errors
    /// If conversations are not kept, or there is no such conversation.
    pub async fn resume(&self, id: &str) -> Result<(Recorder, Vec<StoredMessage>), Failure> {
        let Some(store) = &self.store else {
            return Err(Failure::new(
                Kind::Conversation,
                "can't resume: conversations are not kept (agent.conversations is false in the configuration)",
            )
            .with_code(exit_code::CONFIGURATION));
        };
        let (conversation, kept) = store
            .resume(id)
            .await
            .map_err(|error| Failure::from(error).with_code(exit_code::CONFIGURATION))?;
        Ok((self.recorder(Some(conversation)), kept))
    }

    /// Waits until all queued messages are written; reports a failure unless one was reported before.
    pub async fn flush(&self) {
        if let Some(store) = &self.store
            && let Err(error) = store.flush().await
        {
            self.fail(&error);
        }
    }

    fn recorder(&self, conversation: Option<Conversation>) -> Recorder {
        let id = conversation.as_ref().map(|conversation| conversation.id().to_owned());
        Recorder { conversation: conversation.map(Mutex::new), id, recording: self.clone() }
    }

    fn fail(&self, error: &StoreError) {
        if !self.reported.swap(true, Ordering::Relaxed) {
            (self.report)(&format!("warning: the conversation is not kept in full: {error}"));
        }
    }
}

impl Recorder {
    /// The conversation's id, if it is stored.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Stores the message of an event, and identifies it. Ignores other events.
    pub fn record(&self, event: &Event<'_>) -> Option<Saved> {
        let Event::Message(message, usage) = event else { return None };
        let mut conversation = self.conversation.as_ref()?.lock();
        let parent = conversation.last().map(str::to_owned);
        let id = conversation.keep(message, *usage);
        // Only earlier failures: the writing thread has not stored this message yet.
        if let Some(trouble) = self.recording.store.as_ref().and_then(Store::trouble) {
            self.recording.fail(&trouble);
        }
        Some(Saved { id, parent, role: message.role })
    }
}

impl Watcher for Recorder {
    fn event(&self, event: Event<'_>) {
        self.record(&event);
    }
}

#[cfg(test)]
mod tests {
    use agent::{Message, Usage};

    use super::*;

    fn about() -> NewConversation {
        NewConversation { model: "m".into(), folder: "/".into(), ..NewConversation::default() }
    }

    fn reports() -> (Report, Arc<Mutex<Vec<String>>>) {
        let reports: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&reports);
        (Arc::new(move |text: &str| sink.lock().push(text.to_owned())), reports)
    }

    #[tokio::test]
    async fn messages_of_a_run_are_stored_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let (report, reports) = reports();
        let recording = Recording::new(Some(Store::open(&folder.path().join("c.db")).unwrap()), report);
        let recorder = recording.begin(about());
        let (question, answer) = (Message::text(Role::User, "q"), Message::text(Role::Assistant, "a"));
        let first = recorder.record(&Event::Message(&question, Usage::default())).unwrap();
        assert_eq!(recorder.record(&Event::Response("a")), None);
        let second = recorder.record(&Event::Message(&answer, Usage::default())).unwrap();
        assert_eq!((first.parent, first.role), (None, Role::User));
        assert_eq!((second.parent.as_ref(), second.role), (Some(&first.id), Role::Assistant));
        recording.flush().await;
        let (again, kept) = recording.resume(recorder.id().unwrap()).await.unwrap();
        assert_eq!(kept.into_iter().map(|kept| kept.message).collect::<Vec<_>>(), [question, answer]);
        assert_eq!(again.id(), recorder.id());
        assert!(reports.lock().is_empty());
    }

    #[tokio::test]
    async fn a_failing_store_is_reported_once_for_all_conversations() {
        let folder = tempfile::tempdir().unwrap();
        let (report, reports) = reports();
        let store = Store::open(&folder.path().join("c.db")).unwrap();
        let recording = Recording::new(Some(store.clone()), report);
        let message = Message::text(Role::User, "q");
        let recorders = [recording.begin(about()), recording.begin(about())];
        for recorder in &recorders {
            recorder.event(Event::Message(&message, Usage::default()));
        }
        recording.flush().await;
        let ids: Vec<String> =
            recorders.iter().filter_map(|recorder| recorder.id().map(str::to_owned)).collect();
        store.delete(&ids).await.unwrap();
        for _ in 0..3 {
            for recorder in &recorders {
                assert!(recorder.record(&Event::Message(&message, Usage::default())).is_some());
            }
            recording.flush().await;
        }
        let reports = reports.lock();
        assert!(reports.len() == 1 && reports[0].contains("deleted by another process"), "{reports:?}");
    }

    #[tokio::test]
    async fn without_a_store_nothing_is_stored_or_reported() {
        let (report, reports) = reports();
        let recording = Recording::new(None, report);
        let recorder = recording.begin(about());
        let message = Message::text(Role::User, "q");
        assert_eq!(recorder.record(&Event::Message(&message, Usage::default())), None);
        recording.flush().await;
        assert_eq!((recorder.id(), reports.lock().len()), (None, 0));
        let wrong = recording.resume("x").await.err().unwrap();
        assert!(wrong.to_string().contains("agent.conversations"), "{wrong}");
    }
}
