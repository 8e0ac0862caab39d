//! Refusals of requests without sufficient access, and the metadata that tells clients where to get a token.
//!
//! Sources: RFC 6750, section 3 (`WWW-Authenticate`); RFC 9728 (protected resource metadata); MCP 2025-11-25,
//! "Authorization" (which scopes a challenge names).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use config::{Auth, Serve};
use identity::Refusal;
use serde_json::json;
use url::Url;

/// The path of the metadata; the path of the resource follows (RFC 9728, section 3.1).
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The time after which a client tries again, in seconds.
const RETRY: &str = "10";

/// The response to a refused request, for this configuration.
pub(super) fn response(refusal: &Refusal, serve: &Serve) -> Response {
    let auth = serve.auth.as_ref();
    let (status, error, why) = match refusal {
        Refusal::Missing => (StatusCode::UNAUTHORIZED, None, "a bearer token is required".to_owned()),
        Refusal::Invalid(why) => (StatusCode::UNAUTHORIZED, Some("invalid_token"), why.to_string()),
        Refusal::Denied(why) => (StatusCode::UNAUTHORIZED, Some("invalid_token"), (*why).to_owned()),
        Refusal::Scopes(_) => {
            (StatusCode::FORBIDDEN, Some("insufficient_scope"), "the token lacks a scope".to_owned())
        }
        Refusal::Unavailable(why) => {
            let retry = [(header::RETRY_AFTER, RETRY)];
            return (StatusCode::SERVICE_UNAVAILABLE, retry, format!("{why}\n")).into_response();
        }
    };
    let scopes = match refusal {
        Refusal::Scopes(scopes) => scopes.clone(),
        _ => auth.and_then(|auth| auth.required_scopes.clone()).unwrap_or_default(),
    };
    let challenge = challenge(error.map(|error| (error, why.as_str())), &scopes, auth);
    let mut response = (status, format!("{why}\n")).into_response();
    // All parts are checked to be visible characters.
    let challenge =
        HeaderValue::from_str(&challenge).unwrap_or(HeaderValue::from_static("Bearer realm=\"toolsmith\""));
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

fn challenge(error: Option<(&str, &str)>, scopes: &[String], auth: Option<&Auth>) -> String {
    let mut challenge = "Bearer realm=\"toolsmith\"".to_owned();
    let mut add = |name: &str, value: &str| challenge.push_str(&format!(", {name}=\"{value}\""));
    if let Some((error, why)) = error {
        add("error", error);
        add("error_description", why);
    }
    if !scopes.is_empty() {
        add("scope", &scopes.join(" "));
    }
    if let Some(address) = auth.and_then(metadata_address) {
        add("resource_metadata", &address);
    }
    challenge
}

/// The public address of the metadata: below the host of the resource, before its path.
fn metadata_address(auth: &Auth) -> Option<String> {
    let resource = Url::parse(&auth.resource).ok()?;
    Some(format!("{}{METADATA}{}", resource.origin().ascii_serialization(), path(&resource)))
}

/// The path of a resource; none for the root (RFC 9728, section 3.1).
fn path(resource: &Url) -> &str {
    resource.path().trim_end_matches('/')
}

/// Answers a request for the metadata at this path. Only an issuer can give out tokens, so there is no metadata without
/// one. It is public, so any page may read it.
pub(super) fn metadata(serve: &Serve, requested: &str, own: &str) -> Response {
    let rest = requested.strip_prefix(METADATA).unwrap_or_default().trim_end_matches('/');
    let known = serve.auth.as_ref().filter(|auth| {
        let of_resource = Url::parse(&auth.resource).is_ok_and(|resource| path(&resource) == rest);
        rest.is_empty() || rest == own || of_resource
    });
    let Some(auth) = known else { return StatusCode::NOT_FOUND.into_response() };
    let mut document = json!({
        "resource": auth.resource,
        "resource_name": "Toolsmith",
        "authorization_servers": [auth.issuer],
        "bearer_methods_supported": ["header"],
    });
    let required = auth.required_scopes.iter().flatten();
    let mut scopes: Vec<&String> =
        required.chain(auth.scopes.iter().flat_map(|scopes| scopes.keys())).collect();
    scopes.sort_unstable();
    scopes.dedup();
    if !scopes.is_empty() {
        document["scopes_supported"] = json!(scopes);
    }
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::CACHE_CONTROL, "max-age=60"),
    ];
    (headers, Body::from(document.to_string())).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use config::SignatureAlgorithm;
    use identity::InvalidToken;

    use super::*;

    fn serve(resource: &str) -> Serve {
        let auth = Auth {
            issuer: "https://login.example.com".to_owned(),
            resource: resource.to_owned(),
            audiences: None,
            jwks: None,
            algorithms: vec![SignatureAlgorithm::ES256],
            clock_tolerance: 30,
            required_scopes: Some(vec!["tools".to_owned()]),
            scopes: Some(BTreeMap::from([("tools:read".to_owned(), Vec::new())])),
        };
        Serve { auth: Some(auth), ..Serve::default() }
    }

    fn challenge_of(refusal: &Refusal, serve: &Serve) -> (u16, String) {
        let response = response(refusal, serve);
        let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap().to_owned();
        (response.status().as_u16(), challenge)
    }

    #[test]
    fn a_challenge_names_the_error_the_scopes_and_the_metadata() {
        let serve = serve("https://tools.example.com/team/mcp");
        let metadata =
            "resource_metadata=\"https://tools.example.com/.well-known/oauth-protected-resource/team/mcp\"";
        let missing = challenge_of(&Refusal::Missing, &serve);
        assert_eq!(missing, (401, format!("Bearer realm=\"toolsmith\", scope=\"tools\", {metadata}")));
        let (status, expired) = challenge_of(&Refusal::Invalid(InvalidToken::Expired), &serve);
        assert_eq!(status, 401);
        assert!(
            expired.contains("error=\"invalid_token\", error_description=\"the token has expired\""),
            "{expired}"
        );
        let scopes = vec!["a".to_owned(), "b".to_owned()];
        let (status, lacking) = challenge_of(&Refusal::Scopes(scopes), &serve);
        assert_eq!(status, 403);
        assert!(
            lacking.contains("error=\"insufficient_scope\"") && lacking.contains("scope=\"a b\""),
            "{lacking}"
        );
        let none = challenge_of(&Refusal::Missing, &Serve::default());
        assert_eq!(none, (401, "Bearer realm=\"toolsmith\"".to_owned()));
    }

    #[test]
    fn the_metadata_is_at_the_paths_of_the_resource_only() {
        let serve = serve("https://tools.example.com/team/mcp/");
        let status = |path: &str| metadata(&serve, &format!("{METADATA}{path}"), "/mcp").status().as_u16();
        assert_eq!(["", "/", "/mcp", "/mcp/", "/team/mcp", "/team/mcp/"].map(status), [200; 6]);
        assert_eq!([status("/team"), status("/team/mcp/x")], [404; 2]);
        assert_eq!(metadata(&Serve::default(), METADATA, "/mcp").status().as_u16(), 404);
    }
}
