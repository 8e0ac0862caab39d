//! Reads the descriptions of call frames (`.eh_frame`) of object files.
//!
//! The format is that of the Linux Standard Base, "Exception Frames": records with a length and a number, which is 0 for
//! common information, and otherwise the distance back to it.

use object::LittleEndian;
use object::elf::Rela64;

use super::input::{Definition, Object, Relocation, Relocations, Section};
use crate::elf::ENDIAN;
use crate::{Result, malformed, unsupported};

/// The section's name.
pub(super) const SECTION: &str = ".eh_frame";
/// Where a record's number is, and where a function's description has the function's address.
pub(super) const NUMBER: usize = 4;
pub(super) const FUNCTION: usize = 8;

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    /// Where it begins, and its size.
    pub(super) start: usize,
    pub(super) size: usize,
    /// The function that it describes; `None` if it is information that descriptions share.
    pub(super) function: Option<Function>,
}

/// The function that a description is about.
#[derive(Debug)]
pub(super) struct Function {
    /// The section of its code.
    pub(super) section: usize,
    /// The record with its common information.
    pub(super) common: usize,
}

impl Record {
    /// Its relocations among those of the section, which are in order.
    pub(super) fn relocations<'a>(&self, section: &Section<'a>) -> Relocations<'a> {
        let at = |offset: usize| section.relocations.partition_point(|entry| place(entry) < offset as u64);
        &section.relocations[at(self.start)..at(self.start + self.size)]
    }
}

fn place(entry: &Rela64<LittleEndian>) -> u64 {
    entry.r_offset.get(ENDIAN)
}

/// Reads the records of a section.
pub(super) fn read(object: &Object<'_>, section: &Section<'_>) -> Result<Vec<Record>> {
    if !section.relocations.is_sorted_by_key(place) {
        return Err(unsupported("call frames with relocations in another order"));
    }
    let cut = || malformed("the call frames are cut off");
    let number = |at: usize| {
        let bytes = section.bytes.get(at..at + 4).ok_or_else(cut)?;
        Ok(bytes.try_into().map_or(0, u32::from_le_bytes) as usize)
    };
    let mut records: Vec<Record> = Vec::new();
    let mut start = 0;
    while start < section.bytes.len() {
        let length = number(start)?;
        // The end, or a length of 64 bits.
        if !(4..0xffff_fff0).contains(&length) {
            return Err(unsupported("call frames in another form"));
        }
        let size = 4 + length;
        let back = number(start + NUMBER)?;
        let mut record = Record { start, size, function: None };
        if back != 0 {
            let common = (start + NUMBER).checked_sub(back);
            let common =
                common.and_then(|common| records.binary_search_by_key(&common, |known| known.start).ok());
            let common = common.filter(|common| records[*common].function.is_none());
            let common = common.ok_or_else(|| malformed("call frames without common information"))?;
            record.function = Some(Function { section: described(object, section, start)?, common });
        }
        records.push(record);
        start = start.checked_add(size).filter(|end| *end <= section.bytes.len()).ok_or_else(cut)?;
    }
    Ok(records)
}

/// The section of the code that the description at `start` is about.
fn described(object: &Object<'_>, section: &Section<'_>, start: usize) -> Result<usize> {
    let at = (start + FUNCTION) as u64;
    let found = section.relocations.binary_search_by_key(&at, place).ok();
    let relocation = found.map(|found| Relocation::new(&section.relocations[found]));
    let symbol = relocation.and_then(|relocation| object.symbols.get(relocation.symbol));
    match symbol.map(|symbol| symbol.definition) {
        Some(Definition::Section(section)) => Ok(section),
        _ => Err(unsupported("call frames of code that is elsewhere")),
    }
}
