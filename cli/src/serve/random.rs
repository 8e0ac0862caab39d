//! Random numbers from the kernel.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// So many random bytes (getrandom(2)).
pub(crate) fn bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += getrandom(rest, GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// A name that nobody guesses: 128 bits in hexadecimal digits.
pub(crate) fn name() -> io::Result<String> {
    Ok(bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}
