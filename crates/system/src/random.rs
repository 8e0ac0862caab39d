//! Random numbers: secrets from the kernel, and non-secret short identifiers and delays.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Result;
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};

/// Characters that are hard to confuse: no i, l, o and u.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Returns `COUNT` random bytes, suitable for secrets (getrandom(2)).
///
/// # Errors
/// If the kernel provides none.
pub fn bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += getrandom(rest, GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Returns an identifier that cannot be guessed: 128 bits as hexadecimal digits.
///
/// # Errors
/// If the kernel provides no random numbers.
pub fn id() -> Result<String> {
    Ok(bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns an identifier that is short enough to type and not secret: `length` digits and letters, at most twelve, of 5
/// random bits each. The chance of a duplicate among a million identifiers of ten letters is 1 in 2000.
#[must_use]
pub fn short_id(length: usize) -> String {
    let bits = bits();
    (0..length).map(|place| char::from(LETTERS[(bits >> (5 * place) & 31) as usize])).collect()
}

/// Returns a random fraction of `longest`, so that many waiters do not retry at once.
#[must_use]
pub fn jitter(longest: Duration) -> Duration {
    // Scale by 32 random bits, in integers: no rounding up, no overflow.
    Duration::from_nanos_u128(longest.as_nanos() * u128::from(bits() as u32) / u128::from(u32::MAX))
}

/// Random bits for non-secrets. The keys of the standard library's hash maps come from the kernel too, differ each
/// time, and are always available.
fn bits() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn short_ids_have_the_requested_length_and_are_unique() {
        let ids: HashSet<String> = (0..10_000).map(|_| short_id(12)).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 12 && id.bytes().all(|letter| LETTERS.contains(&letter))));
        for place in 0..12 {
            let letters: HashSet<u8> = ids.iter().map(|id| id.as_bytes()[place]).collect();
            assert_eq!(letters.len(), 32, "every letter occurs at {place}");
        }
    }

    #[test]
    fn ids_are_128_bits_in_hexadecimal_digits() {
        let (one, other) = (id().unwrap(), id().unwrap());
        assert!(one.len() == 32 && one.bytes().all(|digit| digit.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, other);
    }

    #[test]
    fn jitter_is_within_its_bound_and_varies() {
        let longest = Duration::from_secs(30);
        let waits: HashSet<Duration> = (0..1_000).map(|_| jitter(longest)).collect();
        assert!(waits.len() > 900, "{}", waits.len());
        assert!(waits.iter().all(|wait| *wait <= longest));
        assert_eq!(jitter(Duration::ZERO), Duration::ZERO);
        assert!(jitter(Duration::MAX) <= Duration::MAX);
    }
}
