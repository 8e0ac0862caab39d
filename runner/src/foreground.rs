//! Counts the snippets being compiled: background work waits until there are none.

use tokio::sync::watch;

/// The number of snippets being compiled.
#[derive(Debug, Default)]
pub(crate) struct Foreground(watch::Sender<usize>);

/// A snippet being compiled, until this is dropped.
pub(crate) struct ForegroundGuard<'a>(&'a Foreground);

impl Foreground {
    pub(crate) fn begin(&self) -> ForegroundGuard<'_> {
        self.0.send_modify(|count| *count += 1);
        ForegroundGuard(self)
    }

    /// Waits until any snippet is being compiled, or until none is.
    pub(crate) async fn until(&self, any: bool) {
        // The sender is in `self`, so it is not dropped.
        let _ = self.0.subscribe().wait_for(|count| (*count > 0) == any).await;
    }
}

impl Drop for ForegroundGuard<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
