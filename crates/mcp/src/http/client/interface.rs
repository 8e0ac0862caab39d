//! The client as the protocol library uses it.

use std::sync::Arc;

use reqwest::Method;
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::streamable_http_client::{
        AuthRequiredError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};

use super::{Events, Headers, HttpClient};
use crate::http::{
    HttpFailure,
    failure::Failed,
    headers::protocol_headers,
    messages::{Waiting, discover_id, is_initialized},
};

impl StreamableHttpClient for HttpClient {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let (posted, waiting) = match discover_id(&message) {
            Some(id) => (self.discover(&message, id, headers).await, Waiting::Session),
            None => (self.post(&message, session.as_deref(), headers).await, Waiting::of(&message)),
        };
        match posted {
            // The next request will show whether the server accepts the session.
            Err(StreamableHttpError::Client(failure))
                if is_initialized(&message) && failure.is_a_refusal() =>
            {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Err(StreamableHttpError::Client(failure)) => {
                self.fail(&waiting, failure.clone());
                Err(StreamableHttpError::Client(failure))
            }
            posted => posted,
        }
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        // Servers may refuse to end sessions (405); nothing else can be done about a failure.
        self.send(Method::DELETE, protocol_headers(headers, Some(&session), None), None, None).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failed> {
        match self.listen(session.as_deref(), last_event, headers).await {
            Err(StreamableHttpError::Client(HttpFailure::Unauthorized { challenge, .. })) => {
                // This makes the library stop retrying.
                Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge.unwrap_or_default())))
            }
            listened => listened,
        }
    }
}
