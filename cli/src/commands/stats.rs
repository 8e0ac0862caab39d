//! `toolsmith stats`: prints and deletes the statistics of calls.

use gateway::calls::statistics::{self, ToolStatistics};
use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;
use runner::size;
use terminal::Terminal;

use crate::arguments::StatsArguments;
use crate::commands::mcp::table::table;
use crate::terminal_prompter;

/// Runs the command and returns the exit code.
pub(crate) async fn stats(arguments: &StatsArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = if arguments.reset { reset(arguments, &terminal).await } else { print(arguments, &terminal) };
    terminal.flush().await.map_err(Failure::output)?;
    done.map(|()| exit_code::OK)
}

fn print(arguments: &StatsArguments, terminal: &Terminal) -> Result<(), Failure> {
    let file = statistics::statistics_file()?;
    let mut tools = statistics::read(&file, arguments.since, arguments.server.as_deref())?;
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
    if arguments.json {
        terminal.print_json(&serde_json::to_string(&tools).map_err(Failure::system)?);
    } else if tools.is_empty() {
        terminal.note("no calls are counted (`globalSettings: { stats: false }` switches counting off)");
    } else {
        let columns =
            ["server", "tool", "calls", "failed", "cached", "mean", "p50", "p95", "total", "results"];
        terminal.print(&table(&columns, tools.iter().map(row)));
    }
    Ok(())
}

fn row(tool: &ToolStatistics) -> Vec<String> {
    let time = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), duration);
    vec![
        tool.server.clone(),
        tool.tool.clone(),
        tool.calls.to_string(),
        tool.failures.to_string(),
        tool.cached.to_string(),
        time(tool.mean_ms),
        time(tool.p50_ms),
        time(tool.p95_ms),
        duration(tool.total_ms),
        size(usize::try_from(tool.bytes).unwrap_or(usize::MAX)),
    ]
}

/// A duration with three digits at least: 1.23 ms, 45.6 ms, 1.20 s, 3.4 min.
fn duration(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms if ms < 1e3 => format!("{ms:.0} ms"),
        ms if ms < 6e4 => format!("{:.2} s", ms / 1e3),
        ms if ms < 3.6e6 => format!("{:.1} min", ms / 6e4),
        ms => format!("{:.1} h", ms / 3.6e6),
    }
}

async fn reset(arguments: &StatsArguments, terminal: &Terminal) -> Result<(), Failure> {
    let file = statistics::statistics_file()?;
    let server = arguments.server.as_deref();
    if !arguments.yes {
        let user = terminal_prompter::of_command().ok_or_else(|| {
            Failure::new(Kind::Statistics, "there is no terminal to ask on")
                .hint("to delete the statistics without a question: toolsmith stats --reset --yes")
        })?;
        let of = server.map(|server| format!(" of {}", printable::name(server))).unwrap_or_default();
        if !user.confirm(&format!("Delete the statistics{of}?")).await {
            return Err(Failure::new(Kind::Cancelled, "the statistics are kept"));
        }
    }
    let deleted = statistics::reset(&file, server)?;
    terminal.note(&match deleted {
        1 => "deleted the statistics of 1 call".to_owned(),
        calls => format!("deleted the statistics of {calls} calls"),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_readable_unit() {
        let shown = [0.0, 1.234, 45.67, 456.7, 1_234.0, 90_000.0, 7_200_000.0].map(duration);
        assert_eq!(shown, ["0.00 ms", "1.23 ms", "45.7 ms", "457 ms", "1.23 s", "1.5 min", "2.0 h"]);
    }
}
