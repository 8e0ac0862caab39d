//! Login and logout: the user agrees in a browser, and the tokens are stored (RFC 6749, section 4.1, with PKCE; with
//! codes, `device.rs`).

use std::{future::Future, time::Duration};

use async_trait::async_trait;
use futures::FutureExt as _;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, InMemoryStateStore, StateStore,
    StoredAuthorizationState,
};
use tokio::time::{Instant, timeout};

use super::{
    Authorizer,
    callback::Callback,
    consent::{Browser, Consent, client, scopes},
    device::DeviceLogin,
    exchange::{EXCHANGE_TIMEOUT, carried, within},
    failure::{EXCERPT_BYTES, explained},
    refusal::LastRefusal,
    secret_members::SECRET_MEMBERS,
    store,
};
use crate::{
    error::{Challenge, Error, ErrorKind},
    http::failure::HttpFailure,
    keyring,
    secrets::learn,
    server_config::{Grant, ServerConfig, Transport},
    text::shown,
};

/// Time limit for the user to agree in the browser. A code has the limit of its authorization server.
pub const LOGIN_TIMEOUT: Duration = Duration::from_secs(300);

/// Obtains tokens for a server with the user's consent, and stores them in the configured file.
///
/// `open` shows the user how to agree. It may return the address to which the browser was redirected, if the user gives
/// it: a browser on another machine does not reach this process. With the `challenge` of a rejected request, its scopes
/// are requested in addition to those granted before.
///
/// # Errors
/// [`ErrorKind::Login`], with what to do: the server publishes no metadata, the authorization server refuses or can't
/// be trusted (issuer, state, PKCE), the user declines or takes longer than [`LOGIN_TIMEOUT`].
pub async fn login<O, F>(
    config: &ServerConfig,
    challenge: Option<&Challenge>,
    browser: Browser,
    open: O,
) -> Result<(), Error>
where
    O: FnOnce(Consent) -> F,
    F: Future<Output = Option<String>>,
{
    let config = &*keyring::resolved(config).await?;
    let fail = |reason: String| Error::new(&config.name, ErrorKind::Login { reason });
    let authorizer = authorizer(config)?;
    if authorizer.exchanges() {
        return Err(Error::new(&config.name, ErrorKind::NoSubject));
    }
    // Not after the user has logged in.
    authorizer.store.check_replaceable().await.map_err(|failure| fail(failure.to_string()))?;
    if authorizer.settings.grant == Grant::ClientCredentials {
        let logging_in = authorizer.log_in_by_credentials(challenge.and_then(Challenge::header));
        let done = Box::pin(logging_in).await;
        return done.map_err(|failure| fail(failure.to_string()));
    }
    let header = challenge.and_then(Challenge::header);
    if browser == Browser::Anywhere {
        let preparing = Box::pin(DeviceLogin::prepare(&authorizer, header));
        let prepared = within(Instant::now() + EXCHANGE_TIMEOUT, preparing).await;
        if let Some(login) = prepared.map_err(|failure| fail(failure.to_string()))? {
            let agreed = first(open(login.consent()).map(|_| None), Box::pin(login.finish())).await;
            return agreed.map_err(|failure| fail(failure.to_string()));
        }
    }
    let callback =
        Callback::bind().await.map_err(|error| fail(format!("cannot listen for the browser: {error}")))?;
    let preparing = Box::pin(async {
        Login::prepare(&authorizer, header, callback.redirect_uri())
            .await
            .map_err(|error| explained(&error, &authorizer.refusal))
    });
    let prepared = within(Instant::now() + EXCHANGE_TIMEOUT, preparing);
    let login = prepared.await.map_err(|failure| fail(failure.to_string()))?;
    let consent = Consent::Redirect { address: login.address.clone(), redirect: callback.redirect_uri() };
    let given = open(consent).map(|address| address.map(Ok));
    let came_back = timeout(LOGIN_TIMEOUT, first(given, callback.wait())).await;
    let address = match came_back {
        Ok(Ok(address)) => address,
        Ok(Err(error)) => return Err(fail(format!("the browser's redirect can't be read: {error}"))),
        Err(_) => {
            let seconds = LOGIN_TIMEOUT.as_secs();
            return Err(fail(format!("the browser did not return within {seconds} s; try again")));
        }
    };
    let deadline = Instant::now() + EXCHANGE_TIMEOUT;
    // A code can be exchanged only once.
    let finished = carried(async move { within(deadline, login.finish(&address)).await });
    finished.await.map_err(|failure| fail(failure.to_string()))
}

/// Deletes the tokens of a server, and asks its authorization server to revoke them. Returns whether there were any.
///
/// # Errors
/// [`ErrorKind::Login`] if the file with the tokens can't be removed. A failed revocation is not an error: the tokens
/// are removed from this machine all the same.
pub async fn logout(config: &ServerConfig) -> Result<bool, Error> {
    let authorizer = authorizer(config)?;
    let held = authorizer.store.hold().await;
    let record = authorizer.store.read().await.ok().flatten();
    let was_there = authorizer
        .store
        .forget()
        .await
        .map_err(|failure| Error::new(&config.name, ErrorKind::Login { reason: failure.to_string() }))?;
    drop(held);
    if let Some(record) = record
        && let Some(endpoint) = record.revocation_endpoint()
        && let Some(token) = record.refresh_token().or_else(|| record.access_token())
        && let Ok(client) = authorizer.client()
    {
        // RFC 7009, section 2.1.
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("token", &token).append_pair("client_id", &record.client.id);
        if let Some(secret) = &record.client.secret {
            form.append_pair("client_secret", secret);
        }
        let request = ::http::Request::post(endpoint)
            .header(reqwest::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.finish().into_bytes());
        if let Ok(request) = request {
            let _ = timeout(EXCHANGE_TIMEOUT, client.send(request, false)).await;
        }
    }
    Ok(was_there)
}

/// A login that is kept for a server. It has no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptLogin {
    /// When the access token expires, in seconds since 1970, if the authorization server said so.
    pub expires: Option<u64>,
    /// Whether an expired token is renewed without the user.
    pub is_renewed: bool,
}

/// The login that is kept for a server; `None` if there is none, or the server has no logins. Reads only the file, and
/// blocks on the disk.
///
/// # Errors
/// [`ErrorKind::Login`] if the file can't be read, or its tokens were issued with other settings.
pub fn kept_login(config: &ServerConfig) -> Result<Option<KeptLogin>, Error> {
    let (Transport::Http(remote) | Transport::Sse(remote)) = &config.transport else { return Ok(None) };
    let Some(settings) = &remote.oauth else { return Ok(None) };
    let Some(file) = &settings.store else { return Ok(None) };
    let fail = |reason: String| Error::new(&config.name, ErrorKind::Login { reason });
    let read = store::read(file).map_err(|error| {
        fail(format!("the file with its tokens, {}, can't be read: {error}", file.display()))
    })?;
    let Some(record) = read.filter(|record| record.is_for(&remote.url)) else { return Ok(None) };
    record.check(settings).map_err(|failure| fail(failure.to_string()))?;
    let is_renewed = record.refresh_token().is_some() || settings.grant != Grant::AuthorizationCode;
    Ok(record.access_token().map(|_| KeptLogin { expires: record.expires(), is_renewed }))
}

fn authorizer(config: &ServerConfig) -> Result<Authorizer, Error> {
    let fail = |kind: ErrorKind| Error::new(&config.name, kind);
    let login = |reason: String| fail(ErrorKind::Login { reason });
    let remote = match &config.transport {
        Transport::Http(remote) | Transport::Sse(remote) => remote,
        Transport::Stdio(_) | Transport::OpenApi(_) | Transport::InProcess(_) => {
            return Err(fail(ErrorKind::NoLogin));
        }
    };
    let url = Url::parse(&remote.url).map_err(|error| login(format!("its url is invalid: {error}")))?;
    let disabled = "its configuration disables login (`oauth: false`, or a header `Authorization`)";
    let settings = remote.oauth.as_ref().ok_or_else(|| login(disabled.to_owned()))?;
    Ok(Authorizer::new(&url, settings))
}

/// Returns what the user gives, or else what the other future waits for.
async fn first<T>(given: impl Future<Output = Option<T>>, waits: impl Future<Output = T>) -> T {
    let mut waits = std::pin::pin!(waits);
    tokio::select! {
        biased;
        outcome = &mut waits => outcome,
        given = given => match given {
            Some(given) => given,
            None => waits.await,
        },
    }
}

/// A login in progress.
pub(super) struct Login {
    manager: AuthorizationManager,
    address: String,
    /// Whether the metadata names the authorization server's issuer; configured endpoints have none.
    is_issuer_known: bool,
    refusal: LastRefusal,
}

impl Login {
    /// Discovers the authorization server and registers there. `header` is the challenge of the rejected request.
    pub(super) async fn prepare(
        authorizer: &Authorizer,
        header: Option<&str>,
        redirect_uri: String,
    ) -> Result<Self, AuthError> {
        let (mut manager, metadata) = authorizer.manager(header).await?;
        let scopes = scopes(authorizer, &manager, &metadata, header).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = client(authorizer, &mut manager, &metadata, redirect_uri, &scopes).await?;
        let is_issuer_known = metadata.issuer.is_some();
        manager.set_credential_store(authorizer.store.with(client.clone(), metadata));
        manager.set_state_store(States::default());
        manager.configure_client(client.config())?;
        let address = manager.get_authorization_url(&scopes).await?;
        let scheme = Url::parse(&address).map(|url| url.scheme().to_owned()).unwrap_or_default();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(AuthError::AuthorizationFailed(format!(
                "the authorization server's URL has the scheme `{scheme}`; only http and https are opened"
            )));
        }
        Ok(Self { manager, address, is_issuer_known, refusal: authorizer.refusal.clone() })
    }

    /// The URL at which the user agrees.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Exchanges the code in the redirect URL for tokens, and stores them.
    pub(super) async fn finish(&self, address: &str) -> Result<(), HttpFailure> {
        learn_redirect(address);
        if let Some(refusal) = refusal(address) {
            return Err(HttpFailure::OAuth(format!("the authorization server refuses: {refusal}")));
        }
        let callback = AuthorizationCallback::from_redirect_url(address)
            .map_err(|error| explained(&error, &self.refusal))?;
        let AuthorizationCallback { code, csrf_token, issuer, .. } = callback;
        let issuer = if self.is_issuer_known { issuer } else { self.unknown_issuer(issuer.as_deref())? };
        let exchanged =
            self.manager.exchange_code_for_token_with_issuer(&code, &csrf_token, issuer.as_deref()).await;
        match exchanged {
            Ok(_) => Ok(()),
            Err(AuthError::InternalError(_)) => Err(HttpFailure::OAuth(
                "the browser returned with a `state` that does not belong to this login, so its code was not used; \
                 try again, and do not trust the page that sent it"
                    .to_owned(),
            )),
            Err(error) => Err(explained(&error, &self.refusal)),
        }
    }

    /// Checks the issuer in a redirect against the configured authorization endpoint, because there is no metadata to
    /// compare it with (RFC 9207, section 2.4): both must have the same origin. Nothing is left to compare then.
    fn unknown_issuer(&self, issuer: Option<&str>) -> Result<Option<String>, HttpFailure> {
        let origin = |url: &str| Url::parse(url).map(|url| url.origin());
        match issuer {
            Some(issuer) if origin(issuer) != origin(&self.address) => Err(HttpFailure::OAuth(format!(
                "the browser returned from the authorization server {issuer}, which is not that of the configured \
                 `authorization_url`, so its code was not used"
            ))),
            _ => Ok(None),
        }
    }
}

/// Learns the secrets in a redirect URL.
fn learn_redirect(address: &str) {
    let Ok(url) = Url::parse(address) else { return };
    let secrets = url.query_pairs().filter(|(name, _)| SECRET_MEMBERS.contains(&name.as_ref()));
    secrets.for_each(|(_, value)| learn(&value));
}

/// The state of a login in progress. The verifier is learned as a secret at once. The `state` itself must appear in the
/// URL that the user visits, so it is learned only when the browser returns.
#[derive(Default)]
struct States(InMemoryStateStore);

#[async_trait]
impl StateStore for States {
    async fn save(&self, csrf_token: &str, state: StoredAuthorizationState) -> Result<(), AuthError> {
        learn(&state.pkce_verifier);
        self.0.save(csrf_token, state).await
    }

    async fn load(&self, csrf_token: &str) -> Result<Option<StoredAuthorizationState>, AuthError> {
        self.0.load(csrf_token).await
    }

    async fn delete(&self, csrf_token: &str) -> Result<(), AuthError> {
        self.0.delete(csrf_token).await
    }
}

/// The error that an authorization server sends instead of a code (RFC 6749, section 4.1.2.1).
fn refusal(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let find = |parameter: &str| {
        url.query_pairs().find(|(name, _)| name == parameter).map(|(_, value)| shown(&value, EXCERPT_BYTES))
    };
    let error = find("error")?;
    Some(find("error_description").map_or_else(|| error.clone(), |text| format!("{error} ({text})")))
}
