//! `toolsmith chat`: a conversation in the terminal with a model that has the tools of all servers.

pub(crate) mod chat_session;
mod editor;
mod highlight;
mod host;
mod markdown;
mod notices;
pub(crate) mod record;
mod reported_errors;
mod resources;
pub(crate) mod screen;
mod servers;
mod slash_command;
mod slash_commands;
mod style;
mod turn_status;
mod typed;
mod typed_ahead;

use agent::Block;
use execution::process::ProcessContext;
use futures::FutureExt as _;
use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;
use server::runtime::Runtime;
use terminal::Terminal;
use terminal::table::short;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::chat_session::{ChatSession, TurnResult};
use self::editor::{Editor, Typed};
use self::record::how_to_resume;
use self::screen::{RunStats, seconds};
use self::slash_command::Command;
use self::style::TextStyle;
use self::typed_ahead::TypedAhead;
use crate::options::TalkOptions;

/// The prompt.
const PROMPT: &str = "> ";

/// Maximum length of the last message shown when a conversation is resumed, in characters.
const LAST_MESSAGE: usize = 300;

/// Runs the command and returns the exit code.
///
/// # Errors
/// If the conversation or the terminal can't be opened.
pub async fn chat(options: &TalkOptions) -> Result<u8, Failure> {
    let signals = Signals::new()?;
    let terminal = Terminal::new(false, false);
    let process = ProcessContext::of_this_process().of_agent().with_trace(terminal.notifier());
    let mut runtime = Runtime::start(terminal, process).await;
    let code = chat_in(&mut runtime, options, signals).await;
    runtime.shutdown().await?;
    code
}

async fn chat_in(runtime: &mut Runtime, options: &TalkOptions, mut signals: Signals) -> Result<u8, Failure> {
    let history = config::state_folder().ok().map(|folder| folder.join("history"));
    let mut chat = ChatSession::open(options, runtime, true).await?;
    let terminal = &runtime.process.terminal;
    let editor = Editor::start(terminal, history)?;
    let notices = notices::start(&chat);
    welcome(&chat, editor.is_interactive);
    let code = Box::pin(converse(&mut chat, &editor, &mut signals)).await;
    notices.abort();
    // A signal may have come while a line was edited.
    terminal.edit(None);
    drop(editor);
    runtime.stop();
    if let Some(id) = chat.close().await {
        terminal.note(&how_to_resume("chat", &id));
    }
    Ok(code)
}

/// The signals that cancel a turn or end the process.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> Result<Self, Failure> {
        let of = |kind| {
            signal(kind)
                .map_err(|error| Failure::new(Kind::System, format!("signals can't be handled: {error}")))
        };
        Ok(Signals {
            interrupt: of(SignalKind::interrupt())?,
            terminate: of(SignalKind::terminate())?,
            hang_up: of(SignalKind::hangup())?,
        })
    }
}

impl Signals {
    /// Discards an earlier interrupt.
    fn discard_interrupt(&mut self) {
        let _ = self.interrupt.recv().now_or_never();
    }
}

/// Whether the console continues after a step.
enum Completion {
    Done,
    /// The process must end.
    Leave,
}

/// Handles messages and commands until the user leaves, and returns the exit code.
async fn converse(chat: &mut ChatSession, editor: &Editor, signals: &mut Signals) -> u8 {
    let mut is_leaving = false;
    let mut ahead = TypedAhead::new(chat.terminal.clone(), chat.status.clone(), editor.is_interactive);
    loop {
        let typed = tokio::select! {
            biased;
            typed = next_typed(&mut ahead) => typed,
            typed = editor.read(PROMPT, &chat.status) => typed,
            // While a line is edited, the editor handles Ctrl-C.
            _ = signals.interrupt.recv(), if !editor.is_interactive => Typed::Interrupt,
            _ = signals.terminate.recv() => return exit_code::CANCELLED,
            _ = signals.hang_up.recv() => return exit_code::CANCELLED,
        };
        let was_leaving = std::mem::take(&mut is_leaving);
        match typed {
            Typed::Message(text) if text.is_empty() => {}
            Typed::Message(text) => match step(chat, &text, signals, &mut ahead).await {
                Some(Completion::Done) => {}
                Some(Completion::Leave) => return exit_code::CANCELLED,
                None => return exit_code::OK,
            },
            Typed::Interrupt if was_leaving || !editor.is_interactive => {
                return if editor.is_interactive { exit_code::OK } else { exit_code::CANCELLED };
            }
            Typed::Interrupt => {
                is_leaving = true;
                chat.terminal.note("press Ctrl-C again to leave");
            }
            Typed::End => return exit_code::OK,
            Typed::Failed(error) => {
                chat.terminal.eprint(&format!("toolsmith: input can't be read: {error}"));
                return exit_code::HOST;
            }
        }
    }
}

/// A message that was typed during the last turn, or the end of the input; pending if there is none.
async fn next_typed(ahead: &mut TypedAhead) -> Typed {
    match ahead.take() {
        Some(message) => {
            ahead.show(&message);
            Typed::Message(message)
        }
        None if ahead.has_ended => Typed::End,
        None => std::future::pending().await,
    }
}

/// Handles a message or a command; returns `None` if the user leaves.
async fn step(
    chat: &mut ChatSession,
    text: &str,
    signals: &mut Signals,
    ahead: &mut TypedAhead,
) -> Option<Completion> {
    let command = match slash_command::parse(text) {
        None => return Some(say(chat, vec![Block::text(text)], signals, ahead).await),
        Some(Ok(command)) => command,
        Some(Err(error)) => {
            chat.terminal.eprint(&error.to_string());
            return Some(Completion::Done);
        }
    };
    if command == Command::Quit {
        return None;
    }
    signals.discard_interrupt();
    let blocks = tokio::select! {
        biased;
        _ = signals.interrupt.recv() => {
            chat.terminal.eprint("cancelled");
            return Some(Completion::Done);
        }
        done = chat.run_command(command) => done,
    };
    match blocks {
        Ok(None) => Some(Completion::Done),
        Ok(Some(blocks)) => Some(say(chat, blocks, signals, ahead).await),
        Err(report) => {
            chat.terminal.eprint(&report.for_terminal());
            Some(Completion::Done)
        }
    }
}

/// Sends a message to the model, and shows the turn.
async fn say(
    chat: &mut ChatSession,
    blocks: Vec<Block>,
    signals: &mut Signals,
    ahead: &mut TypedAhead,
) -> Completion {
    signals.discard_interrupt();
    let mut ended = Completion::Done;
    let servers = chat.servers.clone();
    let cancelled = async {
        let Signals { interrupt, terminate, hang_up } = signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => ended = Completion::Leave,
            _ = hang_up.recv() => ended = Completion::Leave,
            never = ahead.handle(&servers) => match never {},
        }
    };
    let started = std::time::Instant::now();
    let (turn, tally) = Box::pin(chat.turn(blocks, cancelled)).await;
    ahead.end_turn(matches!(turn, TurnResult::Cancelled));
    let terminal = &chat.terminal;
    match turn {
        TurnResult::Answered(_) if terminal.is_quiet() => {}
        TurnResult::Answered(_) => {
            let line = format!("{}, {}", seconds(started.elapsed()), cost(&tally));
            terminal.show(&chat.style.paint(TextStyle::Dim, &line));
        }
        TurnResult::Failed(error) => terminal.eprint(&format!("toolsmith: {error}")),
        TurnResult::Cancelled => {
            terminal.eprint("cancelled; the messages so far stay in the conversation");
        }
    }
    ended
}

/// Formats the token usage of a turn.
fn cost(tally: &RunStats) -> String {
    let usage = tally.usage;
    let cached = if usage.cached > 0 { format!(" ({} cached)", usage.cached) } else { String::new() };
    format!("{} tokens read{cached}, {} written", usage.input, usage.output)
}

/// Prints the model, and the last message of a resumed conversation.
fn welcome(chat: &ChatSession, is_interactive: bool) {
    let terminal = &chat.terminal;
    if terminal.is_quiet() {
        return;
    }
    let entry = &chat.model().entry;
    let name = entry.display_name.as_ref().unwrap_or(&entry.reference);
    if is_interactive {
        terminal.note(&format!("model {name}; /help lists commands, Ctrl-D leaves"));
    }
    let id = chat.record().id();
    if let Some(id) = id {
        let count = report::count(chat.conversation.messages().len(), "message");
        terminal.note(&format!("continuing conversation {id} with {count}; the last one:"));
        let texts = chat.conversation.messages().iter().rev().map(agent::Message::texts);
        if let Some(last) = texts.map(|text| short(&text, LAST_MESSAGE)).find(|text| !text.is_empty()) {
            terminal.show(&chat.style.paint(TextStyle::Dim, &format!("  {last}")));
        }
    }
}
