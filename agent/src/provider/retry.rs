//! When a request is made again: after the time that the provider asks for, else after twice the time before.

use std::time::Duration;

use system::random;

use super::failure::Failure;

/// The wait before the second attempt, about.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The longest wait that is not asked for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The longest wait that a provider may ask for: beyond, people would rather know at once.
const LONGEST_ASKED_WAIT: Duration = Duration::from_secs(120);

/// How long to wait after attempt number `attempt`.
///
/// # Errors
/// The failure, where no other attempt is made.
pub(super) fn wait(failure: &Failure, attempt: u32, retries: u32) -> Result<Duration, Failure> {
    if !failure.passes {
        return Err(failure.clone());
    }
    if attempt > retries {
        return Err(failure.clone().after(attempt));
    }
    match failure.wait {
        Some(asked) if asked > LONGEST_ASKED_WAIT => {
            let mut failure = failure.clone();
            failure.message += &format!("; it asks to be left alone for {} s", asked.as_secs());
            Err(failure.after(attempt))
        }
        Some(asked) => Ok(asked),
        None => Ok(backoff(attempt)),
    }
}

/// Doubles from attempt to attempt; a random half of it keeps many clients from coming back at once.
fn backoff(attempt: u32) -> Duration {
    let factor = 2_u32.saturating_pow(attempt.saturating_sub(1));
    let full = FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT);
    full / 2 + random::jitter(full / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelErrorKind;

    #[test]
    fn waits_grow_up_to_a_bound_and_the_attempts_are_counted() {
        let failure = Failure::proxied(ModelErrorKind::Network, "away");
        for attempt in 1..=40 {
            let full = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt - 1)).min(LONGEST_WAIT);
            let wait = wait(&failure, attempt, 40).unwrap();
            assert!(wait >= full / 2 && wait <= full, "{attempt}: {wait:?}");
        }
        assert_eq!(wait(&failure, 3, 2).unwrap_err().message, "away (after 3 attempts)");
        let lasting = Failure::lasting(ModelErrorKind::Refused, "no");
        assert_eq!(wait(&lasting, 1, 2).unwrap_err(), lasting);
    }

    #[test]
    fn nobody_waits_for_as_long_as_a_provider_likes() {
        let mut failure = Failure::proxied(ModelErrorKind::RateLimited, "no");
        failure.wait = Some(Duration::from_secs(7));
        assert_eq!(wait(&failure, 1, 2), Ok(Duration::from_secs(7)));
        failure.wait = Some(Duration::from_secs(3600));
        assert_eq!(wait(&failure, 1, 2).unwrap_err().message, "no; it asks to be left alone for 3600 s");
    }
}
