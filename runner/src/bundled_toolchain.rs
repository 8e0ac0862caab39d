//! The toolchain of the bundle that this program is part of, and what it needs of the system.

use std::path::Path;

use crate::bundle::{Bundle, BundleManifest, TOOLCHAIN};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox_policies::SYSTEM_LIBRARIES;
use crate::toolchain::{self, Origin, TARGET, Toolchain};

/// The toolchain of a bundle. The manifest knows the compiler's version, so nothing has to run for it.
///
/// # Errors
/// If the compiler can't start on this system. Without an error, nobody would notice that another compiler is used.
pub(crate) fn find(bundle: &Bundle) -> Result<Toolchain> {
    if let Some(trouble) = trouble(bundle) {
        return Err(trouble);
    }
    let sysroot = bundle.root().join(TOOLCHAIN);
    let toolchain = Toolchain {
        rustc: sysroot.join("bin/rustc"),
        // Missing: a bundle compiles no crates.
        cargo: sysroot.join("bin/cargo"),
        linker: sysroot.join("lib/rustlib").join(&bundle.manifest().host).join("bin/rust-lld"),
        sysroot,
        version: bundle.manifest().compiler.clone(),
        origin: Origin::Bundle,
    };
    let is_whole =
        toolchain.rustc.is_file() && toolchain.linker.is_file() && toolchain::has_target(&toolchain);
    if is_whole {
        return Ok(toolchain);
    }
    let message = format!("the bundle in {} lacks parts of its compiler", bundle.root().display());
    Err(Error::new(ErrorKind::Bundle, message)
        .hint("unpack the bundle again into an empty folder; `toolsmith doctor` lists what is missing"))
}

/// Returns the reason why the compiler can't start on this system, if it is known.
fn trouble(bundle: &Bundle) -> Option<Error> {
    let BundleManifest { target, loader, libraries, .. } = bundle.manifest();
    let folder = bundle.root().display();
    if target != TARGET {
        let message = format!("the bundle in {folder} is for {target}, not {TARGET}");
        return Some(Error::new(ErrorKind::Bundle, message).hint("use the bundle of this platform"));
    }
    // Only there, because confined compilers can read no other folder of the system.
    let missing: Vec<&str> = libraries
        .iter()
        .filter(|name| !SYSTEM_LIBRARIES.iter().any(|folder| Path::new(folder).join(name).exists()))
        .map(String::as_str)
        .collect();
    let (what, hint) = if !Path::new(loader).exists() {
        (loader.clone(), "use a system with the GNU C library, such as Debian, Fedora or openSUSE")
    } else if !missing.is_empty() {
        (missing.join(", "), "install the packages with these libraries (Debian: libgcc-s1, zlib1g)")
    } else {
        return None;
    };
    let message = format!("the compiler of the bundle in {folder} can't start: the system has no {what}");
    Some(Error::new(ErrorKind::Bundle, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::tests::{empty, write};

    fn found(manifest: &BundleManifest) -> Result<Toolchain> {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), manifest);
        let sysroot = folder.path().join(TOOLCHAIN);
        let platforms = sysroot.join("lib/rustlib");
        for part in [
            sysroot.join("bin"),
            platforms.join(&manifest.host).join("bin"),
            platforms.join(TARGET).join("lib"),
        ] {
            fs_err::create_dir_all(part).unwrap();
        }
        fs_err::write(platforms.join(TARGET).join("lib/libstd-1.rlib"), "").unwrap();
        fs_err::write(sysroot.join("bin/rustc"), "").unwrap();
        fs_err::write(platforms.join(&manifest.host).join("bin/rust-lld"), "").unwrap();
        find(&Bundle::open(folder.path()).unwrap())
    }

    #[test]
    fn a_bundle_names_its_toolchain_without_running_it() {
        let toolchain = found(&empty()).unwrap();
        assert!(toolchain.sysroot.ends_with(TOOLCHAIN));
        assert!(toolchain.linker.starts_with(&toolchain.sysroot));
        assert_eq!((toolchain.name(), toolchain.origin), ("rustc 1.95.0", Origin::Bundle));
    }

    #[test]
    fn a_compiler_that_is_not_whole_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &empty());
        let error = find(&Bundle::open(folder.path()).unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("lacks parts of its compiler"), "{error}");
    }

    #[test]
    fn what_the_system_lacks_for_the_compiler_is_named() {
        let message = |manifest| found(&manifest).unwrap_err().to_string();
        let loader = message(BundleManifest { loader: "/lib64/none.so".to_owned(), ..empty() });
        assert!(loader.ends_with("the system has no /lib64/none.so"), "{loader}");
        let libraries = vec!["libnone.so.1".to_owned()];
        let library = message(BundleManifest { libraries, ..empty() });
        assert!(library.ends_with("the system has no libnone.so.1"), "{library}");
        let target = message(BundleManifest { target: "riscv".to_owned(), ..empty() });
        assert!(target.contains("is for riscv"), "{target}");
    }
}
