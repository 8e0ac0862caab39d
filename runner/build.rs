//! Embeds the sources of our own crates in `templates`, so that they can be built on the user's machine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let templates = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../templates");
    let mut files = Vec::new();
    for name in ["anyhow", "bridge", "chrono", "futures", "regex"] {
        let folder = templates.join(name);
        println!("cargo::rerun-if-changed={}", folder.display());
        files.push(folder.join("Cargo.toml"));
        collect(&folder.join("src"), &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&templates)?;
        writeln!(table, "    ({name:?}, include_str!({file:?})),")?;
    }
    table.push(']');
    let out = PathBuf::from(env::var("OUT_DIR")?).join("sources.rs");
    fs::write(out, table)?;
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
