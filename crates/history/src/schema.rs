//! The tables of a history, and their migrations.
//!
//! Everything that a list shows is in `executions`, whose rows are small. `contents` has the texts of an execution,
//! `calls` and `questions` have one row each, and `tools` has each tool that an execution called once, to find
//! executions by it. `recordings` has what a replay needs. `words` is an index of the texts without the texts. `counters`
//! and `durations` are the statistics.

use database::Format;

/// The tables of a history ("TSHI"); a published migration never changes.
pub(crate) const FORMAT: Format = Format { application: 0x5453_4849, steps: &[FIRST, STATISTICS] };

/// Times are milliseconds: `begun`, `ended` and `seen` since 1970, others since the begin of their execution. An
/// execution without a status is running, or its process was killed: `processes` says when a process was last there.
const FIRST: &str = "
CREATE TABLE executions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    begun INTEGER NOT NULL,
    ended INTEGER,
    process TEXT NOT NULL,
    transport TEXT NOT NULL,
    client TEXT,
    client_version TEXT,
    session TEXT,
    subject TEXT,
    issuer TEXT,
    address TEXT,
    parent_run TEXT,
    folder TEXT NOT NULL,
    check_only INTEGER NOT NULL,
    code_hash TEXT NOT NULL,
    code_bytes INTEGER NOT NULL,
    program TEXT,
    title TEXT NOT NULL,
    status TEXT,
    error_kind TEXT,
    error TEXT,
    phases TEXT NOT NULL DEFAULT '[]',
    calls INTEGER NOT NULL DEFAULT 0,
    total_ms REAL,
    code_tokens INTEGER NOT NULL,
    answer_tokens INTEGER NOT NULL DEFAULT 0,
    direct_tokens INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX executions_by_begin ON executions (begun);
CREATE INDEX executions_by_status ON executions (status);
CREATE INDEX executions_by_session ON executions (session) WHERE session IS NOT NULL;
CREATE INDEX executions_by_subject ON executions (subject) WHERE subject IS NOT NULL;
CREATE INDEX executions_by_program ON executions (program) WHERE program IS NOT NULL;

CREATE TABLE contents (
    execution INTEGER PRIMARY KEY REFERENCES executions (number) ON DELETE CASCADE,
    code TEXT NOT NULL,
    code_is_whole INTEGER NOT NULL,
    arguments TEXT,
    outcome TEXT
) STRICT;

CREATE TABLE calls (
    execution INTEGER NOT NULL REFERENCES executions (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    began_ms REAL NOT NULL,
    sent_ms REAL,
    ended_ms REAL,
    ok INTEGER,
    error TEXT,
    bytes INTEGER NOT NULL DEFAULT 0,
    cached_age_ms REAL,
    arguments TEXT,
    direct_tokens INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (execution, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE questions (
    execution INTEGER NOT NULL REFERENCES executions (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    about TEXT NOT NULL,
    tools TEXT NOT NULL,
    text TEXT NOT NULL,
    asked_ms REAL NOT NULL,
    answered_ms REAL,
    answer TEXT,
    answered_by TEXT,
    PRIMARY KEY (execution, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE tools (
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    execution INTEGER NOT NULL REFERENCES executions (number) ON DELETE CASCADE,
    PRIMARY KEY (server, tool, execution)
) STRICT, WITHOUT ROWID;
CREATE INDEX tools_of_executions ON tools (execution);

CREATE TABLE recordings (
    execution INTEGER PRIMARY KEY REFERENCES executions (number) ON DELETE CASCADE,
    recording TEXT NOT NULL
) STRICT;

CREATE TABLE processes (id TEXT PRIMARY KEY NOT NULL, seen INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1);
";

/// Counters of calls by day since 1970, server and tool, and their durations by bucket. They do not depend on
/// executions: they are kept longer, and also if no executions are kept.
const STATISTICS: &str = "
CREATE TABLE counters (
    day INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    ms REAL NOT NULL,
    longest_ms REAL NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (day, server, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE durations (
    day INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (day, server, tool, bucket)
) STRICT, WITHOUT ROWID;
";
