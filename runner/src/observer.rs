//! What a run tells while it is under way.

/// Listens to a run. Every method may be called from any thread, and must not block for long.
pub trait Observer: Send + Sync {
    /// Long work has begun, in words for a person: the first build of a layer, waiting for another process.
    fn progress(&self, message: &str);

    /// The program printed `bytes` to standard output.
    fn stdout(&self, bytes: &[u8]);

    /// The program printed `bytes` to standard error.
    fn stderr(&self, bytes: &[u8]);

    /// The program says how far it has come: `done` of `total` units.
    fn program_progress(&self, done: f64, total: f64, message: &str);
}

/// An observer that does not look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&self, _message: &str) {}
    fn stdout(&self, _bytes: &[u8]) {}
    fn stderr(&self, _bytes: &[u8]) {}
    fn program_progress(&self, _done: f64, _total: f64, _message: &str) {}
}
