//! Decides where each part of a program is: in its file and in memory.
//!
//! ```text
//! headers, constants, call frames | code | thread-local variables, global offset table, variables
//! ```
//!
//! These are the segments: readable, executable, writable. Each begins in a page of its own, at the same place in the
//! page as in the file.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use object::elf;

use super::frames;
use super::input::{Section, SectionId, shown};
use super::offsets::{self, Offsets};
use super::resolve::Resolved;
use super::retain::{Frames, Retained};
use crate::layout::{Layout, TLS_ALIGNMENT};
use crate::machine::Machine;
use crate::tls::{self, TLS_SECTION};
use crate::unwind;
use crate::{Result, malformed, unsupported};

/// Room for the file's header and its program headers, in bytes: three loaded segments, thread-local variables, and the
/// unwinding table.
pub(super) const HEADERS: u64 = 64 + 5 * 56;

/// Maximum alignment of a section, in bytes (64 KiB): the file may have a gap as large.
const MAX_ALIGNMENT: u64 = 64 << 10;

/// Maximum length of the name of a section after the caller's prefix, in bytes: that of a hash.
const LONGEST_SUFFIX: usize = 32;

/// The section of the unwinding table.
pub(super) const UNWINDING: &str = ".eh_frame_hdr";

const READ: u64 = elf::SHF_ALLOC.0;
const CODE: u64 = READ | elf::SHF_EXECINSTR.0;
const WRITE: u64 = READ | elf::SHF_WRITE.0;
const LOCAL: u64 = WRITE | elf::SHF_TLS.0;

/// The program's sections, in order, with their flags and whether they are zeros. The sections of inputs have the same
/// names, or add a suffix to the longest that fits.
const ORDINARY: [(&str, u64, bool); 13] = [
    (".rodata", READ, false),
    (".gcc_except_table", READ, false),
    (UNWINDING, READ, false),
    (frames::SECTION, READ, false),
    (".text", CODE, false),
    (".tdata", LOCAL, false),
    (".tbss", LOCAL, true),
    (TLS_SECTION, LOCAL, true),
    (".data.rel.ro", WRITE, false),
    (offsets::SECTION, WRITE, false),
    (".data", WRITE, false),
    (".bss.rel.ro", WRITE, true),
    (".bss", WRITE, true),
];

/// A section of the program.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) flags: u64,
    /// Whether it is filled with zeros, and not in the file.
    pub(super) is_zero: bool,
    pub(super) alignment: u64,
    pub(super) address: u64,
    pub(super) offset: u64,
    /// In memory.
    pub(super) size: u64,
    /// The input sections that it consists of, with their places in it.
    pub(super) pieces: Vec<(SectionId, u64)>,
}

impl Output {
    pub(super) fn is_thread_local(&self) -> bool {
        self.flags & elf::SHF_TLS.0 != 0
    }

    pub(super) fn size_in_file(&self) -> u64 {
        if self.is_zero { 0 } else { self.size }
    }

    /// The flags of its segment.
    pub(super) fn segment_flags(&self) -> elf::ProgramFlags {
        match self.flags & (CODE | WRITE) {
            CODE => elf::PF_R | elf::PF_X,
            WRITE => elf::PF_R | elf::PF_W,
            _ => elf::PF_R,
        }
    }

    /// Adds a part; returns its place.
    fn add(&mut self, size: u64, alignment: u64) -> Result<u64> {
        if !alignment.is_power_of_two() || alignment > MAX_ALIGNMENT {
            return Err(unsupported(format!("a section that is aligned to {alignment} bytes")));
        }
        let place = aligned(self.size, alignment)?;
        self.size = sum(place, size)?;
        self.alignment = self.alignment.max(alignment);
        Ok(place)
    }
}

/// Where everything is.
pub(super) struct Arrangement<'a> {
    /// In the order of their addresses.
    pub(super) outputs: Vec<Output>,
    /// Where the input sections are in memory.
    pub(super) addresses: HashMap<SectionId, u64>,
    pub(super) offsets: Offsets,
    /// Where the global offset table is in memory.
    pub(super) table: u64,
    /// The block of thread-local variables, with the base's: where its initial values are in memory.
    pub(super) locals: Option<Range<u64>>,
    pub(super) layout: &'a Layout,
}

impl<'a> Arrangement<'a> {
    pub(super) fn new(
        layout: &'a Layout,
        program: &Resolved<'_>,
        retained: &Retained,
        prefix: &str,
    ) -> Result<Self> {
        let offsets = Offsets::of(layout.machine, program, retained)?;
        let mut outputs = Outputs::default();
        for id in &retained.sections {
            let section = program.section(*id);
            let output = outputs.of_input(section, prefix)?;
            let place = output.add(section.size, section.alignment)?;
            output.pieces.push((*id, place));
        }
        let retained_frames = || retained.frames.values().flat_map(Frames::retained);
        let functions = retained_frames().filter(|record| record.function.is_some()).count() as u64;
        let size = retained_frames().map(|record| record.size as u64).sum();
        outputs.ordinary(frames::SECTION).add(size, 8)?;
        outputs.ordinary(UNWINDING).add(unwind::HEADER + unwind::ENTRY * functions, 4)?;
        outputs.ordinary(offsets::SECTION).add(offsets.size(), 8)?;
        outputs.reserve_thread_locals(layout)?;
        let mut outputs: Vec<Output> = outputs.0.into_values().filter(|output| output.size > 0).collect();
        place(layout, &mut outputs)?;
        let pieces = outputs
            .iter()
            .flat_map(|output| output.pieces.iter().map(|(id, place)| (*id, output.address + place)));
        let addresses = pieces.collect();
        let mut arrangement = Arrangement { outputs, addresses, offsets, table: 0, locals: None, layout };
        arrangement.table = arrangement.output(offsets::SECTION).map_or(0, |output| output.address);
        let locals = arrangement.thread_locals();
        arrangement.locals = locals.map(|(first, last)| first.address..last.address + last.size);
        Ok(arrangement)
    }

    /// A section of the program.
    pub(super) fn output(&self, name: &str) -> Option<&Output> {
        self.outputs.iter().find(|output| output.name == name)
    }

    /// The first and last thread-local section, with the base's.
    pub(super) fn thread_locals(&self) -> Option<(&Output, &Output)> {
        let mut locals = self.outputs.iter().filter(|output| output.is_thread_local());
        let first = locals.next()?;
        Some((first, locals.next_back().unwrap_or(first)))
    }
}

/// The program's sections, by their places in [`ORDINARY`] and their names.
#[derive(Default)]
struct Outputs(BTreeMap<(usize, String), Output>);

impl Outputs {
    fn get(&mut self, rank: usize, name: &str, flags: u64, is_zero: bool) -> &mut Output {
        let new = || Output {
            name: name.to_owned(),
            flags,
            is_zero,
            alignment: 1,
            address: 0,
            offset: 0,
            size: 0,
            pieces: Vec::new(),
        };
        self.0.entry((rank, name.to_owned())).or_insert_with(new)
    }

    /// One of [`ORDINARY`].
    fn ordinary(&mut self, name: &str) -> &mut Output {
        let (name, flags, is_zero) = ORDINARY[rank(name)];
        self.get(rank(name), name, flags, is_zero)
    }

    /// The section that an input section becomes a part of.
    fn of_input(&mut self, section: &Section<'_>, prefix: &str) -> Result<&mut Output> {
        let flags = section.flags & (CODE | LOCAL);
        let is_zero = section.kind == elf::SHT_NOBITS;
        let unknown = || unsupported(format!("a section {}", shown(section.name.as_bytes())));
        let is_special = section.has(elf::SHF_EXCLUDE) || section.has(elf::SHF_LINK_ORDER);
        if is_special || !is_zero && section.kind != elf::SHT_PROGBITS {
            return Err(unknown());
        }
        if section.name.starts_with(prefix) {
            // Among other data of their segment.
            let place = match flags {
                READ => ".rodata",
                WRITE => ".data",
                _ => return Err(unknown()),
            };
            if is_zero || section.name.len() > prefix.len() + LONGEST_SUFFIX {
                return Err(unknown());
            }
            return Ok(self.get(rank(place), section.name, flags, false));
        }
        let fits = |(name, ..): &&(&str, u64, bool)| {
            section.name.strip_prefix(name).is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('.'))
        };
        let (name, ..) =
            *ORDINARY.iter().filter(fits).max_by_key(|(name, ..)| name.len()).ok_or_else(unknown)?;
        let is_made_here = [frames::SECTION, UNWINDING, TLS_SECTION, offsets::SECTION].contains(&name);
        if is_made_here || ORDINARY[rank(name)] != (name, flags, is_zero) {
            return Err(unknown());
        }
        Ok(self.ordinary(name))
    }

    /// Adds a section for the base's thread-local variables, if the program has some of its own (`tls`).
    fn reserve_thread_locals(&mut self, layout: &Layout) -> Result<()> {
        if !self.0.values().any(Output::is_thread_local) {
            return Ok(());
        }
        let block = layout.tls.as_ref().ok_or_else(|| unsupported("thread-local variables"))?;
        let size = tls::reserved(block, layout.machine);
        let (place, is_zero) = match layout.machine {
            Machine::X86_64 => (TLS_SECTION, true),
            // In front of this section, as its name sorts before, and so in the file.
            Machine::Aarch64 => (".tdata", false),
        };
        self.get(rank(place), TLS_SECTION, LOCAL, is_zero).add(size, TLS_ALIGNMENT)?;
        let mut locals = self.0.values().filter(|output| output.is_thread_local());
        if let Some(output) = locals.find(|output| output.alignment > TLS_ALIGNMENT) {
            return Err(unsupported(format!("thread-local variables aligned to {} bytes", output.alignment)));
        }
        if let Some(first) = self.0.values_mut().find(|output| output.is_thread_local()) {
            first.alignment = TLS_ALIGNMENT;
        }
        Ok(())
    }
}

/// The place of a section in [`ORDINARY`].
fn rank(name: &str) -> usize {
    ORDINARY.iter().position(|(known, ..)| *known == name).unwrap_or_default()
}

/// Gives each section its address and its place in the file.
fn place(layout: &Layout, outputs: &mut [Output]) -> Result<()> {
    let page = layout.machine.page();
    let mut address = sum(layout.program_base, HEADERS)?;
    let (mut offset, mut segment, mut end_of_locals) = (HEADERS, elf::PF_R, 0);
    for output in outputs {
        if output.segment_flags() != segment {
            address = sum(aligned(address, page)?, offset % page)?;
            segment = output.segment_flags();
        }
        if output.is_thread_local() && output.is_zero {
            // Only each thread's copy has them.
            output.address = aligned(address.max(end_of_locals), output.alignment)?;
            output.offset = offset;
            end_of_locals = sum(output.address, output.size)?;
            continue;
        }
        let start = aligned(address, output.alignment)?;
        // Also before zeros: a segment may begin with them.
        offset = sum(offset, start - address)?;
        (output.address, output.offset) = (start, offset);
        address = sum(start, output.size)?;
        offset = sum(offset, output.size_in_file())?;
        if output.is_thread_local() {
            end_of_locals = address;
        }
    }
    Ok(())
}

fn sum(first: u64, second: u64) -> Result<u64> {
    first.checked_add(second).ok_or_else(|| malformed("its size"))
}

fn aligned(number: u64, alignment: u64) -> Result<u64> {
    number.checked_next_multiple_of(alignment).ok_or_else(|| malformed("its size"))
}
