//! Hashes what decides the generated code, so that two builds that may generate different code never share a cache entry.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut files = vec![root.join("../Cargo.lock")];
    collect(&root.join("src"), &mut files)?;
    files.sort();
    let mut hash = blake3::Hasher::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read(&file)?;
        let name = file.strip_prefix(&root)?.to_string_lossy();
        for part in [name.as_bytes(), &text] {
            hash.update(&part.len().to_le_bytes()).update(part);
        }
    }
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=CODEGEN_BUILD={}", hash.finalize().to_hex());
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
