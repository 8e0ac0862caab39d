//! What depends on the processor: ELF's machine number, and where thread-local variables are.

use object::elf;

/// A processor architecture for which images can be composed.
///
/// A new one needs its machine number and its layout of thread-local storage. On x86-64 (variant II of the ELF
/// specification of thread-local storage), the thread pointer is the end of the block, so the base's part comes last.
/// On AArch64 (variant I), the thread pointer is before the block, so the base's part would come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
}

impl Machine {
    /// The machine number in ELF headers.
    pub(crate) fn number(self) -> elf::Machine {
        match self {
            Machine::X86_64 => elf::EM_X86_64,
        }
    }

    /// The machine as `object` names it.
    pub(crate) fn architecture(self) -> object::Architecture {
        match self {
            Machine::X86_64 => object::Architecture::X86_64,
        }
    }
}
