//! The values that a registry's entry or a bundle asks for: from the command line, from the user, or their defaults.
//!
//! A secret that the user types goes to the keyring, and only a reference to it into the file.

use std::collections::BTreeSet;
use std::path::absolute;

use clients::registry::{Answers, Format, Question, literal};
use config::InvalidValue;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use mcp::keyring;
use terminal::{AskAgain, TerminalPrompt};

use super::words::report;
use crate::commands::secret::in_keyring;

/// Maximum number of values of one question.
const MAX_VALUES: usize = 100;

/// The answers to all questions.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// The answers.
    pub(super) answers: Answers,
    /// Names and texts of secrets for the keyring.
    secrets: Vec<(String, String)>,
    /// The variables that the user must set instead.
    variables: Vec<String>,
}

impl Values {
    /// Stores the secrets that were typed.
    pub(super) async fn store(self) -> Result<(), Failure> {
        for (name, secret) in self.secrets {
            report(&format!("stored {name} in the keyring"));
            in_keyring(move || keyring::set(&name, &secret)).await?;
        }
        if !self.variables.is_empty() {
            report(&format!(
                "there is no keyring; set these variables where toolsmith starts: {}",
                self.variables.join(", ")
            ));
        }
        Ok(())
    }
}

/// Finds the answer to each question.
///
/// # Errors
/// If a value is missing and nobody can be asked, a given one does not fit, or one is given that no question asks for.
pub(super) async fn ask(
    server: &str,
    questions: &[Question],
    given: &[(String, String)],
) -> Result<Values, Failure> {
    if let Some((name, _)) =
        given.iter().find(|(name, _)| !questions.iter().any(|question| question.name == *name))
    {
        let names: Vec<String> = questions.iter().map(|question| printable::name(&question.name)).collect();
        let known = if names.is_empty() { "no value".to_owned() } else { names.join(", ") };
        return Err(Failure::command_line(format!("{server} does not ask for {name}; it asks for: {known}")));
    }
    let user = terminal_prompter::of_command();
    let (mut values, mut missing) = (Values::default(), Vec::new());
    for question in questions {
        let texts: Vec<&str> =
            given.iter().filter(|(name, _)| *name == question.name).map(|(_, text)| text.as_str()).collect();
        let answer = match &user {
            _ if !texts.is_empty() => checked(question, &texts)?,
            Some(user) if question.is_secret => secret(server, question, user, &mut values).await?,
            Some(user) => typed(question, user).await?,
            None => defaults(question),
        };
        if answer.is_empty() && question.is_required {
            missing.push(question);
        }
        if !answer.is_empty() {
            values.answers.insert(question.name.clone(), answer);
        }
    }
    if missing.is_empty() { Ok(values) } else { Err(lacks(server, &missing)) }
}

fn lacks(server: &str, missing: &[&Question]) -> Failure {
    let name = |question: &&Question| printable::name(&question.name);
    let names: Vec<String> = missing.iter().map(name).collect();
    let failure = Failure::command_line(format!("{server} needs a value for {}", names.join(", ")));
    missing.iter().fold(failure, |failure, question| {
        let name = printable::name(&question.name);
        let example = if question.is_secret {
            format!("'{name}=${{{}}}'", variable(question))
        } else {
            format!("{name}=VALUE")
        };
        failure.hint(format!("{}--set {example}", described(question)))
    })
}

/// The description before a command or a prompt.
fn described(question: &Question) -> String {
    match printable::prose(&question.description).trim() {
        "" => String::new(),
        description => format!("{description}: "),
    }
}

/// The given values, if they fit.
fn checked(question: &Question, texts: &[&str]) -> Result<Vec<String>, Failure> {
    if texts.len() > 1 && !question.is_repeated {
        return Err(Failure::command_line(format!("{} takes one value", printable::name(&question.name))));
    }
    let values = texts
        .iter()
        .take(MAX_VALUES)
        .map(|text| value(question, text).map_err(|wrong| Failure::command_line(wrong.to_string())));
    values.collect()
}

/// A value as a text of the configuration, if it fits. One with a variable fits whatever it is then.
fn value(question: &Question, text: &str) -> Result<String, InvalidValue> {
    let name = printable::name(&question.name);
    if text.contains("${") {
        return Ok(text.to_owned());
    }
    if !question.choices.is_empty() && !question.choices.iter().any(|choice| choice == text) {
        let choices: Vec<String> = question.choices.iter().map(|choice| printable::name(choice)).collect();
        return Err(InvalidValue(format!("{name} is one of: {}", choices.join(", "))));
    }
    match question.format {
        Format::Number => number(question, text).map(|()| text.to_owned()),
        Format::Boolean if !matches!(text, "true" | "false") => {
            Err(InvalidValue(format!("{name} is true or false")))
        }
        Format::FilePath => Ok(path(text)),
        _ => Ok(text.to_owned()),
    }
}

fn number(question: &Question, text: &str) -> Result<(), InvalidValue> {
    let name = printable::name(&question.name);
    let number: f64 = text.parse().map_err(|_| InvalidValue(format!("{name} is a number")))?;
    match (question.minimum, question.maximum) {
        (Some(minimum), _) if number < minimum => Err(InvalidValue(format!("{name} is at least {minimum}"))),
        (_, Some(maximum)) if number > maximum => Err(InvalidValue(format!("{name} is at most {maximum}"))),
        _ => Ok(()),
    }
}

/// The values without an answer, as texts of the configuration.
fn defaults(question: &Question) -> Vec<String> {
    question.defaults.iter().map(|default| literal(default)).collect()
}

/// A path that does not depend on the folder in which the server starts.
fn path(text: &str) -> String {
    let home = text.strip_prefix("~/").and_then(|rest| Some(std::env::home_dir()?.join(rest)));
    let path = home.or_else(|| absolute(text).ok());
    path.map_or_else(|| text.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// The text that the user types; nothing stands for the default.
async fn typed(question: &Question, user: &TerminalPrompt) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    while all.len() < MAX_VALUES {
        let has_default = all.is_empty() && !question.defaults.is_empty();
        let is_needed = question.is_required && all.is_empty() && !has_default;
        let read = |typed: &str| match typed.trim() {
            "" if is_needed => Err(AskAgain(format!("{} is needed\n", printable::name(&question.name)))),
            "" => Ok(None),
            text => value(question, text).map(Some).map_err(|wrong| AskAgain(format!("{wrong}\n"))),
        };
        let text = if all.is_empty() { shown(question) } else { String::new() };
        let answer = user.answer(&text, &prompt(question, has_default, is_needed), read).await;
        let answer = answer.ok_or_else(|| nothing(question))?;
        match answer {
            Some(answer) => all.push(answer),
            None if has_default => return Ok(defaults(question)),
            None => return Ok(all),
        }
        if !question.is_repeated {
            return Ok(all);
        }
    }
    Ok(all)
}

fn nothing(question: &Question) -> Failure {
    Failure::command_line(format!("{} was not answered; nothing is changed", printable::name(&question.name)))
}

/// The description, and the choices.
fn shown(question: &Question) -> String {
    let mut text = match printable::prose(&question.description).trim() {
        "" => String::new(),
        description => format!("{description}\n"),
    };
    if !question.choices.is_empty() {
        let choices: Vec<String> = question.choices.iter().map(|choice| printable::name(choice)).collect();
        text.push_str(&format!("one of: {}\n", choices.join(", ")));
    } else if let Some(example) = &question.placeholder {
        text.push_str(&format!("such as: {}\n", printable::name(example)));
    }
    text
}

fn prompt(question: &Question, has_default: bool, is_needed: bool) -> String {
    let name = printable::name(&question.name);
    if has_default {
        let defaults: Vec<String> =
            question.defaults.iter().map(|default| printable::name(default)).collect();
        return format!("{name} [{}]: ", defaults.join(", "));
    }
    if is_needed { format!("{name}: ") } else { format!("{name} (Enter for none): ") }
}

/// A secret that the user types, for the keyring; without one, a variable of the environment.
async fn secret(
    server: &str,
    question: &Question,
    user: &TerminalPrompt,
    values: &mut Values,
) -> Result<Vec<String>, Failure> {
    let Ok(stored) = in_keyring(keyring::list).await else {
        let variable = variable(question);
        values.variables.push(variable.clone());
        return Ok(vec![format!("${{{variable}}}")]);
    };
    let name = printable::name(&question.name);
    let end = if question.is_required { "is not shown" } else { "is not shown; Enter for none" };
    let text = format!("{}{name} ({end}): ", shown(question));
    let Some(secret) = user.secret(&text).await else { return Ok(Vec::new()) };
    let taken: BTreeSet<&String> = stored.iter().chain(values.secrets.iter().map(|(name, _)| name)).collect();
    let wanted = format!("{server}.{}", variable(question));
    let more = (2..=taken.len() + 2).map(|count| format!("{wanted}_{count}"));
    let free = std::iter::once(wanted.clone()).chain(more).find(|name| !taken.contains(name));
    let name = free.filter(|name| keyring::is_name(name)).ok_or_else(|| nothing(question))?;
    values.secrets.push((name.clone(), secret));
    Ok(vec![format!("${{keyring:{name}}}")])
}

/// The variable of the environment for a question.
fn variable(question: &Question) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = question.name.chars().map(word).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}
