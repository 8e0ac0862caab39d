//! Embeds the sources of `bridge`, so that the product can build it on the user's machine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bridge = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../templates/bridge");
    println!("cargo::rerun-if-changed={}", bridge.display());
    let mut files = vec![bridge.join("Cargo.toml")];
    collect(&bridge.join("src"), &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&bridge)?;
        writeln!(table, "    ({name:?}, include_str!({file:?})),")?;
    }
    table.push(']');
    let out = PathBuf::from(env::var("OUT_DIR")?).join("bridge_sources.rs");
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
