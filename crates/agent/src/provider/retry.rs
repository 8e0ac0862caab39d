//! Decides when a request is retried: after the wait that the provider requests, otherwise after twice the previous
//! wait.

use std::time::Duration;

use system::random;

use super::failure::Failure;

/// The approximate wait before the second attempt.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Maximum wait that is not requested by the provider.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Maximum wait that a provider may request: for a longer one, users prefer an error at once.
const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(120);

/// The wait after attempt number `attempt`.
///
/// # Errors
/// The failure, if there is no further attempt.
pub(super) fn wait(failure: &Failure, attempt: u32, retries: u32) -> Result<Duration, Failure> {
    if !failure.passes {
        return Err(failure.clone());
    }
    if attempt > retries {
        return Err(failure.clone().after(attempt));
    }
    match failure.wait {
        Some(requested) if requested > MAX_REQUESTED_WAIT => {
            let mut failure = failure.clone();
            failure.message += &format!("; it asks to wait {} s", requested.as_secs());
            Err(failure.after(attempt))
        }
        Some(requested) => Ok(requested),
        None => Ok(backoff(attempt)),
    }
}

/// Doubles with each attempt; a random half keeps many clients from returning at once.
fn backoff(attempt: u32) -> Duration {
    let factor = 2_u32.saturating_pow(attempt.saturating_sub(1));
    let full = FIRST_WAIT.saturating_mul(factor).min(MAX_WAIT);
    full / 2 + random::jitter(full / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelErrorKind;

    #[test]
    fn waits_grow_up_to_a_limit_and_attempts_are_counted() {
        let failure = Failure::temporary(ModelErrorKind::Network, "away");
        for attempt in 1..=40 {
            let full = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt - 1)).min(MAX_WAIT);
            let wait = wait(&failure, attempt, 40).unwrap();
            assert!(wait >= full / 2 && wait <= full, "{attempt}: {wait:?}");
        }
        assert_eq!(wait(&failure, 3, 2).unwrap_err().message, "away (after 3 attempts)");
        let permanent = Failure::permanent(ModelErrorKind::Refused, "no");
        assert_eq!(wait(&permanent, 1, 2).unwrap_err(), permanent);
    }

    #[test]
    fn requested_waits_are_limited() {
        let mut failure = Failure::temporary(ModelErrorKind::RateLimited, "no");
        failure.wait = Some(Duration::from_secs(7));
        assert_eq!(wait(&failure, 1, 2), Ok(Duration::from_secs(7)));
        failure.wait = Some(Duration::from_secs(3600));
        assert_eq!(wait(&failure, 1, 2).unwrap_err().message, "no; it asks to wait 3600 s");
    }
}
