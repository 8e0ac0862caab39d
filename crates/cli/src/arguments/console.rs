//! The command line of `chat` and `ask`.

use assistant::{AskOptions, TalkOptions};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use config::Needs;

use super::{AllowArguments, ServersArguments};

/// Options that choose the model and the conversation.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TalkArguments {
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// The model's `ref` in the configuration (default: the model of the conversation, or `defaults.model`).
    #[arg(long, value_name = "REF", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Continue the last conversation of this folder.
    #[arg(long = "continue", conflicts_with = "resume")]
    pub(crate) continue_last: bool,
    /// Continue this conversation.
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
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
    /// The question. Standard input is appended to it. Without QUESTION, standard input is the question.
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) talk: TalkArguments,
    /// Print one JSON object: text, conversation, usage, turns, calls, and error if there is no answer.
    #[arg(long)]
    pub(crate) json: bool,
}

impl From<TalkArguments> for TalkOptions {
    fn from(arguments: TalkArguments) -> Self {
        let TalkArguments { place, model, continue_last, resume, permission } = arguments;
        let load = place.options_with(Needs::Nothing).without_untrusted();
        TalkOptions { load, model, continue_last, resume, allow: permission.allow }
    }
}

impl From<AskArguments> for AskOptions {
    fn from(AskArguments { question, talk, json }: AskArguments) -> Self {
        AskOptions { question, talk: talk.into(), json }
    }
}
