//! The global offset table: addresses that code loads instead of containing them.

use std::collections::HashMap;

use super::input::{Relocation, Relocations, SectionId};
use super::relocation::{self, Operand};
use super::resolve::{Resolved, Target};
use super::retain::Retained;
use crate::Result;
use crate::machine::Machine;

/// The table's section.
pub(super) const SECTION: &str = ".got";
/// Size of an entry, in bytes.
pub(super) const ENTRY: u64 = 8;

/// The entries.
#[derive(Default)]
pub(super) struct Offsets {
    pub(super) entries: Vec<(Operand, Target)>,
    places: HashMap<(Operand, Target), u64>,
}

impl Offsets {
    /// Collects the offsets that the retained sections ask for.
    pub(super) fn of(machine: Machine, program: &Resolved<'_>, retained: &Retained) -> Result<Self> {
        let mut offsets = Offsets::default();
        for id in &retained.sections {
            offsets.add(machine, program, *id, program.section(*id).relocations)?;
        }
        for (id, frames) in &retained.frames {
            for record in frames.retained() {
                offsets.add(machine, program, *id, record.relocations(program.section(*id)))?;
            }
        }
        Ok(offsets)
    }

    fn add(
        &mut self,
        machine: Machine,
        program: &Resolved<'_>,
        id: SectionId,
        relocations: Relocations<'_>,
    ) -> Result<()> {
        for relocation in relocations.iter().map(Relocation::new) {
            let Some(rule) = relocation::rule(machine, relocation.kind)? else { continue };
            if rule.operand == Operand::Symbol {
                continue;
            }
            let entry = (rule.operand, program.target(id.object, relocation.symbol)?);
            let next = self.size();
            if let std::collections::hash_map::Entry::Vacant(vacant) = self.places.entry(entry) {
                vacant.insert(next);
                self.entries.push(entry);
            }
        }
        Ok(())
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> u64 {
        ENTRY * self.entries.len() as u64
    }

    /// Where an entry is in it.
    pub(super) fn place(&self, operand: Operand, target: Target) -> Option<u64> {
        self.places.get(&(operand, target)).copied()
    }
}
