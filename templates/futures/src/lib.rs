//! `futures` for snippets: the same names and behaviour, and joins that a snippet compiles fast.
//!
//! The crate's `join_all` and `try_join_all` are compiled again for each type of future, which doubled the compile time
//! of a snippet with ten parallel calls. Here they drive futures whose type is erased, so they are compiled once, with
//! this crate. The driving itself, and everything else, is the crate's own.

extern crate futures as original;

#[allow(unsafe_code, reason = "drives futures whose types are erased")]
mod driver;
#[allow(unsafe_code, reason = "erases the types of futures")]
mod erased;
pub mod future;
#[allow(unsafe_code, reason = "restores the types of outputs")]
mod joined;
#[allow(unsafe_code, reason = "restores the types of outputs")]
mod ordered;

pub use original::*;

/// The crate's prelude, with this crate's joins.
pub mod prelude {
    pub use original::prelude::*;

    pub use crate::future;
}

/// The items that the bridge is built with.
#[doc(hidden)]
pub mod private {
    pub use crate::ordered::Ordered;
}

#[cfg(test)]
mod tests;
