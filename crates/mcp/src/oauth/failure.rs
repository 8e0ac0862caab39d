//! Describes failures of an authorization server, in one line without secrets.

use rmcp::transport::auth::AuthError;

use super::{
    bounded::MAX_CANDIDATES,
    refusal::{LastRefusal, Refusal},
};
use crate::{
    http::failure::{HttpFailure, chain},
    text::shown,
};

/// Limit on quotes from an authorization server, in bytes.
pub(super) const EXCERPT_BYTES: usize = 400;

pub(super) fn failure(what: &str, error: &AuthError, refusal: &LastRefusal) -> HttpFailure {
    HttpFailure::OAuth(format!("{what}: {}", explain(error, refusal)))
}

/// A failure that needs no words before it.
pub(super) fn explained(error: &AuthError, refusal: &LastRefusal) -> HttpFailure {
    HttpFailure::OAuth(explain(error, refusal))
}

/// Describes a failure in one line: what was refused, or what the authorization server answered, if it did.
fn explain(error: &AuthError, refusal: &LastRefusal) -> String {
    let answered = match refusal.take() {
        Some(Refusal::Bounded(text)) => return shown(&text, EXCERPT_BYTES),
        Some(Refusal::Answered(text)) => Some(text),
        None => None,
    };
    let advice = match error {
        AuthError::NoAuthorizationSupport => {
            return "the server does not publish how to log in; if it requires a key, configure it under `headers`, \
                    otherwise configure its endpoints under `oauth`"
                .to_owned();
        }
        AuthError::AuthorizationServersUnavailable { authorization_servers: tried, .. } => {
            let tried = shown(&tried.join(", "), EXCERPT_BYTES);
            return format!(
                "no authorization server that its metadata names publishes how to log in (at most {MAX_CANDIDATES} are \
                 tried); configure the endpoints under `oauth`; tried: {tried}"
            );
        }
        AuthError::RegistrationFailed(_) => "; register a client by hand and configure `oauth.client_id`",
        _ => "",
    };
    let text = match (error, answered) {
        (AuthError::RegistrationFailed(_), Some(answer)) => {
            format!("its authorization server answered the registration with {answer}")
        }
        (
            AuthError::TokenExchangeFailed(_)
            | AuthError::TokenRefreshFailed(_)
            | AuthError::ClientCredentialsError(_),
            Some(answer),
        ) => {
            format!("its authorization server answered with {answer}")
        }
        (AuthError::TokenExchangeFailed(_) | AuthError::TokenRefreshFailed(_), None) => {
            without_quotes(&chain(error))
        }
        _ => chain(error),
    };
    format!("{}{advice}", shown(&text, EXCERPT_BYTES))
}

/// Leaves out what a text quotes. The library passes on the parser's message about a token response as text; a value
/// that it quotes may be a token.
fn without_quotes(text: &str) -> String {
    let is_quote = |c| matches!(c, '"' | '`');
    match (text.find(is_quote), text.rfind(is_quote)) {
        (Some(start), Some(end)) => format!("{}…{}", &text[..start], &text[end + 1..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::transport::auth::{AuthError, OAuthTokenResponse};

    use super::{super::refusal::LastRefusal, explain};

    #[test]
    fn values_in_a_token_response_are_not_quoted() {
        for response in [
            r#"{"access_token":"a","token_type":"bearer","expires_in":"s3\"cret"}"#,
            r#"{"access_token":73616,"token_type":"bearer"}"#,
            r#""s3cret""#,
        ] {
            let error = serde_json::from_str::<OAuthTokenResponse>(response).unwrap_err().to_string();
            assert!(error.contains("cret") || error.contains("73616"), "{error}");
            for error in [AuthError::TokenExchangeFailed(error.clone()), AuthError::TokenRefreshFailed(error)]
            {
                let shown = explain(&error, &LastRefusal::default());
                assert!(!shown.contains("cret") && !shown.contains("73616"), "{shown}");
                assert!(shown.starts_with("OAuth token") && shown.contains(" at line 1 column "), "{shown}");
            }
        }
        let refused =
            AuthError::TokenExchangeFailed("Server returned error response: invalid_grant".to_owned());
        assert_eq!(
            explain(&refused, &LastRefusal::default()),
            "OAuth token exchange failed: Server returned error response: invalid_grant"
        );
    }
}
