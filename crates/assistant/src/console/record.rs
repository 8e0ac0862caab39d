//! Saves the messages of the console's conversation.

use std::path::Path;

use agent::{Event, History, Message, NewConversation, Store, Summary, Usage};
use gateway::failure::Failure;
use server::recorder::{Recorder, Recording};
use terminal::Notifier;

use crate::options::TalkOptions;

/// Saves a conversation, unless the configuration disables that.
pub(crate) struct ConversationRecord {
    recording: Recording,
    /// Set from the first message on.
    recorder: Option<Recorder>,
    about: NewConversation,
}

/// The messages and the model of a resumed conversation.
#[derive(Debug, Default)]
pub(crate) struct ResumedConversation {
    pub(crate) messages: History,
    /// The `ref` of its model.
    pub(crate) model: Option<String>,
}

impl ConversationRecord {
    /// Starts a new conversation, or resumes the one that the options name.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub(crate) async fn open(
        store: Option<Store>,
        notifier: Notifier,
        options: &TalkOptions,
        folder: &Path,
    ) -> Result<(Self, ResumedConversation), Failure> {
        let folder = folder.display().to_string();
        let recording = Recording::new(store, std::sync::Arc::new(move |text: &str| notifier.warning(text)));
        let about = NewConversation { folder: folder.clone(), ..NewConversation::default() };
        let mut record = ConversationRecord { recording, recorder: None, about };
        let id = match &options.resume {
            Some(id) => id.clone(),
            None if options.continue_last => record.last(&folder).await?,
            None => return Ok((record, ResumedConversation::default())),
        };
        let (recorder, kept) = record.recording.resume(&id).await?;
        let mut model = None;
        if let (Some(store), Some(id)) = (record.recording.store(), recorder.id()) {
            let summary = store.find(id).await?;
            model = Some(summary.about.model.clone());
            record.about = summary.about;
        }
        record.recorder = Some(recorder);
        Ok((record, ResumedConversation { messages: kept.into_iter().collect(), model }))
    }

    async fn last(&self, folder: &str) -> Result<String, Failure> {
        let list = match self.recording.store() {
            Some(store) => store.list().await?,
            None => Vec::new(),
        };
        last(&list, folder)
            .ok_or_else(|| Failure::command_line(format!("there is no conversation in {folder} yet")))
    }

    /// Sets the model of a conversation that has no messages yet.
    pub(crate) fn set_model(&mut self, model: &str) {
        if self.recorder.is_none() {
            model.clone_into(&mut self.about.model);
        }
    }

    /// Saves a message.
    pub(crate) fn keep(&mut self, message: &Message, usage: Usage) {
        let recorder = self.recorder.get_or_insert_with(|| self.recording.begin(self.about.clone()));
        let _ = recorder.record(&Event::Message(message, usage));
    }

    /// The id of the conversation, if it is saved and has a message.
    pub(crate) fn id(&self) -> Option<String> {
        self.recorder.as_ref().and_then(|recorder| recorder.id().map(str::to_owned))
    }

    /// The recording, which can be waited for until everything is written.
    pub(crate) fn recording(&self) -> Recording {
        self.recording.clone()
    }
}

/// The user's most recently changed conversation in a folder.
fn last(list: &[Summary], folder: &str) -> Option<String> {
    let own = list.iter().filter(|summary| summary.about.label.is_none() && summary.about.folder == folder);
    own.max_by_key(|summary| summary.changed).map(|summary| summary.id.clone())
}

/// The command that resumes a conversation.
pub(crate) fn how_to_resume(command: &str, id: &str) -> String {
    format!("resume with: toolsmith {command} --resume {}", printable::name(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_conversation_is_the_users_in_this_folder() {
        let summary = |id: &str, folder: &str, label: Option<&str>, changed| Summary {
            id: id.to_owned(),
            about: NewConversation {
                label: label.map(str::to_owned),
                folder: folder.to_owned(),
                ..NewConversation::default()
            },
            begun: 0,
            changed,
            messages: 1,
            usage: Usage::default(),
            title: String::new(),
        };
        let list = [
            summary("other", "/b", None, 9),
            summary("sub", "/a", Some("subagent:x:1"), 8),
            summary("old", "/a", None, 2),
            summary("new", "/a", None, 3),
        ];
        assert_eq!(last(&list, "/a").as_deref(), Some("new"));
        assert_eq!(last(&list, "/c"), None);
    }
}
