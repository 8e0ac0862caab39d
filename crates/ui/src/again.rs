//! Runs the snippet of an execution again, after a question.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use history::Reader;
use maud::html;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::access::Visitor;
use crate::action::{Action, done};
use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::site::Site;
use crate::text::{breakable, counted, line, time};
use crate::{code, execution};

/// The time that the page waits for a run that fails at its begin; after that, it shows the list with the running
/// execution.
const AT_BEGIN: Duration = Duration::from_secs(2);

/// The question whether the execution whose id is or begins with `id` is run again.
///
/// # Errors
/// If the page only reads, or there is no such execution.
pub(crate) fn page(reader: Option<&Reader>, id: &str, visitor: &Visitor) -> Result<Document, PageError> {
    if !visitor.may_act() {
        return Err(PageError::read_only());
    }
    let execution = execution::read(reader, id)?;
    let summary = &execution.summary;
    let back = format!("execution?id={}", summary.id);
    let body = html! {
        h1 { "Run it again?" }
        p {
            a href=(back) { bdi { (breakable(&line(&summary.title))) } } " " (layout::status(summary))
            ", begun at " (time(summary.begun)) ", made " (counted(summary.calls, "call")) "."
        }
        p.note {
            "It makes its calls again. What they changed, they can change once more. A call that would need your answer is "
            "denied."
        }
        (execution::manifest(&execution.outcome))
        h2 { "Snippet" }
        (code::named("Snippet", &execution.code, &Value::Null))
        form.actions action="again" method="post" {
            (visitor.field())
            input type="hidden" name="id" value=(summary.id);
            button type="submit" { "Yes, run it again" }
            a href=(back) { "No" }
        }
    };
    Ok(layout::page("Run it again?", Section::Executions, body))
}

/// Starts `history rerun` for the execution in a form.
///
/// # Errors
/// If there is no such execution, or the new one fails at its begin: its arguments are not kept, or the configuration is
/// wrong.
pub(crate) async fn run(site: &Arc<Site>, action: &Action) -> Result<Response, PageError> {
    let id = action.required("id")?;
    let known = id.to_owned();
    site.store.read(move |reader| execution::read(reader, &known).map(drop)).await?;
    let running = site.commands.run(&["history", "rerun", "--json"], &[id], String::new())?;
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
