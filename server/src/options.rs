//! What a command line says of serving.

use std::net::SocketAddr;

use config::LoadOptions;
use gateway::failure::Failure;

use crate::http::Token;

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// Which configuration.
    pub load: LoadOptions,
    /// The address to serve at over streamable HTTP; without one, standard input and output.
    pub http: Option<SocketAddr>,
    /// The environment variable with the token that HTTP clients must show.
    pub token_variable: Option<String>,
    /// Tools that nobody is asked about: names or globs.
    pub allow: Vec<String>,
    /// Whether all that subagents tell of themselves is shown, not only its beginnings.
    pub verbose: bool,
    /// Whether notes and progress are left out.
    pub quiet: bool,
}

impl ServeOptions {
    /// The token that HTTP clients must show.
    ///
    /// # Errors
    /// Where one is needed and missing, or unfit.
    pub(crate) fn token(&self) -> Result<Option<Token>, Failure> {
        let token = self.http.map(|address| Token::of(address, self.token_variable.as_deref()));
        Ok(token.transpose()?.flatten())
    }
}
