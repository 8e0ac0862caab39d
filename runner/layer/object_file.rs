//! Reads the symbols of ELF object files, and writes an object file with a part of its symbols (elf(5)).

use std::collections::BTreeSet;

/// The object files in a file: itself, or the members of an archive that are objects.
pub fn objects(file: &[u8]) -> Option<Vec<&[u8]>> {
    const MAGIC: &[u8] = b"!<arch>\n";
    const HEADER: usize = 60;
    let Some(mut rest) = file.strip_prefix(MAGIC) else { return Some(vec![file]) };
    let mut objects = Vec::new();
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(HEADER)?;
        let size: usize = std::str::from_utf8(header.get(48..58)?).ok()?.trim_end().parse().ok()?;
        let (member, after) = after.split_at_checked(size)?;
        if member.starts_with(ELF) {
            objects.push(member);
        }
        // Members begin at even offsets; the last one may have no filler.
        rest = after.get(size % 2..).unwrap_or_default();
    }
    Some(objects)
}

/// Beginning of a little-endian ELF file of 64 bits (elf(5)).
const ELF: &[u8] = b"\x7fELF\x02\x01";

/// An object file: the bytes and its table of sections.
pub struct Object<'a> {
    bytes: &'a [u8],
    sections: Vec<Section<'a>>,
}

/// A section, with its header.
#[derive(Clone, Copy)]
struct Section<'a> {
    header: &'a [u8],
    kind: u64,
    /// Empty if the section has no bytes in the file.
    content: &'a [u8],
}

/// A global symbol.
pub struct Global<'a> {
    pub name: &'a [u8],
    /// Whether a definition elsewhere replaces this one: it is weak or common.
    pub is_replaceable: bool,
}

/// The binding of a weak symbol, and the sections of undefined and common ones.
const WEAK: usize = 2;
const UNDEFINED: usize = 0;
const COMMON: usize = 0xfff2;

const SYMTAB: u64 = 2;
const NOBITS: u64 = 8;
/// Size of a symbol.
const SYMBOL: usize = 24;

impl<'a> Object<'a> {
    /// Reads the table of sections; `None` if it is no object file, or damaged.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.starts_with(ELF) {
            return None;
        }
        let (table, size, count) = (at(bytes, 40, 8)?, at(bytes, 58, 2)?, at(bytes, 60, 2)?);
        // With 65 280 sections or more, the number is elsewhere; no object of a program has as many.
        if count == 0 {
            return None;
        }
        let headers = bytes.get(table..)?.chunks_exact(size.max(64)).take(count);
        let sections = headers.map(|header| {
            let (kind, start, length) = (at(header, 4, 4)? as u64, at(header, 24, 8)?, at(header, 32, 8)?);
            let content = if kind == NOBITS { &[] } else { bytes.get(start..start.checked_add(length)?)? };
            Some(Section { header, kind, content })
        });
        Some(Object { bytes, sections: sections.collect::<Option<_>>()? })
    }

    /// The symbols; `None` if there is no table, or if it is damaged.
    fn symbols(&self) -> Option<Symbols<'a>> {
        let table = self.sections.iter().find(|section| section.kind == SYMTAB)?;
        let names = self.sections.get(at(table.header, 40, 4)?)?.content;
        let (locals, globals) = table.content.as_chunks().0.split_at_checked(at(table.header, 44, 4)?)?;
        Some(Symbols { table: table.content, locals, globals, names })
    }

    /// The symbols that are not local, defined and undefined ones.
    pub fn globals(&self) -> Option<Vec<Global<'a>>> {
        if !self.sections.iter().any(|section| section.kind == SYMTAB) {
            return Some(Vec::new());
        }
        let Symbols { globals, names, .. } = self.symbols()?;
        let global = |symbol: &'a [u8; SYMBOL]| {
            let (binding, section) = (at(symbol, 4, 1)? >> 4, at(symbol, 6, 2)?);
            let is_replaceable = section != UNDEFINED && (binding == WEAK || section == COMMON);
            Some(Global { name: name(symbol, names)?, is_replaceable })
        };
        globals.iter().map(global).collect()
    }

    /// Whether the object has this symbol, which must be sorted by name.
    pub fn has(&self, wanted: &[u8]) -> Option<bool> {
        Some(self.symbols()?.find(wanted).is_some())
    }

    /// The same object with only these of its global symbols, which must be sorted by name.
    pub fn with_only(&self, wanted: &BTreeSet<&[u8]>) -> Option<Vec<u8>> {
        let all = self.symbols()?;
        let Symbols { table, names, .. } = all;
        let found = wanted.iter().filter_map(|wanted| all.find(wanted));
        let (mut symbols, mut texts) = (Vec::new(), vec![0]);
        for symbol in all.locals.iter().chain(found) {
            let text = name(symbol, names)?;
            let at = if text.is_empty() { 0 } else { u32::try_from(texts.len()).ok()? };
            symbols.extend(at.to_le_bytes());
            symbols.extend(symbol.get(4..)?);
            if !text.is_empty() {
                texts.extend(text);
                texts.push(0);
            }
        }
        self.with_contents(|section| match section.content {
            content if std::ptr::eq(content, table) => &symbols,
            content if std::ptr::eq(content, names) => &texts,
            content => content,
        })
    }

    /// The same object with other contents of sections.
    fn with_contents<'b>(&self, content: impl Fn(&Section<'b>) -> &'b [u8]) -> Option<Vec<u8>>
    where
        'a: 'b,
    {
        /// The largest alignment that such an object needs in the file.
        const ALIGNMENT: usize = 16;
        let mut file = self.bytes.get(..64)?.to_vec();
        let mut headers = Vec::new();
        for section in &self.sections {
            let mut header = section.header.to_vec();
            if section.kind != NOBITS {
                let bytes = content(section);
                file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
                put(&mut header, 24, file.len())?;
                put(&mut header, 32, bytes.len())?;
                file.extend(bytes);
            }
            headers.extend(header);
        }
        file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        let table = file.len();
        put(&mut file, 40, table)?;
        file.extend(headers);
        Some(file)
    }
}

/// A symbol table.
struct Symbols<'a> {
    /// All of it.
    table: &'a [u8],
    locals: &'a [[u8; SYMBOL]],
    globals: &'a [[u8; SYMBOL]],
    names: &'a [u8],
}

impl<'a> Symbols<'a> {
    /// The global symbol with this name, if they are sorted by name.
    fn find(&self, wanted: &[u8]) -> Option<&'a [u8; SYMBOL]> {
        let order = |symbol: &[u8; SYMBOL]| name(symbol, self.names).unwrap_or_default().cmp(wanted);
        self.globals.get(self.globals.binary_search_by(order).ok()?)
    }
}

/// The name of a symbol.
fn name<'a>(symbol: &[u8], names: &'a [u8]) -> Option<&'a [u8]> {
    let rest = names.get(at(symbol, 0, 4)?..)?;
    rest.get(..rest.iter().position(|byte| *byte == 0)?)
}

/// The number of `size` bytes at an offset.
fn at(bytes: &[u8], offset: usize, size: usize) -> Option<usize> {
    let mut number = [0; 8];
    number.get_mut(..size)?.copy_from_slice(bytes.get(offset..offset + size)?);
    usize::try_from(u64::from_le_bytes(number)).ok()
}

/// Writes a number of 8 bytes.
fn put(bytes: &mut [u8], offset: usize, number: usize) -> Option<()> {
    bytes.get_mut(offset..offset + 8)?.copy_from_slice(&(number as u64).to_le_bytes());
    Some(())
}
