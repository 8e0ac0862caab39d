//! Reads from a linked program the tools that it can call.
//!
//! Each stub keeps its tool's identity in a section of its own, and the linker drops unreachable sections; so the names
//! of the remaining sections are exact, whatever the snippet's text says.

use object::{Object, ObjectSection};

/// Length of an identity: 128 bits in hexadecimal.
const HASH_LENGTH: usize = 32;

/// Replaces a name that is not an identity: it is forged, and may have any length.
const MALFORMED: &str = "malformed";

/// The identities in a linked program, in order. They may include forged ones, which the catalog rejects.
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
