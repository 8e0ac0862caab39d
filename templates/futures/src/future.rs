//! `futures::future`, with joins that are compiled fast.

pub use original::future::*;

pub use crate::joined::{JoinAll, TryJoinAll, join_all, try_join_all};
