//! Describes failures of an authorization server, in one line without secrets.

use rmcp::transport::auth::AuthError;

use super::secret_members::learn_members;
use crate::{
    http::failure::{HttpFailure, chain},
    text::shown,
};

/// Limit on quotes from an authorization server, in bytes.
pub(super) const EXCERPT_BYTES: usize = 400;

pub(super) fn failure(what: &str, error: &AuthError) -> HttpFailure {
    HttpFailure::OAuth(format!("{what}: {}", explain(error)))
}

/// Describes a failure in one line.
pub(super) fn explain(error: &AuthError) -> String {
    let advice = match error {
        AuthError::NoAuthorizationSupport => {
            return "the server does not publish how to log in; if it requires a key, configure it under `headers`, \
                    otherwise configure its endpoints under `oauth`"
                .to_owned();
        }
        // The parser's message could quote a token.
        AuthError::TokenExchangeFailed(reason) | AuthError::TokenRefreshFailed(reason)
            if reason.contains("invalid type") || reason.contains("invalid value") =>
        {
            return "its authorization server's answer is not a token response".to_owned();
        }
        AuthError::RegistrationFailed(_) => "; register a client by hand and configure `oauth.client_id`",
        _ => "",
    };
    let text = error.to_string();
    // A quoted response may contain secrets.
    let answer = text.find('{').and_then(|start| text.get(start..)).map(serde_json::from_str);
    answer.into_iter().flatten().for_each(|answer| learn_members(&answer));
    format!("{}{advice}", shown(&chain(error), EXCERPT_BYTES))
}
