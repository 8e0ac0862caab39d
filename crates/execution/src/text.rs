//! The text of an execution, as it is kept.

use std::collections::BTreeMap;

use terminal::Masker;

/// The text of an execution, with its arguments.
#[cfg_attr(not(feature = "history"), allow(dead_code, reason = "nothing is kept"))]
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) code: &'a str,
    pub(crate) args: &'a BTreeMap<String, String>,
    pub(crate) check_only: bool,
    pub(crate) masker: &'a Masker,
}
