//! The purposes that a text is compiled for.

/// The crate with which a program returns its JSON Schemas: a library of the layer that ordinary snippets do not get.
pub const SCHEMA_CRATE: &str = "__schema";

/// The purpose that a text is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// To run it.
    #[default]
    Snippet,
    /// To run it as a saved program, which has typed arguments.
    Program,
    /// To get the JSON Schemas of a saved program's arguments and, with `result`, of its result. The program itself
    /// does not run.
    Schemas {
        /// Whether the schema of the result is included.
        result: bool,
    },
}
