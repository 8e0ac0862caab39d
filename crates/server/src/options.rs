//! The command-line options of serving.

use std::net::SocketAddr;
use std::sync::Arc;

use config::{LoadOptions, Serve};
use gateway::failure::Failure;
use identity::SingleToken;

use crate::open_questions::OpenQuestions;

/// The options that a server is started with.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// Options for loading the configuration.
    pub load: LoadOptions,
    /// The address for streamable HTTP; `None` for standard input and output.
    pub http: Option<SocketAddr>,
    /// The environment variable with the token that HTTP clients must send.
    pub token_variable: Option<String>,
    /// Tools that are allowed without a question: names or globs.
    pub allow: Vec<String>,
    /// The open questions that the local page shows, if there is one.
    pub questions: Option<Arc<OpenQuestions>>,
}

impl ServeOptions {
    /// The token that HTTP clients must send.
    ///
    /// # Errors
    /// If its variable is missing or invalid.
    pub fn token(&self) -> Result<Option<SingleToken>, Failure> {
        let variable = self.token_variable.as_deref().filter(|_| self.http.is_some());
        Ok(variable.map(SingleToken::of).transpose()?)
    }

    /// Checks that only clients on this machine can do without a token.
    ///
    /// # Errors
    /// If other machines can reach the address, and nothing says who gets access.
    pub fn check_access(&self, serve: &Serve) -> Result<(), Failure> {
        let is_open = self.token_variable.is_none() && !identity::has_identities(serve);
        match self.http.filter(|address| is_open && !address.ip().to_canonical().is_loopback()) {
            None => Ok(()),
            Some(address) => Err(Failure::command_line(format!(
                "{address} can be reached from other machines, and any client there could run code"
            ))
            .hint("name a variable with a token: --token-env VARIABLE")
            .hint("or configure serve.auth or serve.tokens, so that each user has a token")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_loopback_addresses_need_no_token() {
        let check = |address: &str, variable: Option<&str>, serve: &Serve| {
            let options = ServeOptions {
                http: Some(address.parse().unwrap()),
                token_variable: variable.map(str::to_owned),
                ..ServeOptions::default()
            };
            options.check_access(serve).is_ok()
        };
        let tokens = Serve { tokens: Some(BTreeMap::new()), ..Serve::default() };
        for own in ["127.0.0.1:1", "[::1]:1", "127.9.9.9:1", "[::ffff:127.0.0.1]:1"] {
            assert!(check(own, None, &Serve::default()), "{own}");
        }
        for open in ["0.0.0.0:1", "[::]:1", "192.168.1.5:1", "[fe80::1]:1"] {
            assert!(!check(open, None, &Serve::default()), "{open}");
            assert!(check(open, Some("X"), &Serve::default()) && check(open, None, &tokens), "{open}");
        }
        assert!(ServeOptions::default().check_access(&Serve::default()).is_ok(), "standard input and output");
    }
}
