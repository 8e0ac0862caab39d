//! Reads object files and static libraries.

use std::collections::HashMap;

use object::elf::{self, FileHeader64, Rela64, SectionType, Sym64};
use object::read::archive::{ArchiveFile, ArchiveOffset};
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable, Sym as _, SymbolTable};
use object::{LittleEndian, ReadRef};

use crate::elf::ENDIAN;
use crate::machine::Machine;
use crate::{Error, Result, malformed, unsupported};

type Header = FileHeader64<LittleEndian>;

/// The inputs that a program is linked from.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a, Library = &'a [u8]> {
    /// The object file with the C library's entry point (`crt1.o`).
    pub entry: &'a [u8],
    /// The program's own object files.
    pub objects: &'a [&'a [u8]],
    /// Static libraries, of which only what the program refers to is linked: in memory, or files of which only that is
    /// read ([`ReadCache`](object::ReadCache)).
    pub libraries: &'a [Library],
    /// The table of the base's symbols ([`Prepared::symbols`](crate::Prepared::symbols)).
    pub symbols: &'a [u8],
    /// Besides ordinary sections, a program may have data whose section name begins with this.
    pub section_prefix: &'a str,
}

/// Where a section of an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SectionId {
    pub(super) object: usize,
    pub(super) section: usize,
}

/// An object file.
pub(super) struct Object<'a> {
    /// By their numbers in the file.
    pub(super) sections: Vec<Section<'a>>,
    /// By their numbers in the file.
    pub(super) symbols: Vec<Symbol<'a>>,
}

/// A section of an object file.
pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    pub(super) kind: SectionType,
    pub(super) flags: u64,
    pub(super) alignment: u64,
    pub(super) size: u64,
    /// Empty if it is filled with zeros.
    pub(super) bytes: &'a [u8],
    pub(super) relocations: Relocations<'a>,
}

/// The table of a section's relocations.
pub(super) type Relocations<'a> = &'a [Rela64<LittleEndian>];

/// A place in a section that refers to a symbol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relocation {
    pub(super) offset: u64,
    /// Its type: a number for each machine.
    pub(super) kind: u32,
    /// The number of the symbol.
    pub(super) symbol: usize,
    pub(super) addend: i64,
}

/// A symbol of an object file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol<'a> {
    pub(super) name: &'a [u8],
    pub(super) value: u64,
    pub(super) definition: Definition,
    pub(super) is_local: bool,
    pub(super) is_weak: bool,
}

/// Where a symbol is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Definition {
    Elsewhere,
    Absolute,
    Section(usize),
}

impl Section<'_> {
    /// Whether it has a place in memory.
    pub(super) fn is_loaded(&self) -> bool {
        self.has(elf::SHF_ALLOC)
    }

    pub(super) fn has(&self, flag: elf::SectionFlags) -> bool {
        self.flags & flag.0 != 0
    }
}

impl<'a> Object<'a> {
    /// Reads an object file for `machine`.
    pub(super) fn read(bytes: &'a [u8], machine: Machine) -> Result<Self> {
        let failed = |error: object::Error| malformed(format!("an object file: {error}"));
        let header = Header::parse(bytes).map_err(failed)?;
        let is_object = header.e_type(ENDIAN) == elf::ET_REL && header.is_little_endian();
        if !is_object || header.e_machine(ENDIAN) != machine.number() {
            return Err(unsupported("an input that is no object file for this machine"));
        }
        let table = header.sections(ENDIAN, bytes).map_err(failed)?;
        check_types(&table)?;
        let symbols = table.symbols(ENDIAN, bytes, elf::SHT_SYMTAB).map_err(failed)?;
        let mut names = Names::default();
        let sections = sections(&table, bytes, &mut names)?;
        // rust-lld reports it.
        if sections.iter().any(|section| section.name == STACK && section.has(elf::SHF_EXECINSTR)) {
            return Err(unsupported("an executable stack"));
        }
        let count = sections.len();
        let read = symbols.iter().enumerate().map(|(number, symbol)| {
            let symbol = self::symbol(&symbols, number, symbol)?;
            names.add(symbol.name)?;
            match symbol.definition {
                Definition::Section(section) if section >= count => Err(malformed("a symbol's section")),
                _ => Ok(symbol),
            }
        });
        Ok(Object { sections, symbols: read.collect::<Result<_>>()? })
    }
}

/// The section whose flags say whether the stack must be executable.
const STACK: &str = ".note.GNU-stack";

/// Maximum length of all names of an object file, in bytes (16 MiB): those of a program of 1 MiB have 100 KB. Names may
/// share their bytes in the file.
const NAMES_LIMIT: usize = 16 << 20;

/// The length of the names that were read.
#[derive(Default)]
struct Names(usize);

impl Names {
    fn add(&mut self, name: &[u8]) -> Result<()> {
        self.0 = self.0.saturating_add(name.len());
        if self.0 > NAMES_LIMIT { Err(unsupported("very long names")) } else { Ok(()) }
    }
}

/// Refuses sections that ask for something else than linking them, and a second table of symbols, which no compiler
/// writes: only the first one would be read.
fn check_types(table: &SectionTable<'_, Header>) -> Result<()> {
    let refused = [elf::SHT_REL, elf::SHT_LLVM_DEPENDENT_LIBRARIES];
    let kinds = || table.iter().map(|header| header.sh_type(ENDIAN));
    if kinds().any(|kind| refused.contains(&kind))
        || kinds().filter(|kind| *kind == elf::SHT_SYMTAB).count() > 1
    {
        return Err(unsupported("an object file with sections that are not known"));
    }
    Ok(())
}

fn sections<'a>(
    table: &SectionTable<'a, Header>,
    bytes: &'a [u8],
    names: &mut Names,
) -> Result<Vec<Section<'a>>> {
    let failed = |error: object::Error| malformed(format!("an object file: {error}"));
    let mut sections = Vec::with_capacity(table.len());
    for header in table.iter() {
        // Every second section has the relocations of another one, and nothing refers to it.
        let is_named = header.sh_type(ENDIAN) != elf::SHT_RELA;
        let name = if is_named { table.section_name(ENDIAN, header).map_err(failed)? } else { b"" };
        names.add(name)?;
        sections.push(Section {
            name: std::str::from_utf8(name).map_err(|_| malformed("a section's name is not text"))?,
            kind: header.sh_type(ENDIAN),
            flags: header.sh_flags(ENDIAN).0,
            alignment: header.sh_addralign(ENDIAN).max(1),
            size: header.sh_size(ENDIAN),
            bytes: header.data(ENDIAN, bytes).map_err(failed)?,
            relocations: &[],
        });
    }
    for header in table.iter() {
        let Some((entries, _)) = header.rela(ENDIAN, bytes).map_err(failed)? else { continue };
        let target = header.sh_info(ENDIAN) as usize;
        let section = sections.get_mut(target).ok_or_else(|| malformed("the section of relocations"))?;
        if !section.relocations.is_empty() {
            return Err(unsupported("a section with several tables of relocations"));
        }
        section.relocations = entries;
    }
    Ok(sections)
}

impl Relocation {
    pub(super) fn new(entry: &Rela64<LittleEndian>) -> Self {
        Relocation {
            offset: entry.r_offset.get(ENDIAN),
            kind: entry.r_type(ENDIAN, false).0,
            symbol: entry.r_sym(ENDIAN, false) as usize,
            addend: entry.r_addend.get(ENDIAN),
        }
    }
}

fn symbol<'a>(
    table: &SymbolTable<'a, Header>,
    number: usize,
    symbol: &'a Sym64<LittleEndian>,
) -> Result<Symbol<'a>> {
    let failed = |error: object::Error| malformed(format!("an object file: {error}"));
    let section = table.symbol_section(ENDIAN, symbol, object::SymbolIndex(number)).map_err(failed)?;
    let definition = match (section, symbol.st_shndx(ENDIAN)) {
        (Some(section), _) => Definition::Section(section.0),
        (None, elf::SHN_UNDEF) => Definition::Elsewhere,
        (None, elf::SHN_ABS) => Definition::Absolute,
        _ => return Err(unsupported("a symbol without a section")),
    };
    // Their address is known only at run time.
    if symbol.st_type() == elf::STT_GNU_IFUNC {
        return Err(unsupported("a function that is chosen at the start"));
    }
    Ok(Symbol {
        name: table.symbol_name(ENDIAN, symbol).map_err(failed)?,
        value: symbol.st_value(ENDIAN),
        definition,
        is_local: symbol.st_bind() == elf::STB_LOCAL,
        is_weak: symbol.st_bind() == elf::STB_WEAK,
    })
}

/// Static libraries, whose object files are found by the symbols that they define.
pub(super) struct Members<'a, R: ReadRef<'a>> {
    libraries: Vec<(ArchiveFile<'a, R>, R)>,
    /// The numbers of libraries, and where their members are.
    by_symbol: HashMap<&'a [u8], (usize, ArchiveOffset)>,
}

impl<'a, R: ReadRef<'a>> Members<'a, R> {
    /// Reads the tables of `libraries`. Of several definitions of a symbol, the first one counts.
    pub(super) fn read(libraries: &[R]) -> Result<Self> {
        let mut members = Members { libraries: Vec::new(), by_symbol: HashMap::new() };
        for (number, library) in libraries.iter().enumerate() {
            let archive = ArchiveFile::parse(*library).map_err(unreadable)?;
            let Some(symbols) = archive.symbols().map_err(unreadable)? else {
                return Err(unsupported("a library without a table of symbols"));
            };
            for symbol in symbols {
                let symbol = symbol.map_err(unreadable)?;
                members.by_symbol.entry(symbol.name()).or_insert((number, symbol.offset()));
            }
            members.libraries.push((archive, *library));
        }
        Ok(members)
    }

    /// The object file that defines a symbol.
    pub(super) fn get(&self, name: &[u8]) -> Result<Option<&'a [u8]>> {
        let Some((library, offset)) = self.by_symbol.get(name) else { return Ok(None) };
        let (archive, bytes) = &self.libraries[*library];
        let member = archive.member(*offset).map_err(unreadable)?;
        member.data(*bytes).map(Some).map_err(unreadable)
    }
}

fn unreadable(error: object::Error) -> Error {
    malformed(format!("a library: {error}"))
}

/// A name in an error, which may be cut off.
pub(super) fn shown(name: &[u8]) -> String {
    const LENGTH: usize = 100;
    String::from_utf8_lossy(name).chars().take(LENGTH).collect()
}
