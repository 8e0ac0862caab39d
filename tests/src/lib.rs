//! What several test programs share.

pub mod browser;
pub mod checks;
pub mod models;
pub mod reductions;
