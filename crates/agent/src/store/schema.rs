//! The schema of a file of conversations, and its migrations.
//!
//! A block is stored as the JSON of [`crate::Block`], the same form that is sent, and nothing is stored twice. Tool
//! calls and results are views on it, for use in SQL.

use database::Format;

/// The tables of a file of conversations ("TSCV"); a published migration never changes.
pub(super) const FORMAT: Format = Format { application: 0x5453_4356, steps: &[FIRST] };

/// Messages are deleted with their conversation, not with their parent: SQLite supports at most a thousand levels of
/// cascading deletes.
const FIRST: &str = "
PRAGMA application_id = 0x54534356;

CREATE TABLE conversations (
    id TEXT PRIMARY KEY NOT NULL,
    label TEXT,
    parent_run TEXT,
    model TEXT NOT NULL,
    folder TEXT NOT NULL,
    begun INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent TEXT REFERENCES messages (id),
    role TEXT NOT NULL,
    at INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_of_conversations ON messages (conversation, number);
CREATE INDEX messages_by_parents ON messages (parent);

CREATE TABLE blocks (
    message INTEGER NOT NULL REFERENCES messages (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (message, position)
) STRICT;

CREATE VIEW tool_calls AS
SELECT
    messages.conversation AS conversation,
    messages.id AS message,
    messages.at AS at,
    blocks.content ->> '$.id' AS call,
    blocks.content ->> '$.name' AS tool,
    blocks.content -> '$.arguments' AS arguments
FROM blocks JOIN messages ON messages.number = blocks.message
WHERE blocks.type = 'tool_call';

CREATE VIEW tool_results AS
SELECT
    messages.conversation AS conversation,
    messages.id AS message,
    messages.at AS at,
    blocks.content ->> '$.id' AS call,
    blocks.content ->> '$.name' AS tool,
    coalesce(blocks.content ->> '$.is_error', 0) AS is_error,
    blocks.content -> '$.blocks' AS blocks
FROM blocks JOIN messages ON messages.number = blocks.message
WHERE blocks.type = 'tool_result';
";
