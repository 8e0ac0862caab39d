//! Makes untrusted text safe to show: it can neither control a terminal, nor hide something, nor pass for other text.
//!
//! This is the only place that decides which characters are invisible, which control a terminal, and which look like
//! others. What is shown where, and how long it may be, is the caller's decision.
//!
//! | function | for | what is left as it is |
//! | --- | --- | --- |
//! | [`name`] | names of servers, tools, and arguments | ASCII letters, digits, and the marks of names; words of one script |
//! | [`exact`] | arguments, paths, addresses, command lines | ASCII; words of one script |
//! | [`prose`] | descriptions and messages, on one line | the same, and typographic punctuation |
//! | [`lines`], [`Filter`] | output of programs, texts of several lines | everything that does not control a terminal |
//! | [`json`] | JSON on a terminal | the value |

mod character;
mod filter;
mod spelling;

pub use character::{controls, is_invisible};
pub use filter::{Filter, lines};
pub use spelling::{exact, json, look, name, prose};
