//! The bytes of a program's sections, with all addresses.

use std::ops::Range;

use object::elf;

use super::arrange::{Arrangement, UNWINDING};
use super::frames::{self, Record};
use super::input::{Relocation, Relocations, SectionId};
use super::offsets;
use super::relocation::{self, Operand, Rule, Value};
use super::resolve::{Resolved, Target};
use super::retain::Retained;
use crate::unwind::{self, Frame};
use crate::{Result, malformed, tls, unsupported};

/// Pages of AArch64's instructions, in bytes, whatever the kernel's are.
const PAGE: u64 = 4 << 10;

/// Maximum size of a program's file, in bytes (64 MiB).
const MAX_FILE: u64 = 64 << 20;

/// A program of which everything has its place.
pub(super) struct Placed<'a> {
    pub(super) program: &'a Resolved<'a>,
    pub(super) retained: &'a Retained,
    pub(super) arrangement: &'a Arrangement<'a>,
}

impl Placed<'_> {
    /// The file, without its headers and the table of its sections.
    pub(super) fn file(&self) -> Result<Vec<u8>> {
        let outputs = &self.arrangement.outputs;
        let ends = outputs.iter().map(|output| output.offset + output.size_in_file());
        let end = ends.max().unwrap_or_default();
        if end > MAX_FILE {
            return Err(unsupported(format!("a file of {} MiB", end >> 20)));
        }
        let mut file = vec![0; usize::try_from(end).map_err(|_| malformed("its size"))?];
        for output in outputs.iter().filter(|output| !output.is_zero) {
            for (id, place) in &output.pieces {
                let section = self.program.section(*id);
                let bytes = part(&mut file, output.offset + place, section.bytes.len())?;
                bytes.copy_from_slice(section.bytes);
                self.relocate(bytes, output.address + place, *id, section.relocations, 0)?;
            }
        }
        self.write_offsets(&mut file)?;
        self.write_frames(&mut file)?;
        Ok(file)
    }

    fn write_offsets(&self, file: &mut [u8]) -> Result<()> {
        let Some(output) = self.arrangement.output(offsets::SECTION) else { return Ok(()) };
        for (number, (operand, target)) in self.arrangement.offsets.entries.iter().enumerate() {
            let value = match operand {
                Operand::ThreadEntry => self.distance_from_thread(*target)?,
                _ => self.address(*target)?.cast_signed(),
            };
            let place = output.offset + offsets::ENTRY * number as u64;
            part(file, place, offsets::ENTRY as usize)?.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    /// Writes the call frames, and the table of their functions.
    fn write_frames(&self, file: &mut [u8]) -> Result<()> {
        let mut functions: Vec<Frame> = Vec::new();
        let output = self.arrangement.output(frames::SECTION);
        let mut next = 0;
        for (id, own) in &self.retained.frames {
            // The new places of the records of this section.
            let mut places = vec![0; own.records.len()];
            for (number, record) in
                own.records.iter().enumerate().filter(|(number, _)| own.is_retained[*number])
            {
                let output = output.ok_or_else(|| malformed("its call frames"))?;
                places[number] = next;
                let bytes = part(file, output.offset + next, record.size)?;
                let address = output.address + next;
                functions.extend(self.write_frame(bytes, address, *id, record)?);
                if let Some(function) = &record.function {
                    let back = next + frames::NUMBER as u64 - places[function.common];
                    let back = u32::try_from(back).map_err(|_| malformed("its call frames"))?;
                    bytes[frames::NUMBER..frames::NUMBER + 4].copy_from_slice(&back.to_le_bytes());
                }
                next += record.size as u64;
            }
        }
        functions.sort_unstable();
        let table = self.arrangement.output(UNWINDING).ok_or_else(|| malformed("its call frames"))?;
        let frames = output.map_or(table.address, |output| output.address);
        let mut bytes = unwind::header(table.address, frames, functions.len() as u64)?;
        bytes.extend(unwind::entries(table.address, &functions)?);
        part(file, table.offset, bytes.len())?.copy_from_slice(&bytes);
        Ok(())
    }

    /// Writes a record that will be at `address`; returns what the table has about it.
    fn write_frame(
        &self,
        bytes: &mut [u8],
        address: u64,
        id: SectionId,
        record: &Record,
    ) -> Result<Option<Frame>> {
        let section = self.program.section(id);
        bytes.copy_from_slice(&section.bytes[record.start..record.start + record.size]);
        let relocations = record.relocations(section);
        self.relocate(bytes, address, id, relocations, record.start as u64)?;
        if record.function.is_none() {
            return Ok(None);
        }
        let place = (record.start + frames::FUNCTION) as u64;
        let code = relocations.iter().map(Relocation::new).find(|relocation| relocation.offset == place);
        let code = code.ok_or_else(|| malformed("its call frames"))?;
        let target = self.program.target(id.object, code.symbol)?;
        Ok(Some((self.address(target)?.wrapping_add_signed(code.addend), address)))
    }

    /// Writes the values of relocations into bytes that will be at `address`. `start` is where the bytes begin in the
    /// section.
    fn relocate(
        &self,
        bytes: &mut [u8],
        address: u64,
        id: SectionId,
        relocations: Relocations<'_>,
        start: u64,
    ) -> Result<()> {
        for relocation in relocations.iter().map(Relocation::new) {
            let Some(rule) = relocation::rule(self.arrangement.layout.machine, relocation.kind)? else {
                continue;
            };
            let offset = relocation.offset - start;
            let target = self.program.target(id.object, relocation.symbol)?;
            let value = self.value(rule, target, relocation.addend, address.wrapping_add(offset))?;
            relocation::write(bytes, offset, rule.field, value)?;
        }
        Ok(())
    }

    /// The value of a relocation at `place`.
    fn value(&self, rule: Rule, target: Target, addend: i64, place: u64) -> Result<i64> {
        if rule.value == Value::ThreadDistance {
            return Ok(self.distance_from_thread(target)?.wrapping_add(addend));
        }
        let operand = match rule.operand {
            Operand::Symbol => self.address(target)?,
            operand => self.entry(operand, target)?,
        };
        let address = operand.wrapping_add_signed(addend);
        let page = |address: u64| address - address % PAGE;
        let value = match rule.value {
            Value::Distance => address.wrapping_sub(place),
            Value::Pages => page(address).wrapping_sub(page(place)),
            _ => address,
        };
        Ok(value.cast_signed())
    }

    /// The address of an entry of the global offset table.
    fn entry(&self, operand: Operand, target: Target) -> Result<u64> {
        let place = self.arrangement.offsets.place(operand, target);
        let place = place.ok_or_else(|| malformed("its global offset table"))?;
        Ok(self.arrangement.table + place)
    }

    /// The address of a symbol.
    pub(super) fn address(&self, target: Target) -> Result<u64> {
        match target {
            Target::Address(address) => Ok(address),
            Target::Section { place, value } if !self.program.section(place).has(elf::SHF_TLS) => {
                Ok(self.start(place)?.wrapping_add(value))
            }
            _ => Err(unsupported("the address of a thread-local variable in its code")),
        }
    }

    fn distance_from_thread(&self, target: Target) -> Result<i64> {
        match (target, &self.arrangement.locals) {
            (Target::ThreadLocal(distance), _) => Ok(distance),
            (Target::Section { place, value }, Some(Range { start, end }))
                if self.program.section(place).has(elf::SHF_TLS) =>
            {
                let offset = (self.start(place)? - start).wrapping_add(value);
                Ok(tls::distance_of_program(self.arrangement.layout.machine, end - start, offset))
            }
            _ => Err(unsupported("an ordinary variable as a thread-local one")),
        }
    }

    fn start(&self, id: SectionId) -> Result<u64> {
        self.arrangement
            .addresses
            .get(&id)
            .copied()
            .ok_or_else(|| malformed("a reference to a dropped section"))
    }
}

fn part(file: &mut [u8], offset: u64, size: usize) -> Result<&mut [u8]> {
    let start = usize::try_from(offset).map_err(|_| malformed("its size"))?;
    let part = start.checked_add(size).and_then(|end| file.get_mut(start..end));
    part.ok_or_else(|| malformed("a section outside the file"))
}
