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
