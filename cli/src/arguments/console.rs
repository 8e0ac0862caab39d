//! The command line of `chat` and `ask`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::{ConfigArguments, MannerArguments};

/// With which model, and in which conversation.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TalkArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// The model, by its `ref` in the configuration (default: that of the conversation, or `defaults.model`).
    #[arg(long, value_name = "REF", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Go on with the last conversation of this folder.
    #[arg(long = "continue", conflicts_with = "resume")]
    pub(crate) go_on: bool,
    /// Go on with this conversation.
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) manner: MannerArguments,
}

/// Arguments of `chat`.
#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) talk: TalkArguments,
}

/// Arguments of `ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    /// The question. What comes on standard input is added to it, or is the question where there is none.
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) talk: TalkArguments,
    /// Print one JSON object: text, conversation, usage, turns, calls, and error where there is one.
    #[arg(long)]
    pub(crate) json: bool,
}
