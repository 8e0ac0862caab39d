//! Prepares a linked base: checks it, and separates what is loaded from its symbols.

use object::elf;

use crate::elf::Executable;
use crate::layout::{HEADERS_ROOM, Layout, Place, TLS_ALIGNMENT, TLS_ROOM, TlsBlock};
use crate::machine::Machine;
use crate::symbols;
use crate::unwind;
use crate::{Result, malformed, unsupported};

/// A base that programs can be linked against.
#[derive(Debug)]
pub struct Prepared {
    /// Where its parts are.
    pub layout: Layout,
    /// The beginning of each composed executable.
    pub image: Vec<u8>,
    /// The table of the base's symbols, for [`link`](crate::link()).
    pub symbols: Vec<u8>,
}

/// Prepares `base`, a static executable for `machine` with symbols, without an entry point. `identity`
/// distinguishes it from other bases, for example a hash of its bytes: [`compose`](crate::compose()) refuses programs that
/// were linked against another one.
///
/// # Errors
/// If it is malformed, or has a part that the composed executable would not have.
pub fn prepare(base: &[u8], machine: Machine, identity: [u8; 32]) -> Result<Prepared> {
    let executable = Executable::parse(base, machine)?;
    let first = *executable.segments.first().ok_or_else(|| malformed("the base has no segments"))?;
    if first.offset != 0 {
        return Err(unsupported("a first segment without the file's header"));
    }
    for section in executable.sections()? {
        let is_relocation =
            matches!(section.kind, elf::SHT_REL | elf::SHT_RELA | elf::SHT_DYNAMIC | elf::SHT_RELR);
        if is_relocation && section.is_loaded() {
            return Err(unsupported(format!("relocations that are applied at its start ({})", section.name)));
        }
    }
    let tls = tls(&executable, machine)?;
    let frames = unwind::read(&executable)?;
    let count = frames.frames.len() as u64;
    let loaded = |end: Option<u64>| end.unwrap_or_default();
    let file_end = executable.segments.iter().map(|segment| segment.offset + segment.file_size).max();
    // Kernels before 5.18 assume that the headers are as far from the first segment in memory as in the file.
    let address = machine.page_end(executable.memory_end());
    let offset = address - first.address;
    if offset < loaded(file_end) {
        return Err(unsupported("segments that are larger in the file than in memory"));
    }
    let tables = Place { offset, address };
    let room = machine.page_end(HEADERS_ROOM + TLS_ROOM + Layout::table_room(count));
    let layout = Layout {
        identity,
        machine,
        segments: executable.segments.clone(),
        tls,
        tables,
        eh_frame: frames.eh_frame,
        frames: count,
        program_offset: machine.page_end(offset + room),
        program_base: machine.page_end(address + room),
    };
    let mut image = executable.at_offset(0, loaded(file_end))?.to_vec();
    let place = layout.frames_place();
    let start = usize::try_from(place.offset + unwind::HEADER).map_err(|_| unsupported("its size"))?;
    image.resize(start, 0);
    image.extend(unwind::entries(place.address, &frames.frames)?);
    let symbols = symbols::write(&executable, &layout)?;
    Ok(Prepared { layout, image, symbols })
}

fn tls(base: &Executable<'_>, machine: Machine) -> Result<Option<TlsBlock>> {
    let Some(tls) = base.tls else { return Ok(None) };
    if tls.alignment > TLS_ALIGNMENT || !tls.alignment.is_power_of_two() {
        return Err(unsupported(format!("thread-local variables aligned to {} bytes", tls.alignment)));
    }
    if tls.memory_size > TLS_ROOM / 2 {
        return Err(unsupported(format!("{} bytes of thread-local variables", tls.memory_size)));
    }
    // Otherwise the distance to the thread pointer would include padding at the end of the block.
    let ends_at_pointer = machine == Machine::X86_64;
    let is_aligned =
        tls.memory_size.is_multiple_of(tls.alignment) && tls.address.is_multiple_of(tls.alignment);
    if ends_at_pointer && !is_aligned {
        return Err(unsupported("thread-local variables that are not aligned at both ends"));
    }
    Ok(Some(TlsBlock {
        image: base.at_offset(tls.offset, tls.file_size)?.to_vec(),
        address: tls.address,
        offset: tls.offset,
        memory_size: tls.memory_size,
        alignment: tls.alignment,
    }))
}

#[cfg(test)]
mod tests {
    use object::LittleEndian;
    use object::elf::ProgramHeader64;

    use super::*;
    use crate::Error;
    use crate::fixtures::{CODE, DATA, PAGE, START, executable, part};
    use crate::layout::{Sizes, header};

    type Headers = Vec<ProgramHeader64<LittleEndian>>;

    /// The base's code, and thread-local variables of this size and alignment at this offset.
    fn with_variables(offset: u64, size: u64, alignment: u64) -> Headers {
        let place = Place { offset, address: START + offset };
        let variables = header(elf::PT_TLS, DATA, place, Sizes { file: 0, memory: size }, alignment);
        vec![part(elf::PT_LOAD, CODE, 0, Sizes::same(PAGE)), variables]
    }

    /// The machine, the program headers, and why the base is refused.
    #[test]
    fn each_condition_on_a_base_counts() {
        let (x86, arm) = (Machine::X86_64, Machine::Aarch64);
        let most = TLS_ROOM / 2;
        let aligned =
            |bytes: u64| Some(unsupported(format!("thread-local variables aligned to {bytes} bytes")));
        let odd = || Some(unsupported("thread-local variables that are not aligned at both ends"));
        let rows: Vec<(&str, Machine, Headers, Option<Error>)> = vec![
            ("code", x86, vec![part(elf::PT_LOAD, CODE, 0, Sizes::same(PAGE))], None),
            ("nothing", x86, vec![], Some(malformed("the base has no segments"))),
            (
                "a first segment without the header",
                x86,
                vec![part(elf::PT_LOAD, CODE, PAGE, Sizes::same(PAGE))],
                Some(unsupported("a first segment without the file's header")),
            ),
            ("variables", x86, with_variables(0, 64, 64), None),
            ("variables of a byte", x86, with_variables(1, 1, 1), None),
            ("the largest alignment", x86, with_variables(0, 128, TLS_ALIGNMENT), None),
            ("a larger alignment", x86, with_variables(0, 128, 128), aligned(128)),
            ("an alignment that is no power of two", x86, with_variables(0, 48, 48), aligned(48)),
            ("the most variables", x86, with_variables(0, most, 64), None),
            (
                "more variables",
                x86,
                with_variables(0, most + 64, 64),
                Some(unsupported(format!("{} bytes of thread-local variables", most + 64))),
            ),
            ("an end that is not aligned", x86, with_variables(0, 60, 8), odd()),
            ("a start that is not aligned", x86, with_variables(4, 64, 8), odd()),
            ("an end that is not aligned, on arm64", arm, with_variables(0, 60, 8), None),
            ("a start that is not aligned, on arm64", arm, with_variables(4, 64, 8), None),
            (
                "more in the file than in memory",
                x86,
                vec![
                    part(elf::PT_LOAD, CODE, 0, Sizes::same(PAGE)),
                    header(
                        elf::PT_LOAD,
                        DATA,
                        Place { offset: 3 * PAGE, address: START + PAGE },
                        Sizes::same(PAGE),
                        PAGE,
                    ),
                ],
                Some(unsupported("segments that are larger in the file than in memory")),
            ),
        ];
        for (what, machine, headers, expected) in rows {
            let found = prepare(&executable(machine, &headers), machine, [1; 32]);
            assert_eq!(found.err(), expected, "{what}");
        }
    }

    /// The tables follow the base, and the program follows the tables, in the file and in memory.
    #[test]
    fn the_parts_are_adjacent_and_do_not_overlap() {
        for machine in [Machine::X86_64, Machine::Aarch64] {
            let base = executable(
                machine,
                &[part(elf::PT_LOAD, CODE, 0, Sizes { file: PAGE - 1, memory: PAGE + 1 })],
            );
            let Layout { tables, program_base, program_offset, .. } =
                prepare(&base, machine, [1; 32]).unwrap().layout;
            assert_eq!(tables.address, machine.page_end(START + PAGE + 1));
            assert_eq!(tables.offset, tables.address - START);
            let room = HEADERS_ROOM + TLS_ROOM + Layout::table_room(0);
            assert_eq!(program_base, machine.page_end(tables.address + room));
            assert_eq!(program_offset, program_base - START);
        }
    }
}
