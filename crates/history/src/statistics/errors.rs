//! Words what is wrong with the file of the statistics, and what to do.

use std::io;
use std::path::Path;

use database::is_busy;
use report::{Kind, Report};
use rusqlite::ErrorCode;

pub(super) fn refused(path: &Path, why: database::Error) -> Report {
    match why {
        database::Error::Folder(error) | database::Error::Lock(error) | database::Error::File(error) => {
            not_created(path, error)
        }
        database::Error::Sqlite(what, cause) => sqlite(path, what, cause),
        database::Error::Foreign => failed(path, "is the database of another program", "move it away"),
        database::Error::Newer { version, known } => {
            let what = format!("has the format {version}, and this version of Toolsmith knows {known}");
            failed(path, &what, "update Toolsmith, or move the file away")
        }
        database::Error::NoSharedMemory(journal) => {
            let what = format!("is on a file system without shared memory for processes (log: {journal})");
            failed(path, &what, "set XDG_STATE_HOME to a folder on a local disk")
        }
    }
}

/// Advice for most failures.
const CHECK: &str = "check the file, its permissions and its disk";

pub(super) fn not_created(path: &Path, error: io::Error) -> Report {
    failed(path, &format!("can't be created: {error}"), CHECK).caused_by(error)
}

pub(super) fn sqlite(path: &Path, what: &str, error: rusqlite::Error) -> Report {
    use ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase};
    let advice = match error.sqlite_error_code() {
        _ if is_busy(&error) => "another process keeps it locked; end that process, or try again later",
        Some(DiskFull) => "the disk is full; free some space",
        Some(NotADatabase | DatabaseCorrupt) => "it is damaged; move it away, and a new one is created",
        _ => CHECK,
    };
    failed(path, &format!("{what}: {error}"), advice).caused_by(error)
}

fn failed(path: &Path, what: &str, advice: &str) -> Report {
    let message = format!("the file of statistics {} {what}", path.display());
    Report::new(Kind::Statistics, message)
        .hint(advice)
        .hint("`globalSettings: { stats: false }` in the configuration switches statistics off")
}
