//! The exchange of a user's access token for one of a server (RFC 8693).

use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::Value;

use super::{
    bounded::Bounded,
    client_key::{ASSERTION_TYPE, ClientKey},
    refusal::LastRefusal,
    store::{Client, Store},
    token_request::{TokenRequest, resource},
};
use crate::{http::failure::HttpFailure, secrets::learn, server_config::OAuth};

/// The grant (RFC 8693, section 2.1).
const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// The type of both tokens (RFC 8693, section 3).
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// Describes a failed exchange.
pub(super) const NO_TOKEN: &str = "no token for the subject";

/// The key of a user's tokens for a server: other settings get other tokens.
pub(super) fn key(url: &Url, settings: &OAuth) -> String {
    let OAuth { client_id, token_url, scope, audience, .. } = settings;
    format!("{url} {client_id:?} {token_url:?} {scope:?} {audience:?}")
}

/// The user's access token.
///
/// # Errors
/// If the user has none.
pub(super) fn shown(settings: &OAuth) -> Result<String, HttpFailure> {
    let shown = settings.subject.as_ref().and_then(|subject| subject.token()).ok_or_else(|| {
        refused("its client has shown no access token of the issuer (`serve.auth`) that could be exchanged")
    })?;
    learn(&shown);
    Ok(shown)
}

/// The parts of a request for an exchange.
pub(super) struct Parts<'a> {
    pub(super) url: &'a Url,
    pub(super) settings: &'a OAuth,
    /// The user's access token.
    pub(super) shown: String,
    /// The scopes to request, separated by spaces; may be empty.
    pub(super) scope: String,
    pub(super) metadata: AuthorizationMetadata,
    pub(super) store: &'a Store,
}

impl Parts<'_> {
    /// The request to the configured token endpoint; a server can't choose another one.
    pub(super) fn request(self, http: Bounded, refusal: LastRefusal) -> Result<TokenRequest, HttpFailure> {
        let Parts { url, settings, shown, scope, metadata, store } = self;
        let (Some(id), Some(endpoint)) = (&settings.client_id, &settings.token_url) else {
            return Err(refused("the grant token_exchange needs `oauth.client_id` and `oauth.token_url`"));
        };
        let credential = Credential::of(settings, id, &metadata)?;
        let mut fields = vec![
            ("grant_type", GRANT.to_owned()),
            ("subject_token", shown),
            ("subject_token_type", ACCESS_TOKEN.to_owned()),
            ("requested_token_type", ACCESS_TOKEN.to_owned()),
            ("resource", resource(url)),
        ];
        fields.extend(settings.audience.clone().map(|audience| ("audience", audience)));
        fields.extend(Some(scope).filter(|scope| !scope.is_empty()).map(|scope| ("scope", scope)));
        fields.extend(credential.fields(id));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let client = Client { id: id.clone(), secret: None, redirect_uri: String::new() };
        let request = TokenRequest::new(http, endpoint, &fields, store.with(client, metadata), refusal)?;
        match credential {
            Credential::Header(secret) => request.with_password(id, secret),
            Credential::Assertion(_) | Credential::Form(_) => Ok(request),
        }
    }
}

fn refused(reason: &str) -> HttpFailure {
    HttpFailure::OAuth(format!("{NO_TOKEN}: {reason}"))
}

/// How the client authenticates at the token endpoint.
enum Credential<'a> {
    /// By a signed assertion (RFC 7523, section 2.2).
    Assertion(String),
    /// By its secret in the form.
    Form(&'a str),
    /// By its secret in a header (RFC 6749, section 2.3.1).
    Header(&'a str),
}

impl<'a> Credential<'a> {
    fn of(settings: &'a OAuth, id: &str, metadata: &AuthorizationMetadata) -> Result<Self, HttpFailure> {
        if let Some(key) = ClientKey::of(settings)? {
            let audience = metadata.issuer.as_ref().unwrap_or(&metadata.token_endpoint);
            let supported =
                metadata.additional_fields.get("token_endpoint_auth_signing_alg_values_supported");
            return key.assertion(id, audience, supported).map(Credential::Assertion);
        }
        let missing = "the grant token_exchange needs `oauth.client_secret` or `oauth.private_key`";
        let secret = settings.client_secret.as_deref();
        let secret = secret.ok_or_else(|| refused(missing))?;
        Ok(if takes_only_form(metadata) { Credential::Form(secret) } else { Credential::Header(secret) })
    }

    /// The fields that authenticate the client.
    fn fields(&self, id: &str) -> Vec<(&'static str, String)> {
        match self {
            Credential::Assertion(assertion) => {
                let kind = ASSERTION_TYPE.to_owned();
                vec![("client_assertion_type", kind), ("client_assertion", assertion.clone())]
            }
            Credential::Form(secret) => {
                vec![("client_id", id.to_owned()), ("client_secret", (*secret).to_owned())]
            }
            Credential::Header(_) => Vec::new(),
        }
    }
}

/// Whether an authorization server says that it takes secrets of clients in the form and not in a header.
fn takes_only_form(metadata: &AuthorizationMetadata) -> bool {
    let methods = metadata.additional_fields.get("token_endpoint_auth_methods_supported");
    let methods = methods.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has = |name: &str| methods.iter().any(|method| method == name);
    has("client_secret_post") && !has("client_secret_basic")
}
