//! The filters of one child, before they are applied.

use seccompiler::BpfProgram;

/// The filters of one child.
pub(in crate::platform) struct Filters {
    /// Applied first, in this order.
    pub(super) common: Vec<BpfProgram>,
    pub(super) deciding: Deciding,
}

/// The filters that have the last word.
pub(super) enum Deciding {
    /// They answer what they refuse.
    Silent(Vec<BpfProgram>),
    /// A filter that tells its listener what it refuses, the one that takes away what setting it up needed, and what
    /// silent ones are made from, where there can be no listener.
    Telling { filter: BpfProgram, after: BpfProgram, context: Context },
}

/// What rules are made from.
pub(super) struct Context {
    pub(super) process: u32,
    pub(super) exec_descriptor: i32,
    pub(super) exec_path: u64,
    pub(super) channel: i32,
    pub(super) signals_scoped: bool,
    /// Whether the program may work on paths.
    pub(super) has_paths: bool,
}
