//! `futures::future`, with joins over erased futures.

pub use original::future::*;

pub use crate::joined::{JoinAll, TryJoinAll, join_all, try_join_all};
