//! The object file with a base's symbols, against which programs are linked.
//!
//! Symbols have the base's addresses, and are sorted by name. Thread-local ones are in a section as large as the base's
//! block: next to the thread pointer in the program's own block, where the base's code expects it (`tls`), so the linker
//! computes their offsets itself.
//!
//! A symbol that the base leaves undefined is defined as 0, its value there. So a program that defines a symbol of the
//! base again, or one that the base looks for, does not link against the base, and is linked as a whole.

use std::collections::BTreeMap;

use object::elf::{self, Sym64};
use object::read::elf::{FileHeader as _, Sym as _};
use object::write::{Object, SectionId, Symbol, SymbolSection};
use object::{BinaryFormat, Endianness, LittleEndian, SectionFlags, SectionKind, SymbolFlags};
use object::{SymbolKind, SymbolScope};

use crate::elf::{ENDIAN, Executable};
use crate::layout::{Layout, TLS_ALIGNMENT, TlsBlock};
use crate::machine::Machine;
use crate::tls::{self, TLS_SECTION};
use crate::{Result, malformed};

/// The section of the base's identity in programs; it is not loaded.
pub(crate) const IDENTITY_SECTION: &str = ".base_id";

/// Symbols that a linker defines for each image itself, so the object file has none of them. Their addresses in a program
/// that is linked against a base differ from those in one that is linked as a whole, except for `main`.
pub const OF_THE_LINKER: [&str; 16] = [
    "_DYNAMIC",
    "_GLOBAL_OFFSET_TABLE_",
    "__bss_start",
    "__dso_handle",
    "__ehdr_start",
    "__executable_start",
    "__fini_array_end",
    "__fini_array_start",
    "__init_array_end",
    "__init_array_start",
    "__preinit_array_end",
    "__preinit_array_start",
    "_edata",
    "_end",
    "_etext",
    "main",
];

/// Beginning of the names of constants that only their own crate refers to.
const PRIVATE_CONSTANT: &str = "anon.";

/// Writes the object file.
pub(crate) fn write(base: &Executable<'_>, machine: Machine, layout: &Layout) -> Result<Vec<u8>> {
    let failed = |error: object::Error| malformed(error.to_string());
    let sections = base.header.sections(ENDIAN, base.bytes).map_err(failed)?;
    let table = sections.symbols(ENDIAN, base.bytes, elf::SHT_SYMTAB).map_err(failed)?;
    let mut object = Object::new(BinaryFormat::Elf, machine.architecture(), Endianness::Little);
    let identity = object.add_section(Vec::new(), IDENTITY_SECTION.into(), SectionKind::Other);
    object.append_section_data(identity, &layout.identity, 1);
    let block = layout.tls.as_ref();
    let section = block.map(|block| add_tls(&mut object, block, machine));
    let first = block.map(|block| tls::first_variable(block, machine));
    let mut known = BTreeMap::new();
    for symbol in table.iter().filter(|symbol| is_visible(symbol)) {
        let name = table.symbol_name(ENDIAN, symbol).map_err(failed)?;
        let text = std::str::from_utf8(name).map_err(|_| malformed("a symbol's name is not text"))?;
        if text.is_empty() || OF_THE_LINKER.contains(&text) || text.starts_with(PRIVATE_CONSTANT) {
            continue;
        }
        let thread_local = (symbol.st_type() == elf::STT_TLS).then_some(section.zip(first)).flatten();
        if known.insert(name, exported(name, symbol, thread_local)).is_some() {
            return Err(malformed(format!("the symbol {text} is defined twice")));
        }
    }
    // Sorted by name: a linker can look up what a program needs.
    for symbol in known.into_values() {
        object.add_symbol(symbol);
    }
    object.write().map_err(|error| malformed(error.to_string()))
}

/// The section for thread-local symbols; the linker must keep it even if no symbol in it is used.
///
/// Linkers place sections with bytes before those without, and otherwise keep their order. So on AArch64, where the
/// section must be the first one, it has bytes, and the object file must be the first input.
fn add_tls(object: &mut Object<'_>, block: &TlsBlock, machine: Machine) -> SectionId {
    let size = tls::reserved(block, machine);
    let (kind, sh_type) = match machine {
        Machine::X86_64 => (SectionKind::UninitializedTls, elf::SHT_NOBITS),
        Machine::Aarch64 => (SectionKind::Tls, elf::SHT_PROGBITS),
    };
    let section = object.add_section(Vec::new(), TLS_SECTION.into(), kind);
    match machine {
        Machine::X86_64 => object.append_section_bss(section, size, TLS_ALIGNMENT),
        Machine::Aarch64 => object.append_section_data(section, &vec![0; size as usize], TLS_ALIGNMENT),
    };
    let sh_flags = elf::SHF_ALLOC | elf::SHF_WRITE | elf::SHF_TLS | elf::SHF_GNU_RETAIN;
    object.section_mut(section).flags = SectionFlags::Elf { sh_type, sh_flags };
    section
}

/// Whether other object files of the base can refer to the symbol: linkers make hidden symbols of an executable local.
fn is_visible(symbol: &Sym64<LittleEndian>) -> bool {
    let is_hidden = symbol.st_visibility() == elf::STV_HIDDEN;
    let is_named = !matches!(symbol.st_type(), elf::STT_FILE | elf::STT_SECTION);
    is_named && (symbol.st_bind() != elf::STB_LOCAL || is_hidden)
}

fn exported(name: &[u8], symbol: &Sym64<LittleEndian>, thread_local: Option<(SectionId, u64)>) -> Symbol {
    let (value, section, kind) = match thread_local {
        Some((section, first)) => {
            let value = first.wrapping_add(symbol.st_value(ENDIAN));
            (value, SymbolSection::Section(section), SymbolKind::Tls)
        }
        None if symbol.st_type() == elf::STT_FUNC => {
            (symbol.st_value(ENDIAN), SymbolSection::Absolute, SymbolKind::Text)
        }
        None => (symbol.st_value(ENDIAN), SymbolSection::Absolute, SymbolKind::Data),
    };
    Symbol {
        name: name.to_vec(),
        value,
        size: symbol.st_size(ENDIAN),
        kind,
        scope: SymbolScope::Dynamic,
        weak: false,
        section,
        flags: SymbolFlags::None,
    }
}
