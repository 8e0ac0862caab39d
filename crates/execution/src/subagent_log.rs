//! Shows events of subagents on standard error of the root process.

mod lines;
mod listener;
#[cfg(test)]
mod tests;

use agent::{ADDRESS_VARIABLE, EventBatch};
use system::random;
use terminal::Notifier;

pub(crate) use self::listener::EventListener;

/// Listens to subagents until the result is dropped, unless a process above already does. Each event is shown in one
/// line, or in full if the process is verbose.
pub(crate) async fn listen(notifier: Notifier) -> Option<EventListener> {
    if inherited().is_some() {
        return None;
    }
    let failed = |error: std::io::Error| {
        notifier.warning(&format!("events of subagents can't be received: {error}"));
    };
    let token = random::id().map_err(failed).ok()?;
    let shown = notifier.clone();
    let show = move |batch: EventBatch| {
        if shown.is_quiet() {
            return;
        }
        if batch.left_out > 0 {
            shown.say(&format!("left out {} of subagents here", report::count(batch.left_out, "event")));
        }
        batch.events.iter().for_each(|event| shown.say(&lines::lines(event, shown.is_verbose())));
    };
    EventListener::start(&token, show).await.map_err(failed).ok()
}

/// The address of the listener of a process above, with its token.
pub fn inherited() -> Option<String> {
    std::env::var(ADDRESS_VARIABLE).ok().filter(|address| !address.is_empty())
}
