//! What is checked of a text: of values that are used, and of messages that are only read.

/// How deep a canonical value may nest. Common parsers give up at 128 levels, of which a message around it takes a few.
pub const DEPTH_LIMIT: usize = 100;

/// How deep any text may nest whose names are checked: an entry of memory is kept for each level.
pub const MESSAGE_DEPTH_LIMIT: usize = 100_000;

/// What a text must keep to, beside names that stand once.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// How deep it may nest.
    pub(crate) depth: usize,
    /// Whether texts must be Unicode and numbers within the range of doubles.
    pub(crate) checks_scalars: bool,
    /// Whether numbers must be written as serde_json writes them.
    pub(crate) keeps_numbers: bool,
    /// Whether those that serde_json writes in another way become marked texts.
    pub(crate) marks_numbers: bool,
}

impl Rules {
    /// Those of values that must have a canonical form.
    pub(crate) const VALUE: Rules =
        Rules { depth: DEPTH_LIMIT, checks_scalars: true, keeps_numbers: false, marks_numbers: false };

    /// Those of messages, of which only the names are checked.
    pub(crate) const MESSAGE: Rules = Rules {
        depth: MESSAGE_DEPTH_LIMIT,
        checks_scalars: false,
        keeps_numbers: false,
        marks_numbers: false,
    };
}
