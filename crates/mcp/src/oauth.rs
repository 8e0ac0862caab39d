//! Tokens for remote servers (MCP, basic/authorization): which one a request carries, and how a new one is obtained.
//!
//! The protocol library discovers, registers and exchanges; this module decides when, with which data, and for which
//! server. A token is stored with the URL it was issued for and sent nowhere else, and renewed only with the client and
//! at the authorization server that issued it.

mod answer;
mod bounded;
mod callback;
mod client_key;
mod client_metadata;
mod consent;
mod device;
mod exchange;
mod failure;
mod login;
mod network;
mod refusal;
pub mod rehearsal;
mod secret_members;
mod store;
mod token_exchange;
mod token_request;

use std::{sync::Arc, time::Duration};

use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
};
use tokio::{
    sync::{Mutex, OnceCell},
    time::{Instant, timeout},
};

pub use client_metadata::{ClientMetadata, check_metadata_address};
pub use consent::{Browser, Consent};
pub use exchange::{exchanges_are_under_way, exchanges_end};
pub use login::{KeptLogin, LOGIN_TIMEOUT, kept_login, login, logout};

use self::{
    answer::Lenient,
    bounded::{Bounded, LIMITS, Limits, Transport as OAuthTransport, is_confidential},
    client_key::{ASSERTION_TYPE, ClientKey},
    exchange::{EXCHANGE_TIMEOUT, Exchange, Means, NO_TOKEN, carried, within},
    failure::failure,
    network::Network,
    refusal::LastRefusal,
    store::{Client, Record, Store},
    token_request::{TokenRequest, resource},
};
use crate::{
    http::failure::HttpFailure,
    secrets::{learn, learn_header},
    server_config::{Grant, OAuth, ServerConfig},
};

/// Provides the tokens for requests to one server.
pub(crate) struct Authorizer {
    url: Url,
    settings: OAuth,
    store: Store,
    /// Sends requests to authorization servers, instead of the network.
    transport: Option<Arc<dyn OAuthTransport>>,
    /// Limits on those requests.
    limits: Limits,
    /// The authorization server's answer when it last refused a request.
    refusal: LastRefusal,
    /// Serialises renewals: each holds this lock to its end.
    known: Arc<Mutex<Known>>,
    /// Whether the server publishes how to log in, once that was needed.
    published: OnceCell<bool>,
}

/// Time limit for finding out whether a server publishes how to log in.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Learns the configured and stored secrets of a server before it is connected: other servers may know them, and its
/// configuration may be shown to the user.
pub fn learn_secrets(config: &ServerConfig) {
    let Some(remote) = config.transport.remote() else { return };
    remote.headers.iter().for_each(|(name, value)| learn_header(name, value));
    let Some(oauth) = &remote.oauth else { return };
    [&oauth.client_secret, &oauth.private_key].into_iter().flatten().for_each(|secret| learn(secret));
    if let Some(file) = &oauth.store {
        store::learn_file(file);
    }
}

/// Where the tokens for a server are. All sessions of a user whose token is exchanged have the same.
#[derive(Clone)]
struct Tokens {
    store: Store,
    /// Serialises renewals.
    known: Arc<Mutex<Known>>,
}

/// The known state of the tokens.
#[derive(Default)]
struct Known {
    /// The content of the file when last read; `None` before the first read.
    record: Option<Option<Record>>,
    /// The refresh token that the authorization server has rejected.
    dead: Option<String>,
}

/// The reason for renewing a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Renewal {
    /// It expires soon.
    Ahead,
    /// The server has rejected it.
    AfterRejection,
}

impl Known {
    /// Forgets the token if the server has rejected it and it can't be renewed.
    fn lose(&mut self, renewal: Renewal) {
        if renewal == Renewal::AfterRejection {
            self.record = Some(None);
        }
    }
}

/// The token of a request.
#[derive(Debug)]
pub(crate) struct SentToken {
    pub(crate) text: String,
    /// The reason why an expired token was not renewed, if the server rejects it.
    pub(crate) failure: Option<HttpFailure>,
}

impl Authorizer {
    /// Creates the authorizer for the server at `url`. Reads nothing yet.
    pub(crate) fn new(url: &Url, settings: &OAuth) -> Self {
        let own = || Tokens { store: Store::new(settings.store.clone(), url), known: Arc::default() };
        let tokens = match &settings.subject {
            Some(subject) if settings.effective_grant() == Grant::TokenExchange => {
                let exchanged = || Tokens { store: Store::new(None, url), known: Arc::default() };
                Tokens::clone(&subject.kept(&token_exchange::key(url, settings), exchanged))
            }
            _ => own(),
        };
        let Tokens { store, known } = tokens;
        if let Some(secret) = &settings.client_secret {
            learn(secret);
        }
        Self {
            url: url.clone(),
            settings: settings.clone(),
            store,
            transport: None,
            limits: LIMITS,
            refusal: LastRefusal::default(),
            known,
            published: OnceCell::new(),
        }
    }

    /// The token to send, if there is one; renewed first if it expires soon. The server has the last word on a token that
    /// seems expired here and can't be renewed.
    pub(crate) async fn token(self: &Arc<Self>) -> Result<Option<SentToken>, HttpFailure> {
        let (record, dead) = {
            let mut known = self.known.lock().await;
            let record = match &known.record {
                Some(record) => record.clone(),
                None => known.record.insert(self.stored().await?).clone(),
            };
            (record, known.dead.clone())
        };
        let Some(record) = record else {
            // A server that also answers without a token would not know whose call it is.
            let token = match self.grant() {
                Grant::TokenExchange => self.renewed(None, None, Renewal::Ahead).await?,
                Grant::AuthorizationCode | Grant::ClientCredentials => None,
            };
            return Ok(token.map(|text| SentToken { text, failure: None }));
        };
        let Some(token) = record.access_token() else { return Ok(None) };
        let sent = |text, failure| Ok(Some(SentToken { text, failure }));
        if !record.ends_soon() {
            return sent(token, None);
        }
        let refresh = record.refresh_token();
        if self.grant() == Grant::AuthorizationCode && (refresh.is_none() || refresh == dead) {
            // Only the user can log in, and may have done so in another process.
            let other = self.replacement(Some(&token)).await?;
            return sent(other.unwrap_or(token), None);
        }
        match self.renewed(Some(&token), None, Renewal::Ahead).await {
            Ok(fresh) => sent(fresh.unwrap_or(token), None),
            Err(failure) => {
                // Fails if the token may not be used with the settings.
                self.stored().await?;
                sent(token, Some(failure).filter(|_| record.has_ended()))
            }
        }
    }

    /// Whether users have their own tokens, or none yet, so that nobody can log in for all.
    pub(crate) fn exchanges(&self) -> bool {
        self.settings.grant == Grant::TokenExchange
    }

    /// The grant that obtains tokens.
    fn grant(&self) -> Grant {
        self.settings.effective_grant()
    }

    /// The stored tokens of the server.
    ///
    /// # Errors
    /// If they were obtained with other settings, or can't be read.
    async fn stored(&self) -> Result<Option<Record>, HttpFailure> {
        let record = self.store.read().await?;
        if let Some(record) = &record {
            record.check(&self.settings)?;
        }
        Ok(record)
    }

    /// Returns a token other than the `rejected` one, if that is possible without the user: one that another process
    /// has obtained, or a new one.
    pub(crate) async fn renew(
        self: &Arc<Self>,
        rejected: Option<&str>,
        challenge: Option<&str>,
    ) -> Result<Option<String>, HttpFailure> {
        self.renewed(rejected, challenge, Renewal::AfterRejection).await
    }

    async fn renewed(
        self: &Arc<Self>,
        rejected: Option<&str>,
        challenge: Option<&str>,
        renewal: Renewal,
    ) -> Result<Option<String>, HttpFailure> {
        let mut known = self.known.clone().lock_owned().await;
        let needs_user = self.grant() == Grant::AuthorizationCode;
        if needs_user && self.store.read().await?.is_none() {
            // Nothing to renew, so no lock is needed.
            known.record = Some(None);
            return Ok(None);
        }
        let held = self.store.hold().await?;
        let stored = self.stored().await?;
        if let Some(token) = other(stored.as_ref(), rejected) {
            known.record = Some(stored);
            return Ok(Some(token));
        }
        let deadline = Instant::now() + EXCHANGE_TIMEOUT;
        let tried = stored.as_ref().and_then(Record::refresh_token);
        let exchange = match (self.grant(), stored) {
            (Grant::ClientCredentials, _) => Some(within(deadline, self.by_credentials(challenge)).await?),
            (Grant::TokenExchange, _) => Some(within(deadline, self.by_exchange(challenge)).await?),
            (Grant::AuthorizationCode, Some(record)) if tried.is_some() && tried != known.dead => {
                within(deadline, self.by_refresh(record, challenge)).await?
            }
            (Grant::AuthorizationCode, _) => None,
        };
        let Some(exchange) = exchange else {
            known.lose(renewal);
            return Ok(None);
        };
        let this = Arc::clone(self);
        let renewal = async move {
            // No other process renews before the result is stored.
            let _held = held;
            let renewed = within(deadline, exchange.make()).await?;
            if !renewed {
                known.dead = tried;
                known.lose(renewal);
                return Ok(None);
            }
            let record = this.stored().await?;
            let token = record.as_ref().and_then(Record::access_token);
            known.record = Some(record);
            Ok(token)
        };
        carried(renewal).await
    }

    /// Returns a token other than the `rejected` one, if another process has obtained one.
    pub(crate) async fn replacement(&self, rejected: Option<&str>) -> Result<Option<String>, HttpFailure> {
        let mut known = self.known.lock().await;
        let stored = self.stored().await?;
        let token = other(stored.as_ref(), rejected);
        if token.is_some() {
            known.record = Some(stored);
        }
        Ok(token)
    }

    /// Prepares a renewal by a refresh token; returns `None` if there is no authorization server for it.
    async fn by_refresh(
        &self,
        record: Record,
        challenge: Option<&str>,
    ) -> Result<Option<Exchange>, HttpFailure> {
        let manager = match self.manager(challenge).await {
            Ok(manager) => manager,
            // Without metadata, the authorization server is unknown.
            Err(AuthError::NoAuthorizationSupport) => return Ok(None),
            Err(error) => return Err(failure("its token can't be renewed", &error, &self.refusal)),
        };
        let (mut manager, metadata) = manager;
        if !record.is_from(&metadata) {
            // The token must not be sent to an authorization server other than its issuer.
            return Ok(None);
        }
        let client = record.client.clone();
        manager.set_credential_store(self.store.with(client.clone(), metadata));
        let configured = manager.configure_client(client.config());
        configured.map_err(|error| failure("its token can't be renewed", &error, &self.refusal))?;
        Ok(Some(Exchange { by: Means::RefreshToken(Box::new(manager)), refusal: self.refusal.clone() }))
    }

    /// Obtains a token for the client itself, even if one is stored: the user has requested it.
    pub(crate) async fn log_in_by_credentials(&self, challenge: Option<&str>) -> Result<(), HttpFailure> {
        let held = self.store.hold().await?;
        let deadline = Instant::now() + EXCHANGE_TIMEOUT;
        let exchange = within(deadline, self.by_credentials(challenge)).await?;
        let login = async move {
            let _held = held;
            within(deadline, exchange.make()).await
        };
        carried(login).await.map(drop)
    }

    /// Prepares to obtain a token for the client itself.
    async fn by_credentials(&self, challenge: Option<&str>) -> Result<Exchange, HttpFailure> {
        let settings = &self.settings;
        let missing = "the grant client_credentials needs `oauth.client_id`, and `oauth.client_secret` or \
                       `oauth.private_key`";
        let missing = || HttpFailure::OAuth(missing.to_owned());
        let id = settings.client_id.as_ref().ok_or_else(missing)?;
        let key = ClientKey::of(settings)?;
        let wrong = |error: AuthError| failure(NO_TOKEN, &error, &self.refusal);
        let (mut manager, metadata) = self.manager(challenge).await.map_err(wrong)?;
        let scopes = match &settings.scope {
            Some(scope) => scope.split_whitespace().map(str::to_owned).collect(),
            None => manager.select_initial_scopes(&[]).await,
        };
        let client = Client { id: id.clone(), secret: None, redirect_uri: String::new() };
        let refusal = self.refusal.clone();
        if let Some(key) = key {
            let request = self.signed(&key, client, metadata, &scopes)?;
            return Ok(Exchange {
                by: Means::Request { request: Box::new(request), without: NO_TOKEN },
                refusal,
            });
        }
        let credentials = ClientCredentialsConfig::ClientSecret {
            client_id: id.clone(),
            client_secret: settings.client_secret.clone().ok_or_else(missing)?,
            scopes,
            resource: Some(resource(&self.url)),
        };
        manager.set_credential_store(self.store.with(client, metadata));
        manager.configure_client_credentials(&credentials).map_err(wrong)?;
        Ok(Exchange { by: Means::Credentials(Box::new(manager), credentials), refusal })
    }

    /// Prepares to exchange the user's token for one of the server.
    async fn by_exchange(&self, challenge: Option<&str>) -> Result<Exchange, HttpFailure> {
        let settings = &self.settings;
        let shown = token_exchange::shown(settings)?;
        let without = token_exchange::NO_TOKEN;
        let wrong = |error: AuthError| failure(without, &error, &self.refusal);
        let (manager, metadata) = self.manager(challenge).await.map_err(wrong)?;
        let scope = match &settings.scope {
            Some(scope) => scope.clone(),
            None => manager.select_initial_scopes(&[]).await.join(" "),
        };
        let http = self.client().map_err(|error| HttpFailure::OAuth(error.to_string()))?;
        let parts =
            token_exchange::Parts { url: &self.url, settings, shown, scope, metadata, store: &self.store };
        let request = Box::new(parts.request(http, self.refusal.clone())?);
        Ok(Exchange { by: Means::Request { request, without }, refusal: self.refusal.clone() })
    }

    /// The request for a token with an assertion that the client's key signs. The assertion names the client, so the
    /// request does not (RFC 7521, section 4.2).
    fn signed(
        &self,
        key: &ClientKey,
        client: Client,
        metadata: AuthorizationMetadata,
        scopes: &[String],
    ) -> Result<TokenRequest, HttpFailure> {
        // Without metadata, the endpoint is the only name of the authorization server (RFC 7523, section 3).
        let audience = metadata.issuer.as_ref().unwrap_or(&metadata.token_endpoint);
        let supported = metadata.additional_fields.get("token_endpoint_auth_signing_alg_values_supported");
        let assertion = key.assertion(&client.id, audience, supported)?;
        let (resource, scope) = (resource(&self.url), scopes.join(" "));
        let mut fields = vec![
            ("grant_type", "client_credentials"),
            ("client_assertion_type", ASSERTION_TYPE),
            ("client_assertion", assertion.as_str()),
            ("resource", resource.as_str()),
        ];
        if !scope.is_empty() {
            fields.push(("scope", &scope));
        }
        let http = self.client().map_err(|error| HttpFailure::OAuth(error.to_string()))?;
        let endpoint = metadata.token_endpoint.clone();
        let saving = self.store.with(client, metadata);
        TokenRequest::new(http, &endpoint, &fields, saving, self.refusal.clone())
    }

    /// Whether the server publishes how to log in, or the configuration says it; asked once. A failure to find out
    /// counts as yes: the login itself reports it.
    pub(crate) async fn is_login_published(&self, challenge: Option<&str>) -> bool {
        let is_named = challenge.is_some_and(|header| header.contains("resource_metadata"));
        if is_named || self.settings.token_url.is_some() {
            return true;
        }
        let find = async {
            let found = timeout(DISCOVERY_TIMEOUT, self.manager(challenge)).await;
            !matches!(found, Ok(Err(AuthError::NoAuthorizationSupport)))
        };
        *self.published.get_or_init(|| find).await
    }

    /// The token endpoint of the stored tokens.
    async fn token_endpoint(&self) -> Option<String> {
        let record = self.store.read().await.ok().flatten()?;
        Some(record.token_endpoint().to_owned())
    }

    /// A client for the requests of one login, renewal or logout.
    fn client(&self) -> reqwest::Result<Bounded> {
        let transport: Arc<dyn OAuthTransport> = match &self.transport {
            Some(transport) => Arc::clone(transport),
            None => Arc::new(Network::new(&self.url)?),
        };
        Ok(Bounded::new(transport, &self.url, self.refusal.clone(), self.limits))
    }

    /// A manager for the authorization server: discovered, with the configured endpoints overriding others.
    async fn manager(
        &self,
        challenge: Option<&str>,
    ) -> Result<(AuthorizationManager, AuthorizationMetadata), AuthError> {
        let inner = self.client().map_err(|error| AuthError::InternalError(error.to_string()))?;
        let http = Arc::new(Lenient { inner: Arc::new(inner), refusal: self.refusal.clone() });
        let mut manager = AuthorizationManager::new_with_oauth_http_client(self.url.clone(), http).await?;
        let OAuth { authorization_url, token_url, registration_url, .. } = &self.settings;
        let is_given = token_url.is_some();
        let mut metadata = match manager.resolve_metadata_from_challenge(challenge).await {
            Ok(found) if found.source.is_discovered() => found.metadata,
            // The configured endpoints are enough.
            Ok(_) | Err(_) if is_given => {
                self.refusal.set(None);
                AuthorizationMetadata::default()
            }
            Ok(_) => return Err(AuthError::NoAuthorizationSupport),
            Err(error) => return Err(error),
        };
        if let Some(url) = token_url {
            metadata.token_endpoint.clone_from(url);
            // The type requires one, though not every grant uses it.
            if metadata.authorization_endpoint.is_empty() {
                metadata.authorization_endpoint.clone_from(url);
            }
        }
        if let Some(url) = authorization_url {
            metadata.authorization_endpoint.clone_from(url);
        }
        if let Some(url) = registration_url {
            metadata.registration_endpoint = Some(url.clone());
        }
        self.check_endpoints(&metadata)?;
        manager.set_metadata(metadata.clone());
        Ok((manager, metadata))
    }

    /// Endpoints that receive a code, a secret or a token must use TLS (MCP, basic/authorization, "Communication
    /// Security"), except between loopback addresses.
    fn check_endpoints(&self, metadata: &AuthorizationMetadata) -> Result<(), AuthError> {
        let endpoints = [
            ("authorization", Some(&metadata.authorization_endpoint)),
            ("token", Some(&metadata.token_endpoint)),
            ("registration", metadata.registration_endpoint.as_ref()),
        ];
        for (name, endpoint) in endpoints {
            let is_safe =
                |endpoint: &String| Url::parse(endpoint).is_ok_and(|url| is_confidential(&url, &self.url));
            if endpoint.is_some_and(|endpoint| !is_safe(endpoint)) {
                return Err(AuthError::MetadataError(format!(
                    "the {name} endpoint of its authorization server is not an https URL, so nothing is sent there; \
                     configure another one under `oauth`"
                )));
            }
        }
        Ok(())
    }
}

/// The token of a record, if it is not the rejected one and does not expire soon.
fn other(record: Option<&Record>, rejected: Option<&str>) -> Option<String> {
    let token = record.filter(|record| !record.ends_soon()).and_then(Record::access_token);
    token.filter(|token| rejected != Some(token.as_str()))
}

#[cfg(test)]
mod tests;
