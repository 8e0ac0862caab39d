//! `toolsmith cache info`, `clean` and `prune`: what the cache contains, and freeing space.

use execution::setup;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use report::{Kind, Report};
use runner::{Bucket, BucketContents, CacheContents, Entries, Removal, Removed};
use serde_json::{Value, json};
use server::tool_result_files::{BYTES_KEPT, FILES_KEPT};
use terminal::Terminal;
use terminal::table::show_table;

use crate::arguments::{CachePruneArguments, CleanArguments, InfoArguments};

/// Shows what the cache contains, and returns the exit code.
pub(super) fn info(arguments: &InfoArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let size = setup::configure(&arguments.place.options())?.cache.size;
    let contents = runner::look_into_cache(&config::cache_folder()?, size);
    if arguments.json {
        terminal.print_json(&as_json(&contents, size).to_string());
    } else {
        show(&contents, size, terminal);
    }
    Ok(exit_code::OK)
}

/// Removes everything that no process uses, after asking, and returns the exit code.
pub(super) async fn clean(arguments: &CleanArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let folder = config::cache_folder()?;
    // Only the sizes count here, not the limit.
    let contents = runner::look_into_cache(&folder, 0);
    let all = all(&contents);
    if !arguments.yes && all.entries > 0 {
        let shown = contents.folder.display();
        let user = terminal_prompter::of_command().ok_or_else(|| {
            Failure::from(Report::new(Kind::CommandLine, "there is no terminal to ask on"))
                .hint("to remove without a question: toolsmith cache clean --yes")
        })?;
        terminal.flush().await.map_err(Failure::output)?;
        let question =
            format!("Remove {} from {shown}? The next run builds again what it needs.", described(all));
        if !user.confirm(&question).await {
            terminal.note("nothing was removed");
            return Ok(exit_code::OK);
        }
    }
    let removed = runner::remove_from_cache(&folder, Removal::All)?;
    report(removed, arguments.json, terminal)
}

/// Removes the least recently used entries, and returns the exit code.
pub(super) fn prune(arguments: &CachePruneArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let removal = match (arguments.to, arguments.older_than) {
        (Some(bytes), _) => Removal::DownTo(bytes),
        (None, Some(age)) => Removal::UnusedFor(age),
        (None, None) => Removal::OverLimit(setup::configure(&arguments.place.options())?.cache.size),
    };
    let removed = runner::remove_from_cache(&config::cache_folder()?, removal)?;
    report(removed, arguments.json, terminal)
}

/// Prints what was removed and what is left.
fn report(removed: Removed, as_json: bool, terminal: &Terminal) -> Result<u8, Failure> {
    if as_json {
        terminal.print_json(&serde_json::to_string(&removed).map_err(Failure::system)?);
        return Ok(exit_code::OK);
    }
    terminal.print(&match removed.removed.entries {
        0 => "nothing to remove".to_owned(),
        _ => format!("removed {}", described(removed.removed)),
    });
    if removed.in_use.entries > 0 {
        terminal.note(&format!("kept {}, in use by a running process", described(removed.in_use)));
    }
    if removed.left.entries > 0 {
        terminal.note(&format!("the cache has {}", described(removed.left)));
    }
    Ok(exit_code::OK)
}

/// All entries of a cache.
fn all(contents: &CacheContents) -> Entries {
    let buckets = contents.buckets.iter().map(|bucket| bucket.all);
    buckets.chain([contents.outdated]).fold(Entries::default(), |all, one| Entries {
        entries: all.entries + one.entries,
        bytes: all.bytes.saturating_add(one.bytes),
    })
}

fn show(contents: &CacheContents, size: u64, terminal: &Terminal) {
    let row = |one: &BucketContents| {
        let one = limited(one);
        let limit = match (one.limit_bytes, one.limit_entries) {
            (Some(bytes), Some(entries)) => format!("{}, {entries} entries", bytes_of(bytes)),
            (Some(bytes), None) => bytes_of(bytes),
            (None, _) => "-".to_owned(),
        };
        let cells =
            [one.all.entries.to_string(), bytes_of(one.all.bytes), limit, one.in_use.entries.to_string()];
        [one.bucket.name().to_owned(), one.bucket.contents().to_owned()].into_iter().chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> = contents.buckets.iter().map(row).collect();
    if contents.outdated.entries > 0 {
        let Entries { entries, bytes } = contents.outdated;
        let cells = ["(others)", "of other versions", &entries.to_string(), &bytes_of(bytes), "-", "-"];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    show_table(terminal, &["folder", "contents", "entries", "size", "limit", "in use"], rows);
    let free = contents.free_bytes.map(|free| format!("; {} of the disk are free", bytes_of(free)));
    let total = bytes_of(all(contents).bytes);
    terminal.print(&format!(
        "{total} of {} (cache.size) in {}{}",
        bytes_of(size),
        contents.folder.display(),
        free.unwrap_or_default()
    ));
}

fn as_json(contents: &CacheContents, size: u64) -> Value {
    let all = all(contents);
    let bucket = |one: &BucketContents| {
        let one = limited(one);
        json!({ "name": one.bucket.name(), "contents": one.bucket.contents(), "entries": one.all.entries,
            "bytes": one.all.bytes, "in_use": one.in_use.entries, "limit_bytes": one.limit_bytes,
            "limit_entries": one.limit_entries })
    };
    json!({ "folder": contents.folder, "size": size, "used_bytes": all.bytes, "entries": all.entries,
        "free_bytes": contents.free_bytes, "buckets": contents.buckets.iter().map(bucket).collect::<Vec<_>>(),
        "outdated": contents.outdated })
}

/// A bucket with its limits; that of long results has its own in addition.
fn limited(one: &BucketContents) -> BucketContents {
    if one.bucket != Bucket::Results {
        return *one;
    }
    let limit_bytes = one.limit_bytes.map(|bytes| bytes.min(BYTES_KEPT));
    BucketContents { limit_bytes, limit_entries: Some(FILES_KEPT), ..*one }
}

/// `12 entries (34 MiB)`.
fn described(entries: Entries) -> String {
    let Entries { entries, bytes } = entries;
    let noun = if entries == 1 { "entry" } else { "entries" };
    format!("{entries} {noun} ({})", bytes_of(bytes))
}

fn bytes_of(bytes: u64) -> String {
    runner::size(usize::try_from(bytes).unwrap_or(usize::MAX))
}
