//! Reads from a linked program the tools that it can call.
//!
//! Each stub keeps its tool's identity in a section of its own, and the linker drops unreachable sections; so the names
//! of the remaining sections are exact, whatever the snippet's text says. A file that `executable` refuses has no
//! manifest: nothing runs it.

use std::fs::File;
use std::io;
use std::path::Path;

use object::{Object, ObjectSection, ReadCache, ReadRef};

use crate::executable::{self, Elf, Forbidden};

/// Length of an identity: 128 bits in hexadecimal.
const HASH_LENGTH: usize = 32;

/// Replaces a name that is not an identity: it is forged, and may have any length.
const MALFORMED: &str = "malformed";

/// The reason why a file is no program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoProgram {
    /// It is not a well-formed ELF file.
    #[error(transparent)]
    Malformed(#[from] object::Error),
    /// It asks the kernel for more than a program needs.
    #[error("the program has {0}")]
    Forbidden(#[from] Forbidden),
}

/// Reads a program's file: only the headers and the names of its sections.
pub(crate) fn read_file(program: &Path) -> io::Result<Result<Vec<String>, NoProgram>> {
    Ok(read(&ReadCache::new(File::open(program)?)))
}

/// The identities in a linked program, in order. They may include forged ones, which the catalog rejects.
fn read<'a>(program: impl ReadRef<'a>) -> Result<Vec<String>, NoProgram> {
    let file = Elf::parse(program)?;
    executable::check(&file)?;
    let mut identities: Vec<String> =
        file.sections().filter_map(|section| section.name().map_or_else(unreadable, identity)).collect();
    identities.sort();
    identities.dedup();
    Ok(identities)
}

/// The identity of a section whose name can't be read, because it is longer than [`ReadCache`] reads: no tool has it.
fn unreadable(_: object::Error) -> Option<String> {
    Some(MALFORMED.to_owned())
}

/// The identity in the name of a section, if it is that of a tool.
fn identity(section: &str) -> Option<String> {
    let identity = section.strip_prefix(bridge::tool::SECTION_PREFIX)?;
    let is_hash = identity.len() == HASH_LENGTH && identity.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(if is_hash { identity } else { MALFORMED }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "00112233445566778899aabbccddeeff";
    const SECOND: &str = "ffeeddccbbaa99887766554433221100";

    /// Length of the header of a 64-bit ELF file and of its sections, in bytes.
    const FILE_HEADER: u16 = 64;
    const SECTION_HEADER: u16 = 64;
    /// The type of a section of strings.
    const STRINGS: u32 = 3;

    /// A 64-bit ELF file with empty sections of these names, and one that contains the names.
    fn program(sections: &[&str]) -> Vec<u8> {
        let mut names = vec![0];
        let headers: Vec<[u8; SECTION_HEADER as usize]> = [""]
            .into_iter()
            .chain(sections.iter().copied())
            .map(|name| {
                let mut header = [0; SECTION_HEADER as usize];
                header[..4].copy_from_slice(&u32::try_from(names.len()).unwrap().to_le_bytes());
                header[4] = u8::from(!name.is_empty());
                names.extend(name.bytes().chain([0]));
                header
            })
            .collect();
        let count = u16::try_from(headers.len()).unwrap() + 1;
        let mut strings = [0; SECTION_HEADER as usize];
        strings[4..8].copy_from_slice(&STRINGS.to_le_bytes());
        let at = FILE_HEADER + count * SECTION_HEADER;
        strings[24..32].copy_from_slice(&u64::from(at).to_le_bytes());
        strings[32..40].copy_from_slice(&(names.len() as u64).to_le_bytes());
        let mut file = [0; FILE_HEADER as usize];
        // 64 bits, little endian, version 1; an executable for this machine: EM_AARCH64 or EM_X86_64.
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let machine = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
        file[16..21].copy_from_slice(&[2, 0, machine, 0, 1]);
        file[40..48].copy_from_slice(&u64::from(FILE_HEADER).to_le_bytes());
        for (at, value) in [(52, FILE_HEADER), (58, SECTION_HEADER), (60, count), (62, count - 1)] {
            file[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        [&file[..], headers.as_flattened(), &strings, &names].concat()
    }

    fn identities(sections: &[&str]) -> Vec<String> {
        read(&*program(sections)).unwrap()
    }

    #[test]
    fn the_identities_are_the_names_of_sections_in_order() {
        let [first, second] = [FIRST, SECOND].map(|identity| format!(".toolsmith.{identity}"));
        assert_eq!(identities(&[".text", &second, ".data", &first, &second]), [FIRST, SECOND]);
        assert_eq!(identities(&[".text", "toolsmith", ".toolsmith"]), [""; 0]);
    }

    #[test]
    fn a_name_that_is_not_an_identity_is_malformed() {
        let long = format!("{FIRST}0");
        let not_hexadecimal = format!("{}g", &FIRST[1..]);
        for name in ["", "0", &FIRST[1..], &long, &not_hexadecimal, "demo.echo"] {
            assert_eq!(identities(&[&format!(".toolsmith.{name}")]), ["malformed"], "{name}");
        }
    }

    #[test]
    fn a_name_of_any_length_is_malformed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        for length in [33, 4_000, 5_000, 60_000] {
            fs_err::write(&file, program(&[&format!(".toolsmith.{}", "a".repeat(length))])).unwrap();
            assert_eq!(read_file(&file).unwrap().unwrap(), ["malformed"], "{length}");
        }
    }

    #[test]
    fn a_file_that_is_not_a_program_is_an_error() {
        assert!(read(&b""[..]).is_err() && read(&b"#!/bin/sh\nexit 0\n"[..]).is_err());
        let mut shared = program(&[]);
        // `e_type`: ET_DYN.
        shared[16] = 3;
        assert_eq!(
            read(&*shared).unwrap_err().to_string(),
            "the program has a form other than that of a static executable for this machine"
        );
    }
}
