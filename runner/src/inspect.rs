//! Inspects what snippets need of this machine without changing it, and tries it out.
//!
//! The kernel's mechanisms are left to `sandbox::probe`, and the presentation to the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sandbox::Confinement;
use serde::Serialize;
use tokio::time::timeout;

use crate::base_layer::Crates;
use crate::bundle::{Bundle, Integrity};
use crate::bundled_toolchain;
use crate::cache::{Bucket, Cache, Temporary};
use crate::compiler::{self, Job, Linker};
use crate::confined::{Captured, Confined};
use crate::error::{Error, ErrorKind, Result};
use crate::holder::CompilerTime;
use crate::layer;
use crate::outcome::SandboxReport;
use crate::sandbox_policies::{self, BUILD_PATH, Grants, Limits};
use crate::toolchain::{self, Found, Origin, TARGET, Toolchain};

/// Free space that a snippet may need in the cache: its program, twice while linking, and bindings (32 MiB).
const ROOM: u64 = 32 << 20;
/// Free space that the first use may need: sources, the build of the layer, the layer (512 MiB).
const FIRST_ROOM: u64 = 512 << 20;
/// Time limit of a try; it usually takes a fifth of a second.
const TRY_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a try's output, in bytes.
const TRY_OUTPUT: usize = 64 << 10;

/// The findings.
#[derive(Debug)]
pub struct Inspection {
    /// The compiler and its tools.
    pub tools: Tools,
    /// The cache.
    pub cache: CacheFolder,
    /// The kernel's release, such as `6.12.0`.
    pub kernel: String,
    /// The problems that prevent compiling snippets.
    pub problems: Vec<Error>,
    /// The bundle that this program is part of, compared with its manifest.
    pub bundle: Option<Integrity>,
    toolchain: Option<Toolchain>,
    /// Where a try may write.
    place: PathBuf,
}

/// The compiler and its tools; what is missing is `None`.
#[derive(Debug, Clone, Serialize)]
pub struct Tools {
    /// The compiler that snippets would be compiled with.
    pub rustc: Option<PathBuf>,
    /// The compiler's version line.
    pub version: Option<String>,
    /// Where the compiler was found.
    pub origin: Option<Origin>,
    /// cargo, which builds the crates for snippets at first use. A bundle has none.
    pub cargo: Option<PathBuf>,
    /// The linker that comes with the compiler.
    pub linker: Option<PathBuf>,
    /// The target of snippets.
    pub target: &'static str,
    /// Whether the toolchain has the target.
    pub target_installed: bool,
    /// The command that adds a missing target.
    pub target_line: Option<String>,
    /// Whether the crates for snippets are compiled already.
    pub layer_built: bool,
    /// The reason why each program is linked as a whole with these crates, which takes longer; `None` if that is not
    /// necessary.
    pub whole_link: Option<String>,
    /// The C linker, which the first use needs.
    pub c_linker: Option<PathBuf>,
}

/// The cache in its current state.
#[derive(Debug, Clone, Serialize)]
pub struct CacheFolder {
    /// Its present or future path.
    pub folder: PathBuf,
    /// Whether it can be written to or created.
    pub writable: bool,
    /// Free space in its file system, in bytes, if known.
    pub free_bytes: Option<u64>,
    /// Its size in bytes.
    pub used_bytes: u64,
}

/// Inspects compiler and cache; `install` is whether a first use may add a missing target, and `contents` whether to
/// compare the contents of a bundle with its manifest. Runs `rustc` for its version, and changes nothing.
#[must_use]
pub fn inspect(cache: &Path, install: bool, contents: bool) -> Inspection {
    let mut cache = Cache::look(cache);
    let mut problems = Vec::new();
    let is_bundled = Bundle::folder_of_this_program().is_some();
    let bundle = Bundle::of_this_program().unwrap_or_else(|error| {
        problems.push(error);
        None
    });
    if let Some(bundle) = &bundle {
        cache = cache.with_store(bundle.store());
    }
    // With a bundle that can't be used, a run would not get as far as looking for another toolchain.
    let is_usable = problems.is_empty();
    let toolchain = if is_usable { toolchain(bundle.as_ref(), install, &mut problems) } else { None };
    let mut tools = tools(&cache, toolchain.as_ref());
    // Even if it can't be used, no other is.
    tools.origin = tools.origin.or(is_bundled.then_some(Origin::Bundle));
    let integrity = bundle.as_ref().map(|bundle| bundle.integrity(contents));
    problems.extend(integrity.as_ref().and_then(damage));
    if let Some(bundle) = bundle.as_ref().filter(|_| toolchain.is_some() && !tools.layer_built) {
        problems.push(Bundle::without_crates(bundle.root()));
    } else if !is_bundled && !tools.layer_built && tools.c_linker.is_none() {
        let message = format!("there is no C linker `cc` in {BUILD_PATH}, which the first use needs");
        problems.push(Error::new(ErrorKind::Layer, message).hint("install gcc or clang as `cc`"));
    }
    let place = existing(&cache.bucket(Bucket::Temporary));
    let folder = match folder(&cache, &place) {
        Ok(folder) => folder,
        Err((folder, error)) => {
            problems.push(error);
            folder
        }
    };
    let needed = if tools.layer_built { ROOM } else { FIRST_ROOM };
    if folder.free_bytes.is_some_and(|free| folder.writable && free < needed) {
        let error = std::io::Error::other(format!("a run may need {needed} bytes, but fewer are free"));
        problems.push(Error::cache(cache.folder())(error));
    }
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    Inspection { tools, cache: folder, kernel, problems, bundle: integrity, toolchain, place }
}

/// The toolchain that a run would use, and its problems.
fn toolchain(bundle: Option<&Bundle>, install: bool, problems: &mut Vec<Error>) -> Option<Toolchain> {
    let bundled = bundle.map(bundled_toolchain::find).transpose();
    match bundled.and_then(|bundled| toolchain::look(bundled, toolchain::ask)) {
        Ok(Found::Complete(toolchain)) => Some(toolchain),
        Ok(Found::Lacking(toolchain)) => {
            problems.extend(toolchain::trouble(&toolchain, install));
            Some(toolchain)
        }
        Err(error) => {
            problems.push(error);
            None
        }
    }
}

/// The error for a bundle with files that differ from its manifest.
fn damage(integrity: &Integrity) -> Option<Error> {
    let Integrity { folder, differences, .. } = integrity;
    let first = differences.first()?;
    let more = match differences.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let message = format!("the bundle in {} differs from its manifest: {first}{more}", folder.display());
    Some(Error::new(ErrorKind::Bundle, message).hint("unpack the bundle again into an empty folder"))
}

fn tools(cache: &Cache, toolchain: Option<&Toolchain>) -> Tools {
    let present =
        |path: fn(&Toolchain) -> &PathBuf| toolchain.map(path).filter(|path| path.is_file()).cloned();
    let target_installed = toolchain.is_some_and(toolchain::has_target);
    let layer = toolchain.and_then(|toolchain| layer::built(cache, toolchain));
    let lacking = toolchain.filter(|_| !target_installed);
    Tools {
        rustc: present(|toolchain| &toolchain.rustc),
        version: toolchain.map(|toolchain| toolchain.name().to_owned()),
        origin: toolchain.map(|toolchain| toolchain.origin),
        cargo: present(|toolchain| &toolchain.cargo),
        linker: present(|toolchain| &toolchain.linker),
        target: TARGET,
        target_installed,
        target_line: lacking.map(|toolchain| toolchain::target_line(toolchain).1),
        layer_built: layer.is_some(),
        whole_link: layer.and_then(|layer| layer.base.err()),
        c_linker: which::which_in("cc", Some(BUILD_PATH), "/").ok(),
    }
}

/// The cache folder, or the error that a run would get.
fn folder(cache: &Cache, place: &Path) -> Result<CacheFolder, (CacheFolder, Error)> {
    // An unnamed file: it is never visible to others.
    let tried = tempfile::tempfile_in(place);
    let room = rustix::fs::statvfs(place).ok();
    let folder = CacheFolder {
        folder: cache.folder().to_owned(),
        writable: tried.is_ok(),
        free_bytes: room.map(|room| room.f_bavail.saturating_mul(room.f_frsize)),
        used_bytes: cache.used(),
    };
    match tried {
        Ok(_) => Ok(folder),
        Err(error) => Err((folder, Error::cache(cache.folder())(error))),
    }
}

/// The path, or its nearest existing ancestor.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(Path::new("/")).to_owned()
}

impl Inspection {
    /// Compiles and runs an empty program, confined like a snippet; returns what was enforced on the compiler and the
    /// program, in this order. `None` if there is no compiler.
    ///
    /// # Errors
    /// If that fails.
    pub async fn try_out(
        &self,
        confinement: Confinement,
        limits: &Limits,
        grants: &Grants,
    ) -> Result<Option<[SandboxReport; 2]>> {
        let Some(toolchain) = self.toolchain.as_ref().filter(|_| self.tools.target_installed) else {
            return Ok(None);
        };
        grants.check(&self.cache.folder, Some(&toolchain.sysroot))?;
        let try_once = async {
            let folder = Temporary::new_in(&self.place).map_err(Error::cache(&self.place))?;
            let compiler = compile(toolchain, folder.path(), confinement).await?;
            let command = sandbox::Command::new(folder.path().join(PROGRAM));
            let program =
                Confined::spawn(sandbox_policies::program(limits, grants, 0), confinement, command)?;
            Ok(Some([compiler, end(program).await?]))
        };
        timeout(TRY_TIMEOUT, try_once)
            .await
            .map_err(|_| failed(&format!("timed out after {} s", TRY_TIMEOUT.as_secs())))?
    }
}

/// The file name of the program.
const PROGRAM: &str = "program";

fn failed(detail: &str) -> Error {
    Error::new(ErrorKind::Sandbox, format!("an empty program can't be compiled and run: {detail}"))
        .hint("try `toolsmith run`, which shows more of the compiler's output")
}

async fn compile(toolchain: &Toolchain, folder: &Path, confinement: Confinement) -> Result<SandboxReport> {
    fs_err::write(folder.join("main.rs"), "fn main() {}\n").map_err(Error::cache(folder))?;
    let none = Crates { folder: folder.to_owned(), files: BTreeMap::new() };
    let job = Job {
        toolchain,
        confinement,
        crates: &none,
        libraries: &[],
        source: folder,
        output: folder,
        arguments: &["--crate-type=bin"],
        file: PROGRAM,
        main: "main.rs",
        linker: Linker::Rust,
        background: false,
        optimize: false,
        cpu_seconds: compiler::SNIPPET_SECONDS,
        largest_file: compiler::LARGEST_PROGRAM,
    };
    let compiled = compiler::run(&job, &CompilerTime::default()).await?;
    if !compiled.status.success() {
        return Err(failed(&format!("the compiler ended with {}", compiled.status)));
    }
    Ok(compiled.sandbox)
}

async fn end(mut program: Confined) -> Result<SandboxReport> {
    let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
    let (out, err) = (&mut program.stdout, &mut program.stderr);
    tokio::join!(stdout.read(out, TRY_OUTPUT, true, |_| {}), stderr.read(err, TRY_OUTPUT, true, |_| {}));
    let status = program.wait().await?;
    if !status.success() {
        return Err(failed(&format!("the program ended with {status}")));
    }
    Ok(program.report())
}
