//! Small bases that the linker of the installed toolchain makes, and programs that are linked against them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use base_link::{Composition, Inputs, Machine, Prepared, prepare};

/// The prefix of the sections that programs may have in addition.
pub(crate) const PREFIX: &str = ".toolsmith.";
pub(crate) const IDENTITY: [u8; 32] = [7; 32];
/// A section with that prefix.
const MARK: &str = ".toolsmith.0123";

/// Functions and variables of a base, without a standard library.
const BASE: &str = r#"
#![no_std]
#![crate_type = "lib"]
#[unsafe(no_mangle)] pub static mut SHARED: u32 = 40;
#[unsafe(no_mangle)] pub extern "C" fn add(number: u32) -> u32 { unsafe { SHARED += number; SHARED } }
"#;

/// A base that also has thread-local variables: one with a value, and one without. Its block is smaller than the room
/// that programs reserve for it, and begins with a variable that nothing uses.
const LOCAL_BASE: &str = r#"
core::arch::global_asm!(
    ".section .tdata,\"awT\",@progbits", ".balign 8", ".long 1",
    ".globl BASE_VALUE", ".type BASE_VALUE, @object", ".size BASE_VALUE, 4", "BASE_VALUE: .long 7",
    ".section .tbss,\"awT\",@nobits", ".balign 8",
    ".globl BASE_ZERO", ".type BASE_ZERO, @object", ".size BASE_ZERO, 8", "BASE_ZERO: .zero 8",
    ".text",
);
#[unsafe(no_mangle)] pub extern "C" fn add_local(number: u32) -> u32 {
    let sum: u32;
    unsafe { core::arch::asm!(
        "add dword ptr fs:[BASE_VALUE@tpoff], {0:e}", "mov {0:e}, dword ptr fs:[BASE_VALUE@tpoff]", inout(reg) number => sum,
    ) };
    sum
}
"#;

/// A program that ends with 42 if it and its base have the same variable.
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

/// A thread-local variable that the linker keeps although nothing uses it.
const KEPT_LOCAL: &str = r#"
core::arch::global_asm!(".section .tdata.kept,\"awTR\",@progbits", ".long 1", ".text");
"#;

/// The start of programs with thread-local variables: copies the initial values as the C library does, from the program
/// header that the kernel names (getauxval(3)), sets the thread pointer (arch_prctl(2)), and ends with the result of `run`.
const LOCAL_START: &str = r#"
#![no_std]
#![crate_type = "lib"]
use core::arch::{asm, global_asm};
global_asm!(".globl _start", "_start: mov rdi, rsp", "and rsp, -16", "call begin", "ud2");
#[repr(align(4096))] struct Block([u8; 8192]);
static mut BLOCK: Block = Block([0; 8192]);
#[unsafe(no_mangle)] unsafe extern "C" fn begin(stack: *const usize) -> ! {
    unsafe {
        let mut at = stack.add(2).add(*stack);
        while *at != 0 { at = at.add(1); }
        at = at.add(1);
        let (mut header, mut count) = (0, 0);
        while *at != 0 {
            if *at == 3 { header = *at.add(1); }
            if *at == 5 { count = *at.add(1); }
            at = at.add(2);
        }
        let pointer = (&raw mut BLOCK).cast::<u8>().add(4096);
        while count > 0 {
            let field = |number: usize| *(header as *const usize).add(number);
            if *(header as *const u32) == 7 {
                let (address, file_size, size, alignment) = (field(2), field(4), field(5), field(6));
                let start = pointer.sub((size + alignment - 1) & !(alignment - 1));
                let mut copied = 0;
                while copied < file_size {
                    start.add(copied).write_volatile(*(address as *const u8).add(copied));
                    copied += 1;
                }
            }
            header += 56;
            count -= 1;
        }
        pointer.cast::<usize>().write_volatile(pointer as usize);
        asm!("syscall", inout("rax") 158_usize => _, in("rdi") 0x1002, in("rsi") pointer, out("rcx") _, out("r11") _);
        asm!("syscall", in("rax") 60, in("rdi") run(), options(noreturn));
    }
}
macro_rules! local {
    ($name:literal) => {{
        let value: u32;
        asm!(concat!("mov {0:e}, dword ptr fs:[", $name, "@tpoff]"), out(reg) value);
        value
    }};
}
unsafe extern "C" { fn add_local(number: u32) -> u32; }
"#;

/// Ends with 42 if the base's variables have their values, and are the same for both.
const BASE_LOCALS: &str = r#"
unsafe fn run() -> u32 {
    unsafe {
        if local!("BASE_VALUE") != 7 || local!("BASE_ZERO") != 0 { return 1; }
        if add_local(35) != 42 { return 2; }
        local!("BASE_VALUE")
    }
}
"#;

/// The same, with variables of its own, whose alignment is `ALIGN` bytes.
const OWN_LOCALS: &str = r#"
global_asm!(
    ".section .tdata,\"awT\",@progbits", ".balign ALIGN", "OWN_VALUE: .long 30", ".long 8",
    ".section .tbss,\"awT\",@nobits", ".balign 4", "OWN_ZERO: .zero SIZE",
    ".text",
);
unsafe fn run() -> u32 {
    unsafe {
        if local!("OWN_VALUE") != 30 || local!("OWN_ZERO") != 0 { return 1; }
        if local!("BASE_VALUE") != 7 || local!("BASE_ZERO") != 0 { return 2; }
        let offset: usize;
        asm!("lea {0}, [OWN_VALUE@tpoff]", out(reg) offset);
        if offset % ALIGN != 0 { return 3; }
        asm!("mov dword ptr fs:[OWN_ZERO@tpoff], 2");
        if add_local(3) != 10 { return 4; }
        local!("OWN_VALUE") + local!("OWN_ZERO") + local!("BASE_VALUE")
    }
}
"#;

/// A base, and programs that were linked against it.
pub(crate) struct Images {
    pub(crate) base: Vec<u8>,
    pub(crate) prepared: Prepared,
    /// The object file and the program that mutations change.
    pub(crate) object: Vec<u8>,
    pub(crate) program: Vec<u8>,
    /// Object files of other programs by their names.
    others: Vec<(&'static str, Vec<u8>)>,
}

/// Links a program from object files, of which the first has the entry point, and libraries.
pub(crate) fn linked(
    prepared: &Prepared,
    objects: &[&[u8]],
    libraries: &[&[u8]],
) -> base_link::Result<Vec<u8>> {
    let (entry, objects) = objects.split_first().unwrap();
    let inputs = Inputs { entry, objects, libraries, symbols: &prepared.symbols, section_prefix: PREFIX };
    base_link::link(&prepared.layout, &inputs)
}

impl Images {
    fn new(base: &str, program: &str, others: &[(&'static str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        compile(folder, "base", base, "obj");
        link(folder, "base", &["base.o", "--entry=0"]);
        let base = std::fs::read(folder.join("base")).unwrap();
        let prepared = prepare(&base, Machine::X86_64, IDENTITY).unwrap();
        let object = compile(folder, "program", program, "obj");
        let program = linked(&prepared, &[&object], &[]).unwrap();
        let others =
            others.iter().map(|(name, source)| (*name, compile(folder, name, source, "obj"))).collect();
        Images { base, prepared, object, program, others }
    }

    /// The object file of another program.
    pub(crate) fn other(&self, name: &str) -> &[u8] {
        &self.others.iter().find(|(other, _)| *other == name).unwrap().1
    }

    /// Links another program.
    pub(crate) fn linked(&self, name: &str) -> base_link::Result<Vec<u8>> {
        linked(&self.prepared, &[self.other(name)], &[])
    }
}

/// A base without thread-local variables. The programs `constructor` and `locals` are not supported.
pub(crate) static PLAIN: LazyLock<Images> = LazyLock::new(|| {
    let program = |section: &str| PROGRAM.replace("SECTION", section);
    let others = [("constructor", program(".init_array")), ("locals", program(MARK) + KEPT_LOCAL)];
    Images::new(BASE, &program(MARK), &others)
});

/// A base with thread-local variables. The programs `large` and `aligned` are not supported.
pub(crate) static LOCAL: LazyLock<Images> = LazyLock::new(|| {
    let own = |alignment: &str, size: &str| {
        LOCAL_START.to_owned() + &OWN_LOCALS.replace("ALIGN", alignment).replace("SIZE", size)
    };
    let others = [
        ("base_locals", LOCAL_START.to_owned() + BASE_LOCALS),
        ("large", own("16", "70000")),
        ("aligned", own("128", "4")),
    ];
    Images::new(&(BASE.to_owned() + LOCAL_BASE), &own("16", "4"), &others)
});

/// Compiles a source text to an object file (`obj`) or a library (`link`).
pub(crate) fn compile(folder: &Path, name: &str, source: &str, emit: &str) -> Vec<u8> {
    std::fs::write(folder.join(format!("{name}.rs")), source).unwrap();
    let status = Command::new("rustc")
        .current_dir(folder)
        .args([
            "--edition=2024",
            &format!("--emit={emit}"),
            "-Cpanic=abort",
            "-Crelocation-model=static",
            "-Ccodegen-units=1",
        ])
        .args(["-Copt-level=1", "-Cdebug-assertions=no", "-Awarnings"])
        .args(["-o", &format!("{name}.o"), &format!("{name}.rs")])
        .status();
    assert!(status.unwrap().success(), "{name}");
    std::fs::read(folder.join(format!("{name}.o"))).unwrap()
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
pub(crate) fn executable(prepared: &Prepared, program: &[u8], composition: Composition) -> Vec<u8> {
    let mut file = prepared.image.clone();
    let program = (composition.program_offset, program.to_vec());
    for (offset, bytes) in composition.patches.into_iter().chain([program]) {
        let offset = usize::try_from(offset).unwrap();
        file.resize(file.len().max(offset + bytes.len()), 0);
        file[offset..offset + bytes.len()].copy_from_slice(&bytes);
    }
    file
}
