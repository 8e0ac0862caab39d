//! The static description of a tool in its generated stub.

/// The prefix of section names of tools.
pub const SECTION_PREFIX: &str = ".toolsmith.";

/// A stub's description of its tool.
///
/// Every stub keeps one in its own linker section, named [`SECTION_PREFIX`] + identity. The linker drops the sections
/// of unreachable stubs, so that the section names of a linked program list the tools it can call.
#[derive(Debug)]
pub struct Tool {
    /// The server's name in the configuration.
    pub server: &'static str,
    /// The server's name for the tool.
    pub name: &'static str,
    /// The tool's identity for the broker: 16 bytes in lower-case hexadecimal, a hash of server, tool and schemas.
    pub mark: [u8; 32],
}
