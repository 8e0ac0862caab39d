//! The loop: requests replies and runs the called tools, until the model's final reply.

mod closing;
mod compaction;
#[cfg(test)]
mod tests;

use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::budget::cut;
use crate::event::{Event, Watcher};
use crate::final_answer::{FINAL_ANSWER, FinalAnswer};
use crate::history::History;
use crate::message::{Block, Message, Role, ToolCall, ToolResult};
use crate::model::{ChatModel, Delta, DeltaSink, ModelError, Reply, Request, Stop, Usage};
use crate::toolset::{ToolsError, Toolset};

pub use self::compaction::ContextWindow;

/// Limits of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Limit on requests to the model.
    pub turns: u32,
    /// Limit on the tokens of all replies, input and output, if any.
    pub tokens: Option<u64>,
    /// Time limit of the run, if any.
    pub time: Option<Duration>,
    /// Limit on each tool result that the model reads, in characters.
    pub result_characters: usize,
    /// Limit on concurrent calls of one message.
    pub parallel_calls: usize,
    /// The number of invalid calls of `final_answer` that the model may correct.
    pub corrections: u32,
    /// The model's context window, if known: a conversation that fills it is summarized.
    pub context_window: Option<ContextWindow>,
}

/// A model, its tools and its limits.
pub struct Run<'a> {
    /// The model.
    pub model: &'a dyn ChatModel,
    /// Its tools.
    pub tools: &'a dyn Toolset,
    /// Instructions for the whole conversation.
    pub system: &'a str,
    /// The limits.
    pub limits: &'a Limits,
    /// The schema of the answer; without it, the answer is the model's last text.
    pub final_answer: Option<&'a FinalAnswer>,
    /// Receives the events.
    pub watcher: &'a dyn Watcher,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The model's last text.
    pub text: String,
    /// The arguments of `final_answer`, for structured answers.
    pub structured: Option<Value>,
    /// The tokens used.
    pub usage: Usage,
    /// The number of requests to the model.
    pub turns: u32,
}

/// The reason why a run has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The model did not reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The tools could not be listed.
    #[error("the tools can't be listed: {0}")]
    Tools(#[from] ToolsError),
    /// The turns were used up while the model still called tools.
    #[error("the limit of {0} turns is reached; give the task in smaller parts, or raise maxTurns")]
    Turns(u32),
    /// The tokens were used up.
    #[error(
        "{used} tokens are used, and the limit is {limit}; give the task in smaller parts, or raise maxTokens"
    )]
    Tokens {
        /// Tokens so far.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// The time limit was reached.
    #[error("the time limit of {} s is reached; give the task in smaller parts, or raise timeout", .0.as_secs_f64())]
    Time(Duration),
    /// The model's message was cut off.
    #[error("the model's message was cut off at its maximum length; raise max_output")]
    Length,
    /// The provider refuses to continue.
    #[error("the model's provider refuses to continue: {0}")]
    Refused(String),
    /// The run ended without `final_answer`.
    #[error("the model ended without calling final_answer; its last text: {0:?}")]
    NoFinalAnswer(String),
    /// `final_answer` was called with invalid arguments.
    #[error("the answer does not match its schema: {0}")]
    InvalidFinalAnswer(String),
}

/// Maximum length of the last text in an error, in characters.
const MAX_LAST_TEXT: usize = 500;

impl Run<'_> {
    /// Takes a conversation from the user's next message to the model's final reply. Each message is added to
    /// `conversation` when it is complete, even if the run fails or is dropped later; the next run adds results for
    /// calls that were cancelled then.
    ///
    /// # Errors
    /// Returns an error if the run ends without an answer.
    pub async fn go_on(&self, conversation: &mut History, message: Message) -> Result<Answer, RunError> {
        let running = async {
            if let Some(missing) = closing::missing_results(conversation.messages()) {
                self.keep(conversation, missing, Usage::default());
            }
            let mut spent = Spent { corrections: self.limits.corrections, ..Spent::default() };
            self.fit(conversation, Some(&message), &mut spent).await;
            self.keep(conversation, message, Usage::default());
            self.turns(conversation, spent).await
        };
        match self.limits.time {
            Some(limit) => timeout(limit, running).await.map_err(|_| RunError::Time(limit))?,
            None => running.await,
        }
    }

    async fn turns(&self, conversation: &mut History, mut spent: Spent) -> Result<Answer, RunError> {
        for turns in 1..=self.limits.turns {
            let Reply { message, stop, usage: cost } = self.ask(conversation).await?;
            spent.usage = spent.usage.and(cost);
            self.report(&message);
            let text = message.texts();
            let calls: Vec<ToolCall> = message.calls().into_iter().cloned().collect();
            self.keep(conversation, message, cost);
            match stop {
                Stop::Length => return Err(RunError::Length),
                Stop::Refused(why) => return Err(RunError::Refused(why)),
                _ => {}
            }
            let answer = |structured| Answer { text: text.clone(), structured, usage: spent.usage, turns };
            if calls.is_empty() {
                return match self.final_answer {
                    None => Ok(answer(None)),
                    Some(_) => Err(RunError::NoFinalAnswer(text.chars().take(MAX_LAST_TEXT).collect())),
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
                Ending::Invalid(faults) if spent.corrections == 0 => {
                    self.keep(conversation, closing::refused(&calls, &faults), Usage::default());
                    return Err(RunError::InvalidFinalAnswer(faults));
                }
                Ending::Invalid(faults) => {
                    spent.corrections -= 1;
                    self.keep(conversation, closing::refused(&calls, &faults), Usage::default());
                }
            }
            if turns < self.limits.turns {
                self.fit(conversation, None, &mut spent).await;
            }
            let used = spent.usage.total();
            if let Some(limit) = self.limits.tokens.filter(|limit| used >= *limit) {
                return Err(RunError::Tokens { used, limit });
            }
        }
        Err(RunError::Turns(self.limits.turns))
    }

    /// Summarizes the conversation if it would not fit with the `next` message.
    async fn fit(&self, conversation: &mut History, next: Option<&Message>, spent: &mut Spent) {
        let cost = self.make_room(conversation, next, &mut spent.is_unsummarized).await;
        spent.usage = spent.usage.and(cost);
    }

    async fn ask(&self, conversation: &History) -> Result<Reply, RunError> {
        let mut tools = self.tools.tools().await?;
        tools.extend(self.final_answer.map(FinalAnswer::definition));
        let messages = conversation.for_model();
        let request = Request { system: self.system, messages: &messages, tools: &tools };
        Ok(self.model.reply(&request, self).await?)
    }

    /// Checks `final_answer`, if it is among the calls.
    fn end(&self, calls: &[ToolCall]) -> Ending {
        let Some(form) = self.final_answer else { return Ending::None };
        let Some(call) = calls.iter().find(|call| call.name == FINAL_ANSWER) else { return Ending::None };
        match form.check(&call.arguments) {
            Ok(()) => Ending::Answer(call.arguments.clone()),
            Err(invalid) => Ending::Invalid(invalid.to_string()),
        }
    }

    /// Calls tools concurrently; returns their results in the order of the calls.
    async fn call(&self, calls: &[ToolCall]) -> Message {
        // Boxed, and not by a closure: the compiler could not prove that the future is `Send`.
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
        let started = Instant::now();
        let mut result = self.tools.call(call).await;
        cut(&mut result, self.limits.result_characters);
        self.watcher.event(Event::ToolResult(&result, started.elapsed()));
        result
    }

    fn report(&self, message: &Message) {
        for block in &message.blocks {
            match block {
                Block::Thinking { text, .. } if !text.is_empty() => self.watcher.event(Event::Thought(text)),
                Block::Text { text } if !text.is_empty() => self.watcher.event(Event::Response(text)),
                _ => {}
            }
        }
    }

    fn keep(&self, conversation: &mut History, message: Message, usage: Usage) {
        self.watcher.event(Event::Message(&message, usage));
        conversation.push(message, usage);
    }
}

impl DeltaSink for Run<'_> {
    fn delta(&self, delta: Delta<'_>) {
        self.watcher.event(Event::Delta(delta));
    }
}

/// The budget that a run has used, and the rest that it may still use.
#[derive(Debug, Default)]
struct Spent {
    usage: Usage,
    /// The number of invalid answers that may still be corrected.
    corrections: u32,
    /// Whether a summary has failed: it is not tried again in this run.
    is_unsummarized: bool,
}

/// Whether the calls end the run.
enum Ending {
    None,
    Answer(Value),
    Invalid(String),
}
