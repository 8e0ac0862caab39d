//! Checks access tokens of the issuer (JSON Web Tokens: RFC 7519, RFC 8725, RFC 9068).

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use config::{Auth, SignatureAlgorithm};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Identity;
use crate::issuer_keys::{IssuerKeys, KeysUnavailable};
use crate::signature;

/// Maximum length of a token in bytes (16 KiB): tokens with many groups have 4 KiB.
const MAX_TOKEN: usize = 16 << 10;

/// Maximum length of a subject, a key id and a token id in bytes (OpenID Connect Core 1.0, section 2: 255).
const MAX_NAME: usize = 255;

/// Limit on the scopes of a token.
const MAX_SCOPES: usize = 1000;

/// The reason why a token is not valid. The texts contain nothing of the token, and only characters that a header may
/// quote (RFC 6750, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each has its text")]
pub enum InvalidToken {
    #[error("the token is too long")]
    TooLong,
    #[error("the token is neither a known token nor a JSON Web Token")]
    Unknown,
    #[error("the token is malformed")]
    Malformed,
    #[error("the token is not an access token (typ)")]
    Type,
    #[error("the token has an extension that is not supported (crit)")]
    Critical,
    #[error("the token is signed by an algorithm that is not accepted (alg)")]
    Algorithm,
    #[error("the issuer has no such key (kid)")]
    Key,
    #[error("the signature of the token is wrong")]
    Signature,
    #[error("the token is from another issuer (iss)")]
    Issuer,
    #[error("the token is for another audience (aud)")]
    Audience,
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    NotYet,
    #[error("the token lacks a claim, or it has another type: iss, sub, aud and exp are required")]
    Claim,
    #[error("the subject of the token is empty, too long, or has control characters")]
    Subject,
}

/// The reason why there is no identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CheckError {
    #[error(transparent)]
    Invalid(#[from] InvalidToken),
    #[error(transparent)]
    Keys(#[from] KeysUnavailable),
}

/// The header of a token. Other members, such as a key or the address of one, are not used: only the issuer's own keys
/// count (RFC 8725, section 3.10).
#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    crit: Option<IgnoredAny>,
}

/// The claims that are used.
#[derive(Deserialize)]
struct Claims {
    /// A single text. The library would accept a list that contains the issuer.
    #[serde(rename = "iss")]
    _issuer: String,
    sub: String,
    #[serde(default)]
    jti: Option<String>,
    #[serde(default)]
    iat: Option<f64>,
    /// RFC 9068, section 2.2.3.
    #[serde(default)]
    scope: Option<Scopes>,
    /// The name that some issuers use for it.
    #[serde(default)]
    scp: Option<Scopes>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scopes {
    Text(String),
    List(Vec<String>),
}

/// Checks a token; returns its subject and scopes.
///
/// # Errors
/// If it is not valid for this server, or the issuer's keys are unknown.
pub(crate) async fn check(token: &str, auth: &Auth, keys: &IssuerKeys) -> Result<Identity, CheckError> {
    signature::provide();
    if token.len() > MAX_TOKEN {
        return Err(InvalidToken::TooLong.into());
    }
    let header = header(token)?;
    let algorithm = accepted(auth, &header.alg).ok_or(InvalidToken::Algorithm)?;
    let id = header.kid.as_deref();
    let keys = keys.get(auth, |keys| !keys.candidates(id, algorithm).is_empty()).await?;
    let claims = verified(token, auth, algorithm, &keys.candidates(id, algorithm))?;
    Ok(identity(claims, auth)?)
}

/// The header of a token, checked for what this server does not support.
fn header(token: &str) -> Result<Header, InvalidToken> {
    let parts: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = parts.as_slice() else { return Err(InvalidToken::Unknown) };
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| InvalidToken::Malformed);
    let (header, claims, _) = (decode(header)?, decode(claims)?, decode(signature)?);
    // Two readers of a repeated name may take different values.
    strict_json::from_slice::<IgnoredAny>(&claims).map_err(|_| InvalidToken::Malformed)?;
    let header: Header = strict_json::from_slice(&header).map_err(|_| InvalidToken::Malformed)?;
    if header.crit.is_some() {
        return Err(InvalidToken::Critical);
    }
    if header.kid.as_ref().is_some_and(|id| id.len() > MAX_NAME) {
        return Err(InvalidToken::Key);
    }
    let kind = header.typ.as_deref().map(str::to_ascii_lowercase);
    let is_access_token = kind
        .is_none_or(|kind| matches!(kind.strip_prefix("application/").unwrap_or(&kind), "jwt" | "at+jwt"));
    if is_access_token { Ok(header) } else { Err(InvalidToken::Type) }
}

/// The algorithm of a token, if the configuration accepts it.
fn accepted(auth: &Auth, name: &str) -> Option<Algorithm> {
    let algorithm = auth.algorithms.iter().find(|algorithm| format!("{algorithm:?}") == name)?;
    Some(match algorithm {
        SignatureAlgorithm::RS256 => Algorithm::RS256,
        SignatureAlgorithm::RS384 => Algorithm::RS384,
        SignatureAlgorithm::RS512 => Algorithm::RS512,
        SignatureAlgorithm::PS256 => Algorithm::PS256,
        SignatureAlgorithm::PS384 => Algorithm::PS384,
        SignatureAlgorithm::PS512 => Algorithm::PS512,
        SignatureAlgorithm::ES256 => Algorithm::ES256,
        SignatureAlgorithm::ES384 => Algorithm::ES384,
        SignatureAlgorithm::EdDSA => Algorithm::EdDSA,
    })
}

/// The claims of a token that one of these keys has signed.
fn verified(
    token: &str,
    auth: &Auth,
    algorithm: Algorithm,
    keys: &[&DecodingKey],
) -> Result<Claims, InvalidToken> {
    let mut validation = Validation::new(algorithm);
    validation.leeway = auth.clock_tolerance;
    validation.validate_nbf = true;
    validation.set_issuer(&[&auth.issuer]);
    validation.set_audience(&auth.audiences());
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let mut failure = InvalidToken::Key;
    for key in keys {
        match jsonwebtoken::decode::<Claims>(token, key, &validation) {
            Ok(data) => return Ok(data.claims),
            Err(error) => failure = reason(&error),
        }
        if failure != InvalidToken::Signature {
            break;
        }
    }
    Err(failure)
}

fn reason(error: &Error) -> InvalidToken {
    match error.kind() {
        ErrorKind::InvalidSignature => InvalidToken::Signature,
        ErrorKind::ExpiredSignature => InvalidToken::Expired,
        ErrorKind::ImmatureSignature => InvalidToken::NotYet,
        ErrorKind::InvalidIssuer => InvalidToken::Issuer,
        ErrorKind::InvalidAudience => InvalidToken::Audience,
        ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm => InvalidToken::Algorithm,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) | ErrorKind::Json(_) => {
            InvalidToken::Claim
        }
        _ => InvalidToken::Malformed,
    }
}

/// Checks what the library does not check.
fn identity(claims: Claims, auth: &Auth) -> Result<Identity, InvalidToken> {
    let Claims { sub, jti, iat, scope, scp, .. } = claims;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Issued in the future: one of the two clocks is wrong.
    let latest = now.as_secs_f64() + std::time::Duration::from_secs(auth.clock_tolerance).as_secs_f64();
    if iat.is_some_and(|issued| issued > latest) {
        return Err(InvalidToken::NotYet);
    }
    if sub.is_empty() || sub.len() > MAX_NAME || sub.chars().any(char::is_control) {
        return Err(InvalidToken::Subject);
    }
    let scopes: BTreeSet<String> = [scope, scp].into_iter().flatten().flat_map(Scopes::names).collect();
    if scopes.len() > MAX_SCOPES {
        return Err(InvalidToken::TooLong);
    }
    Ok(Identity::issued(&auth.issuer, sub, scopes, jti))
}

impl Scopes {
    fn names(self) -> Vec<String> {
        match self {
            Scopes::Text(text) => {
                text.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect()
            }
            Scopes::List(names) => names,
        }
    }
}

#[cfg(test)]
mod tests;
