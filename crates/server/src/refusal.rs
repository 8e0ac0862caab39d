//! The refusal of an execution because of others: recorded as any execution, with no other work.

use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use gateway::reference::ExecuteCode;
use runner::{NewExecution, Outcome, OwnedJournal};
use serde_json::{Value, json};
use snippet::Code;
use system::random;

use crate::execution_slots::Busy;
use crate::journal::{RequestContext, Requester, sinks_of};
use crate::resource::Resource;
use crate::sinks::Sinks;

/// Stands for a snippet that was not read. Parsing starts a thread, so it is done once.
static UNREAD: LazyLock<Code> = LazyLock::new(|| Code::parse(String::new()));

/// Records an execution of `tool` that is refused for this reason, and returns the result for its client, who may try
/// again after `wait`.
///
/// # Errors
/// If the kernel gives no random bytes for the execution's id.
pub(crate) async fn busy(
    sinks: Sinks,
    requester: Requester,
    tool: &str,
    arguments: &ExecuteCode,
    reason: &Busy,
    wait: Duration,
) -> io::Result<Value> {
    let settings = sinks.settings.clone();
    sinks.metrics.refusals.count(Resource::Queue);
    let journal = OwnedJournal::new(sinks_of(&RequestContext::new(sinks, requester, random::id()?, tool)));
    let outcome = Outcome::busy(&reason.to_string()).retry_after(wait);
    let (code, given) = (&arguments.code, json!(arguments.args));
    let new = NewExecution { code, arguments: &given, check_only: arguments.check_only };
    let recorded = match journal.execution(&new).await {
        Ok(()) => journal.end(&outcome.status.to_string(), Some("busy")).await,
        Err(unrecorded) => journal.end("host_error", Some("host")).await.and(Err(unrecorded)),
    };
    if let Err(unrecorded) = recorded {
        return Ok(answer::failure(&settings.masker.mask(&unrecorded.to_string())));
    }
    // The message is shorter than the smallest budget, so nothing of it is stored.
    Ok(answer::result(outcome, &UNREAD, &settings.config.serve, &|_, _| String::new()))
}
