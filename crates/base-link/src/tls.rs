//! Joins the thread-local variables of a base and a program in one block.
//!
//! The code of each image contains the distances of its variables from the thread pointer, so both must stay where their
//! linkers placed them (ELF's specification of thread-local storage). On x86-64 (variant II), the block ends at the
//! thread pointer: the base's variables come last. On AArch64 (variant I), it begins two words after the thread pointer:
//! the base's variables come first.

use object::LittleEndian;
use object::elf::{self, ProgramHeader64};

use crate::elf::{Executable, Section, Tls};
use crate::layout::{Layout, Place, Sizes, TLS_ALIGNMENT, TLS_ROOM, TlsBlock, header};
use crate::machine::Machine;
use crate::{Result, malformed, unsupported};

/// The section of the base's thread-local variables in programs.
pub(crate) const TLS_SECTION: &str = ".base_tls";

/// AArch64: distance of the block from the thread pointer, in bytes, if the block's address is this much above a
/// multiple of its alignment. Linkers and C libraries add what is missing to that place: see [`distance`].
const GAP: u64 = 16;

/// AArch64: distance from the thread pointer of a block whose address is a multiple of [`TLS_ALIGNMENT`].
const ALIGNED_DISTANCE: u64 = TLS_ALIGNMENT;

/// AArch64: distance of a block's first variable from the thread pointer, in bytes.
fn distance(address: u64, alignment: u64) -> u64 {
    GAP + (address.wrapping_sub(GAP) & (alignment - 1))
}

/// Size of the base's block as programs reserve it, in bytes.
pub(crate) fn reserved(block: &TlsBlock, machine: Machine) -> u64 {
    let size = block.memory_size.next_multiple_of(TLS_ALIGNMENT);
    match machine {
        Machine::X86_64 => size,
        // The base's distance may exceed the program's, by less than this.
        Machine::Aarch64 => size + TLS_ALIGNMENT,
    }
}

/// The offset of the base's first variable in the section that programs reserve. On AArch64 it may be below 0, and wraps:
/// the linker only adds it to the distance of the section.
pub(crate) fn first_variable(block: &TlsBlock, machine: Machine) -> u64 {
    match machine {
        Machine::X86_64 => reserved(block, machine) - block.memory_size,
        Machine::Aarch64 => distance(block.address, block.alignment).wrapping_sub(ALIGNED_DISTANCE),
    }
}

/// The distance of a variable of the base from the thread pointer, in bytes, by its offset in the base's block.
pub(crate) fn distance_of_base(block: &TlsBlock, machine: Machine, offset: u64) -> i64 {
    let distance = match machine {
        Machine::X86_64 => offset.wrapping_sub(block.memory_size),
        Machine::Aarch64 => distance(block.address, block.alignment).wrapping_add(offset),
    };
    distance.cast_signed()
}

/// The distance of a program's own variable from the thread pointer, in bytes, by its offset in a program's block of
/// `size` bytes with the section that it reserves.
pub(crate) fn distance_of_program(machine: Machine, size: u64, offset: u64) -> i64 {
    let distance = match machine {
        Machine::X86_64 => offset.wrapping_sub(size),
        Machine::Aarch64 => ALIGNED_DISTANCE.wrapping_add(offset),
    };
    distance.cast_signed()
}

/// The joined variables of both images.
struct Block {
    /// Initial values; the rest is zero.
    image: Vec<u8>,
    memory_size: u64,
    /// Distance of its address from a multiple of [`TLS_ALIGNMENT`].
    shift: u64,
}

/// The segment of thread-local variables: the base's own, or a joined one if the program has variables too.
pub(crate) fn segment(
    layout: &Layout,
    program: &Executable<'_>,
    sections: &[Section<'_>],
    patches: &mut Vec<(u64, Vec<u8>)>,
) -> Result<Option<ProgramHeader64<LittleEndian>>> {
    let Some(base) = &layout.tls else {
        return if program.tls.is_none() { Ok(None) } else { Err(unsupported("thread-local variables")) };
    };
    let own = program.tls.map_or(Ok(0), |tls| own_size(layout.machine, base, &tls, sections))?;
    if own == 0 {
        let sizes = Sizes { file: base.image.len() as u64, memory: base.memory_size };
        let place = Place { offset: base.offset, address: base.address };
        return Ok(Some(header(elf::PT_TLS, elf::PF_R, place, sizes, base.alignment)));
    }
    let tls = program.tls.ok_or_else(|| malformed("the thread-local variables are missing"))?;
    if own.saturating_add(base.memory_size) > TLS_ROOM - 4 * TLS_ALIGNMENT {
        return Err(unsupported(format!("{own} bytes of thread-local variables")));
    }
    let Block { image, memory_size, shift } = match layout.machine {
        Machine::X86_64 => before_pointer(base, program, &tls, own)?,
        Machine::Aarch64 => after_pointer(base, program, &tls)?,
    };
    let place = layout.tls_place().plus(shift);
    let sizes = Sizes { file: image.len() as u64, memory: memory_size };
    patches.push((place.offset, image));
    Ok(Some(header(elf::PT_TLS, elf::PF_R, place, sizes, TLS_ALIGNMENT)))
}

/// The size of the program's own variables. The section that it reserves for the base's must be next to the thread
/// pointer.
fn own_size(machine: Machine, block: &TlsBlock, tls: &Tls, sections: &[Section<'_>]) -> Result<u64> {
    let reserved = reserved(block, machine);
    let base = sections.iter().find(|section| section.name == TLS_SECTION);
    let base = base.ok_or_else(|| malformed("the base's thread-local variables are missing"))?;
    let own = tls.memory_size.checked_sub(reserved);
    let own = own.ok_or_else(|| malformed("the base's thread-local variables are cut off"))?;
    let end = tls.address + tls.memory_size;
    let is_in_place = match machine {
        Machine::X86_64 => {
            let is_last = base.address.checked_add(reserved) == Some(end);
            is_last && end.is_multiple_of(TLS_ALIGNMENT) && tls.file_size <= own
        }
        Machine::Aarch64 => {
            let is_first = base.address == tls.address;
            is_first && tls.address.is_multiple_of(TLS_ALIGNMENT) && tls.file_size >= reserved
        }
    };
    if base.size != reserved || !is_in_place || tls.alignment != TLS_ALIGNMENT {
        return Err(unsupported("thread-local variables in another arrangement"));
    }
    Ok(own)
}

/// Variant II: padding, the program's variables, the base's.
fn before_pointer(base: &TlsBlock, program: &Executable<'_>, tls: &Tls, own: u64) -> Result<Block> {
    // The block ends at the thread pointer, so padding is at its beginning.
    let padding = own.next_multiple_of(TLS_ALIGNMENT) - own;
    let start = padding + own + first_variable(base, Machine::X86_64);
    let mut image = zeros(padding)?;
    image.extend(program.at_offset(tls.offset, tls.file_size)?);
    image.resize(zeros(start)?.len(), 0);
    image.extend(&base.image);
    Ok(Block { image, memory_size: padding + own + reserved(base, Machine::X86_64), shift: 0 })
}

/// Variant I: the base's variables, the program's. The block begins as near to the thread pointer as any can.
fn after_pointer(base: &TlsBlock, program: &Executable<'_>, tls: &Tls) -> Result<Block> {
    let reserved = reserved(base, Machine::Aarch64);
    let mut image = zeros(distance(base.address, base.alignment) - GAP)?;
    image.extend(&base.image);
    let program_start = ALIGNED_DISTANCE - GAP;
    image.resize(zeros(program_start + reserved)?.len(), 0);
    image.extend(program.at_offset(tls.offset + reserved, tls.file_size - reserved)?);
    Ok(Block { image, memory_size: program_start + tls.memory_size, shift: GAP })
}

fn zeros(bytes: u64) -> Result<Vec<u8>> {
    usize::try_from(bytes).map(|bytes| vec![0; bytes]).map_err(|_| unsupported("its size"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{CODE, DATA, PAGE, SIZE, START, executable, part};
    use crate::prepare;

    fn block(address: u64, memory_size: u64) -> TlsBlock {
        TlsBlock { image: Vec::new(), address, offset: 0, memory_size, alignment: TLS_ALIGNMENT }
    }

    /// A variable of the base has the same distance from the thread pointer in the base and in every program.
    #[test]
    fn the_bases_variables_have_one_place_on_arm64() {
        for low_bits in 0..TLS_ALIGNMENT {
            let block = block(0x20_0000 + low_bits, 200);
            let own = distance(block.address, block.alignment);
            assert!(own >= GAP && (block.address.wrapping_sub(own)).is_multiple_of(TLS_ALIGNMENT));
            let in_program = ALIGNED_DISTANCE.wrapping_add(first_variable(&block, Machine::Aarch64));
            assert_eq!(in_program, own);
            // The program's variables follow without an overlap.
            let end = own + block.memory_size;
            assert!(end <= ALIGNED_DISTANCE + reserved(&block, Machine::Aarch64), "{low_bits}");
        }
        assert_eq!(distance(0x20_0000, 64), 64);
        assert_eq!(distance(0x20_0010, 64), 16);
        assert_eq!(distance(0x20_0008, 8), 16);
    }

    #[test]
    fn the_bases_variables_end_at_the_pointer_on_x86_64() {
        let block = block(0, 200);
        assert_eq!(reserved(&block, Machine::X86_64), 256);
        assert_eq!(first_variable(&block, Machine::X86_64), 56);
    }

    fn section(address: u64, size: u64) -> Section<'static> {
        let (kind, flags) = (elf::SHT_PROGBITS, elf::SHF_ALLOC);
        Section { name: TLS_SECTION, kind, flags, offset: 0, address, size }
    }

    /// A program's block, the section that it reserves for the base's, and the size of its own variables; `None` for
    /// another arrangement.
    #[test]
    fn the_reserved_section_is_next_to_the_thread_pointer() {
        let tls = |address, file_size, memory_size, alignment| Tls {
            offset: 0,
            address,
            file_size,
            memory_size,
            alignment,
        };
        let block = block(0x20_0000, 200);
        for (machine, tls, (address, size), expected) in [
            // The base's variables are the last 256 bytes, and end at a multiple of 64.
            (Machine::X86_64, tls(0x1000, 64, 320, 64), (0x1040, 256), Some(64)),
            (Machine::X86_64, tls(0x1000, 0, 256, 64), (0x1000, 256), Some(0)),
            (Machine::X86_64, tls(0x1038, 8, 264, 64), (0x1040, 256), Some(8)),
            (Machine::X86_64, tls(0x1000, 65, 320, 64), (0x1040, 256), None),
            (Machine::X86_64, tls(0x1000, 64, 320, 64), (0x1000, 256), None),
            (Machine::X86_64, tls(0x1008, 64, 320, 64), (0x1048, 256), None),
            (Machine::X86_64, tls(0x1000, 64, 320, 32), (0x1040, 256), None),
            (Machine::X86_64, tls(0x1000, 64, 320, 64), (0x1040, 255), None),
            // The base's variables are the first 320 bytes, and begin at a multiple of 64.
            (Machine::Aarch64, tls(0x1000, 320, 384, 64), (0x1000, 320), Some(64)),
            (Machine::Aarch64, tls(0x1000, 320, 320, 64), (0x1000, 320), Some(0)),
            (Machine::Aarch64, tls(0x1000, 319, 384, 64), (0x1000, 320), None),
            (Machine::Aarch64, tls(0x1008, 320, 384, 64), (0x1008, 320), None),
            (Machine::Aarch64, tls(0x1000, 320, 384, 64), (0x1040, 320), None),
            (Machine::Aarch64, tls(0x1000, 320, 384, 128), (0x1000, 320), None),
        ] {
            let found = own_size(machine, &block, &tls, &[section(address, size)]);
            let arrangement = || unsupported("thread-local variables in another arrangement");
            assert_eq!(found, expected.ok_or_else(arrangement), "{machine:?} {tls:?} {address:x} {size}");
        }
        let small = tls(0x1000, 0, 255, 64);
        let cut_off = malformed("the base's thread-local variables are cut off");
        assert_eq!(own_size(Machine::X86_64, &block, &small, &[section(0x1000, 256)]), Err(cut_off));
        let missing = malformed("the base's thread-local variables are missing");
        assert_eq!(own_size(Machine::X86_64, &block, &small, &[]), Err(missing));
    }

    /// The sizes of the base's and the program's own variables, and whether both have room together.
    #[test]
    fn the_variables_of_both_images_have_room_together() {
        let most = TLS_ROOM - 4 * TLS_ALIGNMENT;
        for (base, own, has_room) in [
            (64, 8, true),
            (64, most - 64, true),
            (64, most - 63, false),
            (192, most - 192, true),
            (192, most, false),
        ] {
            let variables = header(
                elf::PT_TLS,
                DATA,
                Place { offset: 0, address: START },
                Sizes { file: 0, memory: base },
                8,
            );
            let bytes =
                executable(Machine::X86_64, &[part(elf::PT_LOAD, CODE, 0, Sizes::same(PAGE)), variables]);
            let layout = prepare(&bytes, Machine::X86_64, [0; 32]).unwrap().layout;
            let reserved = reserved(layout.tls.as_ref().unwrap(), Machine::X86_64);
            // The block ends at a multiple of 64.
            let address = START + SIZE - reserved - own;
            let place = Place { offset: 0, address };
            let block =
                header(elf::PT_TLS, DATA, place, Sizes { file: 0, memory: own + reserved }, TLS_ALIGNMENT);
            let program = executable(Machine::X86_64, &[block]);
            let program = Executable::parse(&program, Machine::X86_64).unwrap();
            let sections = [section(address + own, reserved)];
            let found = segment(&layout, &program, &sections, &mut Vec::new());
            assert_eq!(found.is_ok(), has_room, "{base} {own}");
        }
    }
}
