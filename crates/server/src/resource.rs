//! Names everything that clients share, and counts refusals because of it. `shares` lists the limits.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// Defines the resources, with their names in metrics.
macro_rules! resources {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A resource that clients share.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Resource { $($(#[doc = $doc])+ $variant,)+ }

        impl Resource {
            /// All of them.
            pub(crate) const ALL: &[Resource] = &[$(Resource::$variant,)+];

            /// The label in metrics.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Resource::$variant => $name,)+ }
            }
        }
    };
}

resources! {
    /// Slots of executions.
    Executions = "executions",
    /// Executions that run, or wait for an answer.
    Started = "started_executions",
    /// Places in the queue for slots.
    Queue = "queue",
    /// Compilers that run.
    Compilers = "compilers",
    /// Processor time of programs and compilers.
    ProcessorTime = "processor_time",
    /// Processors, for programs.
    Processors = "processors",
    /// Memory, for programs and compilers.
    Memory = "memory",
    /// Threads and processes of programs.
    Processes = "processes",
    /// The event loop.
    EventLoop = "event_loop",
    /// Connections with an accepted request.
    Connections = "connections",
    /// Bytes of requests that are held.
    RequestBytes = "request_bytes",
    /// Sessions of clients.
    Sessions = "sessions",
    /// Open questions to clients.
    Questions = "questions",
    /// Work that waits for clients without sessions.
    PendingRequests = "pending_requests",
    /// Whole texts of long outputs.
    KeptOutputs = "kept_outputs",
    /// Sessions with servers that are opened ahead.
    SpareSessions = "spare_sessions",
    /// Compilers that are started ahead.
    SpareCompilers = "spare_compilers",
    /// Bytes of the cache.
    CacheBytes = "cache_bytes",
    /// Bytes of the history.
    HistoryBytes = "history_bytes",
}

/// Counts refusals, by resource.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(Family<[(&'static str, String); 1], Counter>);

impl Refusals {
    /// Counts a refusal because of this resource.
    pub(crate) fn count(&self, resource: Resource) {
        self.of(resource).inc();
    }

    /// The counter of this resource.
    pub(crate) fn of(&self, resource: Resource) -> Counter {
        self.0.get_or_create(&[("resource", resource.name().to_owned())]).clone()
    }

    /// The metric with all of them.
    pub(crate) fn family(&self) -> Family<[(&'static str, String); 1], Counter> {
        self.0.clone()
    }
}
