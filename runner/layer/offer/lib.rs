//! Empty: the crates that snippets can use are its dependencies.
