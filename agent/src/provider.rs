//! Models behind the APIs of providers: a request is sent, its answer heard as it comes, and failures that pass are
//! tried again. The forms on the wire are genai's; what it leaves open stands in the modules below.

mod conversation;
mod failure;
mod reply;
mod request;
mod retry;
mod retry_after;
mod stream_events;

use std::fmt;
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

/// Longest time until a connection stands; whoever does not answer by then will not.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Stands for the key of endpoints that need none: the APIs' requests have a place for one.
const NO_KEY: &str = "none";

/// A model behind the API of a provider.
pub struct Provider {
    settings: ModelSettings,
    client: Client,
    target: ServiceTarget,
}

impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Provider").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Provider {
    /// A model that can be asked.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn new(settings: ModelSettings) -> Result<Self, String> {
        let wrong = |what: &str| format!("the model {}: {what}", settings.name);
        let key = match settings.key.as_deref().map(str::trim) {
            None | Some("") if settings.base_url.is_none() => {
                return Err(wrong(
                    "it has no key; name the environment variable that holds it in api_key_env",
                ));
            }
            None | Some("") => NO_KEY,
            Some(key) => key,
        };
        if HeaderValue::from_str(key).is_err() {
            return Err(wrong("its key has characters that no HTTP header can have"));
        }
        let endpoint = endpoint(settings.api, settings.base_url.as_deref()).map_err(|what| wrong(&what))?;
        let http = http().map_err(|error| wrong(&format!("an HTTP client can't be made: {error}")))?;
        let client =
            Client::builder().with_reqwest(http).build().map_err(|_| wrong("no client can be made"))?;
        let model = ModelIden::new(adapter(settings.api), settings.id.as_str());
        let target = ServiceTarget { endpoint, auth: AuthData::from_single(key), model };
        Ok(Provider { settings, client, target })
    }

    /// Asks until there is an answer, a failure that lasts, or no time left.
    async fn ask(&self, request: &Request<'_>, heard: &dyn DeltaSink) -> Result<Reply, Failure> {
        let deadline = Instant::now() + self.settings.timeout;
        let mut attempt = 1;
        loop {
            let failure = match timeout_at(deadline, self.attempt(request, heard)).await {
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(failure)) => failure,
                Err(_) => return Err(Failure::timeout(self.settings.timeout)),
            };
            let wait = retry::wait(&failure, attempt, self.settings.retries)?;
            if Instant::now() + wait >= deadline {
                return Err(failure.after(attempt));
            }
            let why = self.told(&failure.message);
            heard.delta(Delta::Retry { attempt, wait, why: &why });
            sleep(wait).await;
            attempt += 1;
        }
    }

    /// Sends the request once, and hears the answer to its end.
    async fn attempt(&self, request: &Request<'_>, heard: &dyn DeltaSink) -> Result<Reply, Failure> {
        let frames = Arc::new(StreamEvents::default());
        let options = request::options(&self.settings, request.tools, Arc::clone(&frames));
        let asked = request::chat(&self.settings, request);
        let answer = self.client.exec_chat_stream(self.target.clone(), asked, Some(&options)).await;
        let mut events = answer.map_err(|error| Failure::of(&error))?.stream;
        let mut signatures = Vec::new();
        while let Some(event) = events.next().await {
            frames.check()?;
            match event.map_err(|error| frames.blocked().unwrap_or_else(|| Failure::of(&error)))? {
                ChatStreamEvent::Chunk(chunk) => heard.delta(Delta::Text(&chunk.content)),
                ChatStreamEvent::ReasoningChunk(chunk) => heard.delta(Delta::Thinking(&chunk.content)),
                // Only Gemini signs calls, and tells each whole.
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

    /// A text without the key, whoever wrote it.
    fn told(&self, text: &str) -> String {
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
        heard: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        async move {
            self.ask(request, heard).await.map_err(|failure| {
                let mut message = self.told(&failure.message);
                if failure.kind == ModelErrorKind::Unauthorized && self.settings.key.is_none() {
                    message += " (no key was sent: api_key_env is not set)";
                }
                ModelError { model: self.settings.name.clone(), kind: failure.kind, message }
            })
        }
        .boxed()
    }
}

fn adapter(api: Api) -> AdapterKind {
    match api {
        Api::Anthropic => AdapterKind::Anthropic,
        Api::OpenAi => AdapterKind::OpenAI,
        Api::OpenAiResponses => AdapterKind::OpenAIResp,
        Api::Gemini => AdapterKind::Gemini,
    }
}

/// The address that paths are put behind: it ends in a slash.
fn endpoint(api: Api, base: Option<&str>) -> Result<Endpoint, String> {
    let Some(base) = base else {
        return Ok(Endpoint::from_static(match api {
            Api::Anthropic => "https://api.anthropic.com/v1/",
            Api::OpenAi | Api::OpenAiResponses => "https://api.openai.com/v1/",
            Api::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
        }));
    };
    let url = Url::parse(base.trim()).map_err(|error| format!("its base_url is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("its base_url has the scheme `{}`; only http and https are known", url.scheme()));
    }
    // Only the APIs of OpenAI are reached by joining addresses, which keeps a query at the end.
    if url.query().is_some() && !matches!(api, Api::OpenAi | Api::OpenAiResponses) || url.fragment().is_some()
    {
        return Err("its base_url has a query or a fragment; leave it out".to_owned());
    }
    let mut url = url;
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(Endpoint::from_owned(url.as_str()))
}

/// Keys stand in headers that a redirect could carry to anyone: none is followed.
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
    fn an_address_ends_in_a_slash_and_has_a_scheme_that_is_known() {
        let of = |api, base| endpoint(api, Some(base)).map(|endpoint| endpoint.base_url().to_owned());
        assert_eq!(of(Api::OpenAi, "http://127.0.0.1:1/v1").unwrap(), "http://127.0.0.1:1/v1/");
        assert_eq!(of(Api::OpenAi, "http://a/v1/?version=2").unwrap(), "http://a/v1/?version=2");
        assert_eq!(of(Api::Gemini, "https://a").unwrap(), "https://a/");
        assert!(of(Api::Gemini, "https://a/?b").unwrap_err().contains("leave it out"));
        assert!(of(Api::Anthropic, "ftp://a/").unwrap_err().contains("`ftp`"));
        assert!(of(Api::Anthropic, "nothing").is_err());
    }
}
