//! Links a program against a base: what a linker does, as far as programs need it.
//!
//! Only static programs of rustc, at a fixed address: no shared libraries, constructors, or copies of data at the start.
//! As `--gc-sections` does, it drops the sections that nothing reachable refers to. It refuses everything that it does
//! not know, and each symbol that would be another one in a program that is linked as a whole.

mod arrange;
mod contents;
mod frames;
mod input;
mod offsets;
mod output;
mod relocation;
mod resolve;
mod retain;

use crate::layout::Layout;
use crate::symbols::Symbols;
use crate::{Result, malformed};

use arrange::Arrangement;
use contents::Placed;
use resolve::{Resolved, Target};

/// The C library's entry point, which calls `main`.
const ENTRY: &[u8] = b"_start";

/// What a program is linked from.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The object file with the C library's entry point (`crt1.o`).
    pub entry: &'a [u8],
    /// The program's own object files.
    pub objects: &'a [&'a [u8]],
    /// Static libraries, of which only what the program refers to is linked.
    pub libraries: &'a [&'a [u8]],
    /// The table of the base's symbols ([`Prepared::symbols`](crate::Prepared::symbols)).
    pub symbols: &'a [u8],
    /// Besides ordinary sections, a program may have data whose section name begins with this.
    pub section_prefix: &'a str,
}

/// Links a program, which [`compose`](crate::compose()) joins with the base.
///
/// # Errors
/// If an input is malformed, or if the program can't be linked against the base, or has a part that is not known here.
/// Link it as a whole then: a linker reports what is wrong, if something is.
pub fn link(layout: &Layout, inputs: &Inputs<'_>) -> Result<Vec<u8>> {
    let symbols = Symbols::read(inputs.symbols, layout)?;
    let program = resolve::resolve(inputs, &symbols)?;
    let entry = program.global(ENTRY).ok_or_else(|| malformed("the entry point is missing"))?;
    let Target::Section { place, .. } = entry else { return Err(malformed("the entry point is elsewhere")) };
    let retained = retain::retained(&program, place)?;
    let arrangement = Arrangement::new(layout, &program, &retained, inputs.section_prefix)?;
    let placed = Placed { program: &program, retained: &retained, arrangement: &arrangement };
    output::write(&placed, placed.address(entry)?)
}

/// Where a section of an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct SectionId {
    object: usize,
    section: usize,
}

impl Resolved<'_> {
    fn section(&self, id: SectionId) -> &input::Section<'_> {
        &self.objects[id.object].sections[id.section]
    }
}
