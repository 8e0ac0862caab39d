//! `futures` for snippets: the same names and behaviour, and joins that a snippet compiles fast.
//!
//! The crate's `join_all` and `try_join_all` make a snippet with ten parallel calls compile half as long again, because
//! all of their code is compiled for each type of future. Here, most of it does not depend on the type.

#![forbid(unsafe_code)]

extern crate futures as original;

pub mod future;
mod joined;
mod ordered;
mod running;
mod turns;

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
