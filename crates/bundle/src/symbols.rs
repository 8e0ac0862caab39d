//! Removes the symbol tables of the compiler's ELF files, which nothing reads when the compiler runs: 48 MB of Rust 1.95.
//! Symbols for dynamic linking are in another table, which stays.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use object::LittleEndian;
use object::elf::{
    FileHeader64, SHF_ALLOC, SHF_INFO_LINK, SHT_NOBITS, SHT_SYMTAB, SectionHeader64, SymbolSection,
};
use object::pod::bytes_of;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{U16, U32, U64};

use crate::elf::read_elf;
use crate::error::{Result, at, unusable};
use crate::folders;

type Header = FileHeader64<LittleEndian>;
type Section = SectionHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;

/// Removes the symbol tables of all ELF files below `folder` that are `wanted`, by their paths from it. Returns the
/// paths of the files that have changed.
pub(crate) fn remove(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for path in folders::files(folder)?.into_iter().filter(|path| wanted(path)) {
        let whole = folder.join(&path);
        let Some(bytes) = read_elf(&whole)? else { continue };
        if let Some(smaller) = without_symbols(&bytes).map_err(at(&whole))? {
            // Permissions stay, because the file does.
            fs_err::write(&whole, smaller).map_err(unusable)?;
            changed.push(path);
        }
    }
    Ok(changed)
}

/// The file without its symbol table; `None` if it has none, or if it is not built as linkers build files: everything
/// that is loaded first, then the other sections.
fn without_symbols(bytes: &[u8]) -> object::Result<Option<Vec<u8>>> {
    let header = Header::parse(bytes)?;
    let sections = header.sections(ENDIAN, bytes)?;
    let all: Vec<&Section> = sections.iter().collect();
    let segments = header.program_headers(ENDIAN, bytes)?;
    let loaded = segments.iter().map(|segment| {
        let (offset, size) = segment.file_range(ENDIAN);
        offset.saturating_add(size)
    });
    let Ok(end) = usize::try_from(loaded.max().unwrap_or_default()) else { return Ok(None) };
    let names = usize::from(header.e_shstrndx.get(ENDIAN).0);
    let removed = tables(&all, names);
    if removed.is_empty() || bytes.len() < end || !all.iter().all(|section| is_apart(section, end)) {
        return Ok(None);
    }
    let kept: Vec<usize> = (0..all.len()).filter(|index| !removed.contains(index)).collect();
    let new_index = |old: usize| kept.iter().position(|index| *index == old);
    let mut new = bytes[..end].to_vec();
    let mut table = Vec::new();
    for index in &kept {
        let Some(section) = moved(all[*index], bytes, end, &mut new, &new_index)? else { return Ok(None) };
        table.push(section);
    }
    pad(&mut new, align_of::<u64>());
    let (Some(names), Ok(count)) = (new_index(names), u16::try_from(table.len())) else { return Ok(None) };
    let Ok(names) = u16::try_from(names) else { return Ok(None) };
    let header = Header {
        e_shoff: U64::new(ENDIAN, new.len() as u64),
        e_shnum: U16::new(ENDIAN, count),
        e_shstrndx: U16::new(ENDIAN, SymbolSection(names)),
        ..*header
    };
    table.iter().for_each(|section| new.extend_from_slice(bytes_of(section)));
    new[..size_of::<Header>()].copy_from_slice(bytes_of(&header));
    Ok(Some(new))
}

/// The symbol tables and their strings. The names of sections, `names`, may be among the strings and stay.
fn tables(all: &[&Section], names: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for (index, section) in all.iter().enumerate() {
        if section.sh_type(ENDIAN) == SHT_SYMTAB {
            found.insert(index);
            found.extend(usize::try_from(section.sh_link(ENDIAN)).ok().filter(|strings| *strings != names));
        }
    }
    found
}

/// Whether a section is loaded and before `end`, or not loaded and after it.
fn is_apart(section: &Section, end: usize) -> bool {
    let is_loaded = section.sh_flags(ENDIAN).contains(SHF_ALLOC);
    let is_empty = section.sh_type(ENDIAN) == SHT_NOBITS || section.sh_size(ENDIAN) == 0;
    is_empty || is_loaded == (section.sh_offset(ENDIAN) < end as u64)
}

/// Appends a section that is not loaded to the new file. Returns its new header; `None` if it refers to a removed one.
fn moved(
    section: &Section,
    bytes: &[u8],
    end: usize,
    new: &mut Vec<u8>,
    new_index: &impl Fn(usize) -> Option<usize>,
) -> object::Result<Option<Section>> {
    let mut changed = *section;
    let renumbered = |old: u32| {
        let index = if old == 0 { Some(0) } else { new_index(usize::try_from(old).ok()?) };
        Some(U32::new(ENDIAN, u32::try_from(index?).ok()?))
    };
    let Some(link) = renumbered(section.sh_link(ENDIAN)) else { return Ok(None) };
    changed.sh_link = link;
    if section.sh_flags(ENDIAN).contains(SHF_INFO_LINK) {
        let Some(info) = renumbered(section.sh_info(ENDIAN)) else { return Ok(None) };
        changed.sh_info = info;
    }
    if section.sh_offset(ENDIAN) >= end as u64 {
        pad(new, usize::try_from(section.sh_addralign(ENDIAN)).unwrap_or(1).max(1));
        changed.sh_offset = U64::new(ENDIAN, new.len() as u64);
        new.extend_from_slice(section.data(ENDIAN, bytes)?);
    }
    Ok(Some(changed))
}

/// Appends zeros up to a multiple of `alignment`.
fn pad(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use object::{Object as _, ObjectSection as _};

    use super::*;

    #[test]
    fn a_program_without_its_symbols_runs_and_has_its_other_sections() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        folders::copy_file(&std::env::current_exe().unwrap(), &path).unwrap();
        folders::write_file(&folder.path().join("text"), "text").unwrap();
        let before = fs_err::read(&path).unwrap();
        assert_eq!(remove(folder.path(), |_| true).unwrap(), [Path::new("program")]);
        let after = fs_err::read(&path).unwrap();
        assert!(after.len() < before.len());
        let (before, after) = (object::File::parse(&*before).unwrap(), object::File::parse(&*after).unwrap());
        assert_eq!(after.symbols().count(), 0);
        assert_eq!(before.dynamic_symbols().count(), after.dynamic_symbols().count());
        let is_kept = |name: &str| name != ".symtab" && name != ".strtab";
        for section in before.sections().filter(|one| is_kept(one.name().unwrap())) {
            let other = after.section_by_name(section.name().unwrap()).unwrap();
            assert_eq!(section.data().unwrap(), other.data().unwrap());
        }
        let listed = Command::new(&path).arg("--list").output().unwrap();
        assert!(
            listed.status.success()
                && String::from_utf8_lossy(&listed.stdout).contains("without_its_symbols")
        );
        // There is nothing more to remove.
        assert!(remove(folder.path(), |_| true).unwrap().is_empty());
    }

    #[test]
    fn a_damaged_file_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs_err::write(&path, "\x7fELF!").unwrap();
        assert!(remove(folder.path(), |_| true).is_err());
        assert_eq!(fs_err::read(&path).unwrap(), b"\x7fELF!");
    }
}
