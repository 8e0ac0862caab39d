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

use object::ReadRef;

use crate::layout::Layout;
use crate::symbols::Symbols;
use crate::{Result, malformed};

use arrange::Arrangement;
use contents::Placed;
pub use input::Inputs;
use resolve::Target;

/// The C library's entry point, which calls `main`.
const ENTRY: &[u8] = b"_start";

/// Links a program, which [`compose`](crate::compose()) joins with the base.
///
/// # Errors
/// If an input is malformed, or if the program can't be linked against the base, or has a part that is not known here.
/// Link it as a whole then: a linker reports what is wrong, if something is.
pub fn link<'a, Library: ReadRef<'a>>(layout: &Layout, inputs: &Inputs<'a, Library>) -> Result<Vec<u8>> {
    let symbols = Symbols::read(inputs.symbols, layout)?;
    let program = resolve::resolve(inputs, &symbols)?;
    let entry = program.global(ENTRY).ok_or_else(|| malformed("the entry point is missing"))?;
    let Target::Section { place, .. } = entry else { return Err(malformed("the entry point is elsewhere")) };
    let retained = retain::retained(&program, place)?;
    let arrangement = Arrangement::new(layout, &program, &retained, inputs.section_prefix)?;
    let placed = Placed { program: &program, retained: &retained, arrangement: &arrangement };
    output::write(&placed, placed.address(entry)?)
}
