//! The parts of a command that runs snippets or serves: where they are started, and ended in one order.

use std::sync::Arc;

use agent::EventPoster;
use gateway::failure::Failure;
use terminal::Terminal;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::assistant::Recording;
use crate::process_context::ProcessContext;
use crate::reload::{self, Source, Stamps};
use crate::snapshot::Settings;
use crate::state::ServerState;
use crate::subagent_log::{self, EventListener};
use crate::telemetry::Exporter;

/// What runs in this process.
pub struct Runtime {
    /// Where people are told what happens.
    pub terminal: Arc<Terminal>,
    /// What this process is to others.
    pub process: ProcessContext,
    /// The export of traces that the configuration asks for.
    pub(crate) exporter: Option<Exporter>,
    /// What posts events to the process at the root of all agents, where that is another one.
    pub(crate) poster: Option<Arc<EventPoster>>,
    /// Where conversations are kept.
    pub recording: Option<Recording>,
    /// What all clients share.
    state: Option<Arc<ServerState>>,
    /// Work that goes on until the end.
    beside: Vec<JoinHandle<()>>,
    /// Events of subagents are shown as long as it is there.
    listener: Option<EventListener>,
}

impl Runtime {
    /// Starts what there must be before the configuration is read: the terminal, and the listener for events of
    /// subagents, which are shown whole if `verbose`.
    pub async fn start(terminal: Terminal, verbose: bool, process: ProcessContext) -> Self {
        let listener = subagent_log::listen(terminal.notifier(), verbose).await;
        Runtime {
            process: process.with_listener(listener.as_ref()),
            terminal: Arc::new(terminal),
            exporter: None,
            poster: None,
            recording: None,
            state: None,
            beside: Vec::new(),
            listener,
        }
    }

    /// Reads a configuration for the first time, and starts the export that it asks for. What has changed since the
    /// stamps is read again.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(&mut self, source: &Source) -> Result<(Arc<Settings>, Stamps), Failure> {
        let stamps = source.stamps();
        let (settings, exporter) = source.read_first()?;
        self.exporter = exporter;
        Ok((settings, stamps))
    }

    /// Starts what all clients share, with settings that stay what they are as long as their sender does not send. The
    /// command line allows `allow`.
    ///
    /// # Errors
    /// Where the cache can't be used.
    pub(crate) fn serve(
        &mut self,
        settings: watch::Receiver<Arc<Settings>>,
        allow: &[String],
    ) -> Result<Arc<ServerState>, Failure> {
        let state = ServerState::new(settings, allow.to_vec(), self.terminal.clone())?;
        self.state = Some(state.clone());
        self.spawn(state.clone().warm());
        Ok(state)
    }

    /// The same, with a configuration that is read again when it changes.
    ///
    /// # Errors
    /// Where the cache can't be used.
    pub fn serve_following(
        &mut self,
        source: Source,
        (first, stamps): (Arc<Settings>, Stamps),
        allow: &[String],
    ) -> Result<Arc<ServerState>, Failure> {
        let (sender, settings) = watch::channel(first);
        let state = self.serve(settings, allow)?;
        self.spawn(reload::follow(source, stamps, sender, state.clone()));
        Ok(state)
    }

    /// Does something until the end.
    pub(crate) fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.beside.push(tokio::spawn(work));
    }

    /// Begins the end: nothing goes on beside, and calls are cancelled. For sessions that are ended before all others.
    pub fn stop(&self) {
        self.beside.iter().for_each(JoinHandle::abort);
        if let Some(state) = &self.state {
            state.stop.cancel();
        }
    }

    /// Ends everything: calls, then sessions, then what tells of them (events, conversations, traces), and the terminal
    /// at last. The audit log is written before what it tells of, so there is nothing left of it.
    ///
    /// # Errors
    /// Where standard output took no more, for another reason than that nobody reads it.
    pub async fn shutdown(self) -> Result<(), Failure> {
        self.stop();
        for work in self.beside {
            // A compiler has ended when its work has.
            let _ = work.await;
        }
        let sessions = async {
            if let Some(state) = &self.state {
                state.close().await;
            }
        };
        // Side by side: clients do not wait long for the end.
        tokio::join!(sessions, deliver(self.poster, &self.terminal));
        if let Some(recording) = self.recording {
            recording.flush().await;
        }
        if let Some(exporter) = self.exporter {
            exporter.end().await;
        }
        // What servers have said up to their end was shown.
        drop(self.listener);
        let flushed = self.terminal.flush().await;
        flushed.map_err(|error| Failure::host(format!("the output can't be written: {error}")))
    }
}

/// Posts what is not posted yet, and says what is lost.
async fn deliver(poster: Option<Arc<EventPoster>>, terminal: &Terminal) {
    let Some(poster) = poster else { return };
    let lost = poster.flush().await;
    if lost > 0 {
        terminal.tell(&format!(
            "toolsmith: events of this subagent that are lost: {lost}; the process that shows them did not take them in \
             time"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_goes_on_beside_has_ended_when_everything_has() {
        let terminal = Terminal::new(true, false);
        let mut runtime = Runtime::start(terminal, false, ProcessContext::of_this_process()).await;
        let held = Arc::new(());
        let beside = held.clone();
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(beside);
        });
        runtime.stop();
        runtime.shutdown().await.unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
