//! Shortens tool results that are too long for a client to head and tail, and stores the whole in a file to read by
//! range.
//!
//! The files are a bucket of the cache: they stay within its share of the budget, and within their own limits.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use runner::Bucket;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use system::file::{self, Access, Durability};

/// Maximum size of a result's JSON for a client, in bytes (1 MiB).
pub const RESULT_LIMIT: usize = 1 << 20;

/// Minimum room for texts in bytes, so that a small limit still shows something.
const MIN_TEXT: usize = 256;

/// Maximum number of files. Besides, their size is limited (256 MiB), and their age (a week).
pub const FILES_KEPT: usize = 64;
/// Maximum size of all files together, in bytes.
pub const BYTES_KEPT: u64 = 256 << 20;
const AGE_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The files of long results.
#[derive(Debug, Clone)]
pub struct Results {
    folder: PathBuf,
    /// Maximum size of all files, in bytes.
    bytes: u64,
}

/// A result within the limit.
#[derive(Debug)]
pub struct Bounded {
    /// MCP's `CallToolResult`.
    pub result: Value,
    /// The file with the whole result, if this is a part.
    pub file: Option<PathBuf>,
}

impl Results {
    /// Uses the bucket [`Bucket::Results`] of the cache in `cache`, whose budget is `size` bytes.
    pub fn new(cache: &Path, size: u64) -> Self {
        Results {
            folder: cache.join(Bucket::Results.name()),
            bytes: Bucket::Results.share(size).min(BYTES_KEPT),
        }
    }

    /// Limits a `CallToolResult` to about `limit` bytes; a longer one is stored in a file that its text names.
    ///
    /// # Errors
    /// If the file can't be written: nothing is cut without a copy.
    pub fn bound(&self, raw: &RawValue, limit: usize) -> io::Result<Bounded> {
        let text = raw.get();
        // A result that is nested too deeply to parse becomes a text.
        let whole = serde_json::from_str(text)
            .unwrap_or_else(|_| json!({ "content": [{ "type": "text", "text": text }] }));
        if text.len() <= limit {
            return Ok(Bounded { result: whole, file: None });
        }
        let file = self.keep(text)?;
        Ok(Bounded { result: shortened(&whole, text.len(), &file, limit), file: Some(file) })
    }

    /// Writes a result atomically. Equal results share a file.
    fn keep(&self, text: &str) -> io::Result<PathBuf> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let id: String = blake3::hash(text.as_bytes()).to_hex().chars().take(32).collect();
        let file = self.folder.join(format!("{id}.json"));
        file::replace(&file, text.as_bytes(), Access::Owner, Durability::Unsynced)?;
        self.evict(&file);
        Ok(file)
    }

    /// Removes the oldest files beyond the limits, but never `newest`. Files that can't be removed are tried again
    /// later.
    fn evict(&self, newest: &Path) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), entry.path()))
            })
            .filter(|(_, _, path)| path != newest)
            .collect();
        files.sort_by(|one, other| other.cmp(one));
        let now = SystemTime::now();
        let (mut kept, mut bytes) = (1, std::fs::metadata(newest).map_or(0, |metadata| metadata.len()));
        for (modified, length, path) in files {
            let is_old = now.duration_since(modified).is_ok_and(|age| age > AGE_KEPT);
            kept += 1;
            bytes += length;
            if is_old || kept > FILES_KEPT || bytes > self.bytes {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// A result with the head and the tail of its texts; other parts are only listed.
fn shortened(whole: &Value, bytes: usize, file: &Path, limit: usize) -> Value {
    let text = text(whole);
    // JSON may need six bytes for a control character, but texts consist of few of them.
    let room = (limit / 2).max(MIN_TEXT);
    let head = text.floor_char_boundary((room / 4 * 3).min(text.len()));
    let tail = text.ceil_char_boundary(text.len().saturating_sub(room / 4)).max(head);
    let left_out = tail - head;
    let shown = file.display();
    let note = if left_out == 0 {
        "only its texts are shown".to_owned()
    } else {
        format!("{left_out} bytes of its text are left out here")
    };
    let note = format!("[the result has {bytes} bytes; {note}; read the whole by range from {shown}]");
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    let content = json!([{ "type": "text", "text": format!("{head}\n{note}\n{tail}") }]);
    let mut result =
        json!({ "content": content, "_meta": { "toolsmith/result": { "file": file, "bytes": bytes } } });
    if let Some(is_error) = whole.get("isError") {
        result["isError"] = is_error.clone();
    }
    result
}

/// The texts of a result, or its structured content if it has none; a line for each other part.
pub fn text(result: &Value) -> String {
    let parts = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = parts.iter().map(part).collect();
    match result.get("structuredContent") {
        Some(structured) if texts.is_empty() && !structured.is_null() => structured.to_string(),
        _ => texts.join("\n"),
    }
}

fn part(part: &Value) -> String {
    if let Some(text) = part["text"].as_str().or_else(|| part["resource"]["text"].as_str()) {
        return text.to_owned();
    }
    let kind = part["type"].as_str().unwrap_or("content");
    let of_type = part["mimeType"].as_str().map(|mime| format!(" {mime}")).unwrap_or_default();
    let at = part["uri"].as_str().map(|uri| format!(" at {uri}")).unwrap_or_default();
    let size =
        part["data"].as_str().map(|data| format!(", about {} bytes", data.len() / 4 * 3)).unwrap_or_default();
    format!("[{kind}{of_type}{at}{size}]")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn short_results_are_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let raw = to_raw_value(&json!({ "content": [], "structuredContent": { "a": 1 } })).unwrap();
        let bounded = Results::new(folder.path(), runner::DEFAULT_SIZE).bound(&raw, 1000).unwrap();
        assert_eq!((bounded.result.to_string(), bounded.file), (raw.get().to_owned(), None));
        assert!(!folder.path().join("results-v1").exists());
    }

    #[test]
    fn long_results_are_cut_at_characters_and_stored_privately() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("begin{}end", "ä".repeat(10_000));
        let raw =
            to_raw_value(&json!({ "content": [{ "type": "text", "text": long }], "isError": true })).unwrap();
        let bounded = Results::new(folder.path(), runner::DEFAULT_SIZE).bound(&raw, 2_000).unwrap();
        let text = text(&bounded.result);
        let file = bounded.file.unwrap();
        assert!(
            text.starts_with("beginä") && text.ends_with("äend") && bounded.result.to_string().len() < 2_000
        );
        assert!(
            text.contains(&raw.get().len().to_string()) && text.contains(file.to_str().unwrap()),
            "{text}"
        );
        assert_eq!(bounded.result["isError"], true);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), raw.get());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn the_newest_files_are_kept_within_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let results = Results::new(folder.path(), runner::DEFAULT_SIZE);
        let mut newest = PathBuf::new();
        for number in 0..FILES_KEPT + 5 {
            let raw = to_raw_value(&json!({ "content": [], "number": number })).unwrap();
            newest = results.bound(&raw, 1).unwrap().file.unwrap();
        }
        let count = std::fs::read_dir(folder.path().join("results-v1")).unwrap().count();
        assert_eq!((count, newest.is_file()), (FILES_KEPT, true));
        let old = SystemTime::now() - AGE_KEPT - Duration::from_secs(60);
        let aged = folder.path().join("results-v1/old.json");
        std::fs::write(&aged, "x").unwrap();
        std::fs::File::options().write(true).open(&aged).unwrap().set_modified(old).unwrap();
        results.bound(&to_raw_value(&json!({ "other": 1 })).unwrap(), 1).unwrap();
        assert!(!aged.exists());
    }

    #[test]
    fn parts_other_than_texts_are_described() {
        let result = json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "AAAA" }, { "type": "resource_link", "uri": "x:y" }, 7] });
        assert_eq!(text(&result), "[image image/png, about 3 bytes]\n[resource_link at x:y]\n[content]");
        assert_eq!(text(&json!({ "content": [], "structuredContent": [1] })), "[1]");
    }
}
