//! Reads the values of arguments; each error says what to write.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command};
use config::{InvalidValue, MAX_DESCRIPTION};

/// Maximum of a time limit, in seconds: a day.
const MAX_TIMEOUT: f64 = 86_400.0;

pub(super) fn seconds(text: &str) -> Result<Duration, InvalidValue> {
    let seconds: f64 = text.parse().map_err(|_| {
        InvalidValue(format!("{text:?} is not a number of seconds; write a number such as 90 or 0.5"))
    })?;
    if seconds > 0.0 && seconds <= MAX_TIMEOUT {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(InvalidValue(format!("{text} is out of range: more than 0, at most {MAX_TIMEOUT} seconds")))
    }
}

/// A time limit in which zero stands for none.
pub(super) fn seconds_or_none(text: &str) -> Result<Duration, InvalidValue> {
    match text.parse::<f64>() {
        Ok(0.0) => Ok(Duration::ZERO),
        _ => seconds(text),
    }
}

/// A SHA-256 hash.
pub(super) fn sha256(text: &str) -> Result<String, InvalidValue> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        Ok(text.to_owned())
    } else {
        Err(InvalidValue("write the 64 hexadecimal digits of the hash".to_owned()))
    }
}

/// An address to listen on.
pub(super) fn address(text: &str) -> Result<SocketAddr, InvalidValue> {
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
        InvalidValue(format!(
            "{text:?} is not an address; write the IP address and the port, such as 127.0.0.1:8080"
        ))
    })
}

pub(super) fn description_length(text: &str) -> Result<usize, InvalidValue> {
    let length = text.parse().map_err(|_| {
        InvalidValue(format!("{text:?} is not a number of characters; write a number such as 200"))
    })?;
    if length <= MAX_DESCRIPTION {
        Ok(length)
    } else {
        Err(InvalidValue(format!("{length} is too long; at most {MAX_DESCRIPTION}")))
    }
}

pub(super) fn server_name(text: &str) -> Result<String, config::InvalidServerName> {
    config::check_server_name(text).map(|()| text.to_owned())
}

pub(super) fn server_and_tool(text: &str) -> Result<(String, String), InvalidValue> {
    match text.split_once('.') {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            Ok((server.to_owned(), tool.to_owned()))
        }
        _ => Err(InvalidValue(format!(
            "{text:?} is not SERVER.TOOL; write the server's name, a dot and the tool's name, such as demo.list_orders"
        ))),
    }
}

/// Reads a name, `=` and a value. Its errors leave out the value, which may be a secret.
#[derive(Debug, Clone)]
pub(super) struct NameAndValue;

impl TypedValueParser for NameAndValue {
    type Value = (String, String);

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<(String, String), clap::Error> {
        let text = value.to_str().unwrap_or_default();
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) {
            return Ok((name.to_owned(), value.to_owned()));
        }
        // As headers are written elsewhere.
        let example = match text.split_once(':') {
            Some((name, _)) => format!("{name}=…"),
            None => "city=Uppsala".to_owned(),
        };
        let option = option.map(Arg::to_string).unwrap_or_default();
        let message =
            format!("`{option}` needs a name, `=` and a value; write them in one word, such as {example}");
        Err(clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_error_of_a_header_leaves_out_its_value() {
        for header in ["Authorization: Bearer sk-1234", "sk-1234", "=sk-1234"] {
            let words = ["toolsmith", "mcp", "add", "shop", "--url", "https://x.example", "--header", header];
            let command = crate::arguments::Arguments::command();
            let error = command.try_get_matches_from(words).unwrap_err().to_string();
            assert!(error.contains("--header <NAME=VALUE>") && !error.contains("sk-1234"), "{error}");
        }
    }
}
