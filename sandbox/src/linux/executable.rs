//! The executable of helpers: a small program beside this one if there is one, otherwise this program.
//!
//! Starting a helper takes processor time in proportion to its executable: the dynamic linker relocates its data, and
//! each of its two forks and ends copies and frees those pages. Measured with an executable of 35 MB: 7.0 ms for each
//! start, against 4.8 ms with one of 0.9 MB.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::probe::{is_of_this_build, probe_with};
use crate::Support;

/// The path of this executable.
pub(super) const OWN_EXECUTABLE: &str = "/proc/self/exe";

static FILE: OnceLock<PathBuf> = OnceLock::new();
/// Whether this program calls [`entry`](crate::entry), and so can be the helper.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);
static HELPER: OnceLock<Helper> = OnceLock::new();

/// The chosen executable.
struct Helper {
    /// The path to execute.
    path: PathBuf,
    /// The small program. It stays open, so that helpers are of this build even after an update replaces the file.
    beside: Option<(PathBuf, File)>,
}

/// Uses this program as the helper, if it exists and is of the same build; a relative path is in the folder of this
/// program. It must call [`entry`](crate::entry) first in `main`. Call this before anything else of this crate; a later call
/// has no effect.
pub fn use_helper(file: impl Into<PathBuf>) {
    let _ = FILE.set(file.into());
}

/// Notes that this program calls [`entry`](crate::entry).
pub(super) fn note_entry() {
    IS_ENTERED.store(true, Ordering::Relaxed);
}

/// Whether there is a helper: the program of [`use_helper`], or this program itself, if it has called
/// [`entry`](crate::entry). Without one, confining a process would start this program once more.
#[must_use]
pub fn has_helper() -> bool {
    IS_ENTERED.load(Ordering::Relaxed) || helper_beside().is_some()
}

/// The program that is used as the helper; `None` if it is this program itself.
#[must_use]
pub fn helper_beside() -> Option<&'static Path> {
    helper().beside.as_ref().map(|(path, _)| path.as_path())
}

/// The machine's support, probed with the helper of [`Sandbox::new`](crate::Sandbox::new). Determined once per process,
/// in about 2 ms.
#[must_use]
pub fn probe() -> Support {
    probe_with(path())
}

/// The path of the helper.
pub(super) fn path() -> &'static Path {
    &helper().path
}

fn helper() -> &'static Helper {
    HELPER.get_or_init(|| {
        let beside = FILE.get().and_then(|file| open(file));
        beside.unwrap_or_else(|| Helper { path: PathBuf::from(OWN_EXECUTABLE), beside: None })
    })
}

/// The program of this path, if it is a helper of this build.
fn open(file: &Path) -> Option<Helper> {
    let file = std::env::current_exe().ok()?.parent()?.join(file);
    let open = File::open(&file).ok()?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
    is_of_this_build(&path).then(|| Helper { path, beside: Some((file, open)) })
}
