//! Tells a full disk from what else a compiler fails for.
//!
//! The linker writes through a memory map: on a full disk it does not see an error, but is ended by SIGBUS.

use crate::cache::{Bucket, Cache};
use crate::error::Error;

/// What compilers, linkers and cargo say where there is no room (errno(3) in the language C, signal(7)).
const SIGNS: [&str; 5] =
    ["No space left on device", "Disk quota exceeded", "File too large", "(SIGBUS)", "(SIGXFSZ)"];

/// Whether what a tool said of its failure means that it had no room.
pub(crate) fn is_missing(said: &str) -> bool {
    SIGNS.iter().any(|sign| said.contains(sign))
}

/// The error of a tool that had no room in `cache`.
pub(crate) fn error(cache: &Cache, said: &str) -> Error {
    let sign = SIGNS.iter().find(|sign| said.contains(**sign)).unwrap_or(&SIGNS[0]);
    let said = std::io::Error::other(format!("the compiler has no room to write there: {sign}"));
    Error::cache(&cache.bucket(Bucket::Temporary))(said)
}
