//! Reads a history, and deletes from it. Every function blocks on the disk.

use std::path::{Path, PathBuf};

use database::Durability;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, Row, ToSql, TransactionBehavior, params_from_iter};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::clock::now;
use crate::error::{HistoryError, HistoryErrorKind};
use crate::file;
use crate::filter::{Conditions, Filter, Page};
use crate::kept;
use crate::prune::{self, GONE};
use crate::record::{Call, Execution, Question, Savings, Summary, Tokens};
use crate::writer;

/// Limit on the ids in an error about an ambiguous prefix.
const MAX_NAMED: usize = 8;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Sums by day; the first value is [`DAY`].
const SAVINGS: &str = "
SELECT begun / ?, count(*), sum(status <> 'ok'), sum(calls), sum(iif(status = 'ok', code_tokens, 0)),
sum(iif(status = 'ok', answer_tokens, 0)), sum(iif(status = 'ok', direct_tokens, 0))
FROM executions WHERE status IS NOT NULL AND ";

const COLUMNS: &str = "
number, id, begun, ended, status, error_kind, error, title, calls, total_ms, transport, client, client_version, session,
subject, issuer, address, parent_run, folder, check_only, code_hash, code_bytes, code_tokens, answer_tokens,
direct_tokens, process, program,
(SELECT json_group_array(server || '.' || tool) FROM tools WHERE execution = executions.number) AS tools,
EXISTS (SELECT 1 FROM questions WHERE execution = executions.number AND answered_ms IS NULL) AS asks";

/// A history to read.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
    file: PathBuf,
}

impl Reader {
    /// Opens a file; `None` if no execution was ever written to it.
    ///
    /// # Errors
    /// If it is not a history, or can't be read.
    pub fn open(file: &Path) -> Result<Option<Self>, HistoryError> {
        if !file.exists() {
            return Ok(None);
        }
        let connection = file::open(file, Durability::Written)?;
        let is_used =
            writer::has_key(&connection).map_err(|cause| file::error(file, "can't be read", cause))?;
        Ok(is_used.then(|| Reader { connection, file: file.to_owned() }))
    }

    /// The executions that a filter chooses, the latest first.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn list(&self, filter: &Filter, page: Page) -> Result<Vec<Summary>, HistoryError> {
        let now = now();
        let mut conditions = Conditions::of(filter, now);
        if let Some(number) = page.before {
            conditions.before(number);
        }
        let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {COLUMNS} FROM executions WHERE {} ORDER BY number DESC LIMIT {limit}",
            conditions.sql()
        );
        let alive = self.alive(now)?;
        self.rows(&sql, &conditions.values, |row| summary(row, &alive))
    }

    /// The number of executions that a filter chooses.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn count(&self, filter: &Filter) -> Result<usize, HistoryError> {
        let conditions = Conditions::of(filter, now());
        let sql = format!("SELECT count(*) FROM executions WHERE {}", conditions.sql());
        let counts: Vec<i64> = self.rows(&sql, &conditions.values, |row| row.get(0))?;
        Ok(counts.first().and_then(|count| usize::try_from(*count).ok()).unwrap_or_default())
    }

    /// The latest execution.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn latest(&self) -> Result<Option<Summary>, HistoryError> {
        Ok(self.list(&Filter::default(), Page { limit: 1, before: None })?.pop())
    }

    /// The full id of an execution, from a unique prefix of it.
    ///
    /// # Errors
    /// If no id begins with `id`, or more than one does.
    pub fn find(&self, id: &str) -> Result<String, HistoryError> {
        let id = id.to_ascii_lowercase();
        let values = [SqlValue::Text(id.clone()), SqlValue::Text(format!("{id}~"))];
        let sql = "SELECT id FROM executions WHERE id >= ? AND id < ? ORDER BY id LIMIT 9";
        let mut matching: Vec<String> = self.rows(sql, &values, |row| row.get(0))?;
        match matching.len() {
            1 if !id.is_empty() => Ok(matching.remove(0)),
            0 | 1 => {
                let message = format!(
                    "the history {} has no execution {id:?}; `toolsmith history list` lists them",
                    self.file.display()
                );
                Err(HistoryError::new(HistoryErrorKind::Missing, message))
            }
            _ if matching.first() == Some(&id) => Ok(id),
            _ => {
                let more = if matching.len() > MAX_NAMED { ", …" } else { "" };
                matching.truncate(MAX_NAMED);
                let named = matching.join(", ");
                let message = format!(
                    "more than one execution begins with {id:?}: {named}{more}; write more of its id"
                );
                Err(HistoryError::new(HistoryErrorKind::Ambiguous, message))
            }
        }
    }

    /// A whole execution, by its id or a unique prefix of it.
    ///
    /// # Errors
    /// If there is none, or more than one, or the file can't be read.
    pub fn execution(&self, id: &str) -> Result<Execution, HistoryError> {
        // One consistent view of the file for all queries.
        let _view = self.connection.unchecked_transaction().map_err(|error| self.unreadable(error))?;
        let id = SqlValue::Text(self.find(id)?);
        let alive = self.alive(now())?;
        let sql = format!(
            "SELECT {COLUMNS}, phases, code, code_is_whole, contents.arguments, outcome, \
             EXISTS (SELECT 1 FROM recordings WHERE recordings.execution = executions.number) AS is_recorded \
             FROM executions JOIN contents ON execution = executions.number WHERE id = ?"
        );
        let whole = |row: &Row<'_>| {
            Ok(Execution {
                summary: summary(row, &alive)?,
                code: row.get("code")?,
                code_is_whole: row.get("code_is_whole")?,
                is_recorded: row.get("is_recorded")?,
                arguments: json(row, "arguments")?,
                phases: json(row, "phases")?.unwrap_or_default(),
                calls_made: Vec::new(),
                questions: Vec::new(),
                outcome: json(row, "outcome")?.unwrap_or(Value::Null),
            })
        };
        let found = self.rows(&sql, &[id], whole)?.pop();
        let mut execution = found.ok_or_else(|| {
            let message = format!("the history {} is damaged; move it away", self.file.display());
            HistoryError::new(HistoryErrorKind::File, message)
        })?;
        let number = [SqlValue::Integer(execution.summary.number)];
        let sql = "SELECT * FROM calls WHERE execution = ? ORDER BY number";
        execution.calls_made = self.rows(sql, &number, call)?;
        let sql = "SELECT * FROM questions WHERE execution = ? ORDER BY number";
        execution.questions = self.rows(sql, &number, question)?;
        Ok(execution)
    }

    /// Reads what a replay of an execution needs, by its id or a unique prefix of it, in at most `limit` bytes; `None` if
    /// it is not kept.
    ///
    /// # Errors
    /// If there is no such execution, or more than one, or the file can't be read, or has more.
    pub fn recording(&self, id: &str, limit: usize) -> Result<Option<String>, HistoryError> {
        let id = self.find(id)?;
        let of = |column: &str| {
            format!("SELECT {column} FROM recordings JOIN executions ON number = execution WHERE id = ?")
        };
        let value = || [SqlValue::Text(id.clone())];
        // Its size comes first: a text that something else has written could fill the memory.
        let size: Option<i64> = self.rows(&of("octet_length(recording)"), &value(), |row| row.get(0))?.pop();
        if size.is_some_and(|size| usize::try_from(size).is_ok_and(|size| size > limit)) {
            let message = format!("the recording of {id} has more than {limit} bytes, so it is not replayed");
            return Err(HistoryError::new(HistoryErrorKind::Format, message));
        }
        Ok(self.rows(&of("recording"), &value(), |row| row.get(0))?.pop())
    }

    /// The executions that wait for the answer to a question, the latest first.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn waiting(&self) -> Result<Vec<Summary>, HistoryError> {
        let running = Filter { status: Some("running".to_owned()), ..Filter::default() };
        let mut found = self.list(&running, Page::ALL)?;
        found.retain(|summary| summary.is_waiting);
        Ok(found)
    }

    /// Hashes arguments as this history does ([`Arguments::hash`](crate::Arguments::hash)).
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn hash(&self, arguments: &RawValue) -> Result<String, HistoryError> {
        let key = writer::key(&self.connection).map_err(|error| self.unreadable(error))?;
        Ok(kept::keyed(&key, &blake3::hash(arguments.get().as_bytes())))
    }

    /// Returns the savings of code mode, by day in UTC, the earliest first. Only executions that a filter chooses and
    /// that have ended count.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn savings(&self, filter: &Filter) -> Result<Vec<Savings>, HistoryError> {
        let conditions = Conditions::of(filter, now());
        let sql = format!("{SAVINGS} {} GROUP BY 1 ORDER BY 1", conditions.sql());
        let values: Vec<SqlValue> = [SqlValue::Integer(DAY)].into_iter().chain(conditions.values).collect();
        self.rows(&sql, &values, |row| {
            let since = row.get::<_, i64>(0)? * DAY;
            let (executions, failed, calls) = (count(row, 1)?, count(row, 2)?, count(row, 3)?);
            let tokens = Tokens { code: count(row, 4)?, answer: count(row, 5)?, direct: count(row, 6)? };
            Ok(Savings { since, executions, failed, calls, tokens })
        })
    }

    /// Deletes executions by their full ids; returns how many there were.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn delete(&mut self, ids: &[String]) -> Result<usize, HistoryError> {
        let conditions = ids.iter().map(|_| "?").collect::<Vec<_>>().join(", ");
        let values: Vec<SqlValue> = ids.iter().cloned().map(SqlValue::Text).collect();
        self.delete_where(&format!("id IN ({conditions})"), &values)
    }

    /// Deletes the executions that a filter chooses; returns how many there were.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn delete_all(&mut self, filter: &Filter) -> Result<usize, HistoryError> {
        let conditions = Conditions::of(filter, now());
        self.delete_where(&conditions.sql(), &conditions.values)
    }

    fn delete_where(&mut self, conditions: &str, values: &[SqlValue]) -> Result<usize, HistoryError> {
        let path = self.file.clone();
        let failed = |cause| file::error(&path, "can't be written", cause);
        let sql = format!("SELECT number FROM executions WHERE {conditions}");
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior).map_err(failed)?;
        let numbers: Vec<i64> = {
            let mut statement = transaction.prepare(&sql).map_err(failed)?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get(0)).map_err(failed)?;
            rows.collect::<Result<_, _>>().map_err(failed)?
        };
        prune::delete(&transaction, &numbers).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        if !numbers.is_empty() {
            prune::tidy(&self.connection).map_err(failed)?;
        }
        Ok(numbers.len())
    }

    /// The processes that are there.
    fn alive(&self, now: i64) -> Result<Vec<String>, HistoryError> {
        self.rows("SELECT id FROM processes WHERE seen >= ?", &[SqlValue::Integer(now - GONE)], |row| {
            row.get(0)
        })
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        values: &[SqlValue],
        read: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<Vec<T>, HistoryError> {
        let values: Vec<&dyn ToSql> = values.iter().map(|value| value as &dyn ToSql).collect();
        let rows = self.connection.prepare(sql).and_then(|mut statement| {
            let rows = statement.query_map(values.as_slice(), read)?;
            rows.collect::<Result<Vec<T>, _>>()
        });
        rows.map_err(|error| self.unreadable(error))
    }

    fn unreadable(&self, error: rusqlite::Error) -> HistoryError {
        file::error(&self.file, "can't be read", error)
    }
}

fn summary(row: &Row<'_>, alive: &[String]) -> Result<Summary, rusqlite::Error> {
    let status: Option<String> = row.get("status")?;
    let process: String = row.get("process")?;
    let unfinished = || if alive.contains(&process) { "running" } else { "interrupted" };
    let status = status.unwrap_or_else(|| unfinished().to_owned());
    Ok(Summary {
        number: row.get("number")?,
        id: row.get("id")?,
        begun: row.get("begun")?,
        ended: row.get("ended")?,
        is_waiting: status == "running" && row.get("asks")?,
        status,
        error_kind: row.get("error_kind")?,
        error: row.get("error")?,
        program: row.get("program")?,
        title: row.get("title")?,
        tools: json(row, "tools")?.unwrap_or_default(),
        calls: count(row, "calls")?,
        total_ms: row.get("total_ms")?,
        transport: row.get("transport")?,
        client: row.get("client")?,
        client_version: row.get("client_version")?,
        session: row.get("session")?,
        subject: row.get("subject")?,
        issuer: row.get("issuer")?,
        address: row.get("address")?,
        parent_run: row.get("parent_run")?,
        folder: row.get("folder")?,
        check_only: row.get("check_only")?,
        code_hash: row.get("code_hash")?,
        code_bytes: count(row, "code_bytes")?,
        tokens: Tokens {
            code: count(row, "code_tokens")?,
            answer: count(row, "answer_tokens")?,
            direct: count(row, "direct_tokens")?,
        },
    })
}

fn call(row: &Row<'_>) -> Result<Call, rusqlite::Error> {
    Ok(Call {
        number: count(row, "number")?,
        server: row.get("server")?,
        tool: row.get("tool")?,
        began_ms: row.get("began_ms")?,
        sent_ms: row.get("sent_ms")?,
        ended_ms: row.get("ended_ms")?,
        ok: row.get("ok")?,
        error: row.get("error")?,
        bytes: count(row, "bytes")?,
        cached_age_ms: row.get("cached_age_ms")?,
        arguments: json(row, "arguments")?,
        direct_tokens: count(row, "direct_tokens")?,
    })
}

fn question(row: &Row<'_>) -> Result<Question, rusqlite::Error> {
    Ok(Question {
        about: row.get("about")?,
        tools: json(row, "tools")?.unwrap_or_default(),
        text: row.get("text")?,
        asked_ms: row.get("asked_ms")?,
        answered_ms: row.get("answered_ms")?,
        answer: row.get("answer")?,
        answered_by: row.get("answered_by")?,
    })
}

fn count(row: &Row<'_>, column: impl rusqlite::RowIndex) -> Result<u64, rusqlite::Error> {
    row.get::<_, i64>(column).map(|count| u64::try_from(count).unwrap_or_default())
}

/// A column with JSON. Other programs may have changed the file, so JSON of another form is as good as none.
fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<Option<T>, rusqlite::Error> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}
