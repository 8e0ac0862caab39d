//! Text that is inserted into a snippet's own text before it is compiled.

/// Inserted after each `crate` in a file of items, which are in a module of the program.
pub(crate) const MODULE: &str = "::snippet";

/// An inserted text, which has no line break, so that lines remain the snippet's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Insertion {
    /// The byte offset in the snippet's text.
    pub(crate) at: usize,
    /// The text.
    pub(crate) text: String,
}

/// Inserts all of them, which are in text order.
pub(crate) fn insert(text: &str, insertions: &[Insertion]) -> String {
    let added: usize = insertions.iter().map(|insertion| insertion.text.len()).sum();
    let mut whole = String::with_capacity(text.len() + added);
    let mut from = 0;
    for insertion in insertions {
        whole.push_str(&text[from..insertion.at]);
        whole.push_str(&insertion.text);
        from = insertion.at;
    }
    whole.push_str(&text[from..]);
    whole
}
