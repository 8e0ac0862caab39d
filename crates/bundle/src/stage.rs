//! Puts the parts of a bundle into a folder, and removes from its toolchain what nothing opens.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use runner::bundle::{Bundle, BundleManifest, BundledFile, FORMAT, HELPER, MANIFEST, PROGRAM, TOOLCHAIN};
use runner::{Bucket, Observer, TARGET, Toolchain};

use crate::elf::Needs;
use crate::error::{Result, failed, unusable};
use crate::exercises::{self, Results};
use crate::folders;
use crate::opened::Watch;
use crate::symbols;

/// The folder with one folder for each platform, in a sysroot.
const PLATFORMS: &str = "lib/rustlib";
/// The folders of a sysroot from which the compiler starts and loads.
const COMPILER: [&str; 2] = ["bin/rustc", "lib"];

/// Copies the compiler with the standard libraries of its own platform and of snippets into the bundle in `root`.
/// [`reduce`] decides which of these files the bundle keeps.
pub(crate) fn copy_toolchain(toolchain: &Toolchain, host: &str, root: &Path) -> Result<()> {
    folders::copy(&toolchain.sysroot, &root.join(TOOLCHAIN), |path| {
        let platform = path.strip_prefix(PLATFORMS).ok().and_then(|path| path.iter().next());
        let is_foreign = platform.is_some_and(|name| name != host && name != TARGET);
        COMPILER.iter().any(|part| path.starts_with(part)) && !is_foreign
    })
}

/// Removes the symbol tables of the copied compiler. Returns the paths of the changed files from its sysroot.
pub(crate) fn remove_symbols(root: &Path) -> Result<Vec<PathBuf>> {
    // The libraries for snippets stay as they are: the compiler reads them, and nothing would be gained.
    let for_snippets = Path::new(PLATFORMS).join(TARGET);
    symbols::remove(&root.join(TOOLCHAIN), |path| !path.starts_with(&for_snippets))
}

/// Copies entries of the cache into the bundle in `root`.
pub(crate) fn copy_entries(entries: &[(Bucket, PathBuf)], root: &Path) -> Result<()> {
    for (bucket, folder) in entries {
        let name = folder.file_name().ok_or_else(|| failed("an entry of the cache has no name"))?;
        folders::copy(folder, &root.join(Bundle::bucket(*bucket)).join(name), |_| true)?;
    }
    Ok(())
}

/// The platform of a compiler.
pub(crate) fn host(toolchain: &Toolchain) -> Result<&str> {
    let host = toolchain.version.lines().find_map(|line| line.strip_prefix("host: "));
    host.ok_or_else(|| failed(format!("{} names no host", toolchain.rustc.display())))
}

/// Writes the manifest of the bundle in `root`, with all files that are there.
pub(crate) fn write_manifest(root: &Path, version: &str, toolchain: &Toolchain) -> Result<BundleManifest> {
    let compiler = Needs::of_compiler(&root.join(TOOLCHAIN))?;
    let mut files = folders::files(root)?;
    files.remove(Path::new(MANIFEST));
    let manifest = BundleManifest {
        format: FORMAT,
        version: version.to_owned(),
        target: TARGET.to_owned(),
        host: host(toolchain)?.to_owned(),
        compiler: toolchain.version.clone(),
        loader: compiler.loader.unwrap_or_default(),
        libraries: compiler.libraries.into_iter().collect(),
        files: files
            .iter()
            .map(|path| BundledFile::read(root, path).map_err(unusable))
            .collect::<Result<_>>()?,
    };
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| failed(format!("the manifest can't be written: {error}")))?;
    folders::write_file(&root.join(MANIFEST), text)?;
    Ok(manifest)
}

/// Removes all files of the toolchain that nothing opens, and shows that the rest suffices.
pub(crate) async fn reduce(
    root: &Path,
    version: &str,
    toolchain: &Toolchain,
    observer: &dyn Observer,
) -> Result<Results> {
    observer.progress("finding what compiling snippets opens");
    let folder = root.join(TOOLCHAIN);
    // These files are copies, so nobody else opens them.
    let mut watch = Watch::new(&folder)?;
    let before = exercises::run_all(root, || watch.read()).await?;
    folders::prune(&folder, &watch.opened())?;
    write_manifest(root, version, toolchain)?;
    observer.progress("trying the bundle without the rest");
    let after = exercises::run_all(root, || Ok(())).await?;
    if before.printed == after.printed {
        return Ok(after);
    }
    Err(failed(
        "the bundle's program prints something else than before files that nothing opens were removed",
    )
    .hint("try again; if it happens again, this is a bug: please report it"))
}

impl Needs {
    /// Collects the files that the compiler in a sysroot needs from the system: everything outside the sysroot.
    fn of_compiler(sysroot: &Path) -> Result<Self> {
        let mut all = Needs::default();
        let mut own = BTreeSet::new();
        for path in folders::files(sysroot)? {
            // Libraries for snippets are no files of this system.
            if path.starts_with(Path::new(PLATFORMS).join(TARGET)) {
                continue;
            }
            let needs = Needs::of(&sysroot.join(&path))?;
            all.loader = all.loader.or(needs.loader);
            all.libraries.extend(needs.libraries);
            own.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        let loader = all.loader.as_deref().map(Path::new).and_then(Path::file_name);
        own.extend(loader.map(|name| name.to_string_lossy().into_owned()));
        all.libraries.retain(|library| !own.contains(library));
        Ok(all)
    }
}

/// Copies the program and the sandbox helper beside it into the bundle in `root`. Returns whether the program needs a
/// dynamic loader.
pub(crate) fn copy_program(program: &Path, root: &Path) -> Result<bool> {
    let to = root.join(PROGRAM);
    folders::copy_file(program, &to)?;
    let helper = root.join(HELPER);
    let beside = helper.file_name().map(|name| program.with_file_name(name));
    if let Some(beside) = beside.filter(|beside| beside.exists()) {
        folders::copy_file(&beside, &helper)?;
    }
    Ok(Needs::of(&to)?.loader.is_some())
}
