//! The checks of a text: in values that are used, and in messages that are only read.

/// Maximum nesting of a canonical value. Common parsers give up at 128 levels, and the message around the value takes a
/// few.
pub const DEPTH_LIMIT: usize = 100;

/// Maximum nesting of any text whose names are checked: each level needs an entry in memory.
pub const MESSAGE_DEPTH_LIMIT: usize = 100_000;

/// The rules that a text must satisfy, besides unique names.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Maximum nesting.
    pub(crate) depth: usize,
    /// Whether strings must be Unicode and numbers within the range of doubles.
    pub(crate) checks_scalars: bool,
    /// Whether numbers must be written as serde_json writes them.
    pub(crate) keeps_numbers: bool,
    /// Whether numbers that serde_json would write differently become marked strings.
    pub(crate) marks_numbers: bool,
}

impl Rules {
    /// For values that must have a canonical form.
    pub(crate) const VALUE: Rules =
        Rules { depth: DEPTH_LIMIT, checks_scalars: true, keeps_numbers: false, marks_numbers: false };

    /// For messages, in which only names are checked.
    pub(crate) const MESSAGE: Rules = Rules {
        depth: MESSAGE_DEPTH_LIMIT,
        checks_scalars: false,
        keeps_numbers: false,
        marks_numbers: false,
    };
}
