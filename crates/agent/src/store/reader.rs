//! Queries the file of a store, within one transaction.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql};

use super::error::{StoreError, StoreErrorKind};
use super::file;
use super::record::{NewConversation, StoredMessage, Summary};
use crate::message::{Message, Role};
use crate::model::Usage;

/// Limit on the messages read from one conversation.
const MAX_MESSAGES: i64 = 1_000_000;

/// Limit on the ids in an error about an ambiguous prefix.
const MAX_NAMED: usize = 8;

/// Maximum length of a title, in characters.
const TITLE: usize = 80;

pub(super) struct Reader<'a> {
    connection: &'a Connection,
    file: &'a Path,
}

/// A conversation without a text has no title.
const SUMMARIES: &str = "
SELECT
    conversations.id, label, parent_run, model, folder, begun,
    max(messages.at), count(*), sum(input_tokens), sum(output_tokens), sum(cached_tokens),
    (
        SELECT substr(content ->> '$.text', 1, 400)
        FROM messages AS first JOIN blocks ON blocks.message = first.number
        WHERE first.conversation = conversations.id AND blocks.type = 'text'
        ORDER BY first.number, blocks.position LIMIT 1
    )
FROM conversations JOIN messages ON messages.conversation = conversations.id
";

const COLUMNS: &str =
    "messages.number, messages.id, messages.parent, role, at, input_tokens, output_tokens, cached_tokens";

impl<'a> Reader<'a> {
    /// Reads within the transaction of `connection`.
    pub(super) fn new(connection: &'a Connection, file: &'a Path) -> Self {
        Reader { connection, file }
    }

    /// Finds the full id of a conversation.
    ///
    /// # Errors
    /// If no id matches or starts with `id`, or more than one does.
    pub(super) fn find(&self, id: &str) -> Result<String, StoreError> {
        let id = id.to_ascii_lowercase();
        let missing = || {
            let file = self.file.display();
            let message =
                format!("{file} has no conversation {id:?}; `toolsmith conversation list` lists them");
            StoreError::new(StoreErrorKind::Missing, message)
        };
        if id.is_empty() {
            return Err(missing());
        }
        let sql = "SELECT id FROM conversations WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 9";
        let mut matching: Vec<String> = self.rows(sql, &[&id], |row| row.get(0))?;
        match matching.len() {
            0 => Err(missing()),
            1 => Ok(matching.remove(0)),
            _ if matching[0] == id => Ok(matching.remove(0)),
            _ => {
                let more = if matching.len() > MAX_NAMED { ", …" } else { "" };
                matching.truncate(MAX_NAMED);
                let named = matching.join(", ");
                let message = format!(
                    "more than one conversation begins with {id:?}: {named}{more}; write more of its id"
                );
                Err(StoreError::new(StoreErrorKind::Ambiguous, message))
            }
        }
    }

    /// All conversations, the one that changed last first.
    pub(super) fn list(&self) -> Result<Vec<Summary>, StoreError> {
        let sql = format!(
            "{SUMMARIES} GROUP BY conversations.id ORDER BY max(messages.at) DESC, max(messages.number) DESC"
        );
        self.rows(&sql, &[], summary)
    }

    /// One conversation, by its full id.
    pub(super) fn summary(&self, id: &str) -> Result<Summary, StoreError> {
        let sql = format!("{SUMMARIES} WHERE conversations.id = ?1 GROUP BY conversations.id");
        let found = self.rows(&sql, &[&id], summary)?.pop();
        found.ok_or_else(|| {
            let message = format!("the conversation {id} in {} has no messages", self.file.display());
            StoreError::new(StoreErrorKind::Missing, message)
        })
    }

    /// The messages of a conversation from the first one to `message`, or to the one that was stored last: that is
    /// always the end of a branch, since a message is stored before its successor.
    pub(super) fn path(&self, id: &str, message: Option<&str>) -> Result<Vec<StoredMessage>, StoreError> {
        let end = match message {
            Some(message) => {
                let sql = "SELECT id FROM messages WHERE conversation = ?1 AND id = ?2";
                let found = self.first(sql, &[&id, &message])?;
                found.ok_or_else(|| {
                    let message = format!("the conversation {id} has no message {message:?}");
                    StoreError::new(StoreErrorKind::Missing, message)
                })?
            }
            None => {
                let sql = "SELECT id FROM messages WHERE conversation = ?1 ORDER BY number DESC LIMIT 1";
                match self.first(sql, &[&id])? {
                    Some(end) => end,
                    None => return Ok(Vec::new()),
                }
            }
        };
        let sql = format!(
            "WITH RECURSIVE path (message, before) AS (
                SELECT id, parent FROM messages WHERE id = ?1
                UNION ALL
                SELECT id, parent FROM path JOIN messages ON messages.id = path.before
                LIMIT {MAX_MESSAGES}
            )
            SELECT {COLUMNS} FROM path JOIN messages ON messages.id = path.message ORDER BY messages.number"
        );
        self.messages(&sql, &end)
    }

    /// The messages of all branches, in the order in which they were stored.
    pub(super) fn all(&self, id: &str) -> Result<Vec<StoredMessage>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM messages WHERE conversation = ?1 ORDER BY number LIMIT {MAX_MESSAGES}"
        );
        self.messages(&sql, id)
    }

    fn messages(&self, sql: &str, parameter: &str) -> Result<Vec<StoredMessage>, StoreError> {
        let mut messages = self.rows(sql, &[&parameter], message)?;
        for (number, role, kept) in &mut messages {
            let wrong = |what: &dyn std::fmt::Display| {
                let file = self.file.display();
                let message = format!("{file}: the message {} can't be read: {what}", kept.id);
                StoreError::new(StoreErrorKind::Format, message)
            };
            let role = Role::of(role).ok_or_else(|| wrong(&format!("its role is {role:?}")))?;
            let sql = "SELECT content FROM blocks WHERE message = ?1 ORDER BY position";
            let blocks: Vec<String> = self.rows(sql, &[number], |row| row.get(0))?;
            let blocks = blocks.iter().map(|block| serde_json::from_str(block)).collect::<Result<_, _>>();
            kept.message = Message { role, blocks: blocks.map_err(|error| wrong(&error).caused_by(error))? };
        }
        Ok(messages.into_iter().map(|(_, _, kept)| kept).collect())
    }

    fn first(&self, sql: &str, parameters: &[&dyn ToSql]) -> Result<Option<String>, StoreError> {
        let first = self.connection.query_row(sql, parameters, |row| row.get(0)).optional();
        first.map_err(|error| file::error(self.file, "can't be read", error))
    }

    fn rows<T>(
        &self,
        sql: &str,
        parameters: &[&dyn ToSql],
        row: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<Vec<T>, StoreError> {
        let read = || -> Result<Vec<T>, rusqlite::Error> {
            self.connection.prepare_cached(sql)?.query_map(parameters, row)?.collect()
        };
        read().map_err(|error| file::error(self.file, "can't be read", error))
    }
}

fn tokens(row: &Row<'_>, first: usize) -> Result<Usage, rusqlite::Error> {
    let count = |column| Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0));
    Ok(Usage { input: count(first)?, output: count(first + 1)?, cached: count(first + 2)? })
}

fn summary(row: &Row<'_>) -> Result<Summary, rusqlite::Error> {
    let title: Option<String> = row.get(11)?;
    let words = title.unwrap_or_default();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = match words.char_indices().nth(TITLE) {
        None => words,
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
    };
    Ok(Summary {
        id: row.get(0)?,
        about: NewConversation {
            label: row.get(1)?,
            parent_run: row.get(2)?,
            model: row.get(3)?,
            folder: row.get(4)?,
        },
        begun: row.get(5)?,
        changed: row.get(6)?,
        messages: u64::try_from(row.get::<_, i64>(7)?).unwrap_or(0),
        usage: tokens(row, 8)?,
        title,
    })
}

/// A message without its blocks, its stored role, and the number that its blocks refer to.
fn message(row: &Row<'_>) -> Result<(i64, String, StoredMessage), rusqlite::Error> {
    let message = Message { role: Role::User, blocks: Vec::new() };
    let kept = StoredMessage {
        id: row.get(1)?,
        parent: row.get(2)?,
        at: row.get(4)?,
        message,
        usage: tokens(row, 5)?,
    };
    Ok((row.get(0)?, row.get(3)?, kept))
}
