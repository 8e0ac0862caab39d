//! Executables for tests, made of program headers.

use object::LittleEndian;
use object::elf::{self, ProgramFlags, ProgramHeader64, ProgramType};
use object::pod::bytes_of;

use crate::layout::{Place, Sizes, Tables, file_header, header};
use crate::machine::Machine;

/// Size of the executables, in bytes.
pub(crate) const SIZE: u64 = 0x10_0000;
/// The address at which the beginning of an executable is loaded.
pub(crate) const START: u64 = 0x40_0000;
/// The size of a page of x86-64, in bytes.
pub(crate) const PAGE: u64 = 4096;

/// The permissions of segments.
pub(crate) const CODE: ProgramFlags = ProgramFlags(elf::PF_R.0 | elf::PF_X.0);
pub(crate) const DATA: ProgramFlags = ProgramFlags(elf::PF_R.0 | elf::PF_W.0);

/// A segment at this offset, loaded where the whole file would be.
pub(crate) fn part(
    kind: ProgramType,
    flags: ProgramFlags,
    offset: u64,
    sizes: Sizes,
) -> ProgramHeader64<LittleEndian> {
    header(kind, flags, Place { offset, address: START + offset }, sizes, PAGE)
}

/// An executable with these program headers, whose other bytes are zero.
pub(crate) fn executable(machine: Machine, headers: &[ProgramHeader64<LittleEndian>]) -> Vec<u8> {
    let tables = Tables { segments: (64, headers.len()), sections: (0, 0) };
    let mut bytes = file_header(machine, START + 0x800, tables);
    bytes.extend(headers.iter().flat_map(bytes_of));
    bytes.resize(usize::try_from(SIZE).unwrap_or_default(), 0);
    bytes
}
