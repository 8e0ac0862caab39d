//! Joins a prepared base and a program that was linked against it.

use object::elf::{self, FileHeader64, Ident, ProgramFlags, ProgramHeader64, ProgramType};
use object::pod::bytes_of;
use object::{LittleEndian, U16, U32, U64};

use crate::elf::{ENDIAN, Executable, PAGE, Section, Segment, Tls};
use crate::layout::{HEADERS_ROOM, Layout, PROGRAM_FRAMES, Place, TLS_ALIGNMENT, TLS_ROOM};
use crate::symbols::{IDENTITY_SECTION, TLS_SECTION};
use crate::unwind;
use crate::{Result, malformed, unsupported};

/// What to write over a copy of the prepared base; together, they are a static executable.
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
    let tls = tls(layout, &executable, &sections, &mut patches)?;
    let table = frames(layout, &executable, &mut patches)?;
    let headers = program_headers(layout, &executable, tls, table);
    patches.push((0, file_header(layout, executable.entry, headers.len())));
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

/// The segment of thread-local variables: the base's own, or a joined one if the program has variables too.
fn tls(
    layout: &Layout,
    program: &Executable<'_>,
    sections: &[Section<'_>],
    patches: &mut Vec<(u64, Vec<u8>)>,
) -> Result<Option<ProgramHeader64<LittleEndian>>> {
    let Some(base) = &layout.tls else {
        return if program.tls.is_none() { Ok(None) } else { Err(unsupported("thread-local variables")) };
    };
    let reserved = base.reserved();
    let own = program.tls.map_or(Ok(0), |tls| own_tls(&tls, sections, reserved))?;
    if own == 0 {
        let (file_size, memory_size) = (base.image.len() as u64, base.memory_size);
        let place = Place { offset: base.offset, address: base.address };
        return Ok(Some(header(elf::PT_TLS, elf::PF_R, place, (file_size, memory_size), base.alignment)));
    }
    let tls = program.tls.ok_or_else(|| malformed("the thread-local variables are missing"))?;
    // The block ends at the thread pointer, so padding is at its beginning.
    let padding = own.next_multiple_of(TLS_ALIGNMENT) - own;
    let start = padding + own + (reserved - base.memory_size);
    let file_size = start + base.image.len() as u64;
    if file_size > TLS_ROOM {
        return Err(unsupported(format!("{own} bytes of thread-local variables")));
    }
    let mut image = zeros(padding)?;
    image.extend(program.at_offset(tls.offset, tls.file_size)?);
    image.resize(zeros(start)?.len(), 0);
    image.extend(&base.image);
    let place = layout.tls_place();
    patches.push((place.offset, image));
    let sizes = (file_size, padding + own + reserved);
    Ok(Some(header(elf::PT_TLS, elf::PF_R, place, sizes, TLS_ALIGNMENT)))
}

fn zeros(bytes: u64) -> Result<Vec<u8>> {
    usize::try_from(bytes).map(|bytes| vec![0; bytes]).map_err(|_| unsupported("its size"))
}

/// The size of the program's own thread-local variables. The base's must follow them, up to the
/// thread pointer, which is aligned.
fn own_tls(tls: &Tls, sections: &[Section<'_>], reserved: u64) -> Result<u64> {
    let base = sections.iter().find(|section| section.name == TLS_SECTION);
    let base = base.ok_or_else(|| malformed("the base's thread-local variables are missing"))?;
    let own = tls.memory_size.checked_sub(reserved);
    let own = own.ok_or_else(|| malformed("the base's thread-local variables are cut off"))?;
    let end = tls.address + tls.memory_size;
    let is_last = base.size == reserved && base.address.checked_add(reserved) == Some(end);
    let is_aligned = end.is_multiple_of(TLS_ALIGNMENT) && tls.alignment == TLS_ALIGNMENT;
    if !is_last || !is_aligned || tls.file_size > own {
        return Err(unsupported("thread-local variables in another arrangement"));
    }
    Ok(own)
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
    Ok(header(elf::PT_GNU_EH_FRAME, elf::PF_R, place, (size, size), 4))
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
            (segment.file_size, segment.memory_size),
            PAGE,
        )
    };
    let table_end = table.p_vaddr.get(ENDIAN) + table.p_memsz.get(ENDIAN);
    let tables_size = table_end - layout.tables.address;
    let mut headers: Vec<_> = layout.segments.iter().map(|segment| load(segment, 0)).collect();
    headers.push(header(elf::PT_LOAD, elf::PF_R, layout.tables, (tables_size, tables_size), PAGE));
    headers.extend(program.segments.iter().map(|segment| load(segment, layout.program_offset)));
    headers.extend(tls);
    headers.push(table);
    let nowhere = Place { offset: 0, address: 0 };
    headers.push(header(elf::PT_GNU_STACK, elf::PF_R | elf::PF_W, nowhere, (0, 0), 0));
    let size = (headers.len() + 1) * size_of::<ProgramHeader64<LittleEndian>>();
    let sizes = (size as u64, size as u64);
    headers.insert(0, header(elf::PT_PHDR, elf::PF_R, layout.tables, sizes, 8));
    headers
}

fn header(
    kind: ProgramType,
    flags: ProgramFlags,
    place: Place,
    (file_size, memory_size): (u64, u64),
    alignment: u64,
) -> ProgramHeader64<LittleEndian> {
    ProgramHeader64 {
        p_type: U32::new(ENDIAN, kind),
        p_flags: U32::new(ENDIAN, flags),
        p_offset: U64::new(ENDIAN, place.offset),
        p_vaddr: U64::new(ENDIAN, place.address),
        p_paddr: U64::new(ENDIAN, place.address),
        p_filesz: U64::new(ENDIAN, file_size),
        p_memsz: U64::new(ENDIAN, memory_size),
        p_align: U64::new(ENDIAN, alignment),
    }
}

/// The composed executable's header. It has no section headers.
fn file_header(layout: &Layout, entry: u64, headers: usize) -> Vec<u8> {
    let small = |number: usize| U16::new(ENDIAN, u16::try_from(number).unwrap_or(u16::MAX));
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
        e_machine: U16::new(ENDIAN, elf::Machine(layout.machine)),
        e_version: U32::new(ENDIAN, u32::from(elf::EV_CURRENT.0)),
        e_entry: U64::new(ENDIAN, entry),
        e_phoff: U64::new(ENDIAN, layout.tables.offset),
        e_shoff: U64::new(ENDIAN, 0),
        e_flags: U32::new(ENDIAN, elf::FileFlags(0)),
        e_ehsize: small(size_of::<FileHeader64<LittleEndian>>()),
        e_phentsize: small(size_of::<ProgramHeader64<LittleEndian>>()),
        e_phnum: small(headers),
        e_shentsize: small(0),
        e_shnum: small(0),
        e_shstrndx: U16::new(ENDIAN, elf::SHN_UNDEF),
    };
    bytes_of(&header).to_vec()
}
