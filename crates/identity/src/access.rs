//! Decides who a request is from: the holder of the single token, a subject, or anyone if no token is required.
//!
//! Tokens are in the header `Authorization` only (RFC 6750, section 2.1). The server writes the refusals.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use config::Serve;
use http::{HeaderMap, header};
use terminal::Notifier;

use crate::access_token::{self, CheckError, InvalidToken};
use crate::issuer_keys::IssuerKeys;
use crate::single_token::SingleToken;
use crate::{Identity, NoAccess};

/// The reason why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It has no token.
    Missing,
    /// Its token is not valid.
    Invalid(InvalidToken),
    /// Its token is valid, but denied.
    Denied(&'static str),
    /// Its token lacks these scopes.
    Scopes(Vec<String>),
    /// Its token can't be checked now.
    Unavailable(String),
}

/// The clients that get access.
pub struct Access {
    token: Option<SingleToken>,
    keys: IssuerKeys,
    /// Whether requests need a token even if the configuration no longer names any.
    is_closed: bool,
}

impl Access {
    /// For a server at this address that starts with this configuration.
    pub fn new(address: SocketAddr, token: Option<SingleToken>, serve: &Serve, notifier: Notifier) -> Self {
        let is_reachable = !address.ip().to_canonical().is_loopback();
        let is_closed = is_reachable || token.is_some() || has_identities(serve);
        Access { token, keys: IssuerKeys::new(notifier), is_closed }
    }

    /// The identity of a request's sender; `None` for the holder of the single token, and if no token is required.
    ///
    /// # Errors
    /// Returns the reason if it gets no access.
    pub async fn identify(
        &self,
        headers: &HeaderMap,
        serve: &Serve,
    ) -> Result<Option<Arc<Identity>>, Refusal> {
        if !self.is_closed && !has_identities(serve) {
            return Ok(None);
        }
        if !headers.contains_key(header::AUTHORIZATION) {
            return Err(Refusal::Missing);
        }
        let shown = bearer(headers).ok_or(Refusal::Invalid(InvalidToken::Malformed))?;
        if self.token.as_ref().is_some_and(|token| token.is(shown)) {
            return Ok(None);
        }
        let identity = match named(shown, serve)? {
            Some(named) => named,
            None => {
                let auth = serve.auth.as_ref().ok_or(Refusal::Invalid(InvalidToken::Unknown))?;
                access_token::check(shown, auth, &self.keys).await?
            }
        };
        identity.access(serve)?;
        Ok(Some(Arc::new(identity)))
    }
}

/// Whether a configuration names an issuer or tokens.
pub fn has_identities(serve: &Serve) -> bool {
    serve.auth.is_some() || serve.tokens.is_some()
}

/// The token of a request that has exactly one.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(shown), None) = (shown.next(), shown.next()) else { return None };
    let (scheme, token) = shown.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim();
    let is_one = !token.is_empty() && !token.contains(' ');
    (scheme.eq_ignore_ascii_case("bearer") && is_one).then_some(token)
}

/// The holder of a token of the configuration. Hashes are compared in constant time, and all of them, so the time does
/// not depend on the token.
fn named(shown: &str, serve: &Serve) -> Result<Option<Identity>, Refusal> {
    let hash = blake3::hash(shown.as_bytes());
    let mut found = None;
    for (name, token) in serve.tokens.iter().flatten() {
        if blake3::Hash::from_bytes(token.hash) == hash {
            found = Some((name, token));
        }
    }
    let Some((name, token)) = found else { return Ok(None) };
    if token.expires.is_some_and(|end| end <= SystemTime::now()) {
        return Err(Refusal::Invalid(InvalidToken::Expired));
    }
    Ok(Some(Identity::named(name, token.hash)))
}

impl From<CheckError> for Refusal {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Invalid(why) => Refusal::Invalid(why),
            CheckError::Keys(why) => Refusal::Unavailable(why.to_string()),
        }
    }
}

impl From<NoAccess> for Refusal {
    fn from(why: NoAccess) -> Self {
        match why {
            NoAccess::Denied(why) => Refusal::Denied(why),
            NoAccess::Scopes(scopes) => Refusal::Scopes(scopes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use config::NamedToken;
    use http::HeaderValue;
    use terminal::Terminal;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";
    const LOOPBACK: &str = "127.0.0.1:1";

    fn access(address: &str, token: Option<&str>, serve: &Serve) -> Access {
        let notifier = Terminal::new(true, false).notifier();
        Access::new(address.parse().unwrap(), token.map(SingleToken::fixed), serve, notifier)
    }

    fn shows(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn with_token(name: &str, token: &str, expires: Option<SystemTime>) -> Serve {
        let token = NamedToken { hash: *blake3::hash(token.as_bytes()).as_bytes(), tools: None, expires };
        Serve { tokens: Some(BTreeMap::from([(name.to_owned(), token)])), ..Serve::default() }
    }

    #[tokio::test]
    async fn only_requests_with_the_exact_token_are_accepted() {
        let serve = Serve::default();
        let access = access(LOOPBACK, Some(TOKEN), &serve);
        for right in ["Bearer 0123456789abcdef", "bearer  0123456789abcdef ", "BEARER 0123456789abcdef"] {
            assert_eq!(access.identify(&shows(&[right]), &serve).await, Ok(None), "{right}");
        }
        let wrong = [
            "",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcdeF",
            "Bearer 0123456789abcdef 0123456789abcdef",
            "Bearer 0123456789abcdef, Bearer x",
        ];
        for wrong in wrong {
            let refused = access.identify(&shows(&[wrong]), &serve).await;
            assert!(matches!(refused, Err(Refusal::Invalid(_))), "{wrong}: {refused:?}");
        }
        assert_eq!(access.identify(&shows(&[]), &serve).await, Err(Refusal::Missing));
        let several = shows(&["Bearer 0123456789abcdef", "Bearer x"]);
        assert!(access.identify(&several, &serve).await.is_err());
    }

    #[tokio::test]
    async fn the_holder_of_a_named_token_is_its_subject_until_it_expires() {
        let serve = with_token("ci", TOKEN, None);
        let shown = shows(&["Bearer 0123456789abcdef"]);
        let found = access(LOOPBACK, None, &serve).identify(&shown, &serve).await.unwrap().unwrap();
        assert_eq!((found.subject.name(), found.subject.issuer()), ("ci", None));
        let expired = with_token("ci", TOKEN, Some(SystemTime::UNIX_EPOCH));
        let refused = access(LOOPBACK, None, &expired).identify(&shown, &expired).await;
        assert_eq!(refused, Err(Refusal::Invalid(InvalidToken::Expired)));
        let other = with_token("ci", "another token", None);
        let refused = access(LOOPBACK, None, &other).identify(&shown, &other).await;
        assert_eq!(refused, Err(Refusal::Invalid(InvalidToken::Unknown)));
    }

    #[tokio::test]
    async fn a_server_that_required_tokens_stays_closed_without_any() {
        let nobody = Serve::default();
        let started = with_token("ci", TOKEN, None);
        for closed in [access(LOOPBACK, None, &started), access("0.0.0.0:1", None, &nobody)] {
            assert_eq!(closed.identify(&HeaderMap::new(), &nobody).await, Err(Refusal::Missing));
        }
        let open = access(LOOPBACK, None, &nobody);
        assert_eq!(open.identify(&HeaderMap::new(), &nobody).await, Ok(None));
        assert_eq!(open.identify(&HeaderMap::new(), &started).await, Err(Refusal::Missing));
    }
}
