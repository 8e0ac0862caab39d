//! Token exchanges, which always run to completion even if the caller stops waiting.
//!
//! A server that rotates refresh tokens invalidates the old one with its response (RFC 6749, section 6; OAuth 2.1,
//! section 4.3.1). A caller that gives up in between has neither, and a later use of the old one can revoke the whole
//! login. So from the request on, the exchange and the storing of its result run in a separate task, which the process
//! waits for before it exits.

use std::{future::Future, sync::LazyLock, time::Duration};

use rmcp::transport::auth::{AuthError, AuthorizationManager, ClientCredentialsConfig};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use super::{failure::failure, refusal::LastRefusal, token_request::TokenRequest};
use crate::http::failure::HttpFailure;

/// Time limit for discovery, registration and an exchange of tokens together.
pub(super) const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of exchanges in progress in this process.
static UNDER_WAY: LazyLock<watch::Sender<usize>> = LazyLock::new(watch::Sender::default);

/// Whether a token exchange is in progress in this process.
#[must_use]
pub fn exchanges_are_under_way() -> bool {
    *UNDER_WAY.borrow() > 0
}

/// Waits until all token exchanges have ended and their results are stored: at most about half a minute. A process that
/// has used servers with logins must wait for this before it exits, or it may lose the logins.
pub async fn exchanges_end() {
    // The sender is a static, so it is never dropped.
    let _ = UNDER_WAY.subscribe().wait_for(|count| *count == 0).await;
}

/// Runs an exchange to completion in a separate task. Dropping the future only stops the waiting.
pub(super) async fn carried<T: Send + 'static>(
    exchange: impl Future<Output = Result<T, HttpFailure>> + Send + 'static,
) -> Result<T, HttpFailure> {
    let counted = Counted::new();
    let task = tokio::spawn(async move {
        let _counted = counted;
        exchange.await
    });
    task.await.map_err(|error| HttpFailure::OAuth(format!("the exchange for tokens failed: {error}")))?
}

/// The result of the work, or a failure at the deadline, which is [`EXCHANGE_TIMEOUT`] after its start.
pub(super) async fn within<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T, HttpFailure>>,
) -> Result<T, HttpFailure> {
    timeout_at(deadline, work).await.unwrap_or_else(|_| {
        let seconds = EXCHANGE_TIMEOUT.as_secs();
        Err(HttpFailure::OAuth(format!("its authorization server did not answer within {seconds} s")))
    })
}

/// Counts one exchange in progress, until dropped.
struct Counted;

impl Counted {
    fn new() -> Self {
        UNDER_WAY.send_modify(|count| *count += 1);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        UNDER_WAY.send_modify(|count| *count -= 1);
    }
}

/// Describes a client that gets no token for itself.
pub(super) const NO_TOKEN: &str = "no token for the client's credentials";

/// A prepared exchange: only the token request itself remains.
pub(super) struct Exchange {
    pub(super) by: Means,
    pub(super) refusal: LastRefusal,
}

/// The credential that is exchanged for a token, and what sends it.
pub(super) enum Means {
    RefreshToken(Box<AuthorizationManager>),
    Credentials(Box<AuthorizationManager>, ClientCredentialsConfig),
    /// A request that has the credential, and how its failure is described.
    Request {
        request: Box<TokenRequest>,
        without: &'static str,
    },
}

impl Exchange {
    /// Requests tokens and stores them; returns false if the authorization server rejects the refresh token.
    pub(super) async fn make(&self) -> Result<bool, HttpFailure> {
        let wrong = |without: &str, error: &AuthError| failure(without, error, &self.refusal);
        match &self.by {
            Means::RefreshToken(manager) => match manager.refresh_token().await {
                Ok(_) => Ok(true),
                Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => Ok(false),
                Err(error) => Err(failure("its token can't be renewed", &error, &self.refusal)),
            },
            Means::Credentials(manager, credentials) => {
                let made = manager.exchange_client_credentials(credentials).await;
                made.map(|_| true).map_err(|error| wrong(NO_TOKEN, &error))
            }
            Means::Request { request, without } => {
                request.make().await.map(|()| true).map_err(|error| wrong(without, &error))
            }
        }
    }
}
