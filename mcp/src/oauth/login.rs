//! Logging in and out: a person agrees in a browser, and the tokens are kept (RFC 6749, section 4.1, with PKCE).

use std::{future::Future, time::Duration};

use async_trait::async_trait;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, InMemoryStateStore,
    StateStore, StoredAuthorizationState, WWWAuthenticateParams,
};
use tokio::time::{Instant, timeout};

use super::{
    Authorizer,
    callback::Callback,
    exchange::{EXCHANGE_TIMEOUT, carried, within},
    failure::{TOLD_BYTES, explain},
    is_confidential,
    secret_members::SECRET_MEMBERS,
    store::Client,
};
use crate::{
    error::{Challenge, Error, ErrorKind},
    http::{self, HttpFailure},
    secrets::learn,
    server_config::{Grant, OAuth, ServerConfig, Transport},
    text::shown,
};

/// How long a person may take to agree in the browser.
pub const LOGIN_TIMEOUT: Duration = Duration::from_secs(300);

/// How this client is called where it registers.
const CLIENT_NAME: &str = "Toolsmith";

/// Gets tokens for a server from a person, and keeps them in the configured file.
///
/// `open` is given the address that the person's browser is to show. With the `challenge` of a refused request, the
/// scopes that it names are asked for beside those that were granted before.
///
/// # Errors
/// [`ErrorKind::Login`], with what to do: the server publishes no metadata, the authorization server refuses or can't
/// be trusted (issuer, state, PKCE), the person declines or takes longer than [`LOGIN_TIMEOUT`].
pub async fn login<O, F>(config: &ServerConfig, challenge: Option<&Challenge>, open: O) -> Result<(), Error>
where
    O: FnOnce(String) -> F,
    F: Future<Output = ()>,
{
    let fail = |reason: String| Error::new(&config.name, ErrorKind::Login { reason });
    let authorizer = authorizer(config).map_err(fail)?;
    if authorizer.settings.grant == Grant::ClientCredentials {
        let done = authorizer.log_in_by_credentials(challenge.and_then(Challenge::header)).await;
        return done.map_err(|failure| fail(failure.to_string()));
    }
    let callback =
        Callback::bind().await.map_err(|error| fail(format!("no port for the browser: {error}")))?;
    let prepared = within(Instant::now() + EXCHANGE_TIMEOUT, async {
        Login::prepare(&authorizer, challenge.and_then(Challenge::header), callback.redirect_uri())
            .await
            .map_err(|error| HttpFailure::OAuth(explain(&error)))
    });
    let login = prepared.await.map_err(|failure| fail(failure.to_string()))?;
    let (opened, came_back) = (open(login.address.clone()), timeout(LOGIN_TIMEOUT, callback.wait()));
    let came_back = alongside(opened, came_back).await;
    let address = match came_back {
        Ok(Ok(address)) => address,
        Ok(Err(error)) => return Err(fail(format!("the browser's answer can't be read: {error}"))),
        Err(_) => {
            let seconds = LOGIN_TIMEOUT.as_secs();
            return Err(fail(format!("nobody came back from the browser within {seconds} s; try again")));
        }
    };
    let deadline = Instant::now() + EXCHANGE_TIMEOUT;
    // A code is good for one exchange.
    let finished = carried(async move {
        within(deadline, async { login.finish(&address).await.map_err(HttpFailure::OAuth) }).await
    });
    finished.await.map_err(|failure| fail(failure.to_string()))
}

/// Forgets the tokens of a server, and asks its authorization server to forget them too. Says whether there were any.
///
/// # Errors
/// [`ErrorKind::Login`] where the file with the tokens can't be removed. A revocation that fails is no error: the tokens
/// are gone from this machine all the same.
pub async fn logout(config: &ServerConfig) -> Result<bool, Error> {
    let fail = |reason: String| Error::new(&config.name, ErrorKind::Login { reason });
    let authorizer = authorizer(config).map_err(fail)?;
    let held = authorizer.store.hold().await;
    let record = authorizer.store.read().await.ok().flatten();
    let was_there = authorizer.store.forget().await.map_err(|failure| fail(failure.to_string()))?;
    drop(held);
    if let Some(record) = record
        && let Some(endpoint) = record.revocation_endpoint()
        && let Some(token) = record.refresh_token().or_else(|| record.access_token())
        && let Ok(client) = http::client(EXCHANGE_TIMEOUT)
        && is_confidential(endpoint, &authorizer.url)
        && let Ok(endpoint) = Url::parse(endpoint)
    {
        // RFC 7009, section 2.1.
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("token", &token).append_pair("client_id", &record.client.id);
        if let Some(secret) = &record.client.secret {
            form.append_pair("client_secret", secret);
        }
        let form_type = "application/x-www-form-urlencoded";
        let request =
            client.post(endpoint).header(reqwest::header::CONTENT_TYPE, form_type).body(form.finish());
        let _ = timeout(EXCHANGE_TIMEOUT, request.send()).await;
    }
    Ok(was_there)
}

fn authorizer(config: &ServerConfig) -> Result<Authorizer, String> {
    let remote = match &config.transport {
        Transport::Http(remote) | Transport::Sse(remote) => remote,
        Transport::Stdio(_) => {
            return Err("a local server has no login; it gets its keys through `env`".to_owned());
        }
    };
    let url = Url::parse(&remote.url).map_err(|error| format!("its url is no address: {error}"))?;
    let settings = remote
        .oauth
        .as_ref()
        .ok_or("its entry says that it is not logged in at (`oauth: false`, or a header `Authorization`)")?;
    Ok(Authorizer::new(&url, settings))
}

/// Runs both; the outcome is the second one's, and the first is dropped when that is there.
async fn alongside<T>(first: impl Future<Output = ()>, second: impl Future<Output = T>) -> T {
    let mut second = std::pin::pin!(second);
    tokio::select! {
        biased;
        outcome = &mut second => outcome,
        () = first => second.await,
    }
}

/// A login under way.
pub(super) struct Login {
    manager: AuthorizationManager,
    address: String,
}

impl Login {
    /// Finds the authorization server and registers there. `header` is the challenge of the refused request.
    pub(super) async fn prepare(
        authorizer: &Authorizer,
        header: Option<&str>,
        redirect_uri: String,
    ) -> Result<Self, AuthError> {
        let (mut manager, metadata) = authorizer.manager(header).await?;
        let scopes = scopes(authorizer, &manager, &metadata, header).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = client(authorizer, &mut manager, &metadata, redirect_uri, &scopes).await?;
        manager.set_credential_store(authorizer.store.with(client.clone(), metadata));
        manager.set_state_store(States::default());
        manager.configure_client(client.config())?;
        let address = manager.get_authorization_url(&scopes).await?;
        let scheme = Url::parse(&address).map(|url| url.scheme().to_owned()).unwrap_or_default();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(AuthError::AuthorizationFailed(format!(
                "the authorization server's address has the scheme `{scheme}`, which is not opened"
            )));
        }
        Ok(Self { manager, address })
    }

    /// Where the person is to agree.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Exchanges the code that the browser came back with, at this address, for tokens, and keeps them.
    pub(super) async fn finish(&self, address: &str) -> Result<(), String> {
        learn_redirect(address);
        if let Some(refusal) = refusal(address) {
            return Err(format!("the authorization server refuses: {refusal}"));
        }
        let callback = AuthorizationCallback::from_redirect_url(address).map_err(|error| explain(&error))?;
        let AuthorizationCallback { code, csrf_token, issuer, .. } = callback;
        let exchanged =
            self.manager.exchange_code_for_token_with_issuer(&code, &csrf_token, issuer.as_deref()).await;
        match exchanged {
            Ok(_) => Ok(()),
            Err(AuthError::InternalError(_)) => Err("the browser came back with a `state` that does not belong to \
                 this login, so the code that it brought was not used; try again, and beware of the page that sent it"
                .to_owned()),
            Err(error) => Err(explain(&error)),
        }
    }
}

/// The scopes to ask for: the configured ones, or what the server names; after a refusal for lack of scope, those that
/// were granted before as well.
async fn scopes(
    authorizer: &Authorizer,
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    challenge: Option<&str>,
) -> Vec<String> {
    let split = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let challenge = challenge.map(|header| WWWAuthenticateParams::parse(header, &authorizer.url));
    let wanted = challenge.as_ref().filter(|challenge| challenge.is_insufficient_scope());
    let mut scopes = match &authorizer.settings.scope {
        Some(scope) => split(scope),
        None => manager.select_initial_scopes(&[]).await,
    };
    if let Some(challenge) = wanted {
        let before = authorizer.stored().await.ok().flatten();
        scopes.splice(0..0, before.iter().flat_map(|record| record.scopes().to_vec()));
        scopes.extend(challenge.scope.as_deref().map(split).unwrap_or_default());
    }
    let offline = "offline_access";
    let offers = metadata.scopes_supported.iter().flatten().any(|scope| scope == offline);
    if !scopes.is_empty() && offers {
        scopes.push(offline.to_owned());
    }
    let mut seen = std::collections::HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

/// The client that asks: the configured one, a metadata document where such are taken, or else a registered one.
async fn client(
    authorizer: &Authorizer,
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    redirect_uri: String,
    scopes: &[&str],
) -> Result<Client, AuthError> {
    let OAuth { client_id, client_secret, client_metadata_url, .. } = &authorizer.settings;
    if let Some(id) = client_id {
        return Ok(Client { id: id.clone(), secret: client_secret.clone(), redirect_uri });
    }
    let takes_documents = metadata
        .additional_fields
        .get("client_id_metadata_document_supported")
        .and_then(serde_json::Value::as_bool);
    if let (Some(true), Some(url)) = (takes_documents, client_metadata_url) {
        return Ok(Client { id: url.clone(), secret: None, redirect_uri });
    }
    let registered = manager.register_client(CLIENT_NAME, &redirect_uri, scopes).await?;
    registered.client_secret.iter().for_each(|secret| learn(secret));
    Ok(Client { id: registered.client_id, secret: registered.client_secret, redirect_uri })
}

/// Learns the secrets that a browser came back with.
fn learn_redirect(address: &str) {
    let Ok(url) = Url::parse(address) else { return };
    let secrets = url.query_pairs().filter(|(name, _)| SECRET_MEMBERS.contains(&name.as_ref()));
    secrets.for_each(|(_, value)| learn(&value));
}

/// The state of a login under way, whose verifier is told nowhere. The `state` itself must be told, in the address that
/// a person is to visit; it is learned when the browser comes back.
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

/// What an authorization server says in place of a code (RFC 6749, section 4.1.2.1).
fn refusal(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let find = |wanted: &str| {
        url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| shown(&value, TOLD_BYTES))
    };
    let error = find("error")?;
    Some(find("error_description").map_or_else(|| error.clone(), |text| format!("{error} ({text})")))
}
