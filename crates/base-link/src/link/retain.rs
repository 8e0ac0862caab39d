//! Finds the sections that a program needs: those that its entry point reaches.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use object::elf;

use super::frames::{self, Record};
use super::input::{Relocation, Relocations, Section, SectionId};
use super::resolve::{Resolved, Target};
use crate::{Result, unsupported};

/// The parts that a program consists of.
#[derive(Default)]
pub(super) struct Retained {
    /// In the order of the inputs, without call frames.
    pub(super) sections: BTreeSet<SectionId>,
    /// The call frames, by their section.
    pub(super) frames: BTreeMap<SectionId, Frames>,
}

/// The call frames of a section.
pub(super) struct Frames {
    pub(super) records: Vec<Record>,
    /// Whether each of them is needed.
    pub(super) is_retained: Vec<bool>,
}

/// The sections that `entry` needs.
pub(super) fn retained(program: &Resolved<'_>, entry: SectionId) -> Result<Retained> {
    let mut retained = Retained::default();
    // The descriptions of each section of code.
    let mut described: HashMap<SectionId, Vec<(SectionId, usize)>> = HashMap::new();
    let mut waiting = vec![entry];
    for id in ids(program) {
        let section = program.section(id);
        if section.name == frames::SECTION {
            let records = frames::read(&program.objects[id.object], section)?;
            for (number, record) in records.iter().enumerate() {
                if let Some(function) = &record.function {
                    let code = SectionId { section: function.section, ..id };
                    described.entry(code).or_default().push((id, number));
                }
            }
            let is_retained = vec![false; records.len()];
            retained.frames.insert(id, Frames { records, is_retained });
        } else if section.is_loaded() && is_always_retained(section) {
            waiting.push(id);
        }
    }
    while let Some(id) = waiting.pop() {
        if !retained.sections.insert(id) {
            continue;
        }
        let section = program.section(id);
        follow(program, id, section.relocations, &mut waiting)?;
        for (frames, number) in described.remove(&id).unwrap_or_default() {
            let Some(own) = retained.frames.get_mut(&frames) else { continue };
            for number in own.retain(number) {
                let relocations = own.records[number].relocations(program.section(frames));
                follow(program, frames, relocations, &mut waiting)?;
            }
        }
    }
    Ok(retained)
}

/// Whether a linker keeps a section although nothing refers to it: what runs before and after `main`, for example.
fn is_always_retained(section: &Section<'_>) -> bool {
    let kinds = [elf::SHT_INIT_ARRAY, elf::SHT_FINI_ARRAY, elf::SHT_PREINIT_ARRAY];
    let names = [".ctors", ".dtors", ".init", ".fini", ".preinit", ".jcr"];
    kinds.contains(&section.kind)
        || names.iter().any(|name| section.name.starts_with(name))
        || section.has(elf::SHF_GNU_RETAIN)
        // It is kept together with another section; programs with such sections are refused.
        || section.has(elf::SHF_LINK_ORDER)
}

/// Every section of every object; the first one of an object is none.
fn ids(program: &Resolved<'_>) -> impl Iterator<Item = SectionId> {
    let sections =
        |(object, sections): (usize, usize)| (1..sections).map(move |section| SectionId { object, section });
    program.objects.iter().map(|object| object.sections.len()).enumerate().flat_map(sections)
}

/// Adds the sections that relocations refer to.
fn follow(
    program: &Resolved<'_>,
    of: SectionId,
    relocations: Relocations<'_>,
    waiting: &mut Vec<SectionId>,
) -> Result<()> {
    for relocation in relocations.iter().map(Relocation::new) {
        let Target::Section { place, .. } = program.target(of.object, relocation.symbol)? else { continue };
        let section = program.section(place);
        if !section.is_loaded() || section.name == frames::SECTION {
            return Err(unsupported(format!("a reference to the section {}", section.name)));
        }
        waiting.push(place);
    }
    Ok(())
}

impl Frames {
    /// The records that are needed, in order.
    pub(super) fn retained(&self) -> impl Iterator<Item = &Record> {
        self.records
            .iter()
            .zip(&self.is_retained)
            .filter(|(_, is_retained)| **is_retained)
            .map(|(record, _)| record)
    }

    /// Retains a description and its common information; returns those that were not retained before.
    fn retain(&mut self, number: usize) -> Vec<usize> {
        let common = self.records[number].function.as_ref().map(|function| function.common);
        let is_new = |number: &usize| !std::mem::replace(&mut self.is_retained[*number], true);
        common.into_iter().chain([number]).filter(is_new).collect()
    }
}
