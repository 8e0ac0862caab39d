//! The statements that write events. Each finds its execution by id: one that was deleted meanwhile, or whose begin was
//! lost, is left out.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::Value;
use serde_json::json;
use terminal::Masker;

use crate::event::{Begin, Ending, NewExecution, Owner, Step};
use crate::kept::{self, SentArguments};
use crate::tokens::estimate;

/// Maximum number of phases, questions and tools that are kept of an execution: the user answers far fewer questions,
/// and a program's tools are those of its manifest.
const LISTED: i64 = 1_000;

/// Maximum length of the text of a question, in bytes.
const QUESTION: usize = 16 << 10;

/// Maximum length of a name from outside, in characters.
const NAME: usize = 256;

/// Maximum size of the texts of one execution that are indexed beside its snippet, in bytes.
const INDEXED: usize = 16 << 10;

/// Maximum of counters, so that sums stay within SQLite's integers.
const MOST: i64 = 1 << 40;

/// Writes events into a transaction; [`Rows::finish`] writes the last of them.
pub(crate) struct Rows<'a> {
    transaction: &'a Transaction<'a>,
    /// The key of hashes.
    key: &'a [u8; 32],
    /// This process.
    process: &'a str,
    /// The id and the number of the execution that was searched for last.
    found: Option<(String, i64)>,
    /// The counts that the calls since the last write add to their executions, by number: there may be thousands of
    /// calls.
    counts: BTreeMap<i64, Counts>,
}

#[derive(Default)]
struct Counts {
    /// The number of listed calls.
    calls: u64,
    direct_tokens: u64,
    unlisted_calls: u64,
}

/// A count as SQLite stores it.
fn integer(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX).min(MOST)
}

fn name(text: &str, masker: &Masker) -> String {
    masker.mask(text).chars().take(NAME).collect()
}

impl<'a> Rows<'a> {
    /// `key` is that of the hashes, `process` the id of this process.
    pub(crate) fn new(transaction: &'a Transaction<'a>, key: &'a [u8; 32], process: &'a str) -> Self {
        Rows { transaction, key, process, found: None, counts: BTreeMap::new() }
    }

    pub(crate) fn begin(&self, begin: &Begin) -> Result<(), rusqlite::Error> {
        let Begin { owner, new, at } = begin;
        let masker = &owner.masker;
        let NewExecution { id, requester, folder, program, code, arguments, check_only } = new;
        let claimed = |text: &Option<String>| text.as_ref().map(|text| name(text, masker));
        let (kept, is_whole) = kept::code(code, masker);
        let title = kept::title(code, masker);
        let inserted = self
            .transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO executions (id, begun, process, transport, client, client_version, session, subject, \
                 issuer, address, parent_run, folder, check_only, code_hash, code_bytes, title, code_tokens, program) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
            )?
            .execute(params![
                id,
                at,
                self.process,
                requester.transport,
                claimed(&requester.client),
                claimed(&requester.client_version),
                requester.session,
                claimed(&requester.subject),
                requester.issuer,
                requester.address,
                claimed(&requester.parent_run),
                masker.mask(&folder.to_string_lossy()),
                check_only,
                kept::keyed(self.key, &blake3::hash(code.as_bytes())),
                integer(code.len()),
                title,
                integer(estimate(code)),
                claimed(program),
            ])?;
        if inserted == 0 {
            return Ok(());
        }
        let number = self.transaction.last_insert_rowid();
        let arguments = arguments.as_ref().map(|raw| SentArguments::of(raw, owner.arguments));
        let arguments =
            arguments.and_then(|sent| kept::arguments(&sent, (owner.arguments, masker), self.key));
        self.transaction
            .prepare_cached(
                "INSERT INTO contents (execution, code, code_is_whole, arguments) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![number, kept, is_whole, arguments])?;
        Ok(())
    }

    pub(crate) fn step(&mut self, owner: &Owner, step: &Step) -> Result<(), rusqlite::Error> {
        let Some(execution) = self.find(&owner.id)? else { return Ok(()) };
        match step {
            Step::Phase(start) => self.phase(execution, &json!(start)),
            Step::Asked { number, at, asked } => {
                let tools: Vec<String> = asked.tools.iter().map(|tool| name(tool, &owner.masker)).collect();
                let text = owner.masker.mask(&asked.text);
                let text = text.get(..text.floor_char_boundary(QUESTION)).unwrap_or_default();
                self.transaction
                    .prepare_cached(
                        "INSERT OR IGNORE INTO questions (execution, number, about, tools, text, asked_ms) \
                         SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ?2 < ?7",
                    )?
                    .execute(params![
                        execution,
                        integer(*number),
                        asked.about,
                        json!(tools).to_string(),
                        text,
                        at,
                        LISTED
                    ])?;
                Ok(())
            }
            Step::Answered { number, at, answer, by } => {
                self.transaction
                    .prepare_cached(
                        "UPDATE questions SET answered_ms = ?3, answer = ?4, answered_by = ?5 \
                         WHERE execution = ?1 AND number = ?2",
                    )?
                    .execute(params![execution, integer(*number), at, answer, by])?;
                Ok(())
            }
            Step::End { at, ending, answer_tokens } => {
                self.write_counts()?;
                self.end(execution, owner, (*at, ending, *answer_tokens))
            }
            Step::Recording(text) => {
                self.transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO recordings (execution, recording) VALUES (?1, ?2)",
                    )?
                    .execute(params![execution, text])?;
                Ok(())
            }
            step => self.call(execution, owner, step),
        }
    }

    /// Writes what was counted.
    pub(crate) fn finish(mut self) -> Result<(), rusqlite::Error> {
        self.write_counts()
    }

    fn write_counts(&mut self) -> Result<(), rusqlite::Error> {
        for (execution, counts) in std::mem::take(&mut self.counts) {
            let Counts { calls, direct_tokens, unlisted_calls } = counts;
            self.transaction
                .prepare_cached(
                    "UPDATE executions SET calls = calls + ?2, direct_tokens = min(direct_tokens + ?3, ?4) \
                     WHERE number = ?1",
                )?
                .execute(params![execution, integer(calls), integer(direct_tokens), MOST])?;
            if unlisted_calls > 0 {
                // They have the average number of tokens.
                self.transaction
                    .prepare_cached(
                        "UPDATE executions SET calls = calls + ?2, \
                         direct_tokens = min(direct_tokens + direct_tokens * ?2 / max(calls, 1), ?3) \
                         WHERE number = ?1",
                    )?
                    .execute(params![execution, integer(unlisted_calls), MOST])?;
            }
        }
        Ok(())
    }

    /// The number of the execution with this id.
    fn find(&mut self, id: &str) -> Result<Option<i64>, rusqlite::Error> {
        if let Some((last, number)) = &self.found
            && last == id
        {
            return Ok(Some(*number));
        }
        let number = self
            .transaction
            .prepare_cached("SELECT number FROM executions WHERE id = ?1")?
            .query_row([id], |row| row.get::<_, i64>(0))
            .optional()?;
        self.found = number.map(|number| (id.to_owned(), number));
        Ok(number)
    }

    fn phase(&self, execution: i64, start: &Value) -> Result<(), rusqlite::Error> {
        self.transaction
            .prepare_cached(
                "UPDATE executions SET phases = json_insert(phases, '$[#]', json(?2)) \
                 WHERE number = ?1 AND json_array_length(phases) < ?3",
            )?
            .execute(params![execution, start.to_string(), LISTED])?;
        Ok(())
    }

    /// Writes a step of a call, and counts the call.
    fn call(&mut self, execution: i64, owner: &Owner, step: &Step) -> Result<(), rusqlite::Error> {
        let counts = self.counts.entry(execution).or_default();
        let tokens = match step {
            Step::CallBegan { arguments, .. } => arguments.tokens(),
            Step::CallAnswered { direct, .. } => direct.tokens(),
            _ => 0,
        };
        counts.direct_tokens = counts.direct_tokens.saturating_add(tokens);
        match step {
            Step::CallEnded { .. } => counts.calls += 1,
            Step::UnlistedCallEnded => counts.unlisted_calls += 1,
            _ => {}
        }
        match step {
            Step::CallBegan { number, at, server, tool, arguments } => {
                let kept = kept::arguments(arguments, (owner.arguments, &owner.masker), self.key);
                let (server, tool) = (name(server, &owner.masker), name(tool, &owner.masker));
                self.transaction
                    .prepare_cached(
                        "INSERT OR IGNORE INTO calls (execution, number, server, tool, began_ms, arguments, direct_tokens) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute(params![execution, integer(*number), server, tool, at, kept, integer(tokens)])?;
                self.transaction
                    .prepare_cached("INSERT OR IGNORE INTO tools (server, tool, execution) SELECT ?1, ?2, ?3 WHERE ?1 <> ''")?
                    .execute(params![server, tool, execution])?;
            }
            Step::CallSent { number, at } => {
                self.transaction
                    .prepare_cached("UPDATE calls SET sent_ms = ?3 WHERE execution = ?1 AND number = ?2")?
                    .execute(params![execution, integer(*number), at])?;
            }
            Step::CallAnswered { number, error, .. } => {
                self.transaction
                    .prepare_cached(
                        "UPDATE calls SET error = ?3, direct_tokens = direct_tokens + ?4 \
                         WHERE execution = ?1 AND number = ?2",
                    )?
                    .execute(params![execution, integer(*number), error, integer(tokens)])?;
            }
            Step::CallEnded { number, at, ok, bytes, cached_age_ms } => {
                self.transaction
                    .prepare_cached(
                        "UPDATE calls SET ended_ms = ?3, ok = ?4, bytes = ?5, cached_age_ms = ?6, \
                         error = coalesce(error, iif(?4, NULL, 'cancelled')) WHERE execution = ?1 AND number = ?2",
                    )?
                    .execute(params![execution, integer(*number), at, ok, integer(*bytes), cached_age_ms])?;
            }
            _ => {}
        }
        Ok(())
    }

    fn end(
        &self,
        execution: i64,
        owner: &Owner,
        (at, ending, answer_tokens): (i64, &Ending, u64),
    ) -> Result<(), rusqlite::Error> {
        let masker = &owner.masker;
        let Ending { status, error_kind, error, calls, total_ms, parts, rest } = ending;
        let outcome = kept::outcome(rest.clone(), parts, masker);
        self.transaction
            .prepare_cached(
                "UPDATE executions SET ended = ?2, status = ?3, error_kind = ?4, error = ?5, \
                 calls = coalesce(?6, calls), total_ms = ?7, answer_tokens = ?8 WHERE number = ?1",
            )?
            .execute(params![
                execution,
                at,
                status,
                error_kind,
                error.as_ref().map(|error| kept::title(error, masker)),
                calls.map(integer),
                total_ms,
                integer(answer_tokens),
            ])?;
        self.transaction
            .prepare_cached("UPDATE contents SET outcome = ?2 WHERE execution = ?1")?
            .execute(params![execution, outcome])?;
        self.index(execution, &outcome)
    }

    /// Indexes the snippet with the texts of its outcome.
    fn index(&self, execution: i64, outcome: &str) -> Result<(), rusqlite::Error> {
        let outcome: Value = serde_json::from_str(outcome).unwrap_or_default();
        let mut texts = String::new();
        collect(&outcome["error"]["message"], &mut texts);
        for part in ["result", "stdout", "stderr", "content", "diagnostics"] {
            collect(&outcome[part], &mut texts);
        }
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO words (rowid, text) \
                 SELECT execution, code || char(10) || ?2 FROM contents WHERE execution = ?1",
            )?
            .execute(params![execution, texts])?;
        Ok(())
    }
}

/// Adds the texts of a value, up to [`INDEXED`].
fn collect(value: &Value, texts: &mut String) {
    let room = INDEXED.saturating_sub(texts.len());
    match value {
        Value::String(text) if room > 0 => {
            texts.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
            texts.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
        _ => {}
    }
}
