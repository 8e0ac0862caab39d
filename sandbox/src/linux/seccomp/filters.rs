//! The filters of one child, before they are applied.

use seccompiler::BpfProgram;

/// The filters of one child.
pub(in crate::platform) struct Filters {
    /// Applied first.
    pub(super) common: BpfProgram,
    pub(super) deciding: Deciding,
}

/// The filters that decide.
pub(super) enum Deciding {
    /// They answer refused calls themselves.
    Silent(Vec<BpfProgram>),
    /// A filter that notifies its listener of refused calls, a filter that then denies the calls needed to
    /// set it up, and the context for silent filters if there can be no listener.
    Notifying { filter: BpfProgram, after: BpfProgram, context: Context },
    /// A filter that notifies its listener of refused calls and of those that it watches, and a filter that refuses the
    /// latter with certain arguments.
    Recording { filter: BpfProgram, after: BpfProgram },
}

/// The inputs of the rules.
pub(super) struct Context {
    pub(super) process: u32,
    pub(super) exec_descriptor: i32,
    pub(super) exec_path: u64,
    pub(super) channel: i32,
    pub(super) signals_scoped: bool,
    /// Whether the program may access paths.
    pub(super) has_paths: bool,
}
