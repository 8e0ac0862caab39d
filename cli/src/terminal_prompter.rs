//! Asks the user at this process's terminal, for permissions and for commands.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use config::Config;

use gateway::permission::{self, Answer, PermissionPolicy, Prompter, Question};
use terminal::{Terminal, TerminalPrompt};

/// Asks the user at the terminal for permission, if there is a terminal.
struct TerminalPrompter(TerminalPrompt);

/// The permission policy of command-line commands, which asks at the terminal.
pub(crate) fn policy(config: &Arc<Config>, allow: &[String], terminal: &Terminal) -> Arc<PermissionPolicy> {
    permission::policy(config, allow, &terminal.notifier(), TerminalPrompter(terminal.prompt()))
}

/// A prompt for the user of this command, if there is one: standard input must be a terminal as well.
pub(crate) fn of_command() -> Option<TerminalPrompt> {
    let prompt = Terminal::new(true, false).prompt();
    (io::stdin().is_terminal() && prompt.is_there()).then_some(prompt)
}

impl Prompter for TerminalPrompter {
    fn is_there(&self) -> bool {
        self.0.is_there()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let choices = if question.is_memorable() {
            "[y] yes, once  [s] yes, in this session  [a] always  [n] no: "
        } else {
            "[y] yes, once  [s] yes, in this session  [n] no: "
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
            self.0.answer(&text, choices, read).await.unwrap_or(Answer::No)
        }
        .boxed()
    }
}
