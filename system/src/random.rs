//! Random numbers from the kernel (getrandom(2)), fit for secrets.

use std::io::Result;
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};

/// Letters that are not taken for each other: no i, l, o and u.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// So many random bytes.
///
/// # Errors
/// Where the kernel gives none.
pub fn bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += getrandom(rest, GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// An identifier that nobody guesses: 128 bits in hexadecimal digits.
///
/// # Errors
/// Where the kernel gives no random numbers.
pub fn id() -> Result<String> {
    Ok(bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An identifier that is short enough to type, of so many digits and letters with 5 bits each.
///
/// # Errors
/// Where the kernel gives no random numbers.
pub fn short_id<const LENGTH: usize>() -> Result<String> {
    // 32 letters divide 256: each is as likely as the others.
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte % 32)]);
    Ok(bytes::<LENGTH>()?.into_iter().map(letter).collect())
}

/// A random part of `longest`, so that many who wait for the same thing do not come back at once. All of it, should the
/// kernel give no random numbers: a wait needs no secret.
#[must_use]
pub fn jitter(longest: Duration) -> Duration {
    let share = bytes().map_or(u16::MAX, u16::from_le_bytes);
    longest.mul_f64(f64::from(share) / f64::from(u16::MAX))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn short_ids_are_long_as_asked_and_never_the_same() {
        let ids: HashSet<String> = (0..10_000).map(|_| short_id::<12>().unwrap()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 12 && id.bytes().all(|letter| LETTERS.contains(&letter))));
        for place in 0..12 {
            let letters: HashSet<u8> = ids.iter().map(|id| id.as_bytes()[place]).collect();
            assert_eq!(letters.len(), 32, "every letter stands at {place}");
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
    }
}
