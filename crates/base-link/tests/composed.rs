//! Links small programs against bases that the linker of the installed toolchain made, composes both, and refuses
//! malformed ones.

// The images are for x86-64, and run. For arm64, the test of the base with the layer (`runner/layer/self_test.rs`) runs.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod images;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use base_link::{Error, Machine, compose, prepare};
use images::{IDENTITY, Images, LOCAL, PLAIN, PREFIX, compile, executable, linked};
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
    assert_eq!(exit_code(&LOCAL, &LOCAL.linked("base_locals").unwrap()), Some(42), "it has no others");
    assert_eq!(exit_code(&LOCAL, &LOCAL.program), Some(42), "it has others");
}

#[test]
fn thread_local_variables_without_a_place_are_refused() {
    assert_eq!(PLAIN.linked("locals"), Err(unsupported("thread-local variables")));
    // 8 bytes with values, the others without, up to the base's block.
    let large = 70_016_u64.next_multiple_of(64);
    let large = unsupported(&format!("{large} bytes of thread-local variables"));
    assert_eq!(refused(&LOCAL, &LOCAL.linked("large").unwrap(), PREFIX), large);
    let aligned = unsupported("thread-local variables aligned to 128 bytes");
    assert_eq!(LOCAL.linked("aligned"), Err(aligned));
}

#[test]
fn a_program_with_an_unknown_section_is_refused() {
    assert_eq!(PLAIN.linked("constructor"), Err(unsupported("a section .init_array")));
    assert_eq!(refused(&PLAIN, &PLAIN.program, ".other."), unsupported("a section .toolsmith.0123"));
}

/// The start of a program that ends with the code `CODE`.
const START: &str = r#"
#![no_std]
#![crate_type = "lib"]
#[unsafe(no_mangle)] pub extern "C" fn _start() -> ! {
    unsafe { core::arch::asm!("syscall", in("rax") 60, in("rdi") CODE, options(noreturn)) }
}
"#;

/// Links a program that consists of [`START`] and more, and libraries.
fn program(code: &str, more: &str, libraries: &[&[u8]]) -> base_link::Result<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let object = compile(folder.path(), "program", &(START.replace("CODE", code) + more), "obj");
    linked(&PLAIN.prepared, &[&object], libraries)
}

fn library(source: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("#![no_std]\n#![crate_type = \"rlib\"]\n{source}");
    compile(folder.path(), "library", &source, "link")
}

#[test]
fn a_program_gets_what_it_needs_of_libraries() {
    let needed = library("#[unsafe(no_mangle)] pub extern \"C\" fn needed() -> u32 { 42 }");
    let other = library(
        "#[unsafe(no_mangle)] pub extern \"C\" fn other() { needed() } unsafe extern \"C\" { safe fn needed(); }",
    );
    let call = "unsafe extern \"C\" { fn needed() -> u32; }";
    let linked = program("needed()", call, &[&other, &needed]).unwrap();
    assert_eq!(exit_code(&PLAIN, &linked), Some(42));
    let missing = unsupported("no definition of needed");
    assert_eq!(program("needed()", call, &[]), Err(missing));
    assert!(matches!(program("needed()", call, &[b"no archive"]), Err(Error::Malformed(_))));
}

#[test]
fn what_nothing_refers_to_is_dropped() {
    let marks = "#[unsafe(link_section = \".toolsmith.used\")] static USED: u8 = 41;\n\
        #[unsafe(link_section = \".toolsmith.unused\")] static UNUSED: u8 = 0;\n\
        #[unsafe(no_mangle)] extern \"C\" fn unreachable() -> u8 { unsafe { (&raw const UNUSED).read_volatile() + missing() } }\n\
        unsafe extern \"C\" { fn missing() -> u8; }";
    let linked = program("u32::from((&raw const USED).read_volatile()) + 1", marks, &[]).unwrap();
    assert_eq!(exit_code(&PLAIN, &linked), Some(42));
    let has = |name: &[u8]| linked.windows(name.len()).any(|bytes| bytes == name);
    assert!(has(b".toolsmith.used\0") && !has(b".toolsmith.unused\0"));
}

#[test]
fn symbols_that_a_whole_program_would_not_have_are_refused() {
    let again = "#[unsafe(no_mangle)] pub extern \"C\" fn add(number: u32) -> u32 { number }";
    assert_eq!(program("1", again, &[]), Err(unsupported("add, which the base has or looks for")));
    let end = "unsafe extern \"C\" { static _end: u8; }";
    let code = "(&raw const _end).addr()";
    assert_eq!(program(code, end, &[]), Err(unsupported("no definition of _end")));
    let weak = "core::arch::global_asm!(\".weak nowhere\", \".globl place\", \"place: .quad nowhere\");\n\
        unsafe extern \"C\" { static place: usize; }";
    assert_eq!(program("place + 42", weak, &[]), Err(unsupported("no definition of nowhere")));
    let assembled = |text: &str| program("1", &format!("core::arch::global_asm!({text:?});"), &[]);
    for name in ["__init_array_start", "_end", "getpid@@V1"] {
        let defined = assembled(&format!(".globl plain\nplain:\n.globl \"{name}\"\n\"{name}\":"));
        assert_eq!(defined, Err(unsupported(&format!("a definition of {name}"))));
    }
    let chosen = "core::arch::global_asm!(\".type choose, @gnu_indirect_function\", \"choose: ret\");";
    let chosen = program("1", chosen, &[]);
    assert_eq!(chosen, Err(unsupported("a function that is chosen at the start")));
}

/// Sections that a linker treats in another way than those of compiled code, or that only a crafted file has.
#[test]
fn unusual_sections_are_refused() {
    let retained = |section: &str, more: &str| {
        let text = format!(".section {section}\n.globl marked\nmarked: .byte 42\n.text\n{more}");
        let text = format!("core::arch::global_asm!({text:?}); unsafe extern \"C\" {{ static marked: u8; }}");
        program("u32::from((&raw const marked).read_volatile())", &text, &[])
    };
    let ordinary = retained(".rodata.some,\"a\",@progbits", "").unwrap();
    assert_eq!(exit_code(&PLAIN, &ordinary), Some(42));
    for section in [
        ".rodata.excluded,\"ae\",@progbits",
        ".rodata.writable,\"aw\",@progbits",
        ".got,\"aw\",@progbits",
        ".unknown,\"a\",@progbits",
        ".toolsmith.0123456789abcdef0123456789abcdef0,\"a\",@progbits",
    ] {
        assert!(matches!(retained(section, ""), Err(Error::Unsupported(_))), "{section}");
    }
    for unknown in [".section .libraries,\"MS\",@llvm_dependent_libraries,1", ".section .symbols,\"\",@2"] {
        let sections = unsupported("an object file with sections that are not known");
        assert_eq!(retained(".rodata.some,\"a\",@progbits", unknown), Err(sections), "{unknown}");
    }
}

/// Through the global offset table, as code for any address does.
#[test]
fn addresses_can_be_in_a_table() {
    let table = "core::arch::global_asm!(\".globl through\", \"through: mov rax, qword ptr [rip + SHARED@GOTPCREL]\",\n\
        \"mov eax, dword ptr [rax]\", \"ret\");\n\
        unsafe extern \"C\" { fn through() -> u32; }";
    assert_eq!(exit_code(&PLAIN, &program("through() + 2", table, &[]).unwrap()), Some(42));
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

/// Returns the reason why a kernel would not load an executable as intended, if there is one.
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
    fn changed_object_files_are_refused_or_linked(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        (has_locals, in_headers) in any::<(bool, bool)>(),
    ) {
        let Images { prepared, object, .. } = chosen(has_locals);
        let mut object = object.clone();
        // The table of sections is at the end.
        let first = if in_headers { object.len() * 2 / 3 } else { 0 };
        for (at, byte) in changes {
            let length = object.len() - first;
            object[first + at.index(length)] = byte;
        }
        if let Ok(program) = linked(prepared, &[&object], &[])
            && let Ok(composition) = compose(&prepared.layout, &program, PREFIX)
        {
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
