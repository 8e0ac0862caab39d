//! The latest calls of the tools of servers: their number, their failures and their times.

use std::collections::BTreeMap;

use rusqlite::types::Value as SqlValue;
use serde::Serialize;

use crate::error::HistoryError;
use crate::reader::Reader;

/// The latest calls, in the order of the table's key, so that the number of rows that are read is bounded. The time of
/// a call begins when it is sent: before, it waited for a permission. A call that used a cached result has none.
const LATEST: &str = "
SELECT server, tool, ok, iif(cached_age_ms IS NULL, ended_ms - coalesce(sent_ms, began_ms), NULL), cached_age_ms IS NOT NULL,
execution, error
FROM calls WHERE server <> '' AND ended_ms IS NOT NULL
ORDER BY execution DESC, number DESC LIMIT ?";

/// When executions began.
const BEGUN: &str = "SELECT id, begun FROM executions WHERE number = ?";

/// The calls of a tool, or of all tools of a server, among the latest calls of a history.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolCalls {
    /// Calls that ended, including failed and cached ones.
    pub calls: u64,
    /// Calls that failed: the tool reported an error, there was no answer, or they were denied.
    pub failures: u64,
    /// Calls that used a cached result.
    pub cached: u64,
    /// Median duration of the calls that were not cached, in milliseconds.
    pub p50_ms: Option<f64>,
    /// Duration that 95 % of these calls did not exceed.
    pub p95_ms: Option<f64>,
    /// The latest call.
    pub last: Option<LastCall>,
}

/// The latest call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LastCall {
    /// The id of its execution.
    pub execution: String,
    /// When its execution began, in milliseconds since 1970.
    pub begun: i64,
    /// The kind of the failure; `None` if it did not fail.
    pub error: Option<String>,
}

/// The latest calls of a history, by server and tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LatestCalls {
    /// The number of calls.
    pub counted: usize,
    servers: BTreeMap<String, ToolCalls>,
    tools: BTreeMap<(String, String), ToolCalls>,
}

impl LatestCalls {
    /// The calls of all tools of a server.
    #[must_use]
    pub fn server(&self, server: &str) -> Option<&ToolCalls> {
        self.servers.get(server)
    }

    /// The calls of a tool.
    #[must_use]
    pub fn tool(&self, server: &str, tool: &str) -> Option<&ToolCalls> {
        self.tools.get(&(server.to_owned(), tool.to_owned()))
    }
}

/// One call, as it is read.
struct Row {
    server: String,
    tool: String,
    is_ok: bool,
    duration: Option<f64>,
    is_cached: bool,
    execution: i64,
    error: Option<String>,
}

/// Calls that are being counted.
#[derive(Default)]
struct Tally {
    calls: ToolCalls,
    durations: Vec<f64>,
    /// The execution of the latest call, and why that call failed.
    last: Option<(i64, Option<String>)>,
}

impl Tally {
    fn add(&mut self, row: &Row) {
        self.calls.calls += 1;
        self.calls.failures += u64::from(!row.is_ok);
        self.calls.cached += u64::from(row.is_cached);
        self.durations.extend(row.duration);
        if self.last.is_none() {
            let unknown = || (!row.is_ok).then(|| "failed".to_owned());
            self.last = Some((row.execution, row.error.clone().filter(|_| !row.is_ok).or_else(unknown)));
        }
    }
}

impl Reader {
    /// Counts the latest calls: at most `limit`.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn latest_calls(&self, limit: u32) -> Result<LatestCalls, HistoryError> {
        let rows = self.rows(LATEST, &[SqlValue::Integer(limit.into())], |row| {
            Ok(Row {
                server: row.get(0)?,
                tool: row.get(1)?,
                is_ok: row.get::<_, Option<bool>>(2)?.unwrap_or_default(),
                duration: row.get(3)?,
                is_cached: row.get(4)?,
                execution: row.get(5)?,
                error: row.get(6)?,
            })
        })?;
        let counted = rows.len();
        let (mut servers, mut tools) = (BTreeMap::<String, Tally>::new(), BTreeMap::new());
        for row in rows {
            servers.entry(row.server.clone()).or_default().add(&row);
            tools.entry((row.server.clone(), row.tool.clone())).or_insert_with(Tally::default).add(&row);
        }
        let mut executions = BTreeMap::new();
        Ok(LatestCalls {
            counted,
            servers: self.finished(servers, &mut executions)?,
            tools: self.finished(tools, &mut executions)?,
        })
    }

    fn finished<K: Ord>(
        &self,
        tallies: BTreeMap<K, Tally>,
        executions: &mut BTreeMap<i64, Option<(String, i64)>>,
    ) -> Result<BTreeMap<K, ToolCalls>, HistoryError> {
        let mut finished = BTreeMap::new();
        for (key, Tally { mut calls, mut durations, last }) in tallies {
            durations.sort_by(f64::total_cmp);
            calls.p50_ms = quantile(&durations, 50);
            calls.p95_ms = quantile(&durations, 95);
            if let Some((number, error)) = last {
                let execution = match executions.get(&number) {
                    Some(known) => known.clone(),
                    None => executions.entry(number).or_insert(self.begun(number)?).clone(),
                };
                calls.last = execution.map(|(execution, begun)| LastCall { execution, begun, error });
            }
            finished.insert(key, calls);
        }
        Ok(finished)
    }

    /// The id of an execution, and when it began.
    fn begun(&self, number: i64) -> Result<Option<(String, i64)>, HistoryError> {
        Ok(self.rows(BEGUN, &[SqlValue::Integer(number)], |row| Ok((row.get(0)?, row.get(1)?)))?.pop())
    }
}

/// The smallest of the sorted values that `percent` of them do not exceed.
fn quantile(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((quantile(&values, 50), quantile(&values, 95)), (Some(50.0), Some(95.0)));
        assert_eq!((quantile(&[7.0], 50), quantile(&[7.0, 9.0], 95)), (Some(7.0), Some(9.0)));
        assert_eq!(quantile(&[], 50), None);
    }
}
