//! The scopes and the client of a login, and how the user agrees to it.

use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata, WWWAuthenticateParams};

use super::{Authorizer, store::Client};
use crate::secrets::learn;

/// The client name used for registration.
pub(super) const CLIENT_NAME: &str = "Toolsmith";

/// The user's browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browser {
    /// It is on this machine, so it can be redirected to this process.
    Here,
    /// It may be on any machine. A code is used where the authorization server offers it (RFC 8628).
    Anywhere,
}

/// How the user agrees to a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// Visits `address`; the browser is then redirected to an address that begins with `redirect`, on this machine.
    Redirect {
        /// The address to visit.
        address: String,
        /// The beginning of the address to which the browser is redirected.
        redirect: String,
    },
    /// Visits `address` in any browser, and enters `code` there.
    Code {
        /// The address to visit.
        address: String,
        /// The code to enter; untrusted text.
        code: String,
        /// An address that has the code in it already.
        complete: Option<String>,
    },
}

/// The scopes to request: the configured ones, or those that the server names; after a rejection for insufficient
/// scope, also those granted before.
pub(super) async fn scopes(
    authorizer: &Authorizer,
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    challenge: Option<&str>,
) -> Vec<String> {
    let split = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let challenge = challenge.map(|header| WWWAuthenticateParams::parse(header, &authorizer.url));
    let rejected = challenge.as_ref().filter(|challenge| challenge.is_insufficient_scope());
    let mut scopes = match &authorizer.settings.scope {
        Some(scope) => split(scope),
        None => manager.select_initial_scopes(&[]).await,
    };
    if let Some(challenge) = rejected {
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

/// The client to use: the configured one, a metadata document if the server supports those, otherwise a registered one.
pub(super) async fn client(
    authorizer: &Authorizer,
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    redirect_uri: String,
    scopes: &[&str],
) -> Result<Client, AuthError> {
    if let Some(known) = authorizer.known_client(metadata, redirect_uri.clone()) {
        return Ok(known);
    }
    let registered = manager.register_client(CLIENT_NAME, &redirect_uri, scopes).await?;
    if let Some(secret) = &registered.client_secret {
        learn(secret);
    }
    Ok(Client { id: registered.client_id, secret: registered.client_secret, redirect_uri })
}

impl Authorizer {
    /// The client that needs no registration: the configured one, or a metadata document if the server supports those.
    pub(super) fn known_client(
        &self,
        metadata: &AuthorizationMetadata,
        redirect_uri: String,
    ) -> Option<Client> {
        let settings = &self.settings;
        if let Some(id) = &settings.client_id {
            return Some(Client { id: id.clone(), secret: settings.client_secret.clone(), redirect_uri });
        }
        let takes_documents = metadata
            .additional_fields
            .get("client_id_metadata_document_supported")
            .and_then(serde_json::Value::as_bool);
        let document = settings.client_metadata_url.clone().filter(|_| takes_documents == Some(true))?;
        Some(Client { id: document, secret: None, redirect_uri })
    }
}
