//! Reads the configuration again when one of its files changes.
//!
//! If a file is invalid, the error is reported and the previous configuration stays in effect. `config::layers`
//! determines the files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use config::trust;
use config::{Config, LoadOptions, layers};
use gateway::failure::Failure;
use gateway::pins::Known;
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use report::{Kind, Report};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use super::snapshot::Settings;
use super::state::ServerState;
use crate::process_context::ProcessContext;
use crate::setup;
use crate::telemetry::Exporter;

/// How long files must be unchanged before they are read: editors write in several steps.
const QUIET: Duration = Duration::from_millis(200);

/// Time limit for that wait, after which they are read anyway.
const LONGEST: Duration = Duration::from_secs(2);

/// Minimum pause between two readings: a file may be written continuously.
const PAUSE: Duration = Duration::from_millis(500);

/// The source of the configuration.
#[derive(Debug, Clone)]
pub struct Source {
    /// The process that reads it.
    pub process: ProcessContext,
    /// Options for loading it.
    pub options: LoadOptions,
    /// The variable with this server's token; it is withheld from all other servers.
    pub token_variable: Option<String>,
    /// The token.
    pub token: Option<String>,
    /// Whether to start without a project's file that is not trusted.
    pub lenient: bool,
}

impl Source {
    /// Reads the configuration again and reports its warnings. An untrusted project file may stay left out if `old` is
    /// without it; a trusted file in effect is not lost by a change.
    fn read(&self, old: &Config) -> Result<Arc<Settings>, Failure> {
        let load = if old.untrusted.is_some() { setup::load_without_untrusted } else { setup::load_in };
        self.settings(load(&self.process, &self.options)?)
    }

    /// Reads the configuration for the first time; returns also the export of traces, if configured.
    pub(crate) fn read_first(&self) -> Result<(Arc<Settings>, Option<Exporter>), Failure> {
        let (config, exporter) = setup::load_to_serve(&self.process, &self.options, self.lenient)?;
        Ok((self.settings(config)?, exporter))
    }

    /// Settings for this configuration.
    pub(crate) fn settings(&self, mut config: Config) -> Result<Arc<Settings>, Failure> {
        let known = Known::of(&config)?;
        for server in &mut config.servers {
            if let (mcp::Transport::Stdio(command), Some(variable)) =
                (&mut server.connection.transport, &self.token_variable)
            {
                command.withheld.insert(variable.clone());
            }
        }
        let settings = Settings::new(config, known, self.token.as_deref())?;
        terminal::mask(settings.masker.clone());
        Ok(settings)
    }

    /// The present state of its files.
    pub(crate) fn stamps(&self) -> Stamps {
        Stamps(self.files().into_iter().map(|file| (stamp(&file), file)).collect())
    }

    /// All files that can contain it, and those that determine their trust and pins. They may be missing.
    fn files(&self) -> BTreeSet<PathBuf> {
        let mut files: BTreeSet<PathBuf> = layers::candidates(&self.options).into_iter().collect();
        let locks: Vec<_> = files.iter().map(|file| file.with_file_name(config::LOCK)).collect();
        files.extend(locks);
        files.extend(trust::file());
        let targets: Vec<_> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        files.extend(targets);
        files
    }

    /// The named file, if it can't be read twice, such as a pipe.
    fn unreadable(&self) -> Option<&Path> {
        let named = self.options.file.as_deref()?;
        fs::metadata(named).is_ok_and(|found| !found.is_file()).then_some(named)
    }
}

/// The state of the files of a configuration.
#[derive(Debug, PartialEq, Eq)]
pub struct Stamps(Vec<(Stamp, PathBuf)>);

/// Identifies the version of a file: device, number, length, and the times of its last changes.
type Stamp = Option<[i128; 7]>;

fn stamp(file: &Path) -> Stamp {
    let found = fs::metadata(file).ok()?;
    let signed = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()].map(i128::from);
    let [modified, modified_nanos, changed, changed_nanos] = signed;
    let unsigned = [found.dev(), found.ino(), found.len()].map(i128::from);
    let [device, number, length] = unsigned;
    Some([device, number, length, modified, modified_nanos, changed, changed_nanos])
}

/// Reads the configuration again, indefinitely, whenever one of its files differs from its `known` state.
pub(crate) async fn follow(
    source: Source,
    mut known: Stamps,
    settings: watch::Sender<Arc<Settings>>,
    state: Arc<ServerState>,
) {
    let tell = |message: &str| state.terminal.tell(&format!("toolsmith: {message}"));
    if let Some(file) = source.unreadable() {
        let file = file.display();
        state.terminal.note(&format!("{file} is not a regular file: restart to apply changes"));
        return std::future::pending().await;
    }
    let mut folders = match Folders::new() {
        Ok(folders) => folders,
        Err(error) => {
            let message = format!("changes of the configuration can't be watched: {error}");
            let report = Report::new(Kind::System, message)
                .hint("restart after changes, or raise fs.inotify.max_user_instances");
            tell(&report.for_terminal());
            return std::future::pending().await;
        }
    };
    let mut wrong = None;
    loop {
        if let Err(error) = folders.watch(source.files()) {
            tell(&format!("warning: some changes of the configuration can't be watched: {error}"));
        }
        let now = source.stamps();
        if now != known {
            known = now;
            match again(&source, &settings, &state).await {
                Ok(()) => wrong = None,
                Err(message) if wrong.as_ref() != Some(&message) => {
                    tell(&format!(
                        "error: the configuration is invalid; the previous one stays in effect:\n{message}"
                    ));
                    wrong = Some(message);
                }
                Err(_) => {}
            }
            sleep(PAUSE).await;
        }
        folders.changed().await;
    }
}

/// Reads it again, and applies it if it differs.
async fn again(
    source: &Source,
    settings: &watch::Sender<Arc<Settings>>,
    state: &ServerState,
) -> Result<(), String> {
    let old = settings.borrow().clone();
    let read = {
        let (source, old) = (source.clone(), old.clone());
        tokio::task::spawn_blocking(move || source.read(&old.config)).await
    };
    let new = read.map_err(|error| error.to_string())?.map_err(|failure| failure.report.for_terminal())?;
    if old.config == new.config && old.known == new.known {
        return Ok(());
    }
    let serve = &new.config.serve;
    state.slots.resize(serve.max_executions, serve.max_waiting);
    state.cache.resize(new.config.cache.size);
    state.held.set_return_time(serve.question_timeout);
    state.terminal.note(&difference(&old, &new));
    settings.send_replace(new);
    Ok(())
}

/// A description of the changes.
fn difference(old: &Settings, new: &Settings) -> String {
    let names = |settings: &Settings| -> BTreeSet<String> {
        settings.config.servers.iter().map(|server| server.connection.name.clone()).collect()
    };
    let (before, now) = (names(old), names(new));
    let is_other = |name: &&String| old.config.server(name) != new.config.server(name);
    let mut parts = Vec::new();
    for (what, names) in [
        ("new", now.difference(&before).collect::<Vec<_>>()),
        ("changed", before.intersection(&now).filter(is_other).collect()),
        ("removed", before.difference(&now).collect()),
    ] {
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            parts.push(format!("{what}: {}", names.join(", ")));
        }
    }
    if parts.is_empty() {
        parts.push("no other servers".to_owned());
    }
    let mut text = format!("the configuration was read again ({})", parts.join("; "));
    let (old, new) = (&old.config.serve, &new.config.serve);
    for (name, is_same) in [("audit", old.audit == new.audit), ("telemetry", old.telemetry == new.telemetry)]
    {
        if !is_same {
            text.push_str(&format!("; serve.{name} takes effect after a restart"));
        }
    }
    text
}

/// The folders whose files are watched.
struct Folders {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    /// The relevant files.
    files: Arc<RwLock<BTreeSet<PathBuf>>>,
    changes: mpsc::Receiver<()>,
}

impl Folders {
    fn new() -> Result<Self, notify::Error> {
        let files: Arc<RwLock<BTreeSet<PathBuf>>> = Arc::default();
        // One queued signal represents all changes so far.
        let (sender, changes) = mpsc::channel(1);
        let matters = files.clone();
        let watcher = notify::recommended_watcher(move |event: Result<Event, notify::Error>| {
            let files = matters.read().unwrap_or_else(PoisonError::into_inner);
            if event.map_or(true, |event| concerns(&event, &files)) {
                let _ = sender.try_send(());
            }
        })?;
        Ok(Folders { watcher, watched: BTreeSet::new(), files, changes })
    }

    /// Watches these files from now on. Watches are renewed, because a folder may have been replaced.
    fn watch(&mut self, files: BTreeSet<PathBuf>) -> Result<(), String> {
        let folders: BTreeSet<PathBuf> = files.iter().filter_map(|file| nearest(file)).collect();
        *self.files.write().unwrap_or_else(PoisonError::into_inner) = files;
        for folder in self.watched.difference(&folders) {
            // A removed folder is no longer watched.
            let _ = self.watcher.unwatch(folder);
        }
        let mut failed = Ok(());
        for folder in &folders {
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                Err(notify::Error { kind: notify::ErrorKind::Io(error), .. })
                    if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => failed = Err(format!("{}: {error}", folder.display())),
                Ok(()) => {}
            }
        }
        self.watched = folders;
        failed
    }

    /// Waits for a change, and until it has settled.
    async fn changed(&mut self) {
        if self.changes.recv().await.is_none() {
            return std::future::pending().await;
        }
        let started = Instant::now();
        while started.elapsed() < LONGEST && timeout(QUIET, self.changes.recv()).await.is_ok() {}
    }
}

/// The nearest existing folder above a file.
fn nearest(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// Whether an event may mean that one of the files has changed. Reading is not a change.
fn concerns(event: &Event, files: &BTreeSet<PathBuf>) -> bool {
    let is_change = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        _ => true,
    };
    // A change of a folder affects its files; an event without a path means that events were lost.
    is_change
        && (event.paths.is_empty()
            || event.paths.iter().any(|path| files.iter().any(|file| file.starts_with(path))))
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, ModifyKind, RemoveKind, RenameMode};

    use super::*;

    #[test]
    fn only_changes_of_files_and_their_folders_matter() {
        let files = BTreeSet::from([PathBuf::from("/a/b/c.yaml")]);
        let matters = |kind, path: &str| concerns(&Event::new(kind).add_path(PathBuf::from(path)), &files);
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        for (kind, path) in [
            (written, "/a/b/c.yaml"),
            (renamed, "/a/b/c.yaml"),
            (EventKind::Remove(RemoveKind::File), "/a/b/c.yaml"),
            (EventKind::Create(CreateKind::Folder), "/a/b"),
        ] {
            assert!(matters(kind, path), "{kind:?} {path}");
        }
        let read = EventKind::Access(AccessKind::Close(AccessMode::Read));
        for (kind, path) in [(read, "/a/b/c.yaml"), (written, "/a/b/d.yaml"), (renamed, "/a/b/c.yaml.swp")] {
            assert!(!matters(kind, path), "{kind:?} {path}");
        }
        assert!(concerns(&Event::new(EventKind::Other), &files), "events were lost");
    }

    #[test]
    fn written_and_replaced_files_have_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        assert_eq!(stamp(&file), None);
        assert_eq!(nearest(&file.join("below/it")), Some(folder.path().to_owned()));
        fs::write(&file, "1").unwrap();
        let first = stamp(&file);
        assert_eq!(stamp(&file), first);
        fs::write(&other, "2").unwrap();
        fs::rename(&other, &file).unwrap();
        assert_ne!(stamp(&file), first);
    }
}
