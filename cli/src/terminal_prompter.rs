//! The person at the terminal of this process, who is asked for permission, and by commands.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use config::Config;

use gateway::permission::{self, Answer, PermissionPolicy, Prompter, Question};
use terminal::{Terminal, TerminalPrompt};

/// Asks the person at the terminal for permission, if there is one.
struct TerminalPrompter(TerminalPrompt);

/// What may be called from the command line, where the person at the terminal is asked.
pub(crate) fn policy(config: &Arc<Config>, allow: &[String], terminal: &Terminal) -> Arc<PermissionPolicy> {
    permission::policy(config, allow, &terminal.notifier(), TerminalPrompter(terminal.prompt()))
}

/// The person who types this command, if there is one: then standard input is a terminal as well.
pub(crate) fn of_command() -> Option<TerminalPrompt> {
    let prompt = Terminal::new(true, false).prompt();
    (io::stdin().is_terminal() && prompt.is_there()).then_some(prompt)
}

impl Prompter for TerminalPrompter {
    fn is_there(&self) -> bool {
        self.0.is_there()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let offered = if question.is_memorable() {
            "[y] yes, this once  [s] for this session  [a] always  [n] no: "
        } else {
            "[y] yes, this once  [s] every time in this session  [n] no: "
        };
        let read = |typed: &str| match typed {
            "y" | "Y" | "yes" => Ok(Answer::Once),
            "s" | "S" => Ok(Answer::Session),
            "a" | "A" if question.is_memorable() => Ok(Answer::Always),
            "n" | "N" | "no" => Ok(Answer::No),
            _ => Err(String::new()),
        };
        async move {
            if !self.is_there() {
                return Answer::Nobody;
            }
            let text = format!("{}\n", question.text());
            self.0.answer(&text, offered, read).await.unwrap_or(Answer::No)
        }
        .boxed()
    }
}
