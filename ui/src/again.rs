//! Runs the snippet of an execution again.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use tokio::sync::oneshot;

use crate::action::{Action, done};
use crate::error::PageError;
use crate::execution;
use crate::site::Site;

/// How long the page waits for a run that fails at its begin; after that, it shows the list with the running execution.
const AT_BEGIN: Duration = Duration::from_secs(2);

/// Starts `history rerun` for the execution in a form.
///
/// # Errors
/// If there is no such execution, or the new one fails at its begin: its arguments are not kept, or the configuration is
/// wrong.
pub(crate) async fn run(site: &Arc<Site>, action: &Action) -> Result<Response, PageError> {
    let id = action.required("id")?;
    let known = id.to_owned();
    site.store.read(move |reader| execution::read(reader, &known).map(drop)).await?;
    let running = site.commands.run((&["history", "rerun", "--json"], &[id]), String::new())?;
    let (sender, ended) = oneshot::channel();
    // It goes on when the browser is gone.
    tokio::spawn(async move {
        let _ = sender.send(running.await);
    });
    match tokio::time::timeout(AT_BEGIN, ended).await {
        Ok(Ok(Err(failed))) => Err(failed),
        // With `--json`, an execution prints its outcome.
        Ok(Ok(Ok(ended))) if ended.output.is_empty() => Err(PageError::wrong(ended.messages)),
        _ => Ok(done("executions")),
    }
}
