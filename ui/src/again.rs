//! Runs the snippet of an execution again.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use maud::{Markup, html};
use tokio::sync::oneshot;

use crate::access::Visitor;
use crate::action::{Action, done};
use crate::error::PageError;
use crate::site::Site;

/// How long the page waits for a run that fails at its begin; after that, it shows the list with the running execution.
const AT_BEGIN: Duration = Duration::from_secs(2);

/// The button, and the way to save the snippet as a program; nothing if the page only reads.
pub(crate) fn actions(visitor: &Visitor, id: &str) -> Markup {
    html! {
        @if visitor.may_act() {
            form.actions action="again" method="post" {
                (visitor.field())
                input type="hidden" name="id" value=(id);
                button type="submit" { "Run again" }
                a href=(format!("save?id={id}")) { "Save as a program" }
            }
        }
    }
}

/// Starts `history rerun` for the execution in a form.
///
/// # Errors
/// If it fails before there is an execution: it has no arguments any more, or the configuration is wrong.
pub(crate) async fn run(site: &Arc<Site>, action: &Action) -> Result<Response, PageError> {
    let id = action.required("id")?;
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
