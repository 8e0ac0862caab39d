//! The model, the conversation and the permissions that the user has chosen.

use config::LoadOptions;

/// The model and the conversation.
#[derive(Debug)]
pub struct TalkOptions {
    /// The configuration to read.
    pub load: LoadOptions,
    /// The model's `ref`; `None` for that of the conversation, or the default one.
    pub model: Option<String>,
    /// Whether to continue the last conversation of this folder.
    pub continue_last: bool,
    /// The conversation to continue.
    pub resume: Option<String>,
    /// Tools that are called without asking.
    pub allow: Vec<String>,
}

/// A question.
#[derive(Debug)]
pub struct AskOptions {
    /// The question, to which standard input is appended.
    pub question: Option<String>,
    /// The model and the conversation.
    pub talk: TalkOptions,
    /// Whether to print one JSON object.
    pub json: bool,
}
