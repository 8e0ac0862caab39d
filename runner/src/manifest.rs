//! The tools that a linked program can call, read off the program itself.
//!
//! Each stub keeps its tool's identity in a section of its own, and the linker drops the sections of what
//! can't be reached; so the names of the sections that are left are exact, whatever the snippet's text says.

use object::{Object, ObjectSection};

/// Characters of an identity: 128 bits in hexadecimal.
const HASH_LENGTH: usize = 32;

/// What a name is read as that is no identity at all: a forged one, which may be as long as it likes.
const MALFORMED: &str = "malformed";

/// The identities in a linked program, in order. Forged ones are among them: the catalog decides.
pub(crate) fn read(program: &[u8]) -> Result<Vec<String>, object::Error> {
    let file = object::File::parse(program)?;
    let identity = |section: object::Section<'_, '_>| {
        let name = section.name().ok()?;
        let identity = name.strip_prefix(bridge::tool::SECTION_PREFIX)?;
        let is_hash = identity.len() == HASH_LENGTH && identity.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(if is_hash { identity } else { MALFORMED }.to_owned())
    };
    let mut identities: Vec<String> = file.sections().filter_map(identity).collect();
    identities.sort();
    identities.dedup();
    Ok(identities)
}
