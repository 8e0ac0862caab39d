//! The base of programs: std, the bridge and all crates for snippets, linked once with the layer.
//!
//! A snippet's program is linked against the base's symbols, and becomes an executable only when it runs: in memory,
//! together with the base (crate `base-link`). The cache keeps the program's own part, a few dozen kilobytes.
//! `base_creation` links a base and tests it.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base_link::{Composition, Layout};
use object::ReadCache;
use parking_lot::Mutex;
use rustix::fs::{MemfdFlags, SealFlags, SeekFrom};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use crate::error::{Error, ErrorKind};

/// The variable with which developers have all programs linked as a whole, to compare both ways: `whole`.
const VARIABLE: &str = "TOOLSMITH_LINK";
/// The reason that is reported then.
pub(crate) const UNWANTED: &str = "the variable TOOLSMITH_LINK is `whole`";

/// The table of the base's symbols.
pub(crate) const SYMBOLS: &str = "base.symbols";
/// The beginning of every composed executable.
pub(crate) const IMAGE: &str = "base.image";

/// Seals of a finished executable: nothing changes it while it runs.
const SEALS: SealFlags =
    SealFlags::WRITE.union(SealFlags::GROW).union(SealFlags::SHRINK).union(SealFlags::SEAL);

/// The number of times that sealing is tried again: about 3 seconds in all.
const SEAL_ATTEMPTS: usize = 20;

/// The state of the base in the layer's index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum BaseState {
    /// Programs are linked against it.
    Usable(Box<Layout>),
    /// Programs are linked as a whole, for this reason.
    Unusable(String),
}

/// A base that programs are linked against.
#[derive(Debug)]
pub(crate) struct Base {
    layout: Layout,
    folder: PathBuf,
    /// Its bytes, opened with its layout: a cache that is deleted and built again has another base at the same path.
    image: File,
    /// A copy of the bytes in memory, for the next program.
    ready: Mutex<Option<OwnedFd>>,
    /// The latest executables, the last one first.
    recent: Mutex<VecDeque<Executable>>,
}

/// A composed executable, which any number of processes may run: its seals keep it as it is.
#[derive(Debug)]
struct Executable {
    /// The program's own part.
    program: Vec<u8>,
    file: OwnedFd,
}

/// An executable in memory.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) file: OwnedFd,
    /// The size of the base in its address space, in bytes.
    pub(crate) base_size: u64,
}

/// The reason why there is no [`Image`] of a program.
#[derive(Debug)]
pub(crate) enum ImageError {
    /// The program's file does not fit the base: it was changed after it was built.
    Damaged(base_link::Error),
    /// The system has no room for it.
    NotInMemory(Error),
}

/// The reason why a program was not linked against the base.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotLinked {
    #[error(transparent)]
    Input(std::io::Error),
    #[error(transparent)]
    Program(base_link::Error),
}

/// Number of executables to keep, of about 6 MB each. Clients repeat a program, or alternate between two.
const RECENT: usize = 2;

/// Maximum size of the own part of a program whose executable is kept, in bytes (1 MiB): six times the largest usual one.
const LARGEST_RECENT: usize = 1 << 20;

impl Base {
    /// Opens the base in a layer's `folder`; `None` if a file is missing.
    pub(crate) fn open(layout: Layout, folder: &Path) -> Option<Self> {
        let image = File::open(folder.join(IMAGE)).ok()?;
        let folder = folder.to_owned();
        Some(Base { layout, folder, image, ready: Mutex::default(), recent: Mutex::default() })
    }

    /// Whether [`VARIABLE`] turns it off.
    pub(crate) fn is_unwanted() -> bool {
        std::env::var_os(VARIABLE).is_some_and(|value| value == "whole")
    }

    /// Returns the identity that distinguishes it from other bases, as part of keys.
    pub(crate) fn identity(&self) -> &[u8; 32] {
        self.layout.identity()
    }

    /// Links a program from its object file and the libraries that it may name; `entry` is the C library's entry point.
    ///
    /// # Errors
    /// If it can't be linked against the base: it must be linked as a whole.
    pub(crate) fn link(
        &self,
        object: &[u8],
        libraries: &[PathBuf],
        entry: &Path,
    ) -> Result<Vec<u8>, NotLinked> {
        let read = |path: &Path| fs_err::read(path).map_err(NotLinked::Input);
        let (entry, symbols) = (read(entry)?, read(&self.folder.join(SYMBOLS))?);
        // Of a library of megabytes, a few kilobytes may be needed.
        let libraries: Vec<_> = libraries
            .iter()
            .map(|path| File::open(path).map(ReadCache::new).map_err(NotLinked::Input))
            .collect::<Result<_, _>>()?;
        let libraries: Vec<_> = libraries.iter().collect();
        let inputs = base_link::Inputs {
            entry: &entry,
            objects: &[object],
            libraries: &libraries,
            symbols: &symbols,
            section_prefix: bridge::tool::SECTION_PREFIX,
        };
        let program = base_link::link(&self.layout, &inputs).map_err(NotLinked::Program)?;
        self.compose(&program).map_err(NotLinked::Program)?;
        Ok(program)
    }

    fn compose(&self, program: &[u8]) -> base_link::Result<Composition> {
        base_link::compose(&self.layout, program, bridge::tool::SECTION_PREFIX)
    }

    /// Copies the base in the background, so that the next program need not wait for it.
    pub(crate) fn prepare(self: &Arc<Self>) {
        let base = Arc::clone(self);
        // Without a copy, the program makes its own, and reports failures.
        drop(spawn_blocking(move || {
            let mut ready = base.ready.lock();
            if ready.is_none() {
                *ready = base.copy().ok();
            }
        }));
    }

    /// The executable of a program, in memory; `None` if the program was linked as a whole and is executable itself.
    pub(crate) async fn image(
        self: &Arc<Self>,
        program: &Path,
    ) -> std::result::Result<Option<Image>, ImageError> {
        let base_size = self.layout.mapped_size();
        if let Some(file) = self.kept(program).map_err(not_in_memory)? {
            return Ok(Some(Image { file, base_size }));
        }
        let (base, program) = (Arc::clone(self), program.to_owned());
        let joined = spawn_blocking(move || base.in_memory(&program)).await;
        let file = joined.map_err(|error| not_in_memory(std::io::Error::other(error)))??;
        Ok(file.map(|file| Image { file, base_size }))
    }

    /// The kept executable of a program. Fast enough for the event loop: reads only a file of a size that is kept.
    fn kept(&self, program: &Path) -> std::io::Result<Option<OwnedFd>> {
        if fs_err::metadata(program)?.len() > LARGEST_RECENT as u64 {
            return Ok(None);
        }
        self.recent(&fs_err::read(program)?)
    }

    fn in_memory(&self, program: &Path) -> std::result::Result<Option<OwnedFd>, ImageError> {
        let program = fs_err::read(program).map_err(not_in_memory)?;
        if !self.layout.is_program(&program) {
            return Ok(None);
        }
        let composition = self.compose(&program).map_err(ImageError::Damaged)?;
        self.composed(program, &composition).map(Some).map_err(not_in_memory)
    }

    /// Writes an executable, and keeps it for the next run.
    fn composed(&self, program: Vec<u8>, composition: &Composition) -> std::io::Result<OwnedFd> {
        let ready = self.ready.lock().take();
        let file = File::from(ready.map_or_else(|| self.copy(), Ok)?);
        for (offset, bytes) in &composition.patches {
            file.write_all_at(bytes, *offset)?;
        }
        file.write_all_at(&program, composition.program_offset)?;
        seal(&file)?;
        if program.len() <= LARGEST_RECENT {
            let mut recent = self.recent.lock();
            recent.push_front(Executable { program, file: file.try_clone()?.into() });
            recent.truncate(RECENT);
        }
        Ok(file.into())
    }

    /// The executable of a program that was composed lately.
    fn recent(&self, program: &[u8]) -> std::io::Result<Option<OwnedFd>> {
        let mut recent = self.recent.lock();
        let Some(at) = recent.iter().position(|kept| kept.program == program) else { return Ok(None) };
        recent.swap(0, at);
        recent.front().map(|kept| kept.file.try_clone()).transpose()
    }

    /// A file in memory with the base's bytes.
    fn copy(&self) -> std::io::Result<OwnedFd> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let created = match rustix::fs::memfd_create("program", flags | MemfdFlags::EXEC) {
            // Kernels before 6.3 do not know the flag; there, every file in memory is executable.
            Err(rustix::io::Errno::INVAL) => rustix::fs::memfd_create("program", flags),
            other => other,
        }?;
        let length = self.image.metadata()?.len();
        let mut offset = 0;
        while offset < length {
            let rest = usize::try_from(length - offset).unwrap_or(usize::MAX);
            if rustix::fs::sendfile(&created, &self.image, Some(&mut offset), rest)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        rustix::fs::seek(&created, SeekFrom::Start(0))?;
        Ok(created)
    }
}

/// Seals a finished executable. The kernel refuses with EBUSY while it examines or moves a page of the file, and waits
/// for about 150 ms before it does (`memfd_wait_for_pins` in mm/memfd.c).
fn seal(file: &File) -> std::io::Result<()> {
    let mut attempts = 0;
    loop {
        match rustix::fs::fcntl_add_seals(file, SEALS) {
            Err(rustix::io::Errno::BUSY) if attempts < SEAL_ATTEMPTS => attempts += 1,
            sealed => return Ok(sealed?),
        }
    }
}

fn not_in_memory(error: std::io::Error) -> ImageError {
    let advice = match error.kind() {
        std::io::ErrorKind::FileTooLarge => "raise the limit on the size of files (`ulimit -f`)",
        std::io::ErrorKind::PermissionDenied => "allow executable files in memory (sysctl vm.memfd_noexec=1)",
        _ => "free some memory",
    };
    let message = format!("the program can't be placed in memory: {error}");
    ImageError::NotInMemory(Error::new(ErrorKind::Sandbox, message).caused_by(error).hint(advice))
}
