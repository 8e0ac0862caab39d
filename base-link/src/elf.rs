//! Reads static executables: segments and sections, each checked against the file's size.

use object::LittleEndian;
use object::elf::{self, FileHeader64, ProgramHeader64, SectionFlags, SectionHeader64, SectionType};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::{Result, malformed, unsupported};

pub(crate) const ENDIAN: LittleEndian = LittleEndian;

/// Maximum number of program headers; a static executable has about ten.
const MAX_HEADERS: usize = 24;
/// Highest address of an image, in bytes (1 GiB): all code refers to all data with signed 32-bit offsets.
const HIGHEST: u64 = 1 << 30;

/// A parsed executable.
pub(crate) struct Executable<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) header: &'a FileHeader64<LittleEndian>,
    pub(crate) entry: u64,
    machine: Machine,
    /// Loaded segments in order of addresses; no two share a page.
    pub(crate) segments: Vec<Segment>,
    pub(crate) tls: Option<Tls>,
    /// The unwinding table: address and size.
    pub(crate) eh_frame_hdr: Option<(u64, u64)>,
}

/// A segment to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    pub(crate) flags: u32,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
}

/// The segment of thread-local variables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tls {
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
    pub(crate) alignment: u64,
}

/// A section's header with its name.
pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: SectionType,
    pub(crate) flags: SectionFlags,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) size: u64,
}

impl Section<'_> {
    pub(crate) fn is_loaded(&self) -> bool {
        self.flags.0 & elf::SHF_ALLOC.0 != 0
    }
}

/// The lowest address of an executable's segments.
pub(crate) fn lowest_address(bytes: &[u8]) -> Option<u64> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    let headers = header.program_headers(ENDIAN, bytes).ok()?;
    let loaded = headers.iter().filter(|header| header.p_type(ENDIAN) == elf::PT_LOAD);
    loaded.map(|header| header.p_vaddr(ENDIAN)).min()
}

impl<'a> Executable<'a> {
    /// Parses a static executable for `machine`.
    pub(crate) fn parse(bytes: &'a [u8], machine: Machine) -> Result<Self> {
        let failed = |error: object::Error| malformed(error.to_string());
        let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(failed)?;
        if !header.is_little_endian() || header.e_machine(ENDIAN) != machine.number() {
            return Err(unsupported("another machine"));
        }
        if header.e_type(ENDIAN) != elf::ET_EXEC {
            return Err(unsupported("a type other than an executable at fixed addresses"));
        }
        let headers = header.program_headers(ENDIAN, bytes).map_err(failed)?;
        if headers.len() > MAX_HEADERS {
            return Err(unsupported(format!("{} program headers", headers.len())));
        }
        let entry = header.e_entry(ENDIAN);
        let mut executable =
            Executable { bytes, header, entry, machine, segments: Vec::new(), tls: None, eh_frame_hdr: None };
        for header in headers {
            executable.add(header)?;
        }
        Ok(executable)
    }

    fn add(&mut self, header: &ProgramHeader64<LittleEndian>) -> Result<()> {
        let (address, offset) = (header.p_vaddr(ENDIAN), header.p_offset(ENDIAN));
        let (file_size, memory_size) = (header.p_filesz(ENDIAN), header.p_memsz(ENDIAN));
        let is_in_file = offset.checked_add(file_size).is_some_and(|end| end <= self.bytes.len() as u64);
        let ends = address.checked_add(memory_size).is_some_and(|end| end <= HIGHEST);
        if !is_in_file || !ends || file_size > memory_size {
            return Err(malformed("a segment is outside the file or the address range"));
        }
        match header.p_type(ENDIAN) {
            elf::PT_LOAD => {
                let flags = header.p_flags(ENDIAN).0;
                self.load(Segment { flags, offset, address, file_size, memory_size })
            }
            elf::PT_TLS if self.tls.is_none() => {
                let alignment = header.p_align(ENDIAN).max(1);
                self.tls = Some(Tls { offset, address, file_size, memory_size, alignment });
                Ok(())
            }
            elf::PT_GNU_EH_FRAME if self.eh_frame_hdr.is_none() => {
                self.eh_frame_hdr = Some((address, file_size));
                Ok(())
            }
            // A static executable's own code would have to apply the protection of GNU_RELRO, and musl's does not.
            elf::PT_PHDR | elf::PT_GNU_STACK | elf::PT_GNU_RELRO | elf::PT_NULL => Ok(()),
            other => Err(unsupported(format!("a segment of type {:#x}", other.0))),
        }
    }

    fn load(&mut self, segment: Segment) -> Result<()> {
        let both = elf::PF_W.0 | elf::PF_X.0;
        if segment.flags & both == both {
            return Err(unsupported("a segment that is writable and executable"));
        }
        let page = self.machine.page();
        if segment.address % page != segment.offset % page {
            return Err(malformed("a segment has different places in its page in file and memory"));
        }
        let free =
            self.segments.last().map_or(0, |last| self.machine.page_end(last.address + last.memory_size));
        if segment.address - segment.address % page < free {
            return Err(unsupported("segments that share a page, or are not in order"));
        }
        self.segments.push(segment);
        Ok(())
    }

    /// All sections.
    pub(crate) fn sections(&self) -> Result<Vec<Section<'a>>> {
        let failed = |error: object::Error| malformed(error.to_string());
        let table = self.header.sections(ENDIAN, self.bytes).map_err(failed)?;
        let section = |header: &'a SectionHeader64<LittleEndian>| {
            let name = table.section_name(ENDIAN, header).map_err(failed)?;
            Ok(Section {
                name: std::str::from_utf8(name).map_err(|_| malformed("a section's name is not text"))?,
                kind: header.sh_type(ENDIAN),
                flags: header.sh_flags(ENDIAN),
                offset: header.sh_offset(ENDIAN),
                address: header.sh_addr(ENDIAN),
                size: header.sh_size(ENDIAN),
            })
        };
        table.iter().skip(1).map(section).collect()
    }

    /// The bytes of the file at `offset`.
    pub(crate) fn at_offset(&self, offset: u64, size: u64) -> Result<&'a [u8]> {
        let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
        let range = range.and_then(|(start, size)| Some(start..start.checked_add(size)?));
        range.and_then(|range| self.bytes.get(range)).ok_or_else(|| malformed("a part is outside the file"))
    }

    /// The bytes of the file that are loaded at `address`.
    pub(crate) fn at_address(&self, address: u64, size: u64) -> Result<&'a [u8]> {
        let contains = |segment: &&Segment| {
            let end = address.checked_add(size);
            address >= segment.address && end.is_some_and(|end| end <= segment.address + segment.file_size)
        };
        let segment = self.segments.iter().find(contains);
        let segment = segment.ok_or_else(|| malformed("an address is outside the segments"))?;
        self.at_offset(segment.offset + (address - segment.address), size)
    }

    /// Whether code is loaded at `address`.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        let has = |segment: &Segment| {
            let end = segment.address + segment.file_size;
            segment.flags & elf::PF_X.0 != 0 && (segment.address..end).contains(&address)
        };
        self.segments.iter().any(has)
    }

    /// The end of its last segment in memory; 0 without segments.
    pub(crate) fn memory_end(&self) -> u64 {
        self.segments.last().map_or(0, |last| last.address + last.memory_size)
    }
}
