//! A login with a code that the user enters in a browser on any machine (RFC 8628).

use std::time::Duration;

use http::{Request, Response, StatusCode};
use reqwest::Url;
use rmcp::transport::auth::{AuthError, AuthorizationMetadata, OAuthTokenResponse};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use url::form_urlencoded::Serializer;

use super::{
    Authorizer,
    answer::{Formed, Purpose, formed},
    bounded::is_confidential,
    consent::{CLIENT_NAME, Consent, scopes},
    exchange::{EXCHANGE_TIMEOUT, within},
    failure::{EXCERPT_BYTES, explained},
    secret_members::learn_members,
    store::Client,
    token_request::{FORM, request, resource},
};
use crate::{http::failure::HttpFailure, text::shown};

/// The grant's name (RFC 8628, section 3.4).
pub(super) const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The time between two questions, if the server names none, and by how much it grows when the server asks for it
/// (RFC 8628, sections 3.2 and 3.5).
const INTERVAL: Duration = Duration::from_secs(5);

/// Limit on that time: a server must not make the user wait for longer after the consent.
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// Limit on the time in which the user enters the code, whatever the server says.
const MAX_LIFETIME: Duration = Duration::from_secs(1800);

/// The longest code that is shown, in characters: people type it.
const MAX_CODE: usize = 64;

/// A login that waits for the user.
pub(super) struct DeviceLogin<'a> {
    authorizer: &'a Authorizer,
    metadata: AuthorizationMetadata,
    client: Client,
    codes: Codes,
    began: Instant,
}

/// The answer to the first request (RFC 8628, section 3.2).
#[derive(Deserialize)]
struct Codes {
    device_code: String,
    user_code: String,
    // Some servers write `url`.
    #[serde(alias = "verification_url")]
    verification_uri: String,
    #[serde(alias = "verification_url_complete")]
    verification_uri_complete: Option<String>,
    expires_in: Option<f64>,
    interval: Option<f64>,
}

/// The server's answer to the question whether the user has agreed.
enum Answer {
    Tokens(Box<OAuthTokenResponse>),
    Pending,
    SlowDown,
}

impl<'a> DeviceLogin<'a> {
    /// Requests a code. `None` if the authorization server does not offer this grant. `header` is the challenge of the
    /// rejected request.
    pub(super) async fn prepare(
        authorizer: &'a Authorizer,
        header: Option<&str>,
    ) -> Result<Option<Self>, HttpFailure> {
        let wrong = |error: AuthError| explained(&error, &authorizer.refusal);
        let (manager, metadata) = authorizer.manager(header).await.map_err(wrong)?;
        let Some(endpoint) = endpoint(&metadata) else { return Ok(None) };
        check(authorizer, &endpoint)?;
        let scopes = scopes(authorizer, &manager, &metadata, header).await;
        let Some(client) = client(authorizer, &metadata, &scopes).await? else { return Ok(None) };
        let (resource, scope) = (resource(&authorizer.url), scopes.join(" "));
        let scope = Some(("scope", scope.as_str())).filter(|(_, scope)| !scope.is_empty());
        let fields = [("resource", resource.as_str())].into_iter().chain(scope);
        let began = Instant::now();
        let request = request(&endpoint, FORM, form(fields, &client))?;
        let codes = codes(&send(authorizer, request).await?)?;
        Ok(Some(DeviceLogin { authorizer, metadata, client, codes, began }))
    }

    /// Returns where the user agrees, and with which code.
    pub(super) fn consent(&self) -> Consent {
        Consent::Code {
            address: self.codes.verification_uri.clone(),
            code: self.codes.user_code.clone(),
            complete: self.codes.verification_uri_complete.clone(),
        }
    }

    /// Waits until the user has agreed, and stores the tokens.
    ///
    /// # Errors
    /// If the user declines, or takes longer than the code is valid.
    pub(super) async fn finish(&self) -> Result<(), HttpFailure> {
        let seconds = |number: f64| Duration::try_from_secs_f64(number).ok();
        let lifetime = self.codes.expires_in.and_then(seconds).unwrap_or(MAX_LIFETIME).min(MAX_LIFETIME);
        let mut interval = self.codes.interval.and_then(seconds).unwrap_or(INTERVAL).min(MAX_INTERVAL);
        while self.began.elapsed() < lifetime {
            sleep(interval).await;
            match within(Instant::now() + EXCHANGE_TIMEOUT, self.ask()).await? {
                Answer::Tokens(tokens) => return self.store(*tokens).await,
                Answer::Pending => {}
                Answer::SlowDown => interval = (interval + INTERVAL).min(MAX_INTERVAL),
            }
        }
        let seconds = lifetime.as_secs();
        Err(HttpFailure::OAuth(format!("the code was not entered within {seconds} s; try again")))
    }

    /// Asks for the tokens once (RFC 8628, sections 3.4 and 3.5).
    async fn ask(&self) -> Result<Answer, HttpFailure> {
        let resource = resource(&self.authorizer.url);
        let fields =
            [("grant_type", GRANT), ("device_code", &self.codes.device_code), ("resource", &resource)];
        let request = request(&self.metadata.token_endpoint, FORM, form(fields, &self.client))?;
        let response = post(self.authorizer, request, Purpose::Token).await?;
        if response.status() == StatusCode::OK {
            let tokens = serde_json::from_slice(response.body());
            return tokens.map(Answer::Tokens).map_err(|error| self.refused(error.to_string()));
        }
        let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        match body["error"].as_str().unwrap_or_default() {
            // A server that is not available for a moment ends no login.
            "authorization_pending" | "temporarily_unavailable" => Ok(Answer::Pending),
            "slow_down" => Ok(Answer::SlowDown),
            "access_denied" => Err(HttpFailure::OAuth("the user has declined the login".to_owned())),
            "expired_token" => Err(HttpFailure::OAuth("the code has expired; try again".to_owned())),
            other => Err(self.refused(other.to_owned())),
        }
    }

    fn refused(&self, words: String) -> HttpFailure {
        explained(&AuthError::TokenExchangeFailed(words), &self.authorizer.refusal)
    }

    /// Stores the tokens with their client and the metadata of their issuer.
    async fn store(&self, tokens: OAuthTokenResponse) -> Result<(), HttpFailure> {
        let saving = self.authorizer.store.with(self.client.clone(), self.metadata.clone());
        saving.keep(tokens).await.map_err(|error| HttpFailure::OAuth(error.to_string()))
    }
}

/// The endpoint for codes, if the server offers this grant (RFC 8628, section 4).
fn endpoint(metadata: &AuthorizationMetadata) -> Option<String> {
    metadata.additional_fields.get("device_authorization_endpoint")?.as_str().map(str::to_owned)
}

fn check(authorizer: &Authorizer, endpoint: &str) -> Result<(), HttpFailure> {
    if Url::parse(endpoint).is_ok_and(|url| is_confidential(&url, &authorizer.url)) {
        return Ok(());
    }
    Err(HttpFailure::OAuth(
        "the endpoint of its authorization server for codes is not an https URL, so nothing is sent there"
            .to_owned(),
    ))
}

/// The client: the configured one, a metadata document, or one that is registered for this grant. `None` if the server
/// registers no clients.
async fn client(
    authorizer: &Authorizer,
    metadata: &AuthorizationMetadata,
    scopes: &[String],
) -> Result<Option<Client>, HttpFailure> {
    if let Some(known) = authorizer.known_client(metadata, String::new()) {
        return Ok(Some(known));
    }
    let Some(endpoint) = &metadata.registration_endpoint else { return Ok(None) };
    let mut wanted = json!({
        "client_name": CLIENT_NAME,
        "redirect_uris": [],
        "grant_types": [GRANT, "refresh_token"],
        "response_types": [],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    if !scopes.is_empty() {
        wanted["scope"] = json!(scopes.join(" "));
    }
    let request = request(endpoint, "application/json", wanted.to_string())?;
    let response = post(authorizer, request, Purpose::Registration).await?;
    if response.status() != StatusCode::OK {
        // Some servers register no client without a redirect; there is another way to log in.
        return Ok(None);
    }
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    learn_members(&answer);
    let text = |name: &str| answer[name].as_str().map(str::to_owned);
    Ok(text("client_id").map(|id| Client { id, secret: text("client_secret"), redirect_uri: String::new() }))
}

/// Writes a form with these fields, and the client with its secret (RFC 6749, section 2.3.1).
fn form<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>, client: &Client) -> String {
    let mut form = Serializer::new(String::new());
    form.extend_pairs(fields).append_pair("client_id", &client.id);
    if let Some(secret) = &client.secret {
        form.append_pair("client_secret", secret);
    }
    form.finish()
}

/// Sends a request. Each has its own limits, because the user may take as long as the code is valid.
async fn send(authorizer: &Authorizer, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, HttpFailure> {
    let client = authorizer.client().map_err(|error| HttpFailure::OAuth(error.to_string()))?;
    let sent = client.send(request, false).await;
    sent.map_err(|error| explained(&AuthError::AuthorizationFailed(error.to_string()), &authorizer.refusal))
}

/// Sends a request whose answer has OAuth's form, and keeps why it was not granted.
async fn post(
    authorizer: &Authorizer,
    request: Request<Vec<u8>>,
    purpose: Purpose,
) -> Result<Response<Vec<u8>>, HttpFailure> {
    let Formed { response, refusal } = formed(send(authorizer, request).await?, purpose);
    authorizer.refusal.set(refusal);
    Ok(response)
}

/// Reads the codes. What is shown to the user is bounded, and only a web page is visited.
fn codes(response: &Response<Vec<u8>>) -> Result<Codes, HttpFailure> {
    let wrong = |what: &str| {
        HttpFailure::OAuth(format!("its authorization server answered the request for a code with {what}"))
    };
    if !response.status().is_success() {
        let words = shown(String::from_utf8_lossy(response.body()).trim(), EXCERPT_BYTES);
        return Err(wrong(&format!("HTTP {}: {words}", response.status().as_u16())));
    }
    let answer: Value = strict_json::from_slice(response.body()).map_err(|_| wrong("no valid JSON"))?;
    learn_members(&answer);
    // The parser's message could quote a code.
    let codes = Codes::deserialize(answer).map_err(|_| wrong("an answer that lacks members"))?;
    let is_page =
        |address: &str| Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let addresses = [Some(&codes.verification_uri), codes.verification_uri_complete.as_ref()];
    if !addresses.into_iter().flatten().all(|address| is_page(address)) {
        return Err(wrong("an address that is not a web page"));
    }
    if codes.user_code.is_empty() || codes.user_code.chars().count() > MAX_CODE {
        return Err(wrong("a code that nobody can type"));
    }
    Ok(codes)
}
