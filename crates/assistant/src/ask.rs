//! `toolsmith ask`: one question and its answer, with progress on standard error.

use std::io::IsTerminal as _;

use agent::Block;
use execution::process::ProcessContext;
use gateway::audience::for_person;
use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;
use serde_json::{Value, json};
use server::runtime::Runtime;
use terminal::Terminal;
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

use crate::console::chat_session::{ChatSession, TurnResult};
use crate::console::record::how_to_resume;
use crate::console::screen::{FinishedCall, RunStats};
use crate::options::AskOptions;

/// Maximum size of standard input, in bytes (4 MiB).
const INPUT_LIMIT: u64 = 4 << 20;

/// Runs the command and returns the exit code.
///
/// # Errors
/// If there is no question, or the conversation can't be opened.
pub async fn ask(options: &AskOptions, cancel: CancellationToken) -> Result<u8, Failure> {
    let blocks = tokio::select! {
        blocks = question(options.question.as_deref()) => blocks?,
        () = cancel.cancelled() => return Ok(exit_code::CANCELLED),
    };
    let terminal = Terminal::new(false, false);
    let mut runtime = Runtime::start(terminal, ProcessContext::of_this_process().of_agent()).await;
    let code = ask_in(&mut runtime, options, blocks, cancel).await;
    runtime.shutdown().await?;
    code
}

async fn ask_in(
    runtime: &mut Runtime,
    options: &AskOptions,
    blocks: Vec<Block>,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    let mut chat = ChatSession::open(&options.talk, runtime, !options.json).await?;
    let terminal = &runtime.process.terminal;
    if let Some(line) = chat.awaiting(chat.tools.missing()).await {
        terminal.note(&format!("warning: {}", for_person(&line)));
    }
    let (turn, tally) = chat.turn(blocks, cancel.cancelled()).await;
    runtime.stop();
    let id = chat.close().await;
    let (code, error) = match &turn {
        TurnResult::Answered(_) => (exit_code::OK, None),
        TurnResult::Failed(error) => (exit_code::RUNTIME, Some(error.to_string())),
        TurnResult::Cancelled => (exit_code::CANCELLED, Some("cancelled".to_owned())),
    };
    if options.json {
        let text = match &turn {
            TurnResult::Answered(answer) => answer.text.as_str(),
            _ => "",
        };
        terminal.print_json(&as_json(text, id.as_deref(), &tally, error.as_deref()).to_string());
    } else if let Some(error) = &error {
        terminal.eprint(&format!("toolsmith: {error}"));
    }
    if let (Some(id), false) = (id, options.json) {
        terminal.note(&how_to_resume("ask", &id));
    }
    Ok(code)
}

fn as_json(text: &str, conversation: Option<&str>, tally: &RunStats, error: Option<&str>) -> Value {
    let call =
        |call: &FinishedCall| json!({ "tool": call.tool, "ok": !call.is_error, "ms": call.time.as_millis() });
    let calls: Vec<Value> = tally.calls.iter().map(call).collect();
    let mut object = json!({
        "text": text, "conversation": conversation, "usage": tally.usage, "turns": tally.turns, "calls": calls,
    });
    if let Some(error) = error {
        object["error"] = error.into();
    }
    object
}

/// The question, followed by standard input unless that is a terminal.
async fn question(question: Option<&str>) -> Result<Vec<Block>, Failure> {
    let mut input = Vec::new();
    if !std::io::stdin().is_terminal() {
        let read = tokio::io::stdin().take(INPUT_LIMIT + 1).read_to_end(&mut input).await;
        read.map_err(|error| Failure::new(Kind::System, format!("standard input can't be read: {error}")))?;
    }
    if input.len() as u64 > INPUT_LIMIT {
        return Err(Failure::command_line(format!(
            "standard input has more than {INPUT_LIMIT} bytes; name a file's path instead of its contents"
        )));
    }
    let input = String::from_utf8(input)
        .map_err(|_| Failure::command_line("standard input is not UTF-8 text; name a file's path instead"))?;
    let parts = [question.unwrap_or_default().trim(), input.trim_end()];
    let blocks: Vec<Block> =
        parts.into_iter().filter(|part| !part.trim().is_empty()).map(Block::text).collect();
    if blocks.is_empty() {
        return Err(Failure::command_line("there is no question; write one: toolsmith ask \"…\""));
    }
    Ok(blocks)
}
