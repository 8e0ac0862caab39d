//! What subagents tell of themselves, shown on standard error by the process at the root of them all.

mod lines;

use agent::{ADDRESS_VARIABLE, Listener};

use crate::failure::Failure;
use crate::serve::random;
use crate::terminal::Voice;

/// Listens to subagents, or knows who does.
pub(crate) enum Forwarding {
    /// This process is the root: it listens, until this is dropped.
    Root(Listener),
    /// Another process listens at this address, which holds a token.
    Elsewhere(String),
}

impl Forwarding {
    /// Listens, where no process above does. What subagents tell is shown in one line each, or whole if `verbose`.
    ///
    /// # Errors
    /// Where there is no port, or no random number.
    pub(crate) async fn begin(voice: Voice, verbose: bool) -> Result<Self, Failure> {
        if let Some(address) = inherited() {
            return Ok(Forwarding::Elsewhere(address));
        }
        let token = random::name().map_err(Failure::host)?;
        let told = move |event| voice.say(&lines::lines(&event, verbose));
        let listener = Listener::start(&token, told).await;
        listener.map(Forwarding::Root).map_err(|error| {
            Failure::host(format!("there is no port to listen at for what subagents tell: {error}"))
        })
    }

    /// The address for the processes below, with its token.
    pub(crate) fn address(&self) -> &str {
        match self {
            Forwarding::Root(listener) => listener.address(),
            Forwarding::Elsewhere(address) => address,
        }
    }
}

/// The address that a process above listens at.
pub(crate) fn inherited() -> Option<String> {
    std::env::var(ADDRESS_VARIABLE).ok().filter(|address| !address.is_empty())
}
