//! `toolsmith token`: creates and lists the tokens of users of `serve --http`. Only their hashes are in the configuration.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use config::{HASH_PREFIX, NamedToken};
use gateway::exit_code;
use gateway::failure::Failure;
use serde_json::{Value, json};
use system::calendar;
use system::random;
use terminal::Terminal;
use terminal::table::table;

use crate::arguments::{NewTokenArguments, TokenCommand, TokensArguments};

/// The first characters of a token, by which people and scanners for secrets recognize it.
const PREFIX: &str = "toolsmith_";

/// The number of random bytes in a token: too many to guess, so a fast hash protects it as well as a slow one.
const RANDOM: usize = 32;

/// Runs a command and returns the exit code.
pub(crate) async fn run(command: &TokenCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    match command {
        TokenCommand::New(arguments) => new(arguments, &terminal)?,
        TokenCommand::List(arguments) => list(arguments, &terminal)?,
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

fn new(arguments: &NewTokenArguments, terminal: &Terminal) -> Result<(), Failure> {
    let random = random::bytes::<RANDOM>().map_err(Failure::system)?;
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
    let hash = format!("{HASH_PREFIX}{}", blake3::hash(token.as_bytes()).to_hex());
    let mut entry = vec![("hash", json!(hash))];
    if !arguments.tools.is_empty() {
        entry.push(("tools", json!(arguments.tools)));
    }
    entry.extend(arguments.expires.as_ref().map(|day| ("expires", json!(day))));
    if arguments.output.json {
        let entry: serde_json::Map<String, Value> =
            entry.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let printed = json!({ "name": arguments.name, "token": token, "entry": entry });
        terminal.print_json(&printed.to_string());
        return Ok(());
    }
    // JSON values are YAML too.
    let entry: Vec<String> = entry.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    terminal.print(&token);
    terminal.print(&format!(
        "\n# The token above is shown only now. Add its entry to your own configuration, or to one that --config names:\n\
         serve:\n  tokens:\n    {}: {{ {} }}",
        json!(arguments.name),
        entry.join(", ")
    ));
    Ok(())
}

fn list(arguments: &TokensArguments, terminal: &Terminal) -> Result<(), Failure> {
    let config = execution::setup::configure(&arguments.place.options().without_untrusted())?;
    let tokens: Vec<(&String, &NamedToken)> = config.serve.tokens.iter().flatten().collect();
    let denied = |name: &String| config.serve.deny.subjects.contains(name);
    if arguments.output.json {
        let tokens: Vec<Value> = tokens
            .iter()
            .map(|(name, token)| {
                let tools = token.tools.as_ref().map(|tools| tools.iter().map(config::Glob::text).collect::<Vec<_>>());
                json!({ "name": name, "tools": tools, "expires": last_day(token), "state": state(token, denied(name)) })
            })
            .collect();
        terminal.print_json(&json!(tokens).to_string());
    } else if tokens.is_empty() {
        terminal.note("the configuration has no tokens; create one: toolsmith token new NAME");
    } else {
        let rows = tokens.iter().map(|(name, token)| {
            let tools = token
                .tools
                .as_ref()
                .map(|tools| tools.iter().map(config::Glob::text).collect::<Vec<_>>().join(", "));
            vec![
                (*name).clone(),
                tools.unwrap_or_else(|| "all".to_owned()),
                last_day(token).unwrap_or_else(|| "never".to_owned()),
                state(token, denied(name)).to_owned(),
            ]
        });
        terminal.print(&table(&["name", "tools", "expires", "state"], rows));
    }
    Ok(())
}

/// The last day on which a token is valid, if it expires.
fn last_day(token: &NamedToken) -> Option<String> {
    // It expires at the end of the day.
    let end = token.expires?.checked_sub(Duration::from_secs(1))?;
    Some(calendar::day(end))
}

fn state(token: &NamedToken, is_denied: bool) -> &'static str {
    match token.expires {
        _ if is_denied => "denied",
        Some(end) if end <= SystemTime::now() => "expired",
        _ => "valid",
    }
}
