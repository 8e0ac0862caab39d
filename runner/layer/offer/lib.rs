//! Nothing of its own: the crates that snippets can use are its dependencies.
