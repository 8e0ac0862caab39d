//! The command-line options of serving.

use std::net::SocketAddr;

use config::LoadOptions;
use gateway::failure::Failure;

use crate::http::Token;

/// How a server is started.
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
}

impl ServeOptions {
    /// The token that HTTP clients must send.
    ///
    /// # Errors
    /// If one is required and missing, or invalid.
    pub(crate) fn token(&self) -> Result<Option<Token>, Failure> {
        let token = self.http.map(|address| Token::of(address, self.token_variable.as_deref()));
        Ok(token.transpose()?.flatten())
    }
}
