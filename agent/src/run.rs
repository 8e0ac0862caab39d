//! The loop: the model is asked, the tools that it calls answer, until it has said its last word.

mod closing;
#[cfg(test)]
mod tests;

use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::budget::cut;
use crate::event::{Event, Watcher};
use crate::final_answer::{FINAL_ANSWER, FinalAnswer};
use crate::message::{Block, Message, Role, ToolCall, ToolResult};
use crate::model::{ChatModel, Delta, DeltaSink, ModelError, Reply, Request, Stop, Usage};
use crate::toolset::Toolset;

/// Bounds of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// How often the model is asked.
    pub turns: u32,
    /// How many tokens all replies may cost, read and written, where there is a limit.
    pub tokens: Option<u64>,
    /// How long the run may take, where there is a limit.
    pub time: Option<Duration>,
    /// How many characters of each tool's result the model gets to read.
    pub result_characters: usize,
    /// How many calls of one message run at once.
    pub parallel_calls: usize,
    /// How many invalid calls of `final_answer` go back to the model.
    pub corrections: u32,
}

/// A model, its tools, and within what bounds they go on.
pub struct Run<'a> {
    /// The model.
    pub model: &'a dyn ChatModel,
    /// Its tools.
    pub tools: &'a dyn Toolset,
    /// What holds for the whole conversation.
    pub system: &'a str,
    /// The bounds.
    pub limits: &'a Limits,
    /// The form of the answer; without it, the answer is the model's last text.
    pub final_answer: Option<&'a FinalAnswer>,
    /// Who sees what happens.
    pub watcher: &'a dyn Watcher,
}

/// What comes of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The model's last text.
    pub text: String,
    /// The arguments of `final_answer`, where answers have a form.
    pub structured: Option<Value>,
    /// What it cost.
    pub usage: Usage,
    /// How often the model was asked.
    pub turns: u32,
}

/// Why a run has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There are no tools.
    #[error("the tools can't be listed: {0}")]
    Tools(String),
    /// The model still calls tools.
    #[error("the limit of {0} turns is reached; give the task in smaller parts, or raise maxTurns")]
    Turns(u32),
    /// It has cost too much.
    #[error(
        "{used} tokens are used, and the limit is {limit}; give the task in smaller parts, or raise maxTokens"
    )]
    Tokens {
        /// Up to now.
        used: u64,
        /// At most.
        limit: u64,
    },
    /// It has taken too long.
    #[error("the time limit of {} s is reached; give the task in smaller parts, or raise timeout", .0.as_secs_f64())]
    Time(Duration),
    /// The model's message was cut off.
    #[error("the model's message is cut off at its longest; raise max_output")]
    Length,
    /// The provider did not let the model go on.
    #[error("the model's provider refuses to go on: {0}")]
    Refused(String),
    /// The run ended without `final_answer`.
    #[error("the model ended without calling final_answer; its last words: {0:?}")]
    NoFinalAnswer(String),
    /// `final_answer` was called with something else.
    #[error("the answer does not fit its schema: {0}")]
    InvalidFinalAnswer(String),
}

/// Most characters of last words in an error.
const LAST_WORDS: usize = 500;

impl Run<'_> {
    /// Takes a conversation from the next message of its user to the model's last word. Each message stands in
    /// `conversation` when it is whole, also where the run fails or is dropped in the middle; calls that were given up
    /// then are answered for at the beginning of the next run.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn go_on(&self, conversation: &mut Vec<Message>, message: Message) -> Result<Answer, RunError> {
        let going = async {
            if let Some(missing) = closing::missing_results(conversation) {
                self.keep(conversation, missing, Usage::default());
            }
            self.keep(conversation, message, Usage::default());
            self.turns(conversation).await
        };
        match self.limits.time {
            Some(limit) => timeout(limit, going).await.map_err(|_| RunError::Time(limit))?,
            None => going.await,
        }
    }

    async fn turns(&self, conversation: &mut Vec<Message>) -> Result<Answer, RunError> {
        let (mut usage, mut corrections) = (Usage::default(), self.limits.corrections);
        for turns in 1..=self.limits.turns {
            let Reply { message, stop, usage: cost } = self.ask(conversation).await?;
            usage = usage.and(cost);
            self.tell(&message);
            let text = message.texts();
            let calls: Vec<ToolCall> = message.calls().into_iter().cloned().collect();
            self.keep(conversation, message, cost);
            match stop {
                Stop::Length => return Err(RunError::Length),
                Stop::Refused(why) => return Err(RunError::Refused(why)),
                _ => {}
            }
            let answer = |structured| Answer { text: text.clone(), structured, usage, turns };
            if calls.is_empty() {
                return match self.final_answer {
                    None => Ok(answer(None)),
                    Some(_) => Err(RunError::NoFinalAnswer(text.chars().take(LAST_WORDS).collect())),
                };
            }
            match self.end(&calls) {
                Ending::None => {
                    let results = self.call(&calls).await;
                    self.keep(conversation, results, Usage::default());
                }
                Ending::Answer(structured) => {
                    self.keep(conversation, closing::accepted(&calls), Usage::default());
                    return Ok(answer(Some(structured)));
                }
                Ending::Invalid(faults) if corrections == 0 => {
                    self.keep(conversation, closing::refused(&calls, &faults), Usage::default());
                    return Err(RunError::InvalidFinalAnswer(faults));
                }
                Ending::Invalid(faults) => {
                    corrections -= 1;
                    self.keep(conversation, closing::refused(&calls, &faults), Usage::default());
                }
            }
            if let Some(limit) = self.limits.tokens.filter(|limit| usage.total() >= *limit) {
                return Err(RunError::Tokens { used: usage.total(), limit });
            }
        }
        Err(RunError::Turns(self.limits.turns))
    }

    async fn ask(&self, conversation: &[Message]) -> Result<Reply, RunError> {
        let mut tools = self.tools.tools().await.map_err(RunError::Tools)?;
        tools.extend(self.final_answer.map(FinalAnswer::definition));
        let request = Request { system: self.system, messages: conversation, tools: &tools };
        Ok(self.model.reply(&request, self).await?)
    }

    /// What `final_answer` says, where it is among the calls.
    fn end(&self, calls: &[ToolCall]) -> Ending {
        let Some(form) = self.final_answer else { return Ending::None };
        let Some(call) = calls.iter().find(|call| call.name == FINAL_ANSWER) else { return Ending::None };
        match form.check(&call.arguments) {
            Ok(()) => Ending::Answer(call.arguments.clone()),
            Err(faults) => Ending::Invalid(faults),
        }
    }

    /// Calls tools side by side; their results come in the order of the calls.
    async fn call(&self, calls: &[ToolCall]) -> Message {
        // Boxed, and not by a closure: the compiler could not tell that a run may change threads.
        let mut calling = Vec::new();
        for call in calls {
            calling.push(self.call_one(call).boxed());
        }
        let results = futures::stream::iter(calling).buffered(self.limits.parallel_calls.max(1));
        let results: Vec<ToolResult> = results.collect().await;
        Message { role: Role::Tool, blocks: results.into_iter().map(Block::ToolResult).collect() }
    }

    async fn call_one(&self, call: &ToolCall) -> ToolResult {
        self.watcher.event(Event::ToolCall(call));
        let begun = Instant::now();
        let mut result = self.tools.call(call).await;
        cut(&mut result, self.limits.result_characters);
        self.watcher.event(Event::ToolResult(&result, begun.elapsed()));
        result
    }

    fn tell(&self, message: &Message) {
        for block in &message.blocks {
            match block {
                Block::Thinking { text, .. } if !text.is_empty() => self.watcher.event(Event::Thought(text)),
                Block::Text { text } if !text.is_empty() => self.watcher.event(Event::Response(text)),
                _ => {}
            }
        }
    }

    fn keep(&self, conversation: &mut Vec<Message>, message: Message, usage: Usage) {
        self.watcher.event(Event::Message(&message, usage));
        conversation.push(message);
    }
}

impl DeltaSink for Run<'_> {
    fn delta(&self, delta: Delta<'_>) {
        self.watcher.event(Event::Delta(delta));
    }
}

/// Whether calls end the run.
enum Ending {
    None,
    Answer(Value),
    Invalid(String),
}
