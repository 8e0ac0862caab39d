//! Requests for tokens that the protocol library does not make: each is sent once, and its answer is stored.

use http::{Request, StatusCode, header::CONTENT_TYPE};
use reqwest::Url;
use rmcp::transport::auth::AuthError;
use url::form_urlencoded::Serializer;

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
        let tokens = serde_json::from_slice(response.body()).map_err(|error| refused(error.to_string()))?;
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
