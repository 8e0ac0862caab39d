//! Reads the configuration again when one of its files changes.
//!
//! If a file is invalid, the error is reported and the previous configuration stays in effect. `config::layers`
//! determines the files.

mod folders;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use config::trust;
use config::{Config, ConfigLayer, LoadOptions, Untrusted, layers};
use execution::process::ProcessContext;
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::saved_programs::{ProgramStore, approvals};
use report::{Kind, Report};
use telemetry::Exporter;
use tokio::sync::watch;
use tokio::time::sleep;

use folders::Folders;

use super::programs::OfferedPrograms;
use super::snapshot::Settings;
use super::state::ServerState;

/// Minimum pause between two readings of the configuration: a file may be written continuously.
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
}

impl Source {
    /// Reads the configuration again and reports its warnings. An untrusted project file is left out if `old` is without
    /// one; a trusted file in effect is not lost by a change.
    fn read(&self, old: &Config) -> Result<Arc<Settings>, Failure> {
        let has_project = old.layers.iter().any(|layer| matches!(layer, ConfigLayer::Project(_)));
        let untrusted = if has_project { Untrusted::Refused } else { self.options.untrusted };
        self.settings(self.process.configure(&LoadOptions { untrusted, ..self.options.clone() })?)
    }

    /// Reads the configuration for the first time; returns also the export of traces, if configured.
    pub(crate) fn read_first(&self) -> Result<(Arc<Settings>, Option<Exporter>), Failure> {
        let (config, exporter) = self.configure()?;
        Ok((self.settings(config)?, exporter))
    }

    /// Loads the configuration, and starts the configured export.
    pub fn configure(&self) -> Result<(Config, Option<Exporter>), Failure> {
        let mut exporter = None;
        let config = self.process.configure_with(&self.options, |config| {
            exporter = config.serve.telemetry.as_ref().map(Exporter::begin).transpose()?.flatten();
            Ok(exporter.as_ref().map(Exporter::layer))
        })?;
        Ok((config, exporter))
    }

    /// Settings for this configuration.
    pub fn settings(&self, mut config: Config) -> Result<Arc<Settings>, Failure> {
        let known = Known::of(&config)?;
        for server in &mut config.servers {
            if let (mcp::Transport::Stdio(command), Some(variable)) =
                (&mut server.connection.transport, &self.token_variable)
            {
                command.withheld.insert(variable.clone());
            }
        }
        let programs = OfferedPrograms::read(&config)?;
        let settings = Settings::new(config, known, self.token.as_deref())?.with_programs(programs);
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
        files.extend(approvals::path());
        files.extend(ProgramStore::files_of_working_folder());
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
    known: Stamps,
    settings: watch::Sender<Arc<Settings>>,
    state: Arc<ServerState>,
) {
    let log = state.terminal.notifier();
    if let Some(file) = source.unreadable() {
        let file = file.display();
        log.info(&format!("{file} is not a regular file: restart to apply changes"));
        return std::future::pending().await;
    }
    let Err(error) = watch_files(source, known, settings, &state).await;
    let message = format!("changes of the configuration can't be watched: {error}");
    let report = Report::new(Kind::System, message)
        .hint("restart after changes, or raise fs.inotify.max_user_instances");
    log.warning(&report.for_terminal());
    std::future::pending::<()>().await;
}

/// Reads the configuration again after each change, until files can't be watched.
async fn watch_files(
    source: Source,
    mut known: Stamps,
    settings: watch::Sender<Arc<Settings>>,
    state: &ServerState,
) -> io::Result<Infallible> {
    let log = state.terminal.notifier();
    let mut folders = Folders::new()?;
    let mut wrong = None;
    loop {
        if let Err(error) = folders.watch(&source.files()) {
            log.warning(&format!("some changes of the configuration can't be watched: {error}"));
        }
        let now = source.stamps();
        if now != known {
            known = now;
            match again(&source, &settings, state).await {
                Ok(()) => wrong = None,
                Err(message) if wrong.as_ref() != Some(&message) => {
                    log.error(&format!(
                        "the configuration is invalid; the previous one stays in effect:\n{message}"
                    ));
                    wrong = Some(message);
                }
                Err(_) => {}
            }
            sleep(PAUSE).await;
        }
        folders.changed().await?;
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
    if old.config == new.config && old.known == new.known && old.programs.are_as(&new.programs) {
        return Ok(());
    }
    let serve = &new.config.serve;
    state.slots.resize(serve.max_executions, serve.max_waiting, serve.subject_limits.executions);
    state.slots.require_memory(serve.min_memory);
    state.cache.resize(new.config.cache.size);
    state.held.set_return_time(serve.question_timeout);
    state.terminal.notifier().info(&difference(&old, &new));
    new.programs.notes.iter().for_each(|note| state.terminal.notifier().warning(note));
    state.spares.configure(&new.config, &new.masker);
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
    let (before, now) = (&old.config, &new.config);
    for (name, is_same) in [
        ("serve.audit", before.serve.audit == now.serve.audit),
        ("serve.metrics", before.serve.metrics == now.serve.metrics),
        ("serve.telemetry", before.serve.telemetry == now.serve.telemetry),
        ("cache.remote", before.cache.remote == now.cache.remote),
        ("serve.sharedState", before.serve.shared_state == now.serve.shared_state),
    ] {
        if !is_same {
            text.push_str(&format!("; {name} takes effect after a restart"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_replaced_files_have_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        assert_eq!(stamp(&file), None);
        fs::write(&file, "1").unwrap();
        let first = stamp(&file);
        assert_eq!(stamp(&file), first);
        fs::write(&other, "2").unwrap();
        fs::rename(&other, &file).unwrap();
        assert_ne!(stamp(&file), first);
    }
}
