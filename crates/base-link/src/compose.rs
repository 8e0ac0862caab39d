//! Joins a prepared base and a program that was linked against it.

use object::LittleEndian;
use object::elf::{self, ProgramFlags, ProgramHeader64};
use object::pod::bytes_of;

use crate::elf::{ENDIAN, Executable, Section, Segment};
use crate::layout::{HEADERS_ROOM, Layout, PROGRAM_FRAMES, Place, Sizes, Tables, file_header, header};
use crate::symbols::IDENTITY_SECTION;
use crate::tls::{self, TLS_SECTION};
use crate::unwind;
use crate::{Result, malformed, unsupported};

/// The parts to write over a copy of the prepared base; together, they are a static executable.
#[derive(Debug)]
pub struct Composition {
    /// Bytes by their offset in the file, in no particular order.
    pub patches: Vec<(u64, Vec<u8>)>,
    /// Where the program's own file belongs, as a whole.
    pub program_offset: u64,
}

/// The loaded sections of ordinary code and data.
const KNOWN_SECTIONS: [&str; 15] = [
    ".bss",
    ".bss.rel.ro",
    ".data",
    ".data.rel.ro",
    ".eh_frame",
    ".eh_frame_hdr",
    ".gcc_except_table",
    ".got",
    ".got.plt",
    ".relro_padding",
    ".rodata",
    ".tbss",
    ".tdata",
    ".text",
    TLS_SECTION,
];

/// Joins the base with `layout` and `program`, which was linked at the base's address for programs. Besides ordinary
/// sections, it may have data whose section name begins with `section_prefix`.
///
/// # Errors
/// If the program is malformed, or has a part that a composed executable would not have. Link it as a whole then.
pub fn compose(layout: &Layout, program: &[u8], section_prefix: &str) -> Result<Composition> {
    let executable = Executable::parse(program, layout.machine)?;
    let first = executable.segments.first().ok_or_else(|| malformed("the program has no segments"))?;
    if first.address < layout.program_base {
        return Err(malformed("the program overlaps its base"));
    }
    if !executable.is_code(executable.entry) {
        return Err(malformed("the entry point is not code"));
    }
    let sections = executable.sections()?;
    check_sections(&sections, section_prefix)?;
    check_identity(layout, &executable, &sections)?;
    let mut patches = Vec::new();
    let tls = tls::segment(layout, &executable, &sections, &mut patches)?;
    let table = frames(layout, &executable, &mut patches)?;
    let headers = program_headers(layout, &executable, tls, table);
    let tables = Tables { segments: (layout.tables.offset, headers.len()), sections: (0, 0) };
    patches.push((0, file_header(layout.machine, executable.entry, tables)));
    let headers: Vec<u8> = headers.iter().flat_map(bytes_of).copied().collect();
    if headers.len() as u64 > HEADERS_ROOM {
        return Err(unsupported("too many segments"));
    }
    patches.push((layout.tables.offset, headers));
    Ok(Composition { patches, program_offset: layout.program_offset })
}

/// Refuses sections whose meaning is not known, such as constructors and relocations at the start.
fn check_sections(sections: &[Section<'_>], prefix: &str) -> Result<()> {
    for section in sections.iter().filter(|section| section.is_loaded()) {
        let is_known = KNOWN_SECTIONS.contains(&section.name) || section.name.starts_with(prefix);
        let is_plain = matches!(section.kind, elf::SHT_PROGBITS | elf::SHT_NOBITS | elf::SHT_X86_64_UNWIND);
        if !is_known || !is_plain {
            return Err(unsupported(format!("a section {}", section.name)));
        }
    }
    Ok(())
}

fn check_identity(layout: &Layout, program: &Executable<'_>, sections: &[Section<'_>]) -> Result<()> {
    let section = sections.iter().find(|section| section.name == IDENTITY_SECTION);
    let section = section.ok_or_else(|| malformed("the base's identity is missing"))?;
    if program.at_offset(section.offset, section.size)? == layout.identity {
        return Ok(());
    }
    Err(unsupported("another base"))
}

/// Appends the program's functions to the unwinding table; returns the table's header.
fn frames(
    layout: &Layout,
    program: &Executable<'_>,
    patches: &mut Vec<(u64, Vec<u8>)>,
) -> Result<ProgramHeader64<LittleEndian>> {
    let frames = unwind::read(program)?.frames;
    if frames.len() as u64 > PROGRAM_FRAMES {
        return Err(unsupported(format!("{} functions", frames.len())));
    }
    let count = layout.frames + frames.len() as u64;
    let place = layout.frames_place();
    patches.push((place.offset, unwind::header(place.address, layout.eh_frame, count)?));
    let end = place.offset + unwind::HEADER + unwind::ENTRY * layout.frames;
    patches.push((end, unwind::entries(place.address, &frames)?));
    let size = unwind::HEADER + unwind::ENTRY * count;
    Ok(header(elf::PT_GNU_EH_FRAME, elf::PF_R, place, Sizes::same(size), 4))
}

/// The composed executable's program headers. The first one covers all of them.
fn program_headers(
    layout: &Layout,
    program: &Executable<'_>,
    tls: Option<ProgramHeader64<LittleEndian>>,
    table: ProgramHeader64<LittleEndian>,
) -> Vec<ProgramHeader64<LittleEndian>> {
    let load = |segment: &Segment, shift: u64| {
        let place = Place { offset: segment.offset + shift, address: segment.address };
        header(
            elf::PT_LOAD,
            ProgramFlags(segment.flags),
            place,
            Sizes { file: segment.file_size, memory: segment.memory_size },
            layout.machine.page(),
        )
    };
    let table_end = table.p_vaddr.get(ENDIAN) + table.p_memsz.get(ENDIAN);
    let tables_size = table_end - layout.tables.address;
    let mut headers: Vec<_> = layout.segments.iter().map(|segment| load(segment, 0)).collect();
    headers.push(header(
        elf::PT_LOAD,
        elf::PF_R,
        layout.tables,
        Sizes::same(tables_size),
        layout.machine.page(),
    ));
    headers.extend(program.segments.iter().map(|segment| load(segment, layout.program_offset)));
    headers.extend(tls);
    headers.push(table);
    let nowhere = Place { offset: 0, address: 0 };
    headers.push(header(elf::PT_GNU_STACK, elf::PF_R | elf::PF_W, nowhere, Sizes::same(0), 0));
    let size = (headers.len() + 1) * size_of::<ProgramHeader64<LittleEndian>>();
    headers.insert(0, header(elf::PT_PHDR, elf::PF_R, layout.tables, Sizes::same(size as u64), 8));
    headers
}

#[cfg(test)]
mod tests {
    use object::elf::{SectionFlags, SectionType};

    use super::*;
    use crate::Error;
    use crate::fixtures::{CODE, DATA, PAGE, SIZE, START, executable, part};
    use crate::{Machine, prepare};

    const MACHINE: Machine = Machine::X86_64;

    fn layout() -> Layout {
        let base = executable(MACHINE, &[part(elf::PT_LOAD, CODE, 0, Sizes::same(PAGE))]);
        prepare(&base, MACHINE, [1; 32]).unwrap().layout
    }

    /// A loaded or other section, and whether a program may have it.
    #[test]
    fn a_loaded_section_is_known_or_has_the_prefix() {
        let (loaded, other) = (elf::SHF_ALLOC, SectionFlags(0));
        let rows: [(&str, SectionType, SectionFlags, bool); 10] = [
            (".text", elf::SHT_PROGBITS, loaded, true),
            (".bss", elf::SHT_NOBITS, loaded, true),
            (".eh_frame", elf::SHT_X86_64_UNWIND, loaded, true),
            (".toolsmith.a", elf::SHT_PROGBITS, loaded, true),
            (".toolsmit", elf::SHT_PROGBITS, loaded, false),
            (".init_array", elf::SHT_INIT_ARRAY, loaded, false),
            (".data", elf::SHT_INIT_ARRAY, loaded, false),
            (".toolsmith.a", elf::SHT_RELA, loaded, false),
            (".comment", elf::SHT_PROGBITS, loaded, false),
            (".comment", elf::SHT_PROGBITS, other, true),
        ];
        for (name, kind, flags, is_known) in rows {
            let sections = [Section { name, kind, flags, offset: 0, address: 0, size: 0 }];
            let expected = if is_known { Ok(()) } else { Err(unsupported(format!("a section {name}"))) };
            assert_eq!(check_sections(&sections, ".toolsmith."), expected, "{name} {flags:?}");
        }
    }

    /// Where a program is, and why it is refused.
    #[test]
    fn a_program_is_behind_its_base_and_starts_with_code() {
        let layout = layout();
        let refusal = |address: u64, flags: ProgramFlags, entry: u64| {
            let place = Place { offset: 0, address };
            let mut program =
                executable(MACHINE, &[header(elf::PT_LOAD, flags, place, Sizes::same(PAGE), PAGE)]);
            // `e_entry`
            program[24..32].copy_from_slice(&entry.to_le_bytes());
            compose(&layout, &program, ".toolsmith.").unwrap_err()
        };
        let base = layout.program_base;
        let overlap = malformed("the program overlaps its base");
        let entry = malformed("the entry point is not code");
        // The last condition of this table: no identity.
        let passed = malformed("the base's identity is missing");
        for (address, flags, start, expected) in [
            (base, CODE, base, &passed),
            (base, CODE, base + PAGE - 1, &passed),
            (base + PAGE, CODE, base + PAGE, &passed),
            (base - PAGE, CODE, base, &overlap),
            (base, CODE, base + PAGE, &entry),
            (base, CODE, base - 1, &entry),
            (base, DATA, base, &entry),
        ] {
            assert_eq!(&refusal(address, flags, start), expected, "{address:x} {start:x}");
        }
        let empty = compose(&layout, &executable(MACHINE, &[]), "").unwrap_err();
        assert_eq!(empty, malformed("the program has no segments"));
    }

    /// The section's name, the bytes in it, and why the program is refused.
    #[test]
    fn a_program_has_the_identity_of_its_base() {
        let layout = layout();
        let mut bytes = executable(MACHINE, &[part(elf::PT_LOAD, CODE, 0, Sizes::same(PAGE))]);
        let at = usize::try_from(PAGE).unwrap();
        bytes[at..at + 32].copy_from_slice(layout.identity());
        let program = Executable::parse(&bytes, MACHINE).unwrap();
        let missing = || Some(malformed("the base's identity is missing"));
        let another = || Some(unsupported("another base"));
        for (name, offset, size, expected) in [
            (IDENTITY_SECTION, PAGE, 32, None),
            (".identity", PAGE, 32, missing()),
            (IDENTITY_SECTION, PAGE, 31, another()),
            (IDENTITY_SECTION, PAGE, 33, another()),
            (IDENTITY_SECTION, PAGE, 0, another()),
            (IDENTITY_SECTION, PAGE + 1, 32, another()),
            (IDENTITY_SECTION, SIZE, 32, Some(malformed("a part is outside the file"))),
        ] {
            let flags = SectionFlags(0);
            let section = Section { name, kind: elf::SHT_PROGBITS, flags, offset, address: 0, size };
            let found = check_identity(&layout, &program, &[section]).err();
            assert_eq!(found, expected, "{name} {offset} {size}");
        }
    }

    #[test]
    fn a_program_has_functions_up_to_the_room_of_the_table() {
        let layout = layout();
        let refusal = |count: u64| -> Option<Error> {
            let place = START + PAGE;
            let listed: Vec<_> = (0..count).map(|number| (START + number, START)).collect();
            let mut table = unwind::header(place, START, count).unwrap();
            table.extend(unwind::entries(place, &listed).unwrap());
            let size = table.len() as u64;
            let parts = [
                part(elf::PT_LOAD, CODE, 0, Sizes::same(SIZE)),
                part(elf::PT_GNU_EH_FRAME, CODE, PAGE, Sizes::same(size)),
            ];
            let mut program = executable(MACHINE, &parts);
            program[usize::try_from(PAGE).unwrap()..][..table.len()].copy_from_slice(&table);
            let program = Executable::parse(&program, MACHINE).unwrap();
            frames(&layout, &program, &mut Vec::new()).err()
        };
        assert_eq!(refusal(PROGRAM_FRAMES), None);
        let many = PROGRAM_FRAMES + 1;
        assert_eq!(refusal(many), Some(unsupported(format!("{many} functions"))));
    }
}
