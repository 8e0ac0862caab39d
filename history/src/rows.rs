//! The statements that write events. Each finds its execution by id: one that was deleted meanwhile, or whose begin was
//! lost, is left out.

use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::Value;
use serde_json::json;
use terminal::Masker;

use crate::event::{Begin, Ending, NewExecution, Owner, Step};
use crate::kept::{self, SentArguments};
use crate::tokens::estimate;

/// Maximum number of calls that are listed of an execution; further ones are only counted.
const CALLS: u64 = 2_000;

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

/// Writes events into a transaction.
pub(crate) struct Rows<'a> {
    pub(crate) transaction: &'a Transaction<'a>,
    /// The key of hashes.
    pub(crate) key: &'a [u8; 32],
    /// This process.
    pub(crate) process: &'a str,
}

/// A count as SQLite stores it.
fn integer(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX).min(MOST)
}

fn name(text: &str, masker: &Masker) -> String {
    masker.mask(text).chars().take(NAME).collect()
}

impl Rows<'_> {
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

    pub(crate) fn step(&self, owner: &Owner, step: &Step) -> Result<(), rusqlite::Error> {
        let number = self
            .transaction
            .prepare_cached("SELECT number FROM executions WHERE id = ?1")?
            .query_row([&owner.id], |row| row.get::<_, i64>(0))
            .optional()?;
        let Some(execution) = number else { return Ok(()) };
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

    fn phase(&self, execution: i64, start: &Value) -> Result<(), rusqlite::Error> {
        self.transaction
            .prepare_cached(
                "UPDATE executions SET phases = json_insert(phases, '$[#]', json(?2)) \
                 WHERE number = ?1 AND json_array_length(phases) < ?3",
            )?
            .execute(params![execution, start.to_string(), LISTED])?;
        Ok(())
    }

    fn call(&self, execution: i64, owner: &Owner, step: &Step) -> Result<(), rusqlite::Error> {
        match step {
            Step::CallBegan { number, at, server, tool, arguments } => {
                self.add_direct(execution, arguments.tokens)?;
                if *number >= CALLS {
                    return Ok(());
                }
                let kept = kept::arguments(arguments, (owner.arguments, &owner.masker), self.key);
                let (server, tool) = (name(server, &owner.masker), name(tool, &owner.masker));
                self.transaction
                    .prepare_cached(
                        "INSERT OR IGNORE INTO calls (execution, number, server, tool, began_ms, arguments, direct_tokens) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute(params![execution, integer(*number), server, tool, at, kept, integer(arguments.tokens)])?;
                self.transaction
                    .prepare_cached("INSERT OR IGNORE INTO tools (server, tool, execution) SELECT ?1, ?2, ?3 WHERE ?1 <> ''")?
                    .execute(params![server, tool, execution])?;
            }
            Step::CallSent { number, at } => {
                self.transaction
                    .prepare_cached("UPDATE calls SET sent_ms = ?3 WHERE execution = ?1 AND number = ?2")?
                    .execute(params![execution, integer(*number), at])?;
            }
            Step::CallAnswered { number, error, direct } => {
                let tokens = direct.tokens();
                self.add_direct(execution, tokens)?;
                self.transaction
                    .prepare_cached(
                        "UPDATE calls SET error = ?3, direct_tokens = direct_tokens + ?4 \
                         WHERE execution = ?1 AND number = ?2",
                    )?
                    .execute(params![execution, integer(*number), error, integer(tokens)])?;
            }
            Step::CallEnded { number, at, ok, bytes, cached_age_ms } => {
                self.transaction
                    .prepare_cached("UPDATE executions SET calls = calls + 1 WHERE number = ?1")?
                    .execute([execution])?;
                self.transaction
                    .prepare_cached(
                        "UPDATE calls SET ended_ms = ?3, ok = ?4, bytes = ?5, cached_age_ms = ?6, \
                         error = coalesce(error, iif(?4, NULL, 'cancelled')) WHERE execution = ?1 AND number = ?2",
                    )?
                    .execute(params![execution, integer(*number), at, ok, integer(*bytes), cached_age_ms])?;
            }
            Step::Phase(_)
            | Step::Asked { .. }
            | Step::Answered { .. }
            | Step::End { .. }
            | Step::Recording(_) => {}
        }
        Ok(())
    }

    fn add_direct(&self, execution: i64, tokens: u64) -> Result<(), rusqlite::Error> {
        self.transaction
            .prepare_cached(
                "UPDATE executions SET direct_tokens = min(direct_tokens + ?2, ?3) WHERE number = ?1",
            )?
            .execute(params![execution, integer(tokens), MOST])?;
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
