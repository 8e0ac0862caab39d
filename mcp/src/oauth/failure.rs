//! What went wrong with an authorization server, in one line that holds no secrets.

use rmcp::transport::auth::AuthError;

use super::secret_members::learn_members;
use crate::{
    http::{HttpFailure, chain},
    text::shown,
};

/// How much of an authorization server's words is told, in bytes.
pub(super) const TOLD_BYTES: usize = 400;

pub(super) fn failure(what: &str, error: &AuthError) -> HttpFailure {
    HttpFailure::OAuth(format!("{what}: {}", explain(error)))
}

/// What went wrong, in one line.
pub(super) fn explain(error: &AuthError) -> String {
    let advice = match error {
        AuthError::NoAuthorizationSupport => {
            return "the server publishes nothing on how to log in; if it wants a key, configure it under `headers`, \
                    else its endpoints under `oauth`"
                .to_owned();
        }
        // The parser's own words could quote a token.
        AuthError::TokenExchangeFailed(reason) | AuthError::TokenRefreshFailed(reason)
            if reason.contains("invalid type") || reason.contains("invalid value") =>
        {
            return "its authorization server's answer is no token response".to_owned();
        }
        AuthError::RegistrationFailed(_) => "; register a client by hand and configure `oauth.client_id`",
        _ => "",
    };
    let text = error.to_string();
    // An answer that is quoted may hold what it was not to give.
    let answer = text.find('{').and_then(|start| text.get(start..)).map(serde_json::from_str);
    answer.into_iter().flatten().for_each(|answer| learn_members(&answer));
    format!("{}{advice}", shown(&chain(error), TOLD_BYTES))
}
