//! The snippets that are being compiled: work in the background waits until there are none.

use tokio::sync::watch;

/// How many snippets are being compiled.
#[derive(Debug, Default)]
pub(crate) struct Foreground(watch::Sender<usize>);

/// One of them; it is done when this is dropped.
pub(crate) struct ForegroundGuard<'a>(&'a Foreground);

impl Foreground {
    pub(crate) fn begin(&self) -> ForegroundGuard<'_> {
        self.0.send_modify(|count| *count += 1);
        ForegroundGuard(self)
    }

    /// Waits until none is compiled, or until any is.
    pub(crate) async fn until(&self, any: bool) {
        // The sender is in `self`: it can't be gone.
        let _ = self.0.subscribe().wait_for(|count| (*count > 0) == any).await;
    }
}

impl Drop for ForegroundGuard<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
