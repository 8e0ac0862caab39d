//! Requests for tokens that the protocol library does not make: each is sent once, and its answer is stored.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{
    HeaderValue, Request, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use reqwest::Url;
use rmcp::transport::auth::{AuthError, OAuthTokenResponse};
use serde::Deserialize;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::{
    answer::{Formed, Purpose, formed},
    bounded::Bounded,
    refusal::LastRefusal,
    store::Saving,
};
use crate::http::failure::HttpFailure;

/// The content type of a form.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// A prepared request for tokens.
pub(super) struct TokenRequest {
    http: Bounded,
    request: Request<Vec<u8>>,
    saving: Saving,
    refusal: LastRefusal,
}

/// The types of tokens that are sent to servers (RFC 8693, section 3).
const ACCESS_TOKENS: [&str; 2] =
    ["urn:ietf:params:oauth:token-type:access_token", "urn:ietf:params:oauth:token-type:jwt"];

/// The member that says what the answer to an exchange grants (RFC 8693, section 2.2.1).
#[derive(Deserialize)]
struct Granted {
    issued_token_type: Option<String>,
}

impl TokenRequest {
    /// Prepares a request with these fields to the token endpoint. The tokens go to `saving`.
    pub(super) fn new(
        http: Bounded,
        endpoint: &str,
        fields: &[(&str, &str)],
        saving: Saving,
        refusal: LastRefusal,
    ) -> Result<Self, HttpFailure> {
        let mut form = Serializer::new(String::new());
        form.extend_pairs(fields);
        Ok(TokenRequest { http, request: request(endpoint, FORM, form.finish())?, saving, refusal })
    }

    /// Authenticates the client by its secret (RFC 6749, section 2.3.1: both parts are form-encoded first).
    pub(super) fn with_password(mut self, id: &str, secret: &str) -> Result<Self, HttpFailure> {
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
        let value = HeaderValue::try_from(format!("Basic {pair}"));
        let mut value = value.map_err(|error| HttpFailure::OAuth(error.to_string()))?;
        value.set_sensitive(true);
        self.request.headers_mut().insert(AUTHORIZATION, value);
        Ok(self)
    }

    /// Sends the request and stores the tokens.
    ///
    /// # Errors
    /// If the authorization server grants none. Its words are kept as the last refusal.
    pub(super) async fn make(&self) -> Result<(), AuthError> {
        let refused = |text: String| AuthError::TokenExchangeFailed(text);
        let sent = self.http.send(self.request.clone(), false).await;
        let answer = sent.map_err(|error| AuthError::AuthorizationFailed(error.to_string()))?;
        let Formed { response, refusal } = formed(answer, Purpose::Token);
        self.refusal.set(refusal);
        if response.status() != StatusCode::OK {
            return Err(refused(format!("HTTP {}", response.status().as_u16())));
        }
        let tokens: OAuthTokenResponse =
            serde_json::from_slice(response.body()).map_err(|error| refused(error.to_string()))?;
        // Such as `N_A` for what is no access token (RFC 8693, section 2.2.1).
        let members = serde_json::to_value(&tokens).unwrap_or_default();
        if !members["token_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")) {
            return Err(refused("the token that it grants is no bearer token".to_owned()));
        }
        let kind = serde_json::from_slice::<Granted>(response.body())
            .ok()
            .and_then(|granted| granted.issued_token_type);
        if kind.is_some_and(|kind| !ACCESS_TOKENS.contains(&kind.as_str())) {
            return Err(refused("the token that it grants is no access token".to_owned()));
        }
        self.saving.keep(tokens).await
    }
}

/// The address of a server, for which a token is requested (RFC 8707).
pub(super) fn resource(server: &Url) -> String {
    let mut resource = server.clone();
    resource.set_fragment(None);
    resource.to_string()
}

/// A POST request with this body.
pub(super) fn request(
    endpoint: &str,
    content_type: &str,
    body: String,
) -> Result<Request<Vec<u8>>, HttpFailure> {
    let request = Request::post(endpoint).header(CONTENT_TYPE, content_type).body(body.into_bytes());
    request.map_err(|error| HttpFailure::OAuth(error.to_string()))
}
