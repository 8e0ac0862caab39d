//! Writes a program's file: headers, contents, names and table of sections.

use object::LittleEndian;
use object::elf::{self, ProgramHeader64, SectionFlags, SectionHeader64, SectionType};
use object::pod::bytes_of;
use object::{U32, U64};

use super::arrange::{Arrangement, HEADERS, Output, UNWINDING};
use super::contents::Placed;
use crate::elf::ENDIAN;
use crate::layout::{Place, Sizes, TLS_ALIGNMENT, Tables, file_header, header};
use crate::symbols::IDENTITY_SECTION;
use crate::{Result, malformed, unsupported};

/// The section of the names of sections.
const NAMES: &str = ".shstrtab";
/// Alignment of the table of sections, in bytes.
const TABLE_ALIGNMENT: usize = 8;
/// Size of the file's header, in bytes; the table of segments follows.
const FILE_HEADER: u64 = 64;

/// Writes a program whose entry point is at `entry`.
pub(super) fn write(placed: &Placed<'_>, entry: u64) -> Result<Vec<u8>> {
    let arrangement = placed.arrangement;
    let layout = arrangement.layout;
    let mut file = placed.file()?;
    let mut names = Names(vec![0]);
    let mut sections = vec![section(0, elf::SHT_NULL, 0, 0)];
    for output in &arrangement.outputs {
        sections.push(loaded(output, names.add(&output.name)));
    }
    let name = names.add(IDENTITY_SECTION);
    sections.push(section(name, elf::SHT_PROGBITS, file.len() as u64, layout.identity.len() as u64));
    file.extend(layout.identity);
    let number = names.add(NAMES);
    sections.push(section(number, elf::SHT_STRTAB, file.len() as u64, names.0.len() as u64));
    file.extend(names.0);
    file.resize(file.len().next_multiple_of(TABLE_ALIGNMENT), 0);
    // From this number on, the count would be elsewhere (elf(5), `SHN_LORESERVE`).
    if sections.len() >= usize::from(elf::SHN_LORESERVE) {
        return Err(unsupported(format!("{} sections", sections.len())));
    }
    let segments = segments(arrangement);
    let tables =
        Tables { segments: (FILE_HEADER, segments.len()), sections: (file.len() as u64, sections.len()) };
    let mut headers = file_header(layout.machine, entry, tables);
    headers.extend(segments.iter().flat_map(bytes_of));
    file.extend(sections.iter().flat_map(bytes_of));
    let place = file.get_mut(..headers.len()).filter(|place| place.len() as u64 <= HEADERS);
    place.ok_or_else(|| malformed("its headers"))?.copy_from_slice(&headers);
    Ok(file)
}

/// The names of sections.
struct Names(Vec<u8>);

impl Names {
    /// Adds a name; returns its number.
    fn add(&mut self, name: &str) -> u32 {
        let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.extend(name.as_bytes());
        self.0.push(0);
        number
    }
}

/// The header of a section that is not loaded, at this offset and with this size.
fn section(name: u32, kind: SectionType, offset: u64, size: u64) -> SectionHeader64<LittleEndian> {
    SectionHeader64 {
        sh_name: U32::new(ENDIAN, name),
        sh_type: U32::new(ENDIAN, kind),
        sh_flags: U64::new(ENDIAN, SectionFlags(0)),
        sh_addr: U64::new(ENDIAN, 0),
        sh_offset: U64::new(ENDIAN, offset),
        sh_size: U64::new(ENDIAN, size),
        sh_link: U32::new(ENDIAN, 0),
        sh_info: U32::new(ENDIAN, 0),
        sh_addralign: U64::new(ENDIAN, 1),
        sh_entsize: U64::new(ENDIAN, 0),
    }
}

fn loaded(output: &Output, name: u32) -> SectionHeader64<LittleEndian> {
    let kind = if output.is_zero { elf::SHT_NOBITS } else { elf::SHT_PROGBITS };
    SectionHeader64 {
        sh_flags: U64::new(ENDIAN, SectionFlags(output.flags)),
        sh_addr: U64::new(ENDIAN, output.address),
        sh_addralign: U64::new(ENDIAN, output.alignment),
        ..section(name, kind, output.offset, output.size)
    }
}

fn segments(arrangement: &Arrangement<'_>) -> Vec<ProgramHeader64<LittleEndian>> {
    let Arrangement { outputs, layout, .. } = arrangement;
    let mut segments = Vec::new();
    for flags in [elf::PF_R, elf::PF_R | elf::PF_X, elf::PF_R | elf::PF_W] {
        let own = outputs.iter().filter(|output| output.segment_flags() == flags);
        // Only each thread's copy has these.
        let own: Vec<&Output> = own.filter(|output| !(output.is_thread_local() && output.is_zero)).collect();
        let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
        // The first segment begins with the headers.
        let headers = if flags == elf::PF_R { first.offset } else { 0 };
        let place = Place { offset: first.offset - headers, address: first.address - headers };
        let end = own.iter().map(|output| output.offset + output.size_in_file()).max();
        let sizes = Sizes {
            file: end.unwrap_or(first.offset) - place.offset,
            memory: last.address + last.size - place.address,
        };
        segments.push(header(elf::PT_LOAD, flags, place, sizes, layout.machine.page()));
    }
    if let Some((first, last)) = arrangement.thread_locals() {
        let locals = outputs.iter().filter(|output| output.is_thread_local());
        let end = locals.map(|output| output.offset + output.size_in_file()).max().unwrap_or(first.offset);
        let sizes = Sizes { file: end - first.offset, memory: last.address + last.size - first.address };
        let place = Place { offset: first.offset, address: first.address };
        segments.push(header(elf::PT_TLS, elf::PF_R, place, sizes, TLS_ALIGNMENT));
    }
    if let Some(table) = arrangement.output(UNWINDING) {
        let place = Place { offset: table.offset, address: table.address };
        segments.push(header(elf::PT_GNU_EH_FRAME, elf::PF_R, place, Sizes::same(table.size), 4));
    }
    segments
}
