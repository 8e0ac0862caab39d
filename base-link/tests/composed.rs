//! Composes small images that the linker of the installed toolchain made, and malformed ones.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use base_link::{Composition, Error, Machine, Prepared, compose, prepare};
use proptest::prelude::*;

/// The prefix of the sections that programs may have in addition.
const PREFIX: &str = ".toolsmith.";
const IDENTITY: [u8; 32] = [7; 32];

/// Functions and variables of the base, without a standard library.
const BASE: &str = r#"
#![no_std]
#![crate_type = "lib"]
#[unsafe(no_mangle)] pub static mut SHARED: u32 = 40;
#[unsafe(no_mangle)] pub extern "C" fn add(number: u32) -> u32 { unsafe { SHARED += number; SHARED } }
"#;

/// A program that ends with 42 if it and the base have the same variable.
const PROGRAM: &str = r#"
#![no_std]
#![crate_type = "lib"]
unsafe extern "C" { fn add(number: u32) -> u32; static SHARED: u32; }
#[unsafe(link_section = "SECTION")] #[used] static MARK: u8 = 1;
#[unsafe(no_mangle)] pub extern "C" fn _start() -> ! {
    unsafe {
        let same = add(*core::hint::black_box(&MARK) as u32 + 1) == SHARED;
        let code = if same { SHARED } else { 1 };
        core::arch::asm!("syscall", in("rax") 60, in("rdi") code, options(noreturn));
    }
}
"#;

struct Images {
    base: Vec<u8>,
    prepared: Prepared,
    program: Vec<u8>,
    with_constructor: Vec<u8>,
}

static IMAGES: LazyLock<Images> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    compile(folder, "base", BASE);
    link(folder, "base", &["base.o", "--entry=0"]);
    let base = std::fs::read(folder.join("base")).unwrap();
    let prepared = prepare(&base, Machine::X86_64, IDENTITY).unwrap();
    std::fs::write(folder.join("symbols.o"), &prepared.symbols).unwrap();
    let address = format!("--image-base={:#x}", prepared.layout.program_base());
    let program = |name: &str, section: &str| {
        compile(folder, name, &PROGRAM.replace("SECTION", section));
        let object = format!("{name}.o");
        link(folder, name, &[&object, "symbols.o", &address, "--gc-sections", "--strip-all"]);
        std::fs::read(folder.join(name)).unwrap()
    };
    let with_constructor = program("constructor", ".init_array");
    Images { program: program("program", ".toolsmith.0123"), with_constructor, base, prepared }
});

fn compile(folder: &Path, name: &str, source: &str) {
    std::fs::write(folder.join(format!("{name}.rs")), source).unwrap();
    let status = Command::new("rustc")
        .current_dir(folder)
        .args([
            "--edition=2024",
            "--emit=obj",
            "-Cpanic=abort",
            "-Crelocation-model=static",
            "-Ccodegen-units=1",
        ])
        .args(["-Copt-level=1", "-Cdebug-assertions=no"])
        .args(["-o", &format!("{name}.o"), &format!("{name}.rs")])
        .status();
    assert!(status.unwrap().success(), "{name}");
}

fn link(folder: &Path, name: &str, arguments: &[&str]) {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    let sysroot = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    let lld = sysroot.join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
    let status = Command::new(lld)
        .current_dir(folder)
        .args(["-flavor", "gnu", "-static", "--eh-frame-hdr", "-o", name])
        .args(arguments)
        .status();
    assert!(status.unwrap().success(), "{name}");
}

/// The composed executable.
fn executable(prepared: &Prepared, program: &[u8], composition: Composition) -> Vec<u8> {
    let mut file = prepared.image.clone();
    let program = (composition.program_offset, program.to_vec());
    for (offset, bytes) in composition.patches.into_iter().chain([program]) {
        let offset = usize::try_from(offset).unwrap();
        file.resize(file.len().max(offset + bytes.len()), 0);
        file[offset..offset + bytes.len()].copy_from_slice(&bytes);
    }
    file
}

#[test]
fn a_program_and_its_base_share_code_and_variables() {
    use std::os::unix::fs::PermissionsExt as _;
    let Images { prepared, program, .. } = &*IMAGES;
    assert!(prepared.layout.is_program(program));
    assert_eq!(prepared.layout.identity(), &IDENTITY);
    let composition = compose(&prepared.layout, program, PREFIX).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("composed");
    std::fs::write(&file, executable(prepared, program, composition)).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(Command::new(&file).status().unwrap().code(), Some(42));
}

#[test]
fn a_program_with_an_unknown_section_is_refused() {
    let Images { prepared, program, with_constructor, .. } = &*IMAGES;
    let refused = |program: &[u8], prefix: &str| compose(&prepared.layout, program, prefix).unwrap_err();
    assert_eq!(refused(with_constructor, PREFIX), Error::Unsupported("a section .init_array".to_owned()));
    assert_eq!(refused(program, ".other."), Error::Unsupported("a section .toolsmith.0123".to_owned()));
}

#[test]
fn a_program_of_another_base_is_refused() {
    let Images { base, program, .. } = &*IMAGES;
    let other = prepare(base, Machine::X86_64, [8; 32]).unwrap();
    let refused = compose(&other.layout, program, PREFIX).unwrap_err();
    assert_eq!(refused, Error::Unsupported("another base".to_owned()));
}

#[test]
fn a_program_linked_as_a_whole_is_not_composed() {
    let Images { base, prepared, .. } = &*IMAGES;
    assert!(!prepared.layout.is_program(base));
    assert!(compose(&prepared.layout, base, PREFIX).is_err());
}

#[test]
fn the_same_base_has_the_same_bytes() {
    let Images { base, prepared, .. } = &*IMAGES;
    let again = prepare(base, Machine::X86_64, IDENTITY).unwrap();
    assert_eq!((&again.image, &again.symbols), (&prepared.image, &prepared.symbols));
    assert_eq!(again.layout, prepared.layout);
}

/// What a kernel would load: no segment is writable and executable, and every part of the file is inside it.
fn is_sound(file: &[u8]) -> bool {
    use object::elf::{FileHeader64, PF_W, PF_X, PT_LOAD};
    use object::read::elf::{FileHeader as _, ProgramHeader as _};
    let endian = object::LittleEndian;
    let header = FileHeader64::<object::LittleEndian>::parse(file).unwrap();
    let headers = header.program_headers(endian, file).unwrap();
    headers.iter().filter(|header| header.p_type(endian) == PT_LOAD).all(|header| {
        let flags = header.p_flags(endian).0;
        let end = header.p_offset(endian) + header.p_filesz(endian);
        flags & (PF_W.0 | PF_X.0) != PF_W.0 | PF_X.0 && end <= file.len() as u64
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn changed_programs_are_refused_or_sound(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        in_headers in any::<bool>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let Images { prepared, program, .. } = &*IMAGES;
        let mut program = program.clone();
        let length = if in_headers { 600.min(program.len()) } else { program.len() };
        for (at, byte) in changes {
            program[at.index(length)] = byte;
        }
        if let Some(cut) = cut {
            program.truncate(cut.index(program.len()));
        }
        if let Ok(composition) = compose(&prepared.layout, &program, PREFIX) {
            prop_assert!(is_sound(&executable(prepared, &program, composition)));
        }
    }

    #[test]
    fn changed_bases_are_refused_or_prepared(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        in_headers in any::<bool>(),
    ) {
        let Images { base, program, .. } = &*IMAGES;
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
        prop_assert!(compose(&IMAGES.prepared.layout, &bytes, PREFIX).is_err());
    }
}
