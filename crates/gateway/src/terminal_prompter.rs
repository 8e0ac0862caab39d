//! Asks the user at this process's terminal, for permissions and for commands.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use config::Config;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use runner::Journal;
use terminal::{AskAgain, Terminal, TerminalPrompt};

use crate::permission::{self, Allowed, Answer, PermissionPolicy, Prompter, Question};

/// Asks the user at the terminal for permission, if there is a terminal.
struct TerminalPrompter {
    prompt: TerminalPrompt,
    questions: Questions,
}

/// The limit on a command's questions about the same tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// Only one: the command makes one call.
    One,
    /// One for each call of a program.
    Several,
}

/// The permission policy of command-line commands, which asks at the terminal.
pub fn policy(
    config: &Arc<Config>,
    allowed: Allowed<'_>,
    terminal: &Terminal,
    questions: Questions,
) -> Arc<PermissionPolicy> {
    let (notifier, prompter) = (terminal.notifier(), prompter(terminal, questions));
    // The calls are the user's own: no answer goes into another call.
    permission::policy(config, allowed, &notifier, prompter, Journal::default(), Arc::default())
}

/// Asks at the terminal of a command.
pub fn prompter(terminal: &Terminal, questions: Questions) -> impl Prompter + use<> + 'static {
    TerminalPrompter { prompt: terminal.prompt(), questions }
}

/// The answers to a question: those that differ in what they do.
fn answers(question: &Question, questions: Questions) -> Vec<(&'static str, &'static str, Answer)> {
    let is_repeated = questions == Questions::Several && matches!(question, Question::Call { .. });
    let answers = [
        (true, "y", "yes, once", Answer::Once),
        (is_repeated, "s", "yes, in this run", Answer::Session),
        (question.is_memorable(), "a", "always", Answer::Always),
        (question.offers_choice(), "c", "choose for each server", Answer::Choose),
        (true, "n", "no", Answer::No),
    ];
    let offered = answers.into_iter().filter(|(is_offered, ..)| *is_offered);
    offered.map(|(_, key, text, answer)| (key, text, answer)).collect()
}

/// Reads a typed answer: its key, or the whole word yes or no.
fn read(typed: &str, answers: &[(&str, &str, Answer)]) -> Result<Answer, AskAgain> {
    let typed = typed.to_ascii_lowercase();
    let key = match typed.as_str() {
        "yes" => "y",
        "no" => "n",
        other => other,
    };
    let chosen = answers.iter().find(|(known, ..)| *known == key).map(|(.., answer)| *answer);
    chosen.ok_or_else(|| {
        let keys: Vec<&str> = answers.iter().map(|(key, ..)| *key).collect();
        AskAgain(format!("type one of the letters {}\n", keys.join(", ")))
    })
}

/// A prompt for the user of this command, if there is one: standard input must be a terminal as well.
pub fn of_command() -> Option<TerminalPrompt> {
    of_terminal(&Terminal::new(true, false))
}

/// The same prompt for a command that has written to `terminal`: it asks after what was written before.
pub fn of_terminal(terminal: &Terminal) -> Option<TerminalPrompt> {
    let prompt = terminal.prompt();
    (io::stdin().is_terminal() && prompt.is_there()).then_some(prompt)
}

impl Prompter for TerminalPrompter {
    fn is_there(&self) -> bool {
        self.prompt.is_there()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let answers = answers(question, self.questions);
        let choices = answers.iter().map(|(key, text, _)| format!("[{key}] {text}")).collect::<Vec<_>>();
        let choices = format!("{}: ", choices.join("  "));
        async move {
            if !self.is_there() {
                return Answer::Nobody;
            }
            let text = format!("{}\n", question.text());
            let read = |typed: &str| read(typed, &answers);
            self.prompt.answer(&text, &choices, read).await.unwrap_or(Answer::No)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(server: &str) -> permission::RequestedTool {
        permission::RequestedTool::new(server, "t", None)
    }

    fn keys(question: &Question, questions: Questions) -> String {
        answers(question, questions).into_iter().map(|(key, ..)| key).collect()
    }

    #[test]
    fn only_answers_that_differ_are_offered() {
        let program = |tools| Question::Program { tools, each: 0, flows: Vec::new() };
        assert_eq!(keys(&program(vec![tool("a"), tool("a")]), Questions::Several), "yan");
        assert_eq!(keys(&program(vec![tool("a"), tool("b")]), Questions::Several), "yacn");
        let call = |memorable| Question::Call {
            tool: [tool("a")],
            arguments: String::new(),
            memorable,
            flows: Vec::new(),
            marks: Vec::new(),
        };
        assert_eq!([keys(&call(true), Questions::One), keys(&call(false), Questions::One)], ["yan", "yn"]);
        assert_eq!(keys(&call(false), Questions::Several), "ysn");
    }

    #[test]
    fn an_answer_that_is_not_offered_is_asked_for_again() {
        let offered = answers(
            &Question::Program { tools: vec![tool("a")], each: 0, flows: Vec::new() },
            Questions::One,
        );
        assert_eq!(read("YES", &offered), Ok(Answer::Once));
        assert_eq!(read("s", &offered), Err(AskAgain("type one of the letters y, a, n\n".to_owned())));
    }
}
