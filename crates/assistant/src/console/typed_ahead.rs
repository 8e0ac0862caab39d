//! The user's input while the model works: `/mcp` commands run at once, everything else waits for the answer.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use terminal::{Terminal, TypedLines};

use super::servers::ServerControl;
use super::slash_command::{self, Command};
use super::turn_status::TurnStatus;
use super::typed;

/// Limit on waiting messages.
const WAITING_LIMIT: usize = 100;

/// The messages that wait for the end of a turn.
pub(super) struct TypedAhead {
    terminal: Arc<Terminal>,
    status: Arc<TurnStatus>,
    is_interactive: bool,
    waiting: VecDeque<String>,
    /// The beginning of a message of several lines.
    incomplete: String,
    /// Whether the terminal's input has ended.
    pub(super) has_ended: bool,
}

impl TypedAhead {
    /// Without a user who types (`is_interactive`), nothing is read ahead: the lines of a script run in order.
    pub(super) fn new(terminal: Arc<Terminal>, status: Arc<TurnStatus>, is_interactive: bool) -> Self {
        TypedAhead {
            terminal,
            status,
            is_interactive,
            waiting: VecDeque::new(),
            incomplete: String::new(),
            has_ended: false,
        }
    }

    /// The first waiting message.
    pub(super) fn take(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }

    /// Shows a message that is sent now.
    pub(super) fn show(&self, message: &str) {
        self.terminal.show(&format!("> {}", printable::lines(message)));
    }

    /// Handles typed lines until it is dropped.
    pub(super) async fn handle(&mut self, servers: &ServerControl) -> Infallible {
        let begun = self.status.typed();
        let lines = self.is_interactive.then(|| self.terminal.typed_lines(&begun)).flatten();
        if let Some(mut lines) = lines {
            self.handle_lines(&mut lines, servers).await;
        }
        std::future::pending().await
    }

    async fn handle_lines(&mut self, lines: &mut TypedLines, servers: &ServerControl) {
        loop {
            let status = self.status.clone();
            match lines.next(|typed| status.set_typed(typed)).await {
                Ok(Some(line)) => self.line(&line, servers).await,
                Ok(None) => {
                    self.has_ended = true;
                    return;
                }
                Err(_) => return,
            }
        }
    }

    async fn line(&mut self, line: &str, servers: &ServerControl) {
        if !self.incomplete.is_empty() {
            self.incomplete.push('\n');
        }
        self.incomplete.push_str(line);
        if !typed::is_whole(&self.incomplete) {
            return;
        }
        let message = typed::message(&std::mem::take(&mut self.incomplete));
        match slash_command::parse(&message) {
            _ if message.is_empty() => {}
            Some(Ok(Command::Servers(command))) => {
                if let Err(report) = servers.run(&command).await {
                    self.terminal.eprint(&report.for_terminal());
                }
            }
            _ if self.waiting.len() >= WAITING_LIMIT => {
                self.terminal.note("too many messages wait for the answer; this one is not sent");
            }
            _ => {
                self.terminal.note("the message waits until the answer is complete");
                self.waiting.push_back(message);
            }
        }
    }

    /// The turn has ended: reports what will not be sent, if it was cancelled or a line was not finished.
    pub(super) fn end_turn(&mut self, is_cancelled: bool) {
        let mut dropped = Vec::new();
        if is_cancelled {
            dropped.extend(std::mem::take(&mut self.waiting));
        }
        let incomplete = std::mem::take(&mut self.incomplete);
        dropped.extend((!incomplete.is_empty()).then_some(incomplete));
        for message in dropped {
            self.terminal.note(&format!("not sent: {message}"));
        }
    }
}
