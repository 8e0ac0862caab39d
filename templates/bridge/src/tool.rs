//! The static description that a generated stub has of its tool.

/// What the section names of tools start with.
pub const SECTION_PREFIX: &str = ".toolsmith.";

/// What a stub knows of its tool.
///
/// Every stub keeps one in a linker section of its own named [`SECTION_PREFIX`] + identity. The linker
/// drops the sections of stubs that the program cannot reach, so that the section names of a linked
/// program are the list of tools that it can call.
#[derive(Debug)]
pub struct Tool {
    /// The server's name as the configuration has it.
    pub server: &'static str,
    /// The tool's name as the server has it.
    pub name: &'static str,
    /// The identity that the broker knows the tool by: the lower-case hexadecimal form of 16 bytes, a hash
    /// of server, tool and schemas.
    pub mark: [u8; 32],
}
