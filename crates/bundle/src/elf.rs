//! Reads from ELF files what they need of the system.

use std::collections::BTreeSet;
use std::path::Path;

use object::LittleEndian;
use object::elf;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};

use crate::error::{Result, at};

/// The first bytes of an ELF file.
const MAGIC: &[u8] = b"\x7fELF";

/// The libraries and the interpreter that a file needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Its dynamic loader.
    pub(crate) loader: Option<String>,
    /// Its dynamic libraries.
    pub(crate) libraries: BTreeSet<String>,
}

impl Needs {
    /// Reads the needs of a file; empty if it is not an ELF file.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let bytes = read_elf(path)?;
        match bytes {
            Some(bytes) => Needs::parse(&bytes).map_err(at(path)),
            None => Ok(Needs::default()),
        }
    }

    fn parse(bytes: &[u8]) -> object::Result<Self> {
        let file = ElfFile64::<LittleEndian>::parse(bytes)?;
        let (endian, header) = (file.endian(), file.elf_header());
        let mut needs = Needs::default();
        let segments = header.program_headers(endian, bytes)?;
        for segment in segments {
            if let Some(loader) = segment.interpreter(endian, bytes)? {
                needs.loader = Some(String::from_utf8_lossy(loader).into_owned());
            }
        }
        let sections = header.sections(endian, bytes)?;
        if let Some((entries, strings)) = sections.dynamic(endian, bytes)? {
            let strings = sections.strings(endian, bytes, strings)?;
            for entry in entries.iter().filter(|entry| entry.d_tag(endian) == elf::DT_NEEDED) {
                let name = entry.string(endian, strings)?;
                needs.libraries.insert(String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(needs)
    }
}

/// The bytes of an ELF file; `None` for another file.
pub(crate) fn read_elf(path: &Path) -> Result<Option<Vec<u8>>> {
    use std::io::Read as _;
    let mut file = fs_err::File::open(path).map_err(at(path))?;
    let mut bytes = Vec::new();
    let head = MAGIC.len() as u64;
    (&mut file).take(head).read_to_end(&mut bytes).map_err(at(path))?;
    if bytes != MAGIC {
        return Ok(None);
    }
    file.read_to_end(&mut bytes).map_err(at(path))?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_test_needs_of_the_system_is_found() {
        let needs = Needs::of(&std::env::current_exe().unwrap()).unwrap();
        if cfg!(target_env = "gnu") {
            assert!(needs.loader.unwrap().contains("ld-linux"));
            assert!(needs.libraries.contains("libc.so.6"));
        } else {
            assert_eq!(needs.loader, None);
        }
    }

    #[test]
    fn other_files_need_nothing_and_damaged_ones_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for text in ["", "text"] {
            fs_err::write(&path, text).unwrap();
            assert_eq!(Needs::of(&path).unwrap(), Needs::default());
        }
        fs_err::write(&path, "\x7fELF!").unwrap();
        assert!(Needs::of(&path).is_err());
    }
}
