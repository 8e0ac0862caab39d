//! Exchanges for tokens, each carried to its end whoever still waits for it.
//!
//! A server that replaces refresh tokens takes the old one back with its answer (RFC 6749, section 6; OAuth 2.1, section
//! 4.3.1). Whoever gives up in between has neither, and a later use of the old one can revoke the whole login. So from the
//! request on, the exchange and the storing of its answer are a task of their own, and a process ends after it.

use std::{future::Future, sync::LazyLock, time::Duration};

use rmcp::transport::auth::{AuthError, AuthorizationManager, ClientCredentialsConfig};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use super::failure::failure;
use crate::http::HttpFailure;

/// How long discovery, registration and an exchange of tokens may take together.
pub(super) const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(30);

/// How many exchanges are under way in this process.
static UNDER_WAY: LazyLock<watch::Sender<usize>> = LazyLock::new(watch::Sender::default);

/// Whether an exchange for tokens is under way in this process.
#[must_use]
pub fn exchanges_are_under_way() -> bool {
    *UNDER_WAY.borrow() > 0
}

/// Waits until no exchange for tokens is under way and what came of each is stored: at most about half a minute. A process
/// that has used servers with logins ends after this, or it may lose them.
pub async fn exchanges_end() {
    // The sender is a static: it does not go away.
    let _ = UNDER_WAY.subscribe().wait_for(|count| *count == 0).await;
}

/// Carries an exchange to its end in a task of its own. Dropping the future stops nothing but the waiting.
pub(super) async fn carried<T: Send + 'static>(
    exchange: impl Future<Output = Result<T, HttpFailure>> + Send + 'static,
) -> Result<T, HttpFailure> {
    let counted = Counted::new();
    let task = tokio::spawn(async move {
        let _counted = counted;
        exchange.await
    });
    let given_up = |error| HttpFailure::OAuth(format!("the exchange for tokens was given up: {error}"));
    task.await.map_err(given_up)?
}

/// What the work gives, or a failure at the deadline, which is [`EXCHANGE_TIMEOUT`] after its beginning.
pub(super) async fn within<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T, HttpFailure>>,
) -> Result<T, HttpFailure> {
    timeout_at(deadline, work).await.unwrap_or_else(|_| {
        let seconds = EXCHANGE_TIMEOUT.as_secs();
        Err(HttpFailure::OAuth(format!("its authorization server did not answer within {seconds} s")))
    })
}

/// An exchange under way.
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

/// An exchange for which all is ready but the request for tokens itself.
pub(super) enum Exchange {
    Refresh(AuthorizationManager),
    Credentials(AuthorizationManager, ClientCredentialsConfig),
}

impl Exchange {
    /// Asks for tokens and stores them; false where the authorization server takes the refresh token no more.
    pub(super) async fn make(&self) -> Result<bool, HttpFailure> {
        match self {
            Exchange::Refresh(manager) => match manager.refresh_token().await {
                Ok(_) => Ok(true),
                Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => Ok(false),
                Err(error) => Err(failure("its token can't be renewed", &error)),
            },
            Exchange::Credentials(manager, credentials) => {
                let given = manager.exchange_client_credentials(credentials).await;
                given.map_err(|error| failure("the client's credentials get no token", &error))?;
                Ok(true)
            }
        }
    }
}
