//! Code shared by several test programs.

pub mod browser;
pub mod checks;
pub mod models;
pub mod reductions;
