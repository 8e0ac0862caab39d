//! Composes small images that the linker of the installed toolchain made, and malformed ones.

// The images are for x86-64, and run. For arm64, the test of the base with the layer (`runner/layer/self_test.rs`) runs.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod images;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use base_link::{Error, Machine, compose, prepare};
use images::{IDENTITY, Images, LOCAL, PLAIN, PREFIX, executable};
use object::elf::{FileHeader64, PF_W, PF_X, PT_LOAD, PT_TLS, ProgramHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, elf};
use proptest::prelude::*;

/// Composes a program with its base; returns the exit code of the result.
fn exit_code(Images { prepared, .. }: &Images, program: &[u8]) -> Option<i32> {
    assert!(prepared.layout.is_program(program));
    let executable = executable(prepared, program, compose(&prepared.layout, program, PREFIX).unwrap());
    assert_eq!(unsound(&executable), None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("composed");
    std::fs::write(&file, executable).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    Command::new(&file).status().unwrap().code()
}

/// The error of composing a program with its base.
fn refused(Images { prepared, .. }: &Images, program: &[u8], prefix: &str) -> Error {
    compose(&prepared.layout, program, prefix).unwrap_err()
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported(what.to_owned())
}

#[test]
fn a_program_and_its_base_share_code_and_variables() {
    assert_eq!(PLAIN.prepared.layout.identity(), &IDENTITY);
    assert_eq!(exit_code(&PLAIN, &PLAIN.program), Some(42));
}

#[test]
fn a_program_and_its_base_share_thread_local_variables() {
    assert_eq!(exit_code(&LOCAL, LOCAL.other("base_locals")), Some(42), "it has no others");
    assert_eq!(exit_code(&LOCAL, &LOCAL.program), Some(42), "it has others");
}

#[test]
fn thread_local_variables_without_a_place_are_refused() {
    assert_eq!(refused(&PLAIN, PLAIN.other("locals"), PREFIX), unsupported("thread-local variables"));
    // 8 bytes with values, the others without, up to the base's block.
    let large = 70_016_u64.next_multiple_of(64);
    let large = unsupported(&format!("{large} bytes of thread-local variables"));
    assert_eq!(refused(&LOCAL, LOCAL.other("large"), PREFIX), large);
    let aligned = unsupported("thread-local variables in another arrangement");
    assert_eq!(refused(&LOCAL, LOCAL.other("aligned"), PREFIX), aligned);
}

#[test]
fn a_program_with_an_unknown_section_is_refused() {
    let constructor = refused(&PLAIN, PLAIN.other("constructor"), PREFIX);
    assert_eq!(constructor, unsupported("a section .init_array"));
    assert_eq!(refused(&PLAIN, &PLAIN.program, ".other."), unsupported("a section .toolsmith.0123"));
}

#[test]
fn a_program_of_another_base_is_refused() {
    let Images { base, program, .. } = &*PLAIN;
    let other = prepare(base, Machine::X86_64, [8; 32]).unwrap();
    assert_eq!(compose(&other.layout, program, PREFIX).unwrap_err(), unsupported("another base"));
}

#[test]
fn a_program_linked_as_a_whole_is_not_composed() {
    let Images { base, prepared, .. } = &*PLAIN;
    assert!(!prepared.layout.is_program(base));
    assert!(compose(&prepared.layout, base, PREFIX).is_err());
}

#[test]
fn the_same_base_has_the_same_bytes() {
    for Images { base, prepared, .. } in [&*PLAIN, &*LOCAL] {
        let again = prepare(base, Machine::X86_64, IDENTITY).unwrap();
        assert_eq!((&again.image, &again.symbols), (&prepared.image, &prepared.symbols));
        assert_eq!(again.layout, prepared.layout);
    }
}

/// Why a kernel would not load an executable as it is meant, if that is so.
fn unsound(file: &[u8]) -> Option<String> {
    let header = FileHeader64::<LittleEndian>::parse(file).unwrap();
    let headers = header.program_headers(LittleEndian, file).unwrap();
    let of_type = |kind: elf::ProgramType| {
        headers.iter().filter(move |header| header.p_type(LittleEndian) == kind).map(Part::of)
    };
    let mut free = 0;
    for part in of_type(PT_LOAD) {
        let is_writable_code = part.flags & (PF_W.0 | PF_X.0) == PF_W.0 | PF_X.0;
        let is_in_file = part.offset + part.file_size <= file.len() as u64;
        let is_aligned = part.offset % PAGE == part.address % PAGE;
        // A segment takes all pages that it is in, so no two segments may share one.
        let is_alone = part.address - part.address % PAGE >= free;
        if is_writable_code || !is_in_file || !is_aligned || !is_alone || part.file_size > part.memory_size {
            return Some(format!("a segment: {part:x?}"));
        }
        free = (part.address + part.memory_size).next_multiple_of(PAGE);
    }
    let has = |local: &Part| of_type(PT_LOAD).any(|part| part.contains(local));
    of_type(PT_TLS)
        .find(|local| local.file_size > local.memory_size || !has(local))
        .map(|local| format!("the initial values of thread-local variables: {local:x?}"))
}

/// Size of a page.
const PAGE: u64 = 4096;

/// A part of a file that is loaded.
#[derive(Debug)]
struct Part {
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
}

impl Part {
    fn of(header: &ProgramHeader64<LittleEndian>) -> Self {
        Part {
            flags: header.p_flags(LittleEndian).0,
            offset: header.p_offset(LittleEndian),
            address: header.p_vaddr(LittleEndian),
            file_size: header.p_filesz(LittleEndian),
            memory_size: header.p_memsz(LittleEndian),
        }
    }

    /// Whether the bytes of `other` in the file are loaded at its address with this segment.
    fn contains(&self, other: &Part) -> bool {
        let distance = other.address.checked_sub(self.address);
        distance.is_some_and(|distance| {
            other.offset == self.offset + distance && distance + other.file_size <= self.file_size
        })
    }
}

/// One of the bases, and a program of it.
fn chosen(has_locals: bool) -> &'static Images {
    if has_locals { &LOCAL } else { &PLAIN }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn changed_programs_are_refused_or_sound(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        (has_locals, in_headers) in any::<(bool, bool)>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let Images { prepared, program, .. } = chosen(has_locals);
        let mut program = program.clone();
        let length = if in_headers { 600.min(program.len()) } else { program.len() };
        for (at, byte) in changes {
            program[at.index(length)] = byte;
        }
        if let Some(cut) = cut {
            program.truncate(cut.index(program.len()));
        }
        if let Ok(composition) = compose(&prepared.layout, &program, PREFIX) {
            prop_assert_eq!(unsound(&executable(prepared, &program, composition)), None);
        }
    }

    #[test]
    fn changed_bases_are_refused_or_prepared(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        (has_locals, in_headers) in any::<(bool, bool)>(),
    ) {
        let Images { base, program, .. } = chosen(has_locals);
        let mut base = base.clone();
        let length = if in_headers { 600.min(base.len()) } else { base.len() };
        for (at, byte) in changes {
            base[at.index(length)] = byte;
        }
        if let Ok(prepared) = prepare(&base, Machine::X86_64, IDENTITY) {
            // Neither must an ordinary program of it cause a panic.
            let _ = compose(&prepared.layout, program, PREFIX);
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        prop_assert!(prepare(&bytes, Machine::X86_64, IDENTITY).is_err());
        prop_assert!(compose(&PLAIN.prepared.layout, &bytes, PREFIX).is_err());
    }
}
