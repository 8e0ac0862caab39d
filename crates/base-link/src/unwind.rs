//! The table that unwinding searches (`.eh_frame_hdr`), and the joined table of two images.
//!
//! Unwinders accept one table for an executable, so both images share one. The format is that of the Linux Standard
//! Base, "Exception Frame Header": four bytes of version and encodings, the address of `.eh_frame`, the number of
//! entries, and for each function its address and that of its frame description, sorted and relative to the table.

use crate::elf::Executable;
use crate::{Result, malformed, unsupported};

/// Size of the header before the entries, in bytes.
pub(crate) const HEADER: u64 = 12;
/// Size of an entry, in bytes.
pub(crate) const ENTRY: u64 = 8;
/// Version 1; the address of `.eh_frame` relative to itself, a 32-bit count, entries relative to the table.
const FORMAT: [u8; 4] = [1, 0x1b, 0x03, 0x3b];

/// A function's code, and the description of its call frame: both addresses.
pub(crate) type Frame = (u64, u64);

/// An image's table.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// The address of `.eh_frame`.
    pub(crate) eh_frame: u64,
    /// Sorted by the address of the code.
    pub(crate) frames: Vec<Frame>,
}

/// Reads an image's table; without functions, there may be none.
pub(crate) fn read(image: &Executable<'_>) -> Result<Frames> {
    let Some((address, size)) = image.eh_frame_hdr else { return Ok(Frames::default()) };
    let table = image.at_address(address, size)?;
    let (header, entries) =
        table.split_at_checked(HEADER as usize).ok_or_else(|| malformed("the unwinding table is cut off"))?;
    if header[..4] != FORMAT {
        return Err(unsupported("an unwinding table in another format"));
    }
    let number = |bytes: &[u8]| bytes.try_into().map(i32::from_le_bytes).unwrap_or_default();
    let relative = |to: u64, bytes: &[u8]| to.checked_add_signed(i64::from(number(bytes)));
    let eh_frame = relative(address + 4, &header[4..8]);
    let eh_frame = eh_frame.ok_or_else(|| malformed("the call frames are outside the image"))?;
    let count = number(&header[8..12]).cast_unsigned();
    let entries = entries.get(..(count as usize).saturating_mul(ENTRY as usize));
    let entries = entries.ok_or_else(|| malformed("the unwinding table is cut off"))?;
    let mut frames = Vec::with_capacity(entries.len() / ENTRY as usize);
    for entry in entries.chunks_exact(ENTRY as usize) {
        let frame = relative(address, &entry[..4]).zip(relative(address, &entry[4..]));
        let (code, description) = frame.ok_or_else(|| malformed("a function is outside the image"))?;
        image.at_address(description, 4)?;
        if !image.is_code(code) || frames.last().is_some_and(|(last, _)| *last >= code) {
            return Err(malformed("the unwinding table is not sorted, or lists what is not code"));
        }
        frames.push((code, description));
    }
    Ok(Frames { eh_frame, frames })
}

/// The header of a table of `count` entries at `address`.
pub(crate) fn header(address: u64, eh_frame: u64, count: u64) -> Result<Vec<u8>> {
    let count = u32::try_from(count).map_err(|_| unsupported("too many functions"))?;
    let mut header = FORMAT.to_vec();
    header.extend(offset(address + 4, eh_frame)?);
    header.extend(count.to_le_bytes());
    Ok(header)
}

/// Entries of the table at `address`.
pub(crate) fn entries(address: u64, frames: &[Frame]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(frames.len() * ENTRY as usize);
    for (code, description) in frames {
        bytes.extend(offset(address, *code)?);
        bytes.extend(offset(address, *description)?);
    }
    Ok(bytes)
}

fn offset(from: u64, to: u64) -> Result<[u8; 4]> {
    let distance = to.cast_signed().checked_sub(from.cast_signed());
    let distance = distance.and_then(|distance| i32::try_from(distance).ok());
    distance.map(i32::to_le_bytes).ok_or_else(|| unsupported("an address more than 2 GiB away"))
}

#[cfg(test)]
mod tests {
    use object::elf;

    use super::*;
    use crate::Error;
    use crate::fixtures::{CODE, START, executable, part};
    use crate::layout::Sizes;
    use crate::machine::Machine;

    /// Where the table is in the executable, and how many bytes are loaded.
    const TABLE: u64 = 0x1000;
    const LOADED: u64 = 0x2000;

    /// Reads a table of these bytes, of which `size` are in its segment.
    fn frames_of(table: &[u8], size: u64) -> Result<Vec<Frame>> {
        let headers = [
            part(elf::PT_LOAD, CODE, 0, Sizes::same(LOADED)),
            part(elf::PT_GNU_EH_FRAME, CODE, TABLE, Sizes::same(size)),
        ];
        let mut bytes = executable(Machine::X86_64, &headers);
        bytes[TABLE as usize..][..table.len()].copy_from_slice(table);
        let read = read(&Executable::parse(&bytes, Machine::X86_64)?)?;
        assert_eq!(read.eh_frame, START);
        Ok(read.frames)
    }

    fn table(count: u64, frames: &[Frame]) -> Vec<u8> {
        let mut table = header(START + TABLE, START, count).unwrap();
        table.extend(entries(START + TABLE, frames).unwrap());
        table
    }

    /// The entries of a table, and why it is refused.
    #[test]
    fn a_table_lists_code_in_order() {
        let (code, last) = (START + 0x100, START + LOADED);
        let unsorted = || Some(malformed("the unwinding table is not sorted, or lists what is not code"));
        let outside = || Some(malformed("an address is outside the segments"));
        for (frames, expected) in [
            (&[][..], None),
            (&[(code, START)], None),
            (&[(code, START), (code + 1, START)], None),
            (&[(code, START), (code, START)], unsorted()),
            (&[(code + 1, START), (code, START)], unsorted()),
            (&[(last - 1, START)], None),
            (&[(last, START)], unsorted()),
            (&[(START - 1, START)], unsorted()),
            (&[(code, last - 4)], None),
            (&[(code, last - 3)], outside()),
            (&[(code, START - 1)], outside()),
        ] {
            let table = table(frames.len() as u64, frames);
            let found = frames_of(&table, table.len() as u64);
            assert_eq!(found.as_ref().err(), expected.as_ref(), "{frames:x?}");
            assert!(found.is_err() || found.as_deref() == Ok(frames));
        }
    }

    #[test]
    fn a_table_has_a_header_and_all_its_entries() {
        let frame = (START + 0x100, START);
        let cut_off = || Some(malformed("the unwinding table is cut off"));
        let refusal = |count: u64, size: u64| frames_of(&table(count, &[frame]), size).err();
        for (count, size, expected) in [
            (1, HEADER + ENTRY, None),
            (1, HEADER + ENTRY - 1, cut_off()),
            (2, HEADER + ENTRY, cut_off()),
            (u64::from(u32::MAX), HEADER + ENTRY, cut_off()),
            (0, HEADER, None),
            (0, HEADER - 1, cut_off()),
        ] {
            assert_eq!(refusal(count, size), expected, "{count} {size}");
        }
        let mut other = table(1, &[frame]);
        other[0] = 2;
        let format: Option<Error> = Some(unsupported("an unwinding table in another format"));
        assert_eq!(frames_of(&other, HEADER + ENTRY).err(), format);
    }

    #[test]
    fn distances_have_32_bits() {
        const LIMIT: u64 = 1 << 31;
        let far = Err(unsupported("an address more than 2 GiB away"));
        for (from, to, expected) in [
            (0, LIMIT - 1, Ok(i32::MAX)),
            (0, LIMIT, far.clone()),
            (LIMIT, 0, Ok(i32::MIN)),
            (LIMIT + 1, 0, far.clone()),
            (0, u64::MAX, Ok(-1)),
        ] {
            assert_eq!(offset(from, to), expected.map(i32::to_le_bytes), "{from} {to}");
        }
        assert!(header(START, START, u64::from(u32::MAX)).is_ok());
        assert_eq!(header(START, START, 1 << 32), Err(unsupported("too many functions")));
    }
}
