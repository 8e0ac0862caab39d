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
