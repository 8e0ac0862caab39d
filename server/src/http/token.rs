//! The bearer token of clients (RFC 6750).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, header};

use gateway::failure::Failure;

/// Minimum length of a token in characters: shorter ones can be guessed.
const SHORTEST: usize = 16;

/// The token that clients must send.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// The trimmed value of the variable. `None` without a variable, which is allowed only for loopback addresses.
    ///
    /// # Errors
    /// If a token is required and missing, or invalid.
    pub(crate) fn of(address: SocketAddr, variable: Option<&str>) -> Result<Option<Self>, Failure> {
        let Some(variable) = variable else {
            if address.ip().to_canonical().is_loopback() {
                return Ok(None);
            }
            let message =
                format!("{address} can be reached from other machines, and any client there could run code");
            return Err(
                Failure::command_line(message).hint("name a variable with a token: --token-env VARIABLE")
            );
        };
        let value = std::env::var(variable).map_err(|_| {
            Failure::command_line(format!("the variable {variable}, which --token-env names, is not set"))
                .hint("set it to a token")
        })?;
        Token::checked(variable, value.trim()).map(Some)
    }

    fn checked(variable: &str, token: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            Failure::command_line(format!("the variable {variable} {what}"))
                .hint("use another token, for example from: openssl rand -hex 32")
        };
        if token.len() < SHORTEST {
            return Err(wrong(&format!("has fewer than {SHORTEST} characters, which can be guessed")));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("has characters that a header can't contain: spaces, line ends, or non-ASCII"));
        }
        Ok(Token(Arc::from(token)))
    }

    /// A fixed token, without checks.
    pub(super) fn fixed(token: &str) -> Self {
        Token(Arc::from(token))
    }

    /// The token itself, which must not be shown.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }

    /// The challenge for a request without the token (RFC 6750, section 3); `None` if it has the token.
    pub(super) fn challenge(&self, headers: &HeaderMap) -> Option<&'static str> {
        if self.is_shown(headers) {
            return None;
        }
        let is_wrong = headers.contains_key(header::AUTHORIZATION);
        let wrong = "Bearer realm=\"toolsmith\", error=\"invalid_token\"";
        Some(if is_wrong { wrong } else { "Bearer realm=\"toolsmith\"" })
    }

    /// Whether a request has the token, exactly once.
    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let mut shown = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(shown), None) = (shown.next(), shown.next()) else { return false };
        let parts = shown.to_str().ok().and_then(|value| value.trim().split_once(' '));
        parts.is_some_and(|(scheme, shown)| scheme.eq_ignore_ascii_case("bearer") && self.is(shown.trim()))
    }

    /// Compares tokens in constant time: both are hashed first, and hashes of this kind are compared in constant time.
    fn is(&self, shown: &str) -> bool {
        blake3::hash(self.0.as_bytes()) == blake3::hash(shown.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn only_requests_with_the_exact_token_are_accepted() {
        let token = Token::checked("X", TOKEN).unwrap();
        let shows = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            token.is_shown(&headers)
        };
        for right in ["Bearer 0123456789abcdef", "bearer  0123456789abcdef ", "BEARER 0123456789abcdef"] {
            assert!(shows(&[right]), "{right}");
        }
        let wrong = [
            "",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcdeF",
        ];
        for wrong in wrong {
            assert!(!shows(&[wrong]), "{wrong}");
        }
        assert!(!shows(&[]) && !shows(&["Bearer 0123456789abcdef", "Bearer x"]));
    }

    #[test]
    fn a_token_must_be_hard_to_guess_and_fit_a_header() {
        for wrong in ["", "short", "0123456789 abcdef0", "0123456789abcdef\u{e4}", "0123456789\nabcdef0"] {
            assert!(Token::checked("X", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_loopback_addresses_need_no_token() {
        for own in ["127.0.0.1:1", "[::1]:1", "127.9.9.9:1", "[::ffff:127.0.0.1]:1"] {
            assert!(Token::of(own.parse().unwrap(), None).unwrap().is_none(), "{own}");
        }
        for open in ["0.0.0.0:1", "[::]:1", "192.168.1.5:1", "[fe80::1]:1"] {
            assert!(Token::of(open.parse().unwrap(), None).is_err(), "{open}");
        }
    }
}
