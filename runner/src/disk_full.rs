//! Recognises a full disk in the output of a failed tool.
//!
//! The linker writes through a memory map: on a full disk it gets no error, but is killed by SIGBUS.

use crate::cache::{Bucket, Cache};
use crate::error::Error;

/// Output of compilers, linkers and cargo on a full disk (errno(3) in the C locale, signal(7)).
const SIGNS: [&str; 5] =
    ["No space left on device", "Disk quota exceeded", "File too large", "(SIGBUS)", "(SIGXFSZ)"];

/// Whether a tool's output means that the disk is full.
pub(crate) fn is_full(output: &str) -> bool {
    SIGNS.iter().any(|sign| output.contains(sign))
}

/// The error of a tool that found no space in `cache`.
pub(crate) fn error(cache: &Cache, output: &str) -> Error {
    let sign = SIGNS.iter().find(|sign| output.contains(**sign)).unwrap_or(&SIGNS[0]);
    let error = std::io::Error::new(
        std::io::ErrorKind::StorageFull,
        format!("the compiler has no space to write there: {sign}"),
    );
    Error::cache(&cache.bucket(Bucket::Temporary))(error)
}
