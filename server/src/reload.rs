//! The configuration, read again when one of its files changes.
//!
//! What a file says wrong is told, and what was in force stays. Which files there are is `config::layers`' job.

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
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use super::snapshot::Settings;
use super::state::ServerState;
use crate::process_context::ProcessContext;
use crate::setup;
use crate::telemetry::Exporter;

/// How long nothing may change before files are read: who writes one does so in several steps.
const QUIET: Duration = Duration::from_millis(200);

/// After how long they are read all the same.
const LONGEST: Duration = Duration::from_secs(2);

/// How long is waited between two readings: a file may be written without end.
const PAUSE: Duration = Duration::from_millis(500);

/// What is read, and read again.
#[derive(Debug, Clone)]
pub struct Source {
    /// The process that reads it.
    pub process: ProcessContext,
    /// Which configuration.
    pub options: LoadOptions,
    /// The variable with the token of this server, which no other server gets to see.
    pub token_variable: Option<String>,
    /// The token.
    pub token: Option<String>,
    /// Whether it begins without a project's file that is not trusted.
    pub lenient: bool,
}

impl Source {
    /// Reads it again; tells what else is to be said about it. Where `old` is without a project's file that is not trusted,
    /// the new one may be as well; what was trusted and is in force is not lost by a change.
    fn read(&self, old: &Config) -> Result<Arc<Settings>, Failure> {
        let load = if old.untrusted.is_some() { setup::load_without_untrusted } else { setup::load_in };
        self.settings(load(&self.process, &self.options)?)
    }

    /// The same at first, with the export of traces that it asks for.
    pub(crate) fn read_first(&self) -> Result<(Arc<Settings>, Option<Exporter>), Failure> {
        let (config, exporter) = setup::load_to_serve(&self.process, &self.options, self.lenient)?;
        Ok((self.settings(config)?, exporter))
    }

    /// With the configuration that was read.
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

    /// What its files are like now.
    pub(crate) fn stamps(&self) -> Stamps {
        Stamps(self.files().into_iter().map(|file| (stamp(&file), file)).collect())
    }

    /// All files that it may stand in, and those that say what of it holds. They may be missing.
    fn files(&self) -> BTreeSet<PathBuf> {
        let mut files: BTreeSet<PathBuf> = layers::candidates(&self.options).into_iter().collect();
        let locks: Vec<_> = files.iter().map(|file| file.with_file_name(config::LOCK)).collect();
        files.extend(locks);
        files.extend(trust::file());
        let targets: Vec<_> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        files.extend(targets);
        files
    }

    /// The file that was named and can't be read twice, such as a pipe.
    fn unreadable(&self) -> Option<&Path> {
        let named = self.options.file.as_deref()?;
        fs::metadata(named).is_ok_and(|found| !found.is_file()).then_some(named)
    }
}

/// What the files of a configuration are like.
#[derive(Debug, PartialEq, Eq)]
pub struct Stamps(Vec<(Stamp, PathBuf)>);

/// What tells a file from one that was written anew: device, number, length, and the times of its last changes.
type Stamp = Option<[i128; 7]>;

fn stamp(file: &Path) -> Stamp {
    let found = fs::metadata(file).ok()?;
    let signed = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()].map(i128::from);
    let [modified, modified_nanos, changed, changed_nanos] = signed;
    let unsigned = [found.dev(), found.ino(), found.len()].map(i128::from);
    let [device, number, length] = unsigned;
    Some([device, number, length, modified, modified_nanos, changed, changed_nanos])
}

/// Reads the configuration again whenever one of its files is no longer what was `known` of it, for ever.
pub(crate) async fn follow(
    source: Source,
    mut known: Stamps,
    settings: watch::Sender<Arc<Settings>>,
    state: Arc<ServerState>,
) {
    let tell = |message: &str| state.terminal.tell(&format!("toolsmith: {message}"));
    if let Some(file) = source.unreadable() {
        let file = file.display();
        state.terminal.note(&format!("{file} is no regular file: its changes need a new start"));
        return std::future::pending().await;
    }
    let mut folders = match Folders::new() {
        Ok(folders) => folders,
        Err(error) => {
            tell(&format!(
                "changes of the configuration are not noticed: {error}\nhelp: restart after changes, or raise \
                 fs.inotify.max_user_instances"
            ));
            return std::future::pending().await;
        }
    };
    let mut wrong = None;
    loop {
        if let Err(error) = folders.watch(source.files()) {
            tell(&format!("changes of the configuration may not be noticed: {error}"));
        }
        let now = source.stamps();
        if now != known {
            known = now;
            match again(&source, &settings, &state).await {
                Ok(()) => wrong = None,
                Err(message) if wrong.as_ref() != Some(&message) => {
                    tell(&format!(
                        "the configuration is wrong now, and what was read before holds:\n{message}"
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

/// Reads it again, and puts it in force where it is another one.
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
    let new = read.map_err(|error| error.to_string())?.map_err(|failure| failure.message)?;
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

/// What has changed, in words.
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
        ("gone", before.difference(&now).collect()),
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
            text.push_str(&format!("; serve.{name} holds from the next start on"));
        }
    }
    text
}

/// The folders whose files are watched.
struct Folders {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    /// The files that matter.
    files: Arc<RwLock<BTreeSet<PathBuf>>>,
    changes: mpsc::Receiver<()>,
}

impl Folders {
    fn new() -> Result<Self, notify::Error> {
        let files: Arc<RwLock<BTreeSet<PathBuf>>> = Arc::default();
        // One that waits stands for all that have come.
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

    /// From now on, changes of these files are told; what is watched already is watched anew, because a folder may be
    /// another one than it was.
    fn watch(&mut self, files: BTreeSet<PathBuf>) -> Result<(), String> {
        let folders: BTreeSet<PathBuf> = files.iter().filter_map(|file| nearest(file)).collect();
        *self.files.write().unwrap_or_else(PoisonError::into_inner) = files;
        for folder in self.watched.difference(&folders) {
            // One that is gone is no longer watched.
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
        let begun = Instant::now();
        while begun.elapsed() < LONGEST && timeout(QUIET, self.changes.recv()).await.is_ok() {}
    }
}

/// The nearest folder above a file that is there.
fn nearest(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// Whether an event may mean that one of the files is another one now. Reading them is no change.
fn concerns(event: &Event, files: &BTreeSet<PathBuf>) -> bool {
    let is_change = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        _ => true,
    };
    // What happens to a folder happens to the files in it; an event without a path means that some were lost.
    is_change
        && (event.paths.is_empty()
            || event.paths.iter().any(|path| files.iter().any(|file| file.starts_with(path))))
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, ModifyKind, RemoveKind, RenameMode};

    use super::*;

    #[test]
    fn only_what_changes_a_file_or_a_folder_above_it_matters() {
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
    fn a_file_is_another_one_when_it_was_written_or_replaced() {
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
