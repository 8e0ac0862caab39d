//! The gauges that are read at each scrape: the queue, sessions, servers, and this process.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use runner::{Availability, TARGET};

use super::process::Process;
use crate::metrics::Labels;
use crate::state::ServerState;

/// Adds this server's present values.
pub(super) fn register_server(registry: &mut Registry, state: &Arc<ServerState>) {
    let build = Info::new([("version", env!("CARGO_PKG_VERSION")), ("target", TARGET)]);
    registry.register("build", "This program", build);
    let (started, waiting) = state.slots.load();
    gauge(registry, "executions_running", "Executions that have started and not ended", started);
    gauge(registry, "executions_waiting", "Executions that wait for a slot", waiting);
    let limit = state.settings.borrow().config.serve.max_executions;
    gauge(registry, "executions_limit", "Executions that may run at once", limit);
    gauge(
        registry,
        "ready",
        "Whether snippets can run and all servers have answered",
        is(state.unready().is_none()),
    );
    register_event_loop(registry, state);
    register_cache(registry, state);
    let compilers = Counter::<f64>::default();
    compilers.inc_by(state.usage.compilers.total().as_secs_f64());
    let help = "Processor time of compilers that have ended";
    registry.register_with_unit("compiler_processor_time", help, Unit::Seconds, compilers);
    let spares = state.spares.counts();
    by_server(registry, "spare_sessions", "Spare sessions that can be adopted", spares);
    let Some(snapshot) = state.any_snapshot() else { return };
    let names = snapshot.config().servers.iter().map(|server| server.connection.name.clone());
    let up = names.map(|name| {
        let is_missing = snapshot.missing.servers().any(|(missing, _)| missing == name);
        (name, is(!is_missing))
    });
    by_server(registry, "server_up", "Whether a configured server is available", up);
}

/// Adds how long a task has held the event loop since the last scrape, if that is measured.
fn register_event_loop(registry: &mut Registry, state: &ServerState) {
    let Some(longest) = state.pulse.take_longest() else { return };
    let gauge = Gauge::<f64, AtomicU64>::default();
    gauge.set(longest.as_secs_f64());
    registry.register_with_unit(
        "event_loop_longest_stay",
        "The longest time since the last scrape for which the event loop ran one task, and all others waited",
        Unit::Seconds,
        gauge,
    );
}

/// Adds how often compiled entries were found, and what the remote cache has done.
fn register_cache(registry: &mut Registry, state: &ServerState) {
    let found = state.cache.statistics();
    let lookups = [("local", found.local_hits), ("remote", found.remote_hits), ("missing", found.misses)];
    counters(
        registry,
        "cache_lookups",
        "Lookups of compiled entries, by where they were found",
        "source",
        &lookups,
    );
    let Some(remote) = found.remote else { return };
    let entries = [("written", remote.written), ("unwritten", remote.unwritten), ("refused", remote.refused)];
    counters(
        registry,
        "remote_cache_entries",
        "Entries of the remote cache, by what happened",
        "result",
        &entries,
    );
    let (name, help) = ("remote_cache_failures", "Requests to the remote cache that failed or took too long");
    let failures = Counter::<u64>::default();
    failures.inc_by(remote.failures);
    registry.register(name, help, failures);
    let (name, help) = ("remote_cache_waits", "Waits for another machine that was building the same entry");
    let waits = Counter::<u64>::default();
    waits.inc_by(remote.waits);
    registry.register(name, help, waits);
    let is_used = remote.reading == Availability::Used;
    gauge(registry, "remote_cache_up", "Whether the remote cache is read", is(is_used));
}

fn counters(
    registry: &mut Registry,
    name: &str,
    help: &str,
    label: &'static str,
    values: &[(&'static str, u64)],
) {
    let family = Family::<Labels<1>, Counter>::default();
    for (value, count) in values {
        family.get_or_create(&[(label, (*value).to_owned())]).inc_by(*count);
    }
    registry.register(name, help, family);
}

/// Adds the values of this process, under the names that all client libraries of Prometheus use.
pub(super) fn register_process(registry: &mut Registry) {
    let Some(process) = Process::of_this() else { return };
    let processor = Counter::<f64>::default();
    processor.inc_by(process.processor.as_secs_f64());
    registry.register_with_unit(
        "process_cpu",
        "Processor time of this process alone",
        Unit::Seconds,
        processor,
    );
    let bytes = Gauge::<i64>::default();
    bytes.set(number(process.resident));
    registry.register_with_unit("process_resident_memory", "Resident memory", Unit::Bytes, bytes);
    gauge(registry, "process_open_fds", "Open file descriptors", process.descriptors);
}

fn is(condition: bool) -> usize {
    usize::from(condition)
}

/// No count here exceeds the type's range.
fn number(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: usize) {
    let gauge = Gauge::<i64>::default();
    gauge.set(number(value));
    registry.register(name, help, gauge);
}

fn by_server(
    registry: &mut Registry,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (String, usize)>,
) {
    let family = Family::<Labels<1>, Gauge>::default();
    for (server, value) in values {
        family.get_or_create(&[("server", server)]).set(number(value));
    }
    registry.register(name, help, family);
}
