//! The properties of a processor: ELF's machine number, the size of pages, and the place of thread-local variables.

use object::elf;
use serde::{Deserialize, Serialize};

/// A processor architecture for which images can be composed.
///
/// A new one needs its machine number, the size of its largest pages, and its layout of thread-local storage (`tls`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// AArch64, little endian.
    Aarch64,
}

impl Machine {
    /// The machine that this process runs on; `None` if images for it can't be composed.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Machine::X86_64),
            "aarch64" => Some(Machine::Aarch64),
            _ => None,
        }
    }

    /// The machine number in ELF headers.
    pub(crate) fn number(self) -> elf::Machine {
        match self {
            Machine::X86_64 => elf::EM_X86_64,
            Machine::Aarch64 => elf::EM_AARCH64,
        }
    }

    /// Size of the largest page that its kernels use, in bytes, and alignment of all segments: executables run with
    /// every size. An AArch64 kernel has pages of 4, 16 or 64 KiB (ELF for the Arm 64-bit Architecture, "Program Loading").
    pub(crate) fn page(self) -> u64 {
        match self {
            Machine::X86_64 => 4 << 10,
            Machine::Aarch64 => 64 << 10,
        }
    }

    /// The first page boundary at or after `address`.
    pub(crate) fn page_end(self, address: u64) -> u64 {
        address.next_multiple_of(self.page())
    }
}
