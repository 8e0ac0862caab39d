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
        let segment = self.segments.iter().find(|segment| {
            let end = address.checked_add(size);
            address >= segment.address && end.is_some_and(|end| end <= segment.address + segment.file_size)
        });
        let segment = segment.ok_or_else(|| malformed("an address is outside the segments"))?;
        self.at_offset(segment.offset + (address - segment.address), size)
    }

    /// Whether code is loaded at `address`.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.segments.iter().any(|segment| {
            let end = segment.address + segment.file_size;
            segment.flags & elf::PF_X.0 != 0 && (segment.address..end).contains(&address)
        })
    }

    /// The end of its last segment in memory; 0 without segments.
    pub(crate) fn memory_end(&self) -> u64 {
        self.segments.last().map_or(0, |last| last.address + last.memory_size)
    }
}

#[cfg(test)]
mod tests {
    use object::elf::ProgramFlags;

    use super::*;
    use crate::Error;
    use crate::fixtures::{CODE, DATA, PAGE, SIZE, START, executable, part};
    use crate::layout::{Place, Sizes, header};

    type Headers = Vec<ProgramHeader64<LittleEndian>>;

    fn refusal(bytes: &[u8]) -> Option<Error> {
        Executable::parse(bytes, Machine::X86_64).err()
    }

    fn load(flags: ProgramFlags, offset: u64, address: u64, sizes: Sizes) -> ProgramHeader64<LittleEndian> {
        header(elf::PT_LOAD, flags, Place { offset, address }, sizes, PAGE)
    }

    /// The program headers, and why they are refused.
    #[test]
    fn each_bound_of_a_segment_counts() {
        let code = || part(elf::PT_LOAD, CODE, 0, Sizes::same(PAGE));
        let outside = || Some(malformed("a segment is outside the file or the address range"));
        let sharing = || Some(unsupported("segments that share a page, or are not in order"));
        let unknown = |kind: elf::ProgramType| Some(unsupported(format!("a segment of type {:#x}", kind.0)));
        let rows: Vec<(&str, Headers, Option<Error>)> = vec![
            ("code", vec![code()], None),
            ("nothing", vec![], None),
            ("up to the end of the file", vec![part(elf::PT_LOAD, DATA, SIZE - 8, Sizes::same(8))], None),
            (
                "beyond the end of the file",
                vec![part(elf::PT_LOAD, DATA, SIZE - 8, Sizes::same(9))],
                outside(),
            ),
            ("an offset that wraps", vec![load(DATA, u64::MAX - 1, 0, Sizes::same(8))], outside()),
            (
                "up to the highest address",
                vec![load(DATA, 0, HIGHEST - PAGE, Sizes { file: 8, memory: PAGE })],
                None,
            ),
            (
                "beyond the highest address",
                vec![load(DATA, 0, HIGHEST - PAGE, Sizes { file: 8, memory: PAGE + 1 })],
                outside(),
            ),
            (
                "an address that wraps",
                vec![load(DATA, 0, u64::MAX - PAGE + 1, Sizes { file: 8, memory: PAGE })],
                outside(),
            ),
            ("larger in memory", vec![part(elf::PT_LOAD, DATA, 0, Sizes { file: 8, memory: 9 })], None),
            (
                "larger in the file",
                vec![part(elf::PT_LOAD, DATA, 0, Sizes { file: 9, memory: 8 })],
                outside(),
            ),
            (
                "writable code",
                vec![part(elf::PT_LOAD, ProgramFlags(CODE.0 | DATA.0), 0, Sizes::same(8))],
                Some(unsupported("a segment that is writable and executable")),
            ),
            (
                "another place in its page",
                vec![load(DATA, 8, START, Sizes::same(8))],
                Some(malformed("a segment has different places in its page in file and memory")),
            ),
            ("the next page", vec![code(), part(elf::PT_LOAD, DATA, PAGE, Sizes::same(8))], None),
            (
                "the page of a segment before",
                vec![
                    part(elf::PT_LOAD, CODE, 0, Sizes { file: PAGE, memory: PAGE + 1 }),
                    part(elf::PT_LOAD, DATA, PAGE, Sizes::same(8)),
                ],
                sharing(),
            ),
            (
                "the rest of a page",
                vec![
                    part(elf::PT_LOAD, CODE, 0, Sizes::same(8)),
                    part(elf::PT_LOAD, DATA, PAGE - 8, Sizes::same(8)),
                ],
                sharing(),
            ),
            ("not in order", vec![part(elf::PT_LOAD, DATA, PAGE, Sizes::same(8)), code()], sharing()),
            ("most headers", vec![part(elf::PT_NULL, DATA, 0, Sizes::same(0)); MAX_HEADERS], None),
            (
                "too many headers",
                vec![part(elf::PT_NULL, DATA, 0, Sizes::same(0)); MAX_HEADERS + 1],
                Some(unsupported("25 program headers")),
            ),
            (
                "two blocks of thread-local variables",
                vec![part(elf::PT_TLS, DATA, 0, Sizes::same(8)); 2],
                unknown(elf::PT_TLS),
            ),
            (
                "two unwinding tables",
                vec![part(elf::PT_GNU_EH_FRAME, DATA, 0, Sizes::same(8)); 2],
                unknown(elf::PT_GNU_EH_FRAME),
            ),
            (
                "shared libraries",
                vec![part(elf::PT_DYNAMIC, DATA, 0, Sizes::same(8))],
                unknown(elf::PT_DYNAMIC),
            ),
            ("an interpreter", vec![part(elf::PT_INTERP, DATA, 0, Sizes::same(8))], unknown(elf::PT_INTERP)),
        ];
        for (what, headers, expected) in rows {
            assert_eq!(refusal(&executable(Machine::X86_64, &headers)), expected, "{what}");
        }
    }

    #[test]
    fn only_executables_at_fixed_addresses_for_the_machine_are_read() {
        let bytes = executable(Machine::X86_64, &[]);
        assert_eq!(refusal(&bytes), None);
        assert_eq!(refusal(&executable(Machine::Aarch64, &[])), Some(unsupported("another machine")));
        let mut moved = bytes.clone();
        // `e_type`
        moved[16..18].copy_from_slice(&elf::ET_DYN.0.to_le_bytes());
        let expected = unsupported("a type other than an executable at fixed addresses");
        assert_eq!(refusal(&moved), Some(expected));
        assert!(matches!(refusal(&bytes[..63]), Some(Error::Malformed(_))));
        let mut table = bytes;
        // `e_phoff`, `e_phnum`
        table[32..40].copy_from_slice(&(SIZE - 8).to_le_bytes());
        table[56] = 1;
        assert!(matches!(refusal(&table), Some(Error::Malformed(_))), "headers outside the file");
    }

    /// An address, a size, whether the file has these bytes, and whether the address is code.
    #[test]
    fn an_address_is_in_a_segment_up_to_the_end_of_its_bytes() {
        let headers = [
            part(elf::PT_LOAD, CODE, 0, Sizes { file: PAGE - 8, memory: PAGE }),
            part(elf::PT_LOAD, DATA, PAGE, Sizes::same(PAGE)),
        ];
        let bytes = executable(Machine::X86_64, &headers);
        let read = Executable::parse(&bytes, Machine::X86_64).unwrap();
        for (address, size, is_there, is_code) in [
            (START, PAGE - 8, true, true),
            (START, PAGE - 7, false, true),
            (START - 1, 1, false, false),
            (START + PAGE - 9, 1, true, true),
            (START + PAGE - 8, 1, false, false),
            (START + PAGE - 8, 0, true, false),
            (START + PAGE, PAGE, true, false),
            (START + PAGE, PAGE + 1, false, false),
            (START + PAGE - 16, PAGE, false, true),
            (START, u64::MAX, false, true),
        ] {
            assert_eq!(read.at_address(address, size).is_ok(), is_there, "{address:x} {size}");
            assert_eq!(read.is_code(address), is_code, "{address:x}");
        }
        assert_eq!(read.memory_end(), START + 2 * PAGE);
        assert_eq!(lowest_address(&bytes), Some(START));
        for (offset, size, is_there) in [
            (0, SIZE, true),
            (0, SIZE + 1, false),
            (SIZE, 0, true),
            (SIZE, 1, false),
            (SIZE + 1, 0, false),
            (1, u64::MAX, false),
        ] {
            assert_eq!(read.at_offset(offset, size).is_ok(), is_there, "{offset} {size}");
        }
    }
}
