//! Lists everything that clients share: the limit for all of them, the share of one, and what happens beyond it. A table
//! of docs/serve.md is made from it.

use runner::limits::SNIPPET_SECONDS;
use runner::size;

use super::execution_slots::STARTED_PER_PLACE;
use super::http::{CONNECTIONS, HELD_BODIES};
use super::output_store::{BYTES_KEPT, TEXTS_KEPT};
use super::pending::{WORK, WORK_OF_CLIENT};
use super::quota::Amount;
use super::resource::Resource;
use super::state::{QUESTIONS, QUESTIONS_OF_CLIENT};

/// The sharing of a resource, in words for the documentation.
struct Share {
    what: &'static str,
    /// The limit for all clients together.
    all: String,
    /// The limit for one client among several.
    one: &'static str,
    /// The effect beyond it, and who goes first.
    beyond: &'static str,
    /// The metric that shows its use, after the prefix `toolsmith_`.
    metric: &'static str,
}

fn share(resource: Resource) -> Share {
    match resource {
        Resource::Executions => Share {
            what: "running executions",
            all: "`maxExecutions`".to_owned(),
            one: "three quarters, or `subjectLimits.executions`",
            beyond: "wait in the queue, in turns between clients",
            metric: "executions_running",
        },
        Resource::Started => Share {
            what: "started executions (running, or waiting for a user's answer)",
            all: format!("{STARTED_PER_PLACE} × `maxExecutions`"),
            one: "half",
            beyond: "wait in the queue",
            metric: "executions_running",
        },
        Resource::Queue => Share {
            what: "executions in the queue",
            all: "`maxWaiting`, each for `queueTimeout`".to_owned(),
            one: "three quarters",
            beyond: "status `busy`",
            metric: "executions_waiting",
        },
        Resource::Compilers => Share {
            what: "running compilers",
            all: "the [processors](cache.md#compilers-in-parallel)".to_owned(),
            one: "all; half while another client waits",
            beyond: "wait, the client with the fewest goes first; status `busy` after `queueTimeout`",
            metric: "refusals_total",
        },
        Resource::ProcessorTime => Share {
            what: "processor time of programs and compilers",
            all: format!("{SNIPPET_SECONDS} s for a compilation, as much for all corrections of a snippet"),
            one: "`subjectLimits.processorSecondsPerHour`",
            beyond: "status `busy`",
            metric: "compiler_processor_time_seconds_total",
        },
        Resource::Processors => Share {
            what: "processors, for programs and compilers",
            all: "all of them, after Toolsmith itself".to_owned(),
            one: "as much as two executions, each as if it had as many threads as there are processors, or \
                  `codeMode.sandbox.processors`",
            beyond: "programs, and the servers that are started for them, run more slowly",
            metric: "program_processor_time_seconds_total",
        },
        Resource::Memory => Share {
            what: "memory, for programs and compilers",
            all: "`minMemory` must be available".to_owned(),
            one: "[`codeMode.sandbox.memory`](configuration.md#snippets) for each program",
            beyond: "wait in the queue; the kernel ends programs before Toolsmith",
            metric: "executions_waiting",
        },
        Resource::Processes => Share {
            what: "threads and processes of programs",
            all: "what the kernel has".to_owned(),
            one: "[`codeMode.sandbox.threads`](configuration.md#snippets) for each program",
            beyond: "starting a thread fails, or the program ends",
            metric: "executions_running",
        },
        Resource::EventLoop => Share {
            what: "the event loop",
            all: "one thread, and others for texts of more than 64 KiB".to_owned(),
            one: "200 000 JSON values in a request",
            beyond: "an error",
            metric: "event_loop_longest_stay_seconds",
        },
        Resource::Connections => Share {
            what: "connections that have sent a valid request",
            all: CONNECTIONS.to_string(),
            one: "three quarters",
            beyond: "an idle connection of the client that has the most is closed, or else 503",
            metric: "refusals_total",
        },
        Resource::RequestBytes => Share {
            what: "bytes of requests whose answer has not begun",
            all: size(HELD_BODIES),
            one: "half",
            beyond: "503",
            metric: "refusals_total",
        },
        Resource::Sessions => Share {
            what: "sessions of clients",
            all: "`maxSessions`".to_owned(),
            one: "three quarters",
            beyond: "a session that [can be closed](serve-http.md#sessions) is closed, or else 503",
            metric: "http_sessions",
        },
        Resource::Questions => Share {
            what: "open questions",
            all: amount(QUESTIONS),
            one: part(QUESTIONS, QUESTIONS_OF_CLIENT),
            beyond: "denied, with `busy`",
            metric: "refusals_total",
        },
        Resource::PendingRequests => Share {
            what: "calls that wait for their client: for an answer after `input_required`, to fetch an execution that \
                   [still runs](#long-executions), or as [tasks](#tasks)",
            all: amount(WORK),
            one: part(WORK, WORK_OF_CLIENT),
            beyond: "an error with `busy`; for an execution the call waits on",
            metric: "refusals_total",
        },
        Resource::KeptOutputs => Share {
            what: "kept outputs (the whole texts of [long outputs](#long-output)), in memory",
            all: amount(Amount { count: TEXTS_KEPT, bytes: BYTES_KEPT }),
            one: "all, while there is room",
            beyond: "the client with the most outputs loses its oldest",
            metric: "refusals_total",
        },
        Resource::SpareSessions => Share {
            what: "[spare sessions](#spare-sessions)",
            all: "`spares.total`".to_owned(),
            one: "`spares.perServer` for each server; not the last one if another client has used fewer",
            beyond: "the least recently used ones end; a session is opened when it is needed",
            metric: "spare_sessions",
        },
        Resource::SpareCompilers => Share {
            what: "[spare compilers](#spare-compilers)",
            all: "`spareCompilers`".to_owned(),
            one: "all",
            beyond: "the least recently used ones end; a compiler is started when it is needed",
            metric: "execution_phase_duration_seconds",
        },
        Resource::CacheBytes => Share {
            what: "programs in the [cache](cache.md)",
            all: "a part of `cache.size`".to_owned(),
            one: "a quarter",
            beyond: "the subject's least recently used programs are removed, and compiled again",
            metric: "cache_lookups_total",
        },
        Resource::HistoryBytes => Share {
            what: "bytes of the [history](history.md)",
            all: "`history.size`".to_owned(),
            one: "all; half while there is no more room",
            beyond: "the client's oldest executions are deleted first",
            metric: "executions_total",
        },
    }
}

fn amount(Amount { count, bytes }: Amount) -> String {
    format!("{count}, at most {} together", size(bytes))
}

/// A part of an amount, in words.
fn part(all: Amount, one: Amount) -> &'static str {
    match all.count / one.count {
        2 => "half",
        4 => "a quarter",
        _ => "a part",
    }
}

/// The table of all shares, in Markdown.
#[must_use]
pub fn table() -> String {
    let mut text = "| what | all clients | one client | beyond the limit | metric |\n".to_owned();
    text.push_str("| --- | --- | --- | --- | --- |\n");
    for resource in Resource::ALL {
        let Share { what, all, one, beyond, metric } = share(*resource);
        let metric = match metric {
            "refusals_total" => format!("`toolsmith_refusals_total{{resource=\"{}\"}}`", resource.name()),
            other => format!("`toolsmith_{other}`"),
        };
        text.push_str(&format!("| {what} | {all} | {one} | {beyond} | {metric} |\n"));
    }
    text
}
