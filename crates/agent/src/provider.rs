//! Models behind the APIs of providers: sends a request, reads the streamed reply, and retries after temporary
//! failures. genai implements the wire formats; the modules below handle what it does not cover.

mod conversation;
mod failure;
mod reply;
mod request;
mod retry;
mod retry_after;
mod stream_events;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use genai::adapter::AdapterKind;
use genai::chat::ChatStreamEvent;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::header::HeaderValue;
use tokio::time::{Instant, sleep, timeout_at};

use self::failure::Failure;
use self::stream_events::StreamEvents;
use crate::model::{ChatModel, Delta, DeltaSink, ModelError, ModelErrorKind, Reply, Request};
use crate::settings::{Api, ModelSettings};

/// Time limit for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The key sent to endpoints that need none: the requests of the APIs require one.
const NO_KEY: &str = "none";

/// A model behind the API of a provider.
pub struct Provider {
    settings: ModelSettings,
    client: Client,
    target: ServiceTarget,
}

/// An error in the settings of a model.
#[derive(Debug, thiserror::Error)]
#[error("the model {model}: {kind}")]
pub struct SettingsError {
    /// The model's name.
    pub model: String,
    /// The kind of error.
    #[source]
    pub kind: SettingsErrorKind,
}

/// The kind of error in the settings of a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsErrorKind {
    /// The provider's API needs a key.
    #[error("it has no key; set api_key_env to the name of the environment variable that contains it")]
    NoKey,
    /// The key can't be sent.
    #[error("its key has characters that are not allowed in HTTP headers")]
    Key,
    /// The base URL is not a URL.
    #[error("its base_url is invalid: {0}")]
    BaseUrl(#[source] <Url as FromStr>::Err),
    /// The base URL has another scheme.
    #[error("its base_url has the scheme `{0}`; only http and https are supported")]
    Scheme(String),
    /// The base URL has parts that requests can't keep.
    #[error("its base_url has a query or a fragment; leave it out")]
    QueryOrFragment,
    /// There is no HTTP client.
    #[error("cannot create an HTTP client: {0}")]
    Http(#[from] reqwest::Error),
    /// There is no client for the API.
    #[error("cannot create a client")]
    Client(#[source] Box<genai::Error>),
}

impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Provider").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Provider {
    /// Creates a model from its settings.
    ///
    /// # Errors
    /// Returns an error if the settings are invalid.
    pub fn new(settings: ModelSettings) -> Result<Self, SettingsError> {
        let (client, target) =
            connection(&settings).map_err(|kind| SettingsError { model: settings.name.clone(), kind })?;
        Ok(Provider { settings, client, target })
    }

    /// Sends the request until there is a reply, a permanent failure, or no time left.
    async fn ask(&self, request: &Request<'_>, sink: &dyn DeltaSink) -> Result<Reply, Failure> {
        let deadline = Instant::now() + self.settings.timeout;
        let mut attempt = 1;
        loop {
            let failure = match timeout_at(deadline, self.attempt(request, sink)).await {
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(failure)) => failure,
                Err(_) => return Err(Failure::timeout(self.settings.timeout)),
            };
            let wait = retry::wait(&failure, attempt, self.settings.retries)?;
            if Instant::now() + wait >= deadline {
                return Err(failure.after(attempt));
            }
            let why = self.without_key(&failure.message);
            sink.delta(Delta::Retry { attempt, wait, why: &why });
            sleep(wait).await;
            attempt += 1;
        }
    }

    /// Sends the request once, and reads the whole reply.
    async fn attempt(&self, request: &Request<'_>, sink: &dyn DeltaSink) -> Result<Reply, Failure> {
        let frames = Arc::new(StreamEvents::default());
        let options = request::options(&self.settings, request.tools, Arc::clone(&frames));
        let chat = request::chat(&self.settings, request);
        let answer = self.client.exec_chat_stream(self.target.clone(), chat, Some(&options)).await;
        let mut events = answer.map_err(|error| Failure::of(&error))?.stream;
        let mut signatures = Vec::new();
        while let Some(event) = events.next().await {
            frames.check()?;
            match event.map_err(|error| frames.blocked().unwrap_or_else(|| Failure::of(&error)))? {
                ChatStreamEvent::Chunk(chunk) => sink.delta(Delta::Text(&chunk.content)),
                ChatStreamEvent::ReasoningChunk(chunk) => sink.delta(Delta::Thinking(&chunk.content)),
                // Only Gemini signs calls, and sends each in one piece.
                ChatStreamEvent::ToolCallChunk(chunk) if self.settings.api == Api::Gemini => {
                    signatures.push(chunk.tool_call.thought_signatures.unwrap_or_default());
                }
                ChatStreamEvent::End(end) => {
                    return reply::of(self.settings.api, end, &signatures, &frames, request.messages);
                }
                _ => {}
            }
        }
        frames.check()?;
        Err(frames.cut())
    }

    /// Masks the key in a text.
    fn without_key(&self, text: &str) -> String {
        match self.settings.key.as_deref().map(str::trim) {
            Some(key) if !key.is_empty() => text.replace(key, "***"),
            _ => text.to_owned(),
        }
    }
}

impl ChatModel for Provider {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn reply<'a>(
        &'a self,
        request: &'a Request<'a>,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        async move {
            self.ask(request, sink).await.map_err(|failure| {
                let mut message = self.without_key(&failure.message);
                if failure.kind == ModelErrorKind::Unauthorized && self.settings.key.is_none() {
                    message += " (no key was sent: api_key_env is not set)";
                }
                ModelError { model: self.settings.name.clone(), kind: failure.kind, message }
            })
        }
        .boxed()
    }
}

/// The client and the address for a model's requests.
fn connection(settings: &ModelSettings) -> Result<(Client, ServiceTarget), SettingsErrorKind> {
    let key = match settings.key.as_deref().map(str::trim) {
        None | Some("") if settings.base_url.is_none() => return Err(SettingsErrorKind::NoKey),
        None | Some("") => NO_KEY,
        Some(key) => key,
    };
    if HeaderValue::from_str(key).is_err() {
        return Err(SettingsErrorKind::Key);
    }
    let endpoint = endpoint(settings.api, settings.base_url.as_deref())?;
    let client = Client::builder()
        .with_reqwest(http()?)
        .build()
        .map_err(|error| SettingsErrorKind::Client(Box::new(error)))?;
    let model = ModelIden::new(adapter(settings.api), settings.id.as_str());
    Ok((client, ServiceTarget { endpoint, auth: AuthData::from_single(key), model }))
}

fn adapter(api: Api) -> AdapterKind {
    match api {
        Api::Anthropic => AdapterKind::Anthropic,
        Api::OpenAi => AdapterKind::OpenAI,
        Api::OpenAiResponses => AdapterKind::OpenAIResp,
        Api::Gemini => AdapterKind::Gemini,
    }
}

/// The base URL for paths: it ends in a slash.
fn endpoint(api: Api, base: Option<&str>) -> Result<Endpoint, SettingsErrorKind> {
    let Some(base) = base else {
        return Ok(Endpoint::from_static(match api {
            Api::Anthropic => "https://api.anthropic.com/v1/",
            Api::OpenAi | Api::OpenAiResponses => "https://api.openai.com/v1/",
            Api::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
        }));
    };
    let url = Url::parse(base.trim()).map_err(SettingsErrorKind::BaseUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(SettingsErrorKind::Scheme(url.scheme().to_owned()));
    }
    // Only the APIs of OpenAI are reached by joining URLs, which keeps a query at the end.
    if url.query().is_some() && !matches!(api, Api::OpenAi | Api::OpenAiResponses) || url.fragment().is_some()
    {
        return Err(SettingsErrorKind::QueryOrFragment);
    }
    let mut url = url;
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(Endpoint::from_owned(url.as_str()))
}

/// Follows no redirects, which could send the headers with keys to another server.
fn http() -> Result<reqwest::Client, reqwest::Error> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_end_in_a_slash_and_have_a_supported_scheme() {
        let of = |api, base| endpoint(api, Some(base)).map(|endpoint| endpoint.base_url().to_owned());
        assert_eq!(of(Api::OpenAi, "http://127.0.0.1:1/v1").unwrap(), "http://127.0.0.1:1/v1/");
        assert_eq!(of(Api::OpenAi, "http://a/v1/?version=2").unwrap(), "http://a/v1/?version=2");
        assert_eq!(of(Api::Gemini, "https://a").unwrap(), "https://a/");
        assert!(matches!(of(Api::Gemini, "https://a/?b"), Err(SettingsErrorKind::QueryOrFragment)));
        assert!(
            matches!(of(Api::Anthropic, "ftp://a/"), Err(SettingsErrorKind::Scheme(ftp)) if ftp == "ftp")
        );
        assert!(matches!(of(Api::Anthropic, "nothing"), Err(SettingsErrorKind::BaseUrl(_))));
    }
}
