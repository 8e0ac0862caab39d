//! What is typed at the prompt that begins with `/`: commands for the console, never seen by a model.

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Servers(Servers),
    /// Which models there are, or another one from now on.
    Model(Option<String>),
    /// The last snippet, and what it was written against.
    Code,
    Prompts,
    /// A prompt of a server, filled in and sent.
    Prompt {
        name: String,
        arguments: Vec<(String, String)>,
    },
    Quit,
}

/// What is done with servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Servers {
    Status,
    Details(String),
    Tools(Option<String>),
    Connect(String),
    Disconnect(String),
    Reconnect(String),
    Login(String),
    Debug(String),
}

/// The commands, as they are typed and what they do.
pub(crate) const HELP: [(&str, &str); 15] = [
    ("/help", "this list"),
    ("/mcp, /mcp status", "the servers and how they are"),
    ("/mcp SERVER", "everything about one"),
    ("/mcp list-tools [SERVER]", "tools, and what may be done with them"),
    ("/mcp connect SERVER", "connect, also to one that was disconnected or given up"),
    ("/mcp disconnect SERVER", "end its session; its tools are gone until it is connected again"),
    ("/mcp reconnect SERVER", "end its session and begin another"),
    ("/mcp auth SERVER", "log in with the browser"),
    ("/mcp debug SERVER", "show what goes over its connections, or stop showing it"),
    ("/model [REF]", "the models, or another one from the next message on"),
    ("/code", "the last snippet, and the generated API that it uses"),
    ("/prompts", "prompts that servers offer"),
    ("/prompt NAME [KEY=VALUE …]", "fill one in and send it"),
    ("/quit", "leave"),
    ("Ctrl-C", "give the answer up; twice at the prompt, or Ctrl-D: leave"),
];

/// First words of commands.
const NAMES: [&str; 8] = ["/help", "/mcp", "/model", "/code", "/prompts", "/prompt", "/quit", "/exit"];

/// Second words after `/mcp`.
const ACTIONS: [&str; 7] = ["status", "list-tools", "connect", "disconnect", "reconnect", "auth", "debug"];

/// How alike a word must be to be taken for a slip (Jaro-Winkler).
const ALIKE: f64 = 0.75;

/// The command that was typed; `None` where it is a message for the model.
///
/// # Errors
/// What is wrong with it, and what may be meant.
pub(crate) fn parse(text: &str) -> Option<Result<Command, String>> {
    let text = text.trim();
    let first = text.split_whitespace().next()?;
    // A path is no command.
    let is_command = first.strip_prefix('/').is_some_and(|name| {
        name.is_empty() || name.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-')
    });
    if !is_command || text.contains('\n') {
        return None;
    }
    Some(words(text).and_then(|words| command(&words)))
}

fn command(words: &[String]) -> Result<Command, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["/help" | "/"] => Ok(Command::Help),
        ["/quit" | "/exit"] => Ok(Command::Quit),
        ["/code"] => Ok(Command::Code),
        ["/prompts"] => Ok(Command::Prompts),
        ["/model"] => Ok(Command::Model(None)),
        ["/model", name] => Ok(Command::Model(Some((*name).to_owned()))),
        ["/mcp", rest @ ..] => servers(rest).map(Command::Servers),
        ["/prompt", name, arguments @ ..] => {
            let pair = |argument: &&str| {
                let pair = argument.split_once('=').filter(|(key, _)| !key.is_empty());
                let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
                pair.ok_or_else(|| format!("{argument:?} is not KEY=VALUE"))
            };
            let arguments = arguments.iter().map(pair).collect::<Result<_, _>>()?;
            Ok(Command::Prompt { name: (*name).to_owned(), arguments })
        }
        ["/prompt"] => Err("which prompt? /prompts lists them".to_owned()),
        [known, ..] if NAMES.contains(known) => Err(format!("{known} takes no more words than /help shows")),
        [unknown, ..] => Err(format!("there is no command {unknown}{}", meant(unknown, NAMES))),
        [] => Ok(Command::Help),
    }
}

fn servers(words: &[&str]) -> Result<Servers, String> {
    let action = |name: &str, server: &str| {
        let server = server.to_owned();
        Some(match name {
            "connect" => Servers::Connect(server),
            "disconnect" => Servers::Disconnect(server),
            "reconnect" => Servers::Reconnect(server),
            "auth" => Servers::Login(server),
            "debug" => Servers::Debug(server),
            _ => return None,
        })
    };
    match words {
        [] | ["status"] => Ok(Servers::Status),
        ["list-tools"] => Ok(Servers::Tools(None)),
        ["list-tools", server] => Ok(Servers::Tools(Some((*server).to_owned()))),
        ["status", server] => Ok(Servers::Details((*server).to_owned())),
        [name] if ACTIONS.contains(name) => Err(format!("which server? type /mcp {name} SERVER")),
        [server] => Ok(Servers::Details((*server).to_owned())),
        [name, server] => action(name, server)
            .ok_or_else(|| format!("there is no command /mcp {name}{}", meant(name, ACTIONS))),
        [name, ..] => Err(format!("/mcp {name} takes one server")),
    }
}

/// The name that a slip may stand for, in words.
pub(crate) fn meant<'a>(slip: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let alike = names.into_iter().map(|name| (strsim::jaro_winkler(slip, name), name));
    let nearest =
        alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map_or_else(|| "; /help lists them".to_owned(), |(_, name)| format!("; did you mean {name}?"))
}

/// Words, of which some may stand in quotes.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in text.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a {open} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Command {
        parse(text).unwrap().unwrap()
    }

    fn wrong(text: &str) -> String {
        parse(text).unwrap().unwrap_err()
    }

    #[test]
    fn commands_are_told_from_messages() {
        for message in ["hello", "", "/etc/passwd is what?", "what is /mcp", "/help\nme"] {
            assert_eq!(parse(message), None, "{message:?}");
        }
        assert_eq!(parsed(" /help "), Command::Help);
        assert_eq!(parsed("/exit"), Command::Quit);
        assert_eq!(parsed("/model fast"), Command::Model(Some("fast".to_owned())));
        assert_eq!(parsed("/mcp"), Command::Servers(Servers::Status));
        assert_eq!(parsed("/mcp shop"), Command::Servers(Servers::Details("shop".to_owned())));
        assert_eq!(parsed("/mcp list-tools"), Command::Servers(Servers::Tools(None)));
        assert_eq!(parsed("/mcp reconnect shop"), Command::Servers(Servers::Reconnect("shop".to_owned())));
    }

    #[test]
    fn arguments_of_prompts_may_have_spaces() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let arguments = vec![pair("text", "a b=c"), pair("style", ""), pair("who", "it's")];
        assert_eq!(
            parsed(r#"/prompt review text="a b=c" style= who="it's""#),
            Command::Prompt { name: "review".to_owned(), arguments }
        );
        assert!(wrong("/prompt review text").contains("KEY=VALUE"));
        assert!(wrong("/prompt review \"text=a").contains("not closed"));
    }

    #[test]
    fn a_slip_is_answered_with_what_may_be_meant() {
        assert_eq!(wrong("/hlep"), "there is no command /hlep; did you mean /help?");
        assert_eq!(
            wrong("/mcp recconect shop"),
            "there is no command /mcp recconect; did you mean reconnect?"
        );
        assert_eq!(wrong("/xyzzy"), "there is no command /xyzzy; /help lists them");
        assert_eq!(wrong("/mcp auth"), "which server? type /mcp auth SERVER");
        assert!(wrong("/quit now").contains("takes no more words"));
    }
}
