//! The parts of a command that runs snippets or serves, started in one place and ended in a fixed order.

use std::sync::Arc;

use agent::EventPoster;
use execution::process::{Process, ProcessContext};
use gateway::failure::Failure;
use telemetry::Exporter;
use terminal::Terminal;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::helper_ahead;
use crate::optimize;
use crate::recorder::Recording;
use crate::reload::{self, Source, Stamps};
use crate::snapshot::Settings;
use crate::spare_compilers;
use crate::state::ServerState;

/// The running parts of this process.
pub struct Runtime {
    /// The terminal, the events of subagents, and the relation to other processes.
    pub process: Process,
    /// The configured export of traces.
    pub exporter: Option<Exporter>,
    /// Posts events to the root process of all agents, if that is another process.
    pub poster: Option<Arc<EventPoster>>,
    /// The storage of conversations.
    pub recording: Option<Recording>,
    /// The state that all clients share.
    state: Option<Arc<ServerState>>,
    /// Background tasks that run until the end.
    background: Vec<JoinHandle<()>>,
}

impl Runtime {
    /// Starts what is needed before the configuration is read.
    pub async fn start(terminal: Terminal, context: ProcessContext) -> Self {
        Runtime {
            process: Process::start(terminal, context).await,
            exporter: None,
            poster: None,
            recording: None,
            state: None,
            background: Vec::new(),
        }
    }

    /// Reads a configuration for the first time, and starts the configured export. Changes after the returned stamps
    /// cause another reading.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn read(&mut self, source: &Source) -> Result<(Arc<Settings>, Stamps), Failure> {
        let stamps = source.stamps();
        let (settings, exporter) = source.read_first()?;
        self.exporter = exporter;
        Ok((settings, stamps))
    }

    /// Starts the shared state, with settings that change only when their sender sends. The command line allows the
    /// tools in `allow`.
    ///
    /// # Errors
    /// If the cache can't be used.
    pub fn serve(
        &mut self,
        settings: watch::Receiver<Arc<Settings>>,
        allow: &[String],
    ) -> Result<Arc<ServerState>, Failure> {
        let state = ServerState::new(settings, allow.to_vec(), self.process.terminal.clone())?;
        self.state = Some(state.clone());
        self.spawn(state.clone().warm());
        self.spawn(state.services.statistics.clone().flush_regularly());
        self.spawn(optimize::compile(state.clone()));
        self.spawn(helper_ahead::keep(state.clone()));
        self.spawn(spare_compilers::keep(state.clone()));
        Ok(state)
    }

    /// Like `serve`, with a configuration that is read again when it changes.
    ///
    /// # Errors
    /// If the cache can't be used.
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

    /// Runs a background task until the end.
    pub fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.background.push(tokio::spawn(work));
    }

    /// Starts the shutdown: aborts background tasks and cancels calls. For callers that end some sessions before all
    /// others.
    pub fn stop(&self) {
        self.background.iter().for_each(JoinHandle::abort);
        if let Some(state) = &self.state {
            state.stop.cancel();
        }
    }

    /// Ends everything: calls, then sessions, then their reports (events, conversations, traces), and finally the
    /// terminal. The audit log needs no step, because records are written before the events they describe.
    ///
    /// # Errors
    /// If writing to standard output failed, except because its reader is gone.
    pub async fn shutdown(self) -> Result<(), Failure> {
        self.stop();
        for work in self.background {
            // A compiler has ended when its task has.
            let _ = work.await;
        }
        let sessions = async {
            if let Some(state) = &self.state {
                state.close().await;
            }
        };
        // In parallel, because clients do not wait long for the end.
        tokio::join!(sessions, deliver(self.poster, &self.process.terminal));
        if let Some(recording) = self.recording {
            recording.flush().await;
        }
        if let Some(exporter) = self.exporter {
            exporter.end().await;
        }
        self.process.end().await
    }
}

/// Posts the remaining events, and reports how many were lost.
async fn deliver(poster: Option<Arc<EventPoster>>, terminal: &Terminal) {
    let Some(poster) = poster else { return };
    let lost = poster.flush().await;
    if lost > 0 {
        terminal.notifier().warning(&format!(
            "lost {} of this subagent: the process that shows them did not accept them in time",
            report::count(lost, "event")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn background_tasks_have_ended_after_the_shutdown() {
        let terminal = Terminal::new(true, false);
        let mut runtime = Runtime::start(terminal, ProcessContext::of_this_process()).await;
        let held = Arc::new(());
        let background = held.clone();
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(background);
        });
        runtime.stop();
        runtime.shutdown().await.unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
