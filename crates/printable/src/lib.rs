//! Makes untrusted text safe to show: it cannot control a terminal, hide anything, or imitate other text.
//!
//! This crate alone decides which characters are invisible, control a terminal, or look like others. The caller decides
//! what to show where, and how long it may be.
//!
//! | function | for | left unchanged |
//! | --- | --- | --- |
//! | [`name`] | names of servers, tools, and arguments | ASCII letters, digits, and punctuation common in names; words of one script |
//! | [`exact`] | arguments, paths, addresses, command lines | ASCII; words of one script |
//! | [`prose`] | descriptions and messages, on one line | the same, and typographic punctuation |
//! | [`lines`], [`Filter`] | program output, multi-line text | everything that does not control a terminal |
//! | [`json`] | JSON on a terminal | the value |

#![forbid(unsafe_code)]

mod character;
mod filter;
mod spelling;

pub use character::{controls, is_invisible};
pub use filter::{Filter, lines};
pub use spelling::{exact, json, look, name, prose};
