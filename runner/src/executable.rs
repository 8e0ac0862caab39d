//! Checks that a linked program is one that the sandbox was made for, whichever linker wrote it.
//!
//! A snippet can ask linkers for more than code and data: `#[link_section]`, `global_asm!` and linker scripts name
//! sections and segments. What the kernel would do with a file beyond loading it at fixed addresses is refused here.

use object::elf::{self, ProgramHeader64};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, ReadRef};
use sandbox::LOWEST_PROGRAM_ADDRESS;

/// A static executable.
pub(crate) type Elf<'a, R> = ElfFile64<'a, LittleEndian, R>;

/// The machine that programs are compiled for.
const MACHINE: elf::Machine = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };

/// A feature that a program must not have; completes "the program has …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Forbidden {
    #[error("a form other than that of a static executable for this machine")]
    Form,
    #[error("a segment that is writable and executable")]
    WritableCode,
    #[error("an executable stack")]
    ExecutableStack,
    #[error("an interpreter, which would be started in its place")]
    Interpreter,
    #[error("shared libraries")]
    SharedLibraries,
    #[error("a segment at an address that is reserved")]
    Address,
    #[error("a segment of an unknown type")]
    UnknownSegment,
}

/// Checks the headers of a file (elf(5)).
pub(crate) fn check<'a, R: ReadRef<'a>>(file: &Elf<'a, R>) -> Result<(), Forbidden> {
    let header = file.elf_header();
    if header.e_type(LittleEndian) != elf::ET_EXEC || header.e_machine(LittleEndian) != MACHINE {
        return Err(Forbidden::Form);
    }
    file.elf_program_headers().iter().try_for_each(check_segment)
}

fn check_segment(segment: &ProgramHeader64<LittleEndian>) -> Result<(), Forbidden> {
    let has = |flag: elf::ProgramFlags| segment.p_flags(LittleEndian).0 & flag.0 != 0;
    match segment.p_type(LittleEndian) {
        elf::PT_LOAD if has(elf::PF_W) && has(elf::PF_X) => Err(Forbidden::WritableCode),
        elf::PT_LOAD if segment.p_vaddr(LittleEndian) < LOWEST_PROGRAM_ADDRESS => Err(Forbidden::Address),
        elf::PT_GNU_STACK if has(elf::PF_X) => Err(Forbidden::ExecutableStack),
        elf::PT_INTERP => Err(Forbidden::Interpreter),
        elf::PT_DYNAMIC => Err(Forbidden::SharedLibraries),
        elf::PT_LOAD
        | elf::PT_NULL
        | elf::PT_NOTE
        | elf::PT_PHDR
        | elf::PT_TLS
        | elf::PT_GNU_EH_FRAME
        | elf::PT_GNU_STACK
        | elf::PT_GNU_RELRO
        | elf::PT_GNU_PROPERTY => Ok(()),
        _ => Err(Forbidden::UnknownSegment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of an ELF file, and the header of a segment, in bytes.
    const FILE_HEADER: u16 = 64;
    const PROGRAM_HEADER: u16 = 56;

    /// A file of this type for this machine, with segments of a type, flags and an address.
    fn file(kind: u16, machine: u16, segments: &[(u32, u32, u64)]) -> Vec<u8> {
        let mut file = vec![0; FILE_HEADER.into()];
        // 64 bits, little endian, version 1.
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        file[32] = 64;
        for (at, value) in [(16, kind), (18, machine), (20, 1), (52, FILE_HEADER), (54, PROGRAM_HEADER)] {
            file[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        file[56] = u8::try_from(segments.len()).unwrap();
        for (kind, flags, address) in segments {
            let mut segment = [0; PROGRAM_HEADER as usize];
            segment[..4].copy_from_slice(&kind.to_le_bytes());
            segment[4..8].copy_from_slice(&flags.to_le_bytes());
            segment[16..24].copy_from_slice(&address.to_le_bytes());
            file.extend(segment);
        }
        file
    }

    fn checked(bytes: &[u8]) -> Result<(), Forbidden> {
        check(&Elf::parse(bytes).unwrap())
    }

    fn with(kind: elf::ProgramType, flags: u32, address: u64) -> Result<(), Forbidden> {
        let code = (elf::PT_LOAD.0, READ | EXECUTE, 0x20_0000);
        checked(&file(elf::ET_EXEC.0, MACHINE.0, &[code, (kind.0, flags, address)]))
    }

    const READ: u32 = elf::PF_R.0;
    const WRITE: u32 = elf::PF_W.0;
    const EXECUTE: u32 = elf::PF_X.0;

    #[test]
    fn only_executables_for_this_machine_are_run() {
        assert_eq!(checked(&file(elf::ET_EXEC.0, MACHINE.0, &[])), Ok(()));
        for (kind, machine) in
            [(elf::ET_DYN.0, MACHINE.0), (elf::ET_REL.0, MACHINE.0), (elf::ET_EXEC.0, elf::EM_386.0)]
        {
            assert_eq!(checked(&file(kind, machine, &[])), Err(Forbidden::Form));
        }
    }

    #[test]
    fn each_kind_of_segment_that_a_program_does_not_need_is_refused() {
        let (stack, load) = (elf::PT_GNU_STACK, elf::PT_LOAD);
        for (kind, flags, address, expected) in [
            (load, READ | WRITE, 0x30_0000, Ok(())),
            (load, READ | WRITE | EXECUTE, 0x30_0000, Err(Forbidden::WritableCode)),
            (load, WRITE | EXECUTE, 0x30_0000, Err(Forbidden::WritableCode)),
            (load, READ, LOWEST_PROGRAM_ADDRESS, Ok(())),
            (load, READ, LOWEST_PROGRAM_ADDRESS - 1, Err(Forbidden::Address)),
            (stack, READ | WRITE, 0, Ok(())),
            (stack, READ | WRITE | EXECUTE, 0, Err(Forbidden::ExecutableStack)),
            (elf::PT_TLS, READ, 0x30_0000, Ok(())),
            (elf::PT_INTERP, READ, 0x30_0000, Err(Forbidden::Interpreter)),
            (elf::PT_DYNAMIC, READ | WRITE, 0x30_0000, Err(Forbidden::SharedLibraries)),
            (elf::PT_SHLIB, READ, 0x30_0000, Err(Forbidden::UnknownSegment)),
            (elf::ProgramType(0x65a3_dbe6), READ, 0x30_0000, Err(Forbidden::UnknownSegment)),
        ] {
            assert_eq!(with(kind, flags, address), expected, "{kind:?} {flags} {address:x}");
        }
    }
}
