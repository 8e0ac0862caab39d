//! `toolsmith secret`: stores, lists and deletes secrets in the system's keyring. No command prints a secret.

use std::io::{IsTerminal as _, Read as _};

use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use mcp::keyring::{self, KeyringError, MAX_SECRET};
use report::{Kind, Report};
use terminal::{Terminal, say};

use crate::arguments::SecretCommand;

/// Runs a command and returns the exit code.
pub(crate) async fn run(command: &SecretCommand) -> Result<u8, Failure> {
    match command {
        SecretCommand::Set(arguments) => {
            let secret = read(&arguments.name).await?;
            let name = arguments.name.clone();
            in_keyring(move || keyring::set(&name, &secret)).await?;
            let name = &arguments.name;
            say(format_args!(
                "toolsmith: stored {name}; write ${{keyring:{name}}} in the entry of a server\n"
            ));
        }
        SecretCommand::List => {
            let names = in_keyring(keyring::list).await?;
            let terminal = Terminal::new(false, false);
            names.iter().for_each(|name| terminal.print(&printable::name(name)));
            terminal.flush().await.map_err(Failure::output)?;
        }
        SecretCommand::Delete(arguments) => {
            let name = arguments.name.clone();
            in_keyring(move || keyring::delete(&name)).await?;
            say(format_args!("toolsmith: deleted {}\n", arguments.name));
        }
    }
    Ok(exit_code::OK)
}

/// Uses the keyring on a thread of its own: it may ask the user to unlock it, and blocks until then.
pub(crate) async fn in_keyring<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, KeyringError> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    let done =
        done.map_err(|error| Failure::new(Kind::System, format!("the keyring was not used: {error}")))?;
    done.map_err(|error| {
        let report = Report::new(Kind::Configuration, error.to_string());
        error.hints().into_iter().fold(report, Report::hint).into()
    })
}

/// The secret that the user types, or standard input without the newline at its end.
async fn read(name: &str) -> Result<String, Failure> {
    let secret = if std::io::stdin().is_terminal() {
        let user = terminal_prompter::of_command()
            .ok_or_else(|| Failure::command_line("there is no terminal to type the secret on"))?;
        let typed = user.secret(&format!("Secret {name} (it is not shown): ")).await;
        typed.ok_or_else(|| Failure::command_line("no secret was typed"))?
    } else {
        let mut bytes = Vec::new();
        let limit = MAX_SECRET as u64 + 2;
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(|error| {
            Failure::command_line(format!("standard input can't be read: {error}")).caused_by(error)
        })?;
        let text = String::from_utf8(bytes).map_err(|_| Failure::command_line("the secret is not UTF-8"))?;
        text.strip_suffix('\n')
            .map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text))
            .to_owned()
    };
    if secret.is_empty() {
        return Err(Failure::command_line("the secret is empty; nothing is stored")
            .hint("type it at the prompt, or write it to standard input"));
    }
    if secret.len() > MAX_SECRET {
        return Err(Failure::command_line(format!(
            "the secret has more than {MAX_SECRET} bytes, the maximum"
        )));
    }
    Ok(secret)
}
