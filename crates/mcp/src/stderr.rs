//! Keeps the last lines of a server's standard error for error messages.
//!
//! The pipe is always drained: a server that writes a lot must not block on it.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::watch,
    task::AbortHandle,
    time::timeout,
};

use crate::{secrets::masked_unfinished, text::shown};

/// Number of lines kept.
const MAX_LINES: usize = 12;

/// Maximum length of a kept line, in bytes.
const MAX_LINE_BYTES: usize = 400;

/// Maximum length of a line while it is read, in bytes: a secret that starts in the kept part must be complete to be
/// recognised.
const MAX_COLLECTED_BYTES: usize = 16 * 1024;

/// Time limit on waiting for the end of standard error after the process has ended. The pipe is closed by then, unless
/// a process that left the group still holds it.
const SETTLE: Duration = Duration::from_millis(200);

/// A background reader and the lines it has kept.
pub(crate) struct Stderr {
    lines: Arc<Mutex<Lines>>,
    ended: watch::Receiver<bool>,
    reader: AbortHandle,
}

#[derive(Default)]
struct Lines {
    kept: VecDeque<String>,
    current: Vec<u8>,
}

impl Stderr {
    /// Starts reading; `on_line` is called with each complete line, bounded and without control characters. Needs a
    /// tokio runtime.
    pub(crate) fn read(
        mut pipe: impl AsyncRead + Unpin + Send + 'static,
        on_line: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let lines = Arc::new(Mutex::new(Lines::default()));
        let (end, ended) = watch::channel(false);
        let sink = Arc::clone(&lines);
        let task = tokio::spawn(async move {
            let mut chunk = [0_u8; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
                let lines = sink.lock().add(&chunk[..length]);
                lines.iter().for_each(|line| on_line(line));
            }
            end.send_replace(true);
        });
        Self { lines, ended, reader: task.abort_handle() }
    }

    /// The last lines so far.
    pub(crate) fn tail(&self) -> Vec<String> {
        self.lines.lock().tail()
    }

    /// Waits until the pipe of a process that has ended is drained, for a short time at most.
    pub(crate) async fn drained(&self) {
        let mut ended = self.ended.clone();
        let _ = timeout(SETTLE, ended.wait_for(|ended| *ended)).await;
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Lines {
    /// Reads a chunk of the stream; returns the lines that it completes.
    fn add(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut finished = Vec::new();
        for byte in chunk {
            if *byte == b'\n' {
                finished.extend(self.finish_line());
            } else if self.current.len() <= MAX_COLLECTED_BYTES {
                self.current.push(*byte);
            }
        }
        finished
    }

    fn finish_line(&mut self) -> Option<String> {
        let line = shown(&String::from_utf8_lossy(&self.current), MAX_LINE_BYTES);
        self.current.clear();
        if line.trim().is_empty() {
            return None;
        }
        if self.kept.len() == MAX_LINES {
            self.kept.pop_front();
        }
        self.kept.push_back(line.clone());
        Some(line)
    }

    fn tail(&self) -> Vec<String> {
        let unfinished = String::from_utf8_lossy(&self.current);
        let unfinished = shown(&masked_unfinished(&unfinished, std::iter::empty()), MAX_LINE_BYTES);
        let unfinished = (!unfinished.trim().is_empty()).then_some(unfinished);
        self.kept.iter().cloned().chain(unfinished).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_split_across_reads_are_masked() {
        crate::secrets::learn("split-token-of-stderr-1");
        let mut lines = Lines::default();
        let mut finished = Vec::new();
        for byte in b"sent split-token-of-stderr-1 away\n" {
            finished.extend(lines.add(&[*byte]));
        }
        assert_eq!(finished, ["sent *** away"]);
        assert_eq!(lines.add(b"and split-token-of-st"), [""; 0]);
        assert_eq!(lines.tail(), ["sent *** away", "and ***"]);
        let long = format!("{}split-token-of-stderr-1\n", "x".repeat(MAX_LINE_BYTES - 12));
        let cut = lines.add(&[b"\n", long.as_bytes()].concat()).pop().unwrap();
        assert!(cut.ends_with("x***") && !cut.contains("split"), "{cut}");
    }

    #[tokio::test]
    async fn only_the_last_lines_are_kept_and_long_ones_are_cut() {
        let mut text = String::new();
        for number in 0..100 {
            text.push_str(&format!("line {number}\n\n"));
        }
        text.push_str(&"x".repeat(1_000_000));
        let (pipe, mut writer) = tokio::io::simplex(1024);
        let stderr = Stderr::read(pipe, |_| {});
        tokio::io::AsyncWriteExt::write_all(&mut writer, text.as_bytes()).await.unwrap();
        drop(writer);
        stderr.drained().await;
        let tail = stderr.tail();
        assert_eq!(tail.len(), MAX_LINES + 1);
        assert_eq!(tail[0], "line 88");
        assert_eq!(tail[MAX_LINES - 1], "line 99");
        assert!(tail[MAX_LINES].len() < MAX_LINE_BYTES + 4);
    }
}
