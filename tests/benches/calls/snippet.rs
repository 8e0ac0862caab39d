//! The last stage: a snippet that measures its own calls, in `toolsmith run`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::stages::SERVER;
use crate::{ARGUMENT, AT_ONCE, CALLS, Rates};

/// A folder with a configuration, and a cache that is kept for the next time.
pub(crate) struct Scene {
    folder: TempDir,
    cache: PathBuf,
}

impl Scene {
    /// Builds the first layer of each binary if it is missing, which takes a minute.
    pub(crate) fn new(binaries: &[PathBuf]) -> Self {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calls-cache");
        let scene = Scene { folder: tempfile::tempdir().unwrap(), cache };
        let config = format!("mcpServers:\n  instant: {{ command: {SERVER:?}, trust: true }}\n");
        fs::write(scene.folder.path().join("config.yaml"), config).unwrap();
        for binary in binaries {
            scene.measure(binary);
        }
        scene
    }

    /// The rates that the snippet measures.
    pub(crate) fn measure(&self, binary: &Path) -> Rates {
        let folder = self.folder.path();
        let mut child = Command::new(binary)
            .args(["run", "-", "--json", "--quiet", "--allow", "*", "--config"])
            .arg(folder.join("config.yaml"))
            .env("TOOLSMITH_CACHE_DIR", &self.cache)
            .env("XDG_CONFIG_HOME", folder)
            .env("XDG_STATE_HOME", folder)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(snippet().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let outcome: Value = serde_json::from_str(&text).unwrap();
        let seconds = |index: usize| {
            let seconds = outcome["result"][index].as_f64().unwrap_or_else(|| panic!("{text}"));
            Duration::from_secs_f64(seconds)
        };
        Rates::of(seconds(0), seconds(1))
    }
}

/// Calls the tool one time after the other, then many times at once; its result is the seconds that each took.
fn snippet() -> String {
    format!(
        r#"
use futures::StreamExt;
use std::time::Instant;
let text = "x".repeat({ARGUMENT});
for _ in 0..100 {{ instant::take(&text).await?; }}
let started = Instant::now();
for _ in 0..{CALLS} {{ instant::take(&text).await?; }}
let in_turn = started.elapsed().as_secs_f64();
let started = Instant::now();
let mut calls = futures::stream::iter(0..{CALLS}).map(|_| instant::take(&text)).buffer_unordered({AT_ONCE});
while let Some(answer) = calls.next().await {{ answer?; }}
vec![in_turn, started.elapsed().as_secs_f64()]
"#
    )
}
