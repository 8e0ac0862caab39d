//! Collects the licences of what a bundle contains: Toolsmith's, those of the toolchain, of the crates for snippets and,
//! as the caller gives them, of the crates in the program.

use std::path::{Path, PathBuf};

use runner::bundle::TOOLCHAIN;
use runner::{LayerCrate, Toolchain};

use crate::error::{Result, failed, unusable};
use crate::folders;

/// The folder in a bundle.
pub(crate) const LICENCES: &str = "share/licences";
/// Toolsmith's own.
const OWN: [(&str, &str); 2] = [
    ("LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
];
/// The toolchain's documentation, in its sysroot: licences and copyrights, and the books.
const RUST: &str = "share/doc/rust";
/// Among them the books, if they are installed.
const BOOKS: &str = "html";
/// The file with the changes to the toolchain.
const CHANGES: &str = "CHANGES.txt";
/// Beginnings of the names of files with a crate's terms, in lower case.
const NAMES: [&str; 5] = ["licen", "copying", "copyright", "notice", "unlicense"];

/// Writes the licences into the bundle in `root`.
pub(crate) fn write(
    root: &Path,
    toolchain: &Toolchain,
    crates: &[LayerCrate],
    program: Option<&Path>,
) -> Result<()> {
    let to = root.join(LICENCES);
    for (name, text) in OWN {
        folders::write_file(&to.join("toolsmith").join(name), text)?;
    }
    rust(&toolchain.sysroot.join(RUST), &to.join("rust"))?;
    for one in crates {
        of_crate(one, &to.join("crates").join(format!("{}-{}", one.name, one.version)))?;
    }
    program.map_or(Ok(()), |folder| folders::copy(folder, &to.join("program"), |_| true))
}

/// Says which files of the toolchain are not as they were, as the Apache License requires (section 4 b).
pub(crate) fn write_changes(root: &Path, changed: &[PathBuf]) -> Result<()> {
    let intro = "Toolsmith has removed the symbol tables (.symtab, .strtab) of these files:\n".to_owned();
    let paths = changed.iter().map(|path| format!("{TOOLCHAIN}/{}", path.display()));
    let lines: Vec<String> = std::iter::once(intro).chain(paths).collect();
    folders::write_file(&root.join(LICENCES).join("rust").join(CHANGES), lines.join("\n") + "\n")
}

fn rust(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        folders::copy(from, to, |path| !path.starts_with(BOOKS))?;
    }
    if to.is_dir() {
        return Ok(());
    }
    Err(failed(format!("the toolchain's licences are missing: {}", from.display()))
        .hint("use a toolchain from rustup, which has them"))
}

/// Copies the files with terms of one crate. A crate without any states its licence only in its manifest, which the list
/// of components repeats.
fn of_crate(one: &LayerCrate, to: &Path) -> Result<()> {
    for entry in fs_err::read_dir(&one.sources).map_err(unusable)? {
        let entry = entry.map_err(unusable)?;
        let name = entry.file_name();
        let lower = name.to_string_lossy().to_ascii_lowercase();
        let is_file = entry.file_type().map_err(unusable)?.is_file();
        if is_file && NAMES.iter().any(|beginning| lower.starts_with(beginning)) {
            folders::copy_file(&entry.path(), &to.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_of_a_crate_are_copied_and_its_code_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (sources, to) = (folder.path().join("sources"), folder.path().join("to"));
        for name in ["LICENSE-MIT", "COPYRIGHT", "UNLICENSE", "Cargo.toml", "src/licence.rs"] {
            folders::write_file(&sources.join(name), name).unwrap();
        }
        let (name, version) = ("one".to_owned(), "1.0.0".to_owned());
        let one = LayerCrate { name, version, licence: None, sha256: String::new(), sources };
        of_crate(&one, &to).unwrap();
        let copied = folders::files(&to).unwrap();
        assert_eq!(copied, ["COPYRIGHT", "LICENSE-MIT", "UNLICENSE"].map(Into::into).into());
    }

    #[test]
    fn a_toolchain_without_licences_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        assert!(rust(&from, &to).is_err());
        folders::write_file(&from.join("html/std/index.html"), "a book").unwrap();
        assert!(rust(&from, &to).is_err());
        folders::write_file(&from.join("licenses/MIT.txt"), "terms").unwrap();
        rust(&from, &to).unwrap();
        assert_eq!(folders::files(&to).unwrap().len(), 1);
    }
}
