//! Parses commands for the console, which begin with `/` and are not sent to the model.

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Servers(Servers),
    /// Lists the models, or switches to one.
    Model(Option<String>),
    /// Shows the last snippet and the API it uses.
    Code,
    Prompts,
    /// Lists the resources that have all words of the query.
    Resources(String),
    /// Shows a resource.
    Resource(String),
    /// Fills in a prompt of a server and sends it.
    Prompt {
        name: String,
        arguments: Vec<(String, String)>,
    },
    Quit,
}

/// A `/mcp` command.
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

/// The commands with their usage and description.
pub(crate) const HELP: [(&str, &str); 17] = [
    ("/help", "show this list"),
    ("/mcp, /mcp status", "list the servers and their state"),
    ("/mcp SERVER", "show the details of a server"),
    ("/mcp list-tools [SERVER]", "list tools and their permissions"),
    ("/mcp connect SERVER", "connect, also to a server that was disconnected or has failed"),
    ("/mcp disconnect SERVER", "close its session; its tools are unavailable until /mcp connect"),
    ("/mcp reconnect SERVER", "close its session and open a new one"),
    ("/mcp auth SERVER", "log in with the browser"),
    ("/mcp debug SERVER", "show its traffic, or stop showing it"),
    ("/model [REF]", "list the models, or switch to one from the next message on"),
    ("/code", "show the last snippet and the generated API it uses"),
    ("/prompts", "list the servers' prompts"),
    ("/prompt NAME [KEY=VALUE …]", "fill in a prompt and send it"),
    ("/resources [WORDS]", "list the servers' resources and templates, or those with these words"),
    ("/resource URI", "show a resource"),
    ("/quit", "leave"),
    ("Ctrl-C", "cancel the answer; twice at the prompt, or Ctrl-D: leave"),
];

/// The first words of commands.
const NAMES: [&str; 10] =
    ["/help", "/mcp", "/model", "/code", "/prompts", "/prompt", "/resources", "/resource", "/quit", "/exit"];

/// The second words after `/mcp`.
const ACTIONS: [&str; 7] = ["status", "list-tools", "connect", "disconnect", "reconnect", "auth", "debug"];

/// Minimum similarity of a word to a name for a suggestion (Jaro-Winkler).
const MIN_SIMILARITY: f64 = 0.8;

/// The reason why a text is not a command, with a suggestion if possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandError {
    /// A quotation mark has no second one.
    #[error("a {0} is not closed")]
    Unclosed(char),
    /// No command has this name; with the name that it may mean.
    #[error("there is no command {0}{suggestion}", suggestion = suggestion(*.1))]
    Unknown(String, Option<&'static str>),
    /// The command has other arguments.
    #[error("{0} has wrong arguments; /help shows its usage")]
    Arguments(String),
    /// An argument of a prompt has another form.
    #[error("{0:?} is not KEY=VALUE")]
    PromptArgument(String),
    /// `/prompt` names no prompt.
    #[error("which prompt? /prompts lists them")]
    NoPrompt,
    /// `/resource` names no resource.
    #[error("which resource? /resources lists them")]
    NoResource,
    /// A `/mcp` command names no server.
    #[error("which server? type /mcp {0} SERVER")]
    NoServer(String),
    /// A `/mcp` command names several servers.
    #[error("/mcp {0} takes one server")]
    SeveralServers(String),
}

/// Parses a command; returns `None` for a message to the model.
///
/// # Errors
/// If the command is unknown, or its arguments are wrong.
pub(crate) fn parse(text: &str) -> Option<Result<Command, CommandError>> {
    let text = text.trim();
    let first = text.split_whitespace().next()?;
    // A path is not a command.
    let is_command = first.strip_prefix('/').is_some_and(|name| {
        name.is_empty() || name.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-')
    });
    if !is_command || text.contains('\n') {
        return None;
    }
    Some(words(text).and_then(|words| command(&words)))
}

fn command(words: &[String]) -> Result<Command, CommandError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["/help" | "/"] => Ok(Command::Help),
        ["/quit" | "/exit"] => Ok(Command::Quit),
        ["/code"] => Ok(Command::Code),
        ["/prompts"] => Ok(Command::Prompts),
        ["/resources", words @ ..] => Ok(Command::Resources(words.join(" "))),
        ["/resource", uri] => Ok(Command::Resource((*uri).to_owned())),
        ["/resource"] => Err(CommandError::NoResource),
        ["/model"] => Ok(Command::Model(None)),
        ["/model", name] => Ok(Command::Model(Some((*name).to_owned()))),
        ["/mcp", rest @ ..] => servers(rest).map(Command::Servers),
        ["/prompt", name, arguments @ ..] => {
            let pair = |argument: &&str| {
                let pair = argument.split_once('=').filter(|(key, _)| !key.is_empty());
                let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
                pair.ok_or_else(|| CommandError::PromptArgument((*argument).to_owned()))
            };
            let arguments = arguments.iter().map(pair).collect::<Result<_, _>>()?;
            Ok(Command::Prompt { name: (*name).to_owned(), arguments })
        }
        ["/prompt"] => Err(CommandError::NoPrompt),
        [known, ..] if NAMES.contains(known) => Err(CommandError::Arguments((*known).to_owned())),
        [unknown, ..] => Err(CommandError::Unknown((*unknown).to_owned(), nearest(unknown, NAMES))),
        [] => Ok(Command::Help),
    }
}

fn servers(words: &[&str]) -> Result<Servers, CommandError> {
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
        ["list-tools" | "tools"] => Ok(Servers::Tools(None)),
        ["list-tools" | "tools", server] => Ok(Servers::Tools(Some((*server).to_owned()))),
        ["status", server] => Ok(Servers::Details((*server).to_owned())),
        [name] if ACTIONS.contains(name) => Err(CommandError::NoServer((*name).to_owned())),
        [server] => Ok(Servers::Details((*server).to_owned())),
        [name, server] => action(name, server)
            .ok_or_else(|| CommandError::Unknown(format!("/mcp {name}"), nearest(name, ACTIONS))),
        [name, ..] => Err(CommandError::SeveralServers((*name).to_owned())),
    }
}

/// The name that a mistyped word may mean.
pub(crate) fn nearest<'a>(typo: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = names.into_iter().map(|name| (strsim::jaro_winkler(typo, name), name));
    let nearest = alike
        .filter(|(alike, _)| *alike >= MIN_SIMILARITY)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(_, name)| name)
}

/// Suggests a remedy for an unknown command.
fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| "; /help lists them".to_owned(), |name| format!("; did you mean {name}?"))
}

/// Splits a text into words, which may be quoted.
fn words(text: &str) -> Result<Vec<String>, CommandError> {
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
        return Err(CommandError::Unclosed(open));
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
        parse(text).unwrap().unwrap_err().to_string()
    }

    #[test]
    fn commands_are_distinguished_from_messages() {
        for message in ["hello", "", "/etc/passwd is what?", "what is /mcp", "/help\nme"] {
            assert_eq!(parse(message), None, "{message:?}");
        }
        assert_eq!(parsed(" /help "), Command::Help);
        assert_eq!(parsed("/exit"), Command::Quit);
        assert_eq!(parsed("/model fast"), Command::Model(Some("fast".to_owned())));
        assert_eq!(parsed("/mcp"), Command::Servers(Servers::Status));
        assert_eq!(parsed("/mcp shop"), Command::Servers(Servers::Details("shop".to_owned())));
        assert_eq!(parsed("/mcp list-tools"), Command::Servers(Servers::Tools(None)));
        assert_eq!(parsed("/resources a b"), Command::Resources("a b".to_owned()));
        assert_eq!(parsed("/resource x://y"), Command::Resource("x://y".to_owned()));
        assert_eq!(wrong("/resource"), "which resource? /resources lists them");
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
    fn errors_suggest_the_command_that_may_be_meant() {
        assert_eq!(wrong("/hlep"), "there is no command /hlep; did you mean /help?");
        assert_eq!(
            wrong("/mcp recconect shop"),
            "there is no command /mcp recconect; did you mean reconnect?"
        );
        assert_eq!(wrong("/xyzzy"), "there is no command /xyzzy; /help lists them");
        assert_eq!(wrong("/mcp auth"), "which server? type /mcp auth SERVER");
        assert!(wrong("/quit now").contains("wrong arguments"));
    }
}
