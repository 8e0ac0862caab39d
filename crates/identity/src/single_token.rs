//! The bearer token of clients (RFC 6750).

use std::sync::Arc;

use report::{Kind, Report};

/// Minimum length of a token in characters: shorter ones can be guessed.
const SHORTEST: usize = 16;

/// The token that clients must send.
#[derive(Clone)]
pub struct SingleToken(Arc<str>);

impl SingleToken {
    /// The trimmed value of the variable.
    ///
    /// # Errors
    /// If it is missing or invalid.
    pub fn of(variable: &str) -> Result<Self, Report> {
        let value = std::env::var(variable).map_err(|_| {
            Report::new(
                Kind::CommandLine,
                format!("the variable {variable}, which --token-env names, is not set"),
            )
            .hint("set it to a token")
        })?;
        SingleToken::checked(variable, value.trim())
    }

    fn checked(variable: &str, token: &str) -> Result<Self, Report> {
        let wrong = |what: &str| {
            Report::new(Kind::CommandLine, format!("the variable {variable} {what}"))
                .hint("use another token, for example from: openssl rand -hex 32")
        };
        if token.len() < SHORTEST {
            return Err(wrong(&format!("has fewer than {SHORTEST} characters, which can be guessed")));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("has characters that a header can't contain: spaces, line ends, or non-ASCII"));
        }
        Ok(SingleToken(Arc::from(token)))
    }

    /// A fixed token, without checks.
    pub fn fixed(token: &str) -> Self {
        SingleToken(Arc::from(token))
    }

    /// The token itself, which must not be shown.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Compares tokens in constant time: both are hashed first, and hashes of this kind are compared in constant time.
    pub fn is(&self, shown: &str) -> bool {
        blake3::hash(self.0.as_bytes()) == blake3::hash(shown.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_must_be_hard_to_guess_and_fit_a_header() {
        for wrong in ["", "short", "0123456789 abcdef0", "0123456789abcdef\u{e4}", "0123456789\nabcdef0"] {
            assert!(SingleToken::checked("X", wrong).is_err(), "{wrong}");
        }
    }
}
