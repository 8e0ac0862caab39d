//! Where the parts of a composed executable are, in the file and in memory.
//!
//! ```text
//! base segments | program headers | image of thread-local variables | unwinding table | program's segments
//! ```
//!
//! The three parts in the middle are one segment: the *tables*. Its size is fixed, because the program's addresses follow
//! it. All parts are adjacent: some kernels reserve the whole range at once, within the limit of the address space.

use object::elf::{self, FileHeader64, Ident, ProgramFlags, ProgramHeader64, ProgramType, SectionHeader64};
use object::pod::bytes_of;
use object::{LittleEndian, U16, U32, U64};
use serde::{Deserialize, Serialize};

use crate::elf::{ENDIAN, Segment};
use crate::machine::Machine;

/// Room for program headers, in bytes; a composed executable has about fifteen of 56 bytes.
pub(crate) const HEADERS_ROOM: u64 = 4 << 10;
/// Room for the initial image of thread-local variables, in bytes.
pub(crate) const TLS_ROOM: u64 = 60 << 10;
/// Maximum number of a program's functions in the unwinding table; most have fewer than a thousand.
pub(crate) const PROGRAM_FRAMES: u64 = 32 << 10;
/// Alignment of thread-local storage, in bytes: a cache line, the maximum that libraries ask for.
pub(crate) const TLS_ALIGNMENT: u64 = 64;

/// A base's layout. Serialize it beside the prepared bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The identity of the base, which programs repeat.
    pub(crate) identity: [u8; 32],
    pub(crate) machine: Machine,
    /// Its loaded segments, in order.
    pub(crate) segments: Vec<Segment>,
    pub(crate) tls: Option<TlsBlock>,
    /// Where the tables are.
    pub(crate) tables: Place,
    /// The base's section of call frames.
    pub(crate) eh_frame: u64,
    /// Number of the base's functions in the unwinding table.
    pub(crate) frames: u64,
    /// Where the program's file is appended.
    pub(crate) program_offset: u64,
    /// The lowest address of programs.
    pub(crate) program_base: u64,
}

/// A place in the file and in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) address: u64,
}

/// The base's block of thread-local variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TlsBlock {
    /// Initial values; the rest is zero.
    pub(crate) image: Vec<u8>,
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) memory_size: u64,
    pub(crate) alignment: u64,
}

impl Layout {
    /// Returns the identity that distinguishes this base from others, as given to [`prepare`](crate::prepare()).
    #[must_use]
    pub fn identity(&self) -> &[u8; 32] {
        &self.identity
    }

    /// The address for the linker's option `--image-base` when it links a program.
    #[must_use]
    pub fn program_base(&self) -> u64 {
        self.program_base
    }

    /// The size of the base in the address space of a process, in bytes.
    #[must_use]
    pub fn mapped_size(&self) -> u64 {
        let first = self.segments.first().map_or(self.program_base, |segment| segment.address);
        self.program_base.saturating_sub(first)
    }

    /// Whether an executable was linked at this base's address for programs, and so needs the base.
    #[must_use]
    pub fn is_program(&self, executable: &[u8]) -> bool {
        crate::elf::lowest_address(executable).is_some_and(|address| address >= self.program_base)
    }

    /// Room for the unwinding table, in bytes.
    pub(crate) fn table_room(frames: u64) -> u64 {
        crate::unwind::HEADER + crate::unwind::ENTRY * (frames + PROGRAM_FRAMES)
    }

    pub(crate) fn tls_place(&self) -> Place {
        self.tables.plus(HEADERS_ROOM)
    }

    pub(crate) fn frames_place(&self) -> Place {
        self.tables.plus(HEADERS_ROOM + TLS_ROOM)
    }
}

impl Place {
    pub(crate) fn plus(self, bytes: u64) -> Place {
        Place { offset: self.offset.saturating_add(bytes), address: self.address.saturating_add(bytes) }
    }
}

/// The sizes of a segment in the file and in memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) file: u64,
    pub(crate) memory: u64,
}

impl Sizes {
    /// Returns the sizes of a segment that is as large in memory as in the file.
    pub(crate) fn same(size: u64) -> Self {
        Sizes { file: size, memory: size }
    }
}

/// A program header.
pub(crate) fn header(
    kind: ProgramType,
    flags: ProgramFlags,
    place: Place,
    sizes: Sizes,
    alignment: u64,
) -> ProgramHeader64<LittleEndian> {
    ProgramHeader64 {
        p_type: U32::new(ENDIAN, kind),
        p_flags: U32::new(ENDIAN, flags),
        p_offset: U64::new(ENDIAN, place.offset),
        p_vaddr: U64::new(ENDIAN, place.address),
        p_paddr: U64::new(ENDIAN, place.address),
        p_filesz: U64::new(ENDIAN, sizes.file),
        p_memsz: U64::new(ENDIAN, sizes.memory),
        p_align: U64::new(ENDIAN, alignment),
    }
}

/// Where an executable's tables of segments and sections are in its file, and their lengths.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) segments: (u64, usize),
    /// The last section has the names; without sections, 0 and 0.
    pub(crate) sections: (u64, usize),
}

/// An executable's header.
pub(crate) fn file_header(machine: Machine, entry: u64, tables: Tables) -> Vec<u8> {
    let small = |number: usize| U16::new(ENDIAN, u16::try_from(number).unwrap_or(u16::MAX));
    let names = tables.sections.1.saturating_sub(1);
    let section_size = if names == 0 { 0 } else { size_of::<SectionHeader64<LittleEndian>>() };
    let header: FileHeader64<LittleEndian> = FileHeader64 {
        e_ident: Ident {
            magic: elf::ELFMAG,
            class: elf::ELFCLASS64,
            data: elf::ELFDATA2LSB,
            version: elf::EV_CURRENT,
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            padding: [0; 7],
        },
        e_type: U16::new(ENDIAN, elf::ET_EXEC),
        e_machine: U16::new(ENDIAN, machine.number()),
        e_version: U32::new(ENDIAN, u32::from(elf::EV_CURRENT.0)),
        e_entry: U64::new(ENDIAN, entry),
        e_phoff: U64::new(ENDIAN, tables.segments.0),
        e_shoff: U64::new(ENDIAN, tables.sections.0),
        e_flags: U32::new(ENDIAN, elf::FileFlags(0)),
        e_ehsize: small(size_of::<FileHeader64<LittleEndian>>()),
        e_phentsize: small(size_of::<ProgramHeader64<LittleEndian>>()),
        e_phnum: small(tables.segments.1),
        e_shentsize: small(section_size),
        e_shnum: small(tables.sections.1),
        e_shstrndx: U16::new(ENDIAN, elf::SymbolSection(u16::try_from(names).unwrap_or(u16::MAX))),
    };
    bytes_of(&header).to_vec()
}
