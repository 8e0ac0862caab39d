//! The table of a base's symbols, against which programs are linked.
//!
//! After the base's identity, it has an entry for each symbol: a hash of its name, its value and its kind. Entries are
//! sorted, so a linker finds the hundred symbols of a program among 20 000 without
//! reading the names.
//!
//! Symbols that the base leaves undefined are among them. A program that names one of these, or defines a symbol of the
//! base again, is not linked against the base, but as a whole.

use std::collections::BTreeMap;

use object::LittleEndian;
use object::elf::{self, Sym64};
use object::read::elf::{FileHeader as _, Sym as _};

use crate::elf::{ENDIAN, Executable};
use crate::layout::Layout;
use crate::machine::Machine;
use crate::tls;
use crate::{Result, malformed, unsupported};

/// The section of the base's identity in programs; it is not loaded.
pub(crate) const IDENTITY_SECTION: &str = ".base_id";

/// Symbols that a linker defines for each image itself, so the table has none of them. Their addresses in a program
/// that is linked against a base differ from those in one that is linked as a whole, except for `main`.
pub(crate) const OF_THE_LINKER: [&str; 16] = [
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

/// Length of a name's hash, in bytes: no two names have the same.
const HASH: usize = 16;
/// Length of an entry: the hash, the value (8 bytes), and the kind (8 bytes).
const ENTRY: usize = HASH + 16;

/// The kinds of symbols.
const ADDRESS: u8 = 0;
const THREAD_LOCAL: u8 = 1;
const UNDEFINED: u8 = 2;

/// A symbol of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    Address(u64),
    /// A thread-local variable: its distance from the thread pointer, in bytes.
    ThreadLocal(i64),
    /// The base looks for it, and does without it.
    Undefined,
}

/// A table of symbols.
pub(crate) struct Symbols<'a> {
    layout: &'a Layout,
    entries: &'a [[u8; ENTRY]],
}

impl<'a> Symbols<'a> {
    /// The table of the base with `layout`.
    pub(crate) fn read(bytes: &'a [u8], layout: &'a Layout) -> Result<Self> {
        let entries = bytes.strip_prefix(&layout.identity).ok_or_else(|| unsupported("another base"))?;
        let (entries, rest) = entries.as_chunks();
        if rest.is_empty() {
            Ok(Symbols { layout, entries })
        } else {
            Err(malformed("the symbols are cut off"))
        }
    }

    pub(crate) fn machine(&self) -> Machine {
        self.layout.machine
    }

    /// The symbol with this name.
    pub(crate) fn get(&self, name: &[u8]) -> Option<Symbol> {
        let hash = hash(name);
        let found = self.entries.binary_search_by(|entry| entry[..HASH].cmp(&hash)).ok()?;
        let (value, kind) = self.entries[found][HASH..].split_first_chunk()?;
        let value = u64::from_le_bytes(*value);
        match kind[0] {
            ADDRESS => Some(Symbol::Address(value)),
            THREAD_LOCAL => {
                let block = self.layout.tls.as_ref()?;
                Some(Symbol::ThreadLocal(tls::distance_of_base(block, self.layout.machine, value)))
            }
            _ => Some(Symbol::Undefined),
        }
    }
}

fn hash(name: &[u8]) -> [u8; HASH] {
    let hash = blake3::hash(name);
    *hash.as_bytes().first_chunk().unwrap_or(&[0; HASH])
}

/// Writes the table of a base.
pub(crate) fn write(base: &Executable<'_>, layout: &Layout) -> Result<Vec<u8>> {
    let failed = |error: object::Error| malformed(error.to_string());
    let sections = base.header.sections(ENDIAN, base.bytes).map_err(failed)?;
    let table = sections.symbols(ENDIAN, base.bytes, elf::SHT_SYMTAB).map_err(failed)?;
    let mut entries = BTreeMap::new();
    for symbol in table.iter().filter(|symbol| is_visible(symbol)) {
        let name = table.symbol_name(ENDIAN, symbol).map_err(failed)?;
        let text = std::str::from_utf8(name).map_err(|_| malformed("a symbol's name is not text"))?;
        if text.is_empty() || OF_THE_LINKER.contains(&text) || text.starts_with(PRIVATE_CONSTANT) {
            continue;
        }
        let kind = match (symbol.st_shndx(ENDIAN), symbol.st_type()) {
            (elf::SHN_UNDEF, _) => UNDEFINED,
            (_, elf::STT_TLS) => THREAD_LOCAL,
            _ => ADDRESS,
        };
        let value = (symbol.st_value(ENDIAN), u64::from(kind));
        if entries.insert(hash(name), value).is_some() {
            return Err(malformed(format!("the symbol {text} is defined twice")));
        }
    }
    let mut bytes = layout.identity.to_vec();
    for (hash, (value, kind)) in entries {
        bytes.extend(hash);
        bytes.extend(value.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
    }
    Ok(bytes)
}

/// Whether other object files of the base can refer to the symbol: linkers make hidden symbols of an executable local.
fn is_visible(symbol: &Sym64<LittleEndian>) -> bool {
    let is_hidden = symbol.st_visibility() == elf::STV_HIDDEN;
    let is_named = !matches!(symbol.st_type(), elf::STT_FILE | elf::STT_SECTION);
    is_named && (symbol.st_bind() != elf::STB_LOCAL || is_hidden)
}
