//! `toolsmith stats`: prints and deletes the statistics of calls.

use std::time::SystemTime;

use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use history::shown::duration;
use history::statistics::{self, ToolStatistics};
use history::{Filter, Reader, Savings, Tokens};
use report::Kind;
use runner::size;
use serde::Serialize;
use system::calendar;
use terminal::Terminal;
use terminal::table::table;

use crate::arguments::StatsArguments;

/// Runs the command and returns the exit code.
pub(crate) async fn stats(arguments: &StatsArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = match arguments {
        StatsArguments { reset: true, .. } => reset(arguments, &terminal).await,
        StatsArguments { saved: true, .. } => saved(arguments, &terminal),
        _ => print(arguments, &terminal),
    };
    terminal.flush().await.map_err(Failure::output)?;
    done.map(|()| exit_code::OK)
}

fn print(arguments: &StatsArguments, terminal: &Terminal) -> Result<(), Failure> {
    let file = history::file()?;
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
        // The statistics are whole without the history.
        if let Ok(days) = savings(arguments) {
            let executions: u64 = days.iter().map(|day| day.executions).sum();
            let saved: i64 = days.iter().map(|day| day.tokens.saved()).sum();
            if executions > 0 && saved > 0 {
                let of = report::count(usize::try_from(executions).unwrap_or(usize::MAX), "execution");
                terminal.note(&format!(
                    "code mode saved about {saved} tokens in {of}; by day: toolsmith stats --saved"
                ));
            }
        }
    }
    Ok(())
}

/// Returns the savings of code mode, by day.
fn savings(arguments: &StatsArguments) -> Result<Vec<Savings>, Failure> {
    let since = arguments.since.and_then(|since| since.duration_since(SystemTime::UNIX_EPOCH).ok());
    let filter = Filter {
        server: arguments.server.clone(),
        since: since.and_then(|since| i64::try_from(since.as_millis()).ok()),
        ..Filter::default()
    };
    let reader = Reader::open(&history::file()?)?;
    Ok(reader.map(|reader| reader.savings(&filter)).transpose()?.unwrap_or_default())
}

/// A day in JSON.
#[derive(Serialize)]
struct SavedDay {
    #[serde(flatten)]
    day: Savings,
    /// The further cost of direct calls beyond snippets and answers, in tokens.
    saved: i64,
}

fn saved(arguments: &StatsArguments, terminal: &Terminal) -> Result<(), Failure> {
    let days = savings(arguments)?;
    if arguments.json {
        let days: Vec<SavedDay> =
            days.into_iter().map(|day| SavedDay { day, saved: day.tokens.saved() }).collect();
        terminal.print_json(&serde_json::to_string(&days).map_err(Failure::system)?);
    } else if days.is_empty() {
        terminal.note("no executions are kept (`history: { enabled: false }` switches that off)");
    } else {
        let columns = ["day", "executions", "failed", "calls", "snippets", "answers", "direct", "saved"];
        let mut total = Savings::default();
        for day in &days {
            total.add(day);
        }
        let rows = days.iter().map(|day| (calendar::day_of(day.since), day));
        let rows = rows.chain([("total".to_owned(), &total)]).map(|(name, day)| {
            let Tokens { code, answer, direct } = day.tokens;
            let counts =
                [day.executions, day.failed, day.calls, code, answer, direct].map(|count| count.to_string());
            [vec![name], counts.to_vec(), vec![day.tokens.saved().to_string()]].concat()
        });
        terminal.print(&table(&columns, rows));
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

async fn reset(arguments: &StatsArguments, terminal: &Terminal) -> Result<(), Failure> {
    let file = history::file()?;
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
