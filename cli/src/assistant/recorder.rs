//! Keeps what is said in a run: each message of it, in the conversation that the run belongs to.
//!
//! A store that fails is told once and fails no run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent::{Conversation, Event, NewConversation, Role, Store, StoreError, StoredMessage, Watcher};

use gateway::failure::Failure;

/// How a person is told of a store that fails.
pub(crate) type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Where the conversations of this process are kept, if anywhere.
#[derive(Clone)]
pub(crate) struct Recording {
    store: Option<Store>,
    tell: Tell,
    /// Whether a failure was told: many conversations have one store, and one reason to fail.
    told: Arc<AtomicBool>,
}

/// Keeps the messages of one conversation; without a store, of none.
pub(crate) struct Recorder {
    conversation: Option<Mutex<Conversation>>,
    id: Option<String>,
    recording: Recording,
}

/// A message that was handed over to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saved {
    /// By which it is found.
    pub(crate) id: String,
    /// The message before it.
    pub(crate) parent: Option<String>,
    /// Who says it.
    pub(crate) role: Role,
}

impl Recording {
    /// In this store, or nowhere; `tell` is called once if it fails.
    pub(crate) fn new(store: Option<Store>, tell: Tell) -> Self {
        Recording { store, tell, told: Arc::default() }
    }

    /// The store, where there is one.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Keeps a new conversation.
    pub(crate) fn begin(&self, about: NewConversation) -> Recorder {
        self.recorder(self.store.as_ref().map(|store| store.begin(about)))
    }

    /// Goes on with a conversation, by its id or a beginning of it; gives its messages up to now.
    ///
    /// # Errors
    /// Where nothing is kept, or there is no such conversation.
    pub(crate) async fn resume(&self, id: &str) -> Result<(Recorder, Vec<StoredMessage>), Failure> {
        let Some(store) = &self.store else {
            return Err(Failure::configuration(
                "no conversations are kept (agent.conversations is false in the configuration), so none can be resumed",
            ));
        };
        let (conversation, kept) = store.resume(id).await.map_err(Failure::configuration)?;
        Ok((self.recorder(Some(conversation)), kept))
    }

    /// Waits until all that was handed over is written; tells what could not be, unless such was told before.
    pub(crate) async fn flush(&self) {
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
        if !self.told.swap(true, Ordering::Relaxed) {
            (self.tell)(&format!("warning: the conversation is not kept in full: {error}"));
        }
    }
}

impl Recorder {
    /// The conversation's id, where it is kept.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Keeps the message that an event tells of, and says which that is. Other events are none of its business.
    pub(crate) fn record(&self, event: &Event<'_>) -> Option<Saved> {
        let Event::Message(message, usage) = event else { return None };
        let mut conversation = self.conversation.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let parent = conversation.last().map(str::to_owned);
        let id = conversation.keep(message, *usage);
        // What failed before this one, for the thread that writes has not come to it yet.
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

    fn said() -> (Tell, Arc<Mutex<Vec<String>>>) {
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let hears = Arc::clone(&said);
        (Arc::new(move |text: &str| hears.lock().unwrap().push(text.to_owned())), said)
    }

    #[tokio::test]
    async fn each_message_of_a_run_is_kept_behind_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let (tell, said) = said();
        let recording = Recording::new(Some(Store::open(&folder.path().join("c.db")).unwrap()), tell);
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
        assert!(said.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_store_that_fails_is_told_once_for_all_conversations() {
        let folder = tempfile::tempdir().unwrap();
        let (tell, said) = said();
        let store = Store::open(&folder.path().join("c.db")).unwrap();
        let recording = Recording::new(Some(store.clone()), tell);
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
        let said = said.lock().unwrap();
        assert!(said.len() == 1 && said[0].contains("deleted in the meantime"), "{said:?}");
    }

    #[tokio::test]
    async fn without_a_store_nothing_is_kept_and_nothing_is_told() {
        let (tell, said) = said();
        let recording = Recording::new(None, tell);
        let recorder = recording.begin(about());
        let message = Message::text(Role::User, "q");
        assert_eq!(recorder.record(&Event::Message(&message, Usage::default())), None);
        recording.flush().await;
        assert_eq!((recorder.id(), said.lock().unwrap().len()), (None, 0));
        let wrong = recording.resume("x").await.err().unwrap();
        assert!(wrong.message.contains("agent.conversations"), "{}", wrong.message);
    }
}
