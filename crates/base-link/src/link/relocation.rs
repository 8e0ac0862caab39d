//! The values that relocations ask for, and their encodings.
//!
//! The names, numbers and ranges are those of the psABIs: "System V Application Binary Interface, AMD64", section 4.4, and
//! "ELF for the Arm 64-bit Architecture", section 5.7. Only those that compilers emit for static code at a fixed address
//! are known.

use object::elf;

use crate::machine::Machine;
use crate::{Result, malformed, unsupported};

/// A kind of relocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) operand: Operand,
    pub(super) value: Value,
    pub(super) field: Field,
}

/// The subject of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    /// The symbol.
    Symbol,
    /// An entry of the global offset table with the symbol's address.
    Entry,
    /// An entry with the symbol's distance from the thread pointer.
    ThreadEntry,
}

/// A value, with the addend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// The operand's address.
    Address,
    /// Its distance from the place.
    Distance,
    /// The distance of its page of 4 KiB from that of the place.
    Pages,
    /// The symbol's distance from the thread pointer.
    ThreadDistance,
}

/// Where a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// 8 bytes.
    Long,
    /// 4 bytes, with a sign or without.
    Signed,
    Unsigned,
    /// AArch64: the 21 bits of `ADR` and `ADRP`, which count units of 2 to this power.
    Adr(u32),
    /// AArch64: bits 0 to 11 of the value, in units of 2 to this power.
    Low(u32),
    /// AArch64: bits 12 to 23 of the value, which has no others.
    High,
    /// AArch64: a distance in instructions: its number of bits, and where they begin.
    Branch {
        bits: u32,
        at: u32,
    },
}

/// The rule for a relocation's type; `None` if it asks for nothing.
pub(super) fn rule(machine: Machine, kind: u32) -> Result<Option<Rule>> {
    let found = match machine {
        Machine::X86_64 => x86_64(kind),
        Machine::Aarch64 => aarch64(kind),
    };
    // The same number on both machines.
    if kind == elf::R_X86_64_NONE.0 {
        return Ok(None);
    }
    let (operand, value, field) = found.ok_or_else(|| unsupported(format!("a relocation of type {kind}")))?;
    Ok(Some(Rule { operand, value, field }))
}

fn x86_64(kind: u32) -> Option<(Operand, Value, Field)> {
    use Operand::{Entry, Symbol, ThreadEntry};
    use Value::{Address, Distance, ThreadDistance};
    Some(match elf::RelocationType(kind) {
        elf::R_X86_64_64 => (Symbol, Address, Field::Long),
        elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => (Symbol, Distance, Field::Signed),
        elf::R_X86_64_PC64 => (Symbol, Distance, Field::Long),
        elf::R_X86_64_32 => (Symbol, Address, Field::Unsigned),
        elf::R_X86_64_32S => (Symbol, Address, Field::Signed),
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
            (Entry, Distance, Field::Signed)
        }
        elf::R_X86_64_GOTTPOFF => (ThreadEntry, Distance, Field::Signed),
        elf::R_X86_64_TPOFF32 => (Symbol, ThreadDistance, Field::Signed),
        elf::R_X86_64_TPOFF64 => (Symbol, ThreadDistance, Field::Long),
        _ => return None,
    })
}

fn aarch64(kind: u32) -> Option<(Operand, Value, Field)> {
    use Operand::{Entry, Symbol, ThreadEntry};
    use Value::{Address, Distance, Pages, ThreadDistance};
    Some(match elf::RelocationType(kind) {
        elf::R_AARCH64_ABS64 => (Symbol, Address, Field::Long),
        elf::R_AARCH64_ABS32 => (Symbol, Address, Field::Unsigned),
        elf::R_AARCH64_PREL64 => (Symbol, Distance, Field::Long),
        elf::R_AARCH64_PREL32 => (Symbol, Distance, Field::Signed),
        elf::R_AARCH64_ADR_PREL_LO21 => (Symbol, Distance, Field::Adr(0)),
        elf::R_AARCH64_ADR_PREL_PG_HI21 => (Symbol, Pages, Field::Adr(12)),
        elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => (Symbol, Address, Field::Low(0)),
        elf::R_AARCH64_LDST16_ABS_LO12_NC => (Symbol, Address, Field::Low(1)),
        elf::R_AARCH64_LDST32_ABS_LO12_NC => (Symbol, Address, Field::Low(2)),
        elf::R_AARCH64_LDST64_ABS_LO12_NC => (Symbol, Address, Field::Low(3)),
        elf::R_AARCH64_LDST128_ABS_LO12_NC => (Symbol, Address, Field::Low(4)),
        elf::R_AARCH64_JUMP26 | elf::R_AARCH64_CALL26 => {
            (Symbol, Distance, Field::Branch { bits: 26, at: 0 })
        }
        elf::R_AARCH64_CONDBR19 => (Symbol, Distance, Field::Branch { bits: 19, at: 5 }),
        elf::R_AARCH64_TSTBR14 => (Symbol, Distance, Field::Branch { bits: 14, at: 5 }),
        elf::R_AARCH64_ADR_GOT_PAGE => (Entry, Pages, Field::Adr(12)),
        elf::R_AARCH64_LD64_GOT_LO12_NC => (Entry, Address, Field::Low(3)),
        elf::R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21 => (ThreadEntry, Pages, Field::Adr(12)),
        elf::R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC => (ThreadEntry, Address, Field::Low(3)),
        elf::R_AARCH64_TLSLE_ADD_TPREL_HI12 => (Symbol, ThreadDistance, Field::High),
        elf::R_AARCH64_TLSLE_ADD_TPREL_LO12_NC => (Symbol, ThreadDistance, Field::Low(0)),
        _ => return None,
    })
}

/// Writes a value into the bytes of a section.
///
/// # Errors
/// If the place is outside the section, or the value does not fit.
pub(super) fn write(bytes: &mut [u8], offset: u64, field: Field, value: i64) -> Result<()> {
    let outside = || malformed("a relocation outside its section");
    let too_far = || unsupported("an address out of reach");
    let start = usize::try_from(offset).map_err(|_| outside())?;
    let size = if field == Field::Long { 8 } else { 4 };
    let place = start.checked_add(size).and_then(|end| bytes.get_mut(start..end)).ok_or_else(outside)?;
    let old = place.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let (mask, new) = match field {
        Field::Long => {
            place.copy_from_slice(&value.to_le_bytes());
            return Ok(());
        }
        Field::Signed => (u32::MAX, i32::try_from(value).map_err(|_| too_far())?.cast_unsigned()),
        Field::Unsigned => (u32::MAX, u32::try_from(value).map_err(|_| too_far())?),
        Field::Adr(shift) => {
            let number = signed(value >> shift, 21).ok_or_else(too_far)?;
            (0x60ff_ffe0, (number & 3) << 29 | (number >> 2) << 5)
        }
        Field::Low(shift) => {
            if value & ((1 << shift) - 1) != 0 {
                return Err(unsupported("an address that is not aligned"));
            }
            (0x003f_fc00, u32::try_from((value & 0xfff) >> shift).map_err(|_| too_far())? << 10)
        }
        Field::High => {
            let number = u32::try_from(value >> 12).ok().filter(|number| *number < 1 << 12);
            (0x003f_fc00, number.ok_or_else(too_far)? << 10)
        }
        Field::Branch { bits, at } => {
            let number = signed(value >> 2, bits).filter(|_| value & 3 == 0).ok_or_else(too_far)?;
            (((1 << bits) - 1) << at, number << at)
        }
    };
    place.copy_from_slice(&(old & !mask | new).to_le_bytes());
    Ok(())
}

/// The last bits of a number that fits in that many bits with its sign.
fn signed(value: i64, bits: u32) -> Option<u32> {
    let limit = 1_i64 << (bits - 1);
    let fits = (-limit..limit).contains(&value);
    fits.then(|| (value & ((1 << bits) - 1)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The instruction `old` with a value.
    fn written(old: u32, field: Field, value: i64) -> Option<u32> {
        let mut bytes = old.to_le_bytes();
        write(&mut bytes, 0, field, value).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// Instructions as an assembler encodes them.
    #[test]
    fn instructions_of_arm64_get_their_values() {
        let branch = |bits, at| Field::Branch { bits, at };
        // adrp x0, 0x12345000 from 0; adr x1, -4.
        assert_eq!(written(0x9000_0000, Field::Adr(12), 0x1234_5000), Some(0xb009_1a20));
        assert_eq!(written(0x1000_0001, Field::Adr(0), -4), Some(0x10ff_ffe1));
        // add x0, x0, #0xabc; ldr x0, [x0, #0xab8]; add x0, x0, #0x123, lsl #12.
        assert_eq!(written(0x9100_0000, Field::Low(0), 0x5abc), Some(0x912a_f000));
        assert_eq!(written(0xf940_0000, Field::Low(3), 0x5ab8), Some(0xf945_5c00));
        assert_eq!(written(0xf940_0000, Field::Low(3), 0x5abc), None);
        assert_eq!(written(0x9140_0000, Field::High, 0x12_3fff), Some(0x9144_8c00));
        assert_eq!(written(0x9140_0000, Field::High, 1 << 24), None);
        // bl +8; bl -4; b.eq -8; tbz w0, #0, +16.
        assert_eq!(written(0x9400_0000, branch(26, 0), 8), Some(0x9400_0002));
        assert_eq!(written(0x9400_0000, branch(26, 0), -4), Some(0x97ff_ffff));
        assert_eq!(written(0x5400_0000, branch(19, 5), -8), Some(0x54ff_ffc0));
        assert_eq!(written(0x3600_0000, branch(14, 5), 16), Some(0x3600_0080));
        assert_eq!(written(0x9400_0000, branch(26, 0), 6), None);
        assert_eq!(written(0x9400_0000, branch(26, 0), 1 << 27), None);
    }

    #[test]
    fn words_hold_what_fits() {
        assert_eq!(written(7, Field::Signed, -1), Some(u32::MAX));
        assert_eq!(written(7, Field::Unsigned, 0xffff_ffff), Some(u32::MAX));
        assert_eq!(written(7, Field::Signed, 1 << 31), None);
        assert_eq!(written(7, Field::Unsigned, -1), None);
        let mut bytes = [0; 12];
        write(&mut bytes, 4, Field::Long, -2).unwrap();
        assert_eq!(bytes[4..], (-2_i64).to_le_bytes());
        for offset in [5, u64::MAX] {
            assert!(write(&mut bytes, offset, Field::Long, 0).is_err());
        }
    }

    #[test]
    fn unknown_relocations_are_refused() {
        for machine in [Machine::X86_64, Machine::Aarch64] {
            assert_eq!(rule(machine, 0), Ok(None));
            assert!(rule(machine, 4_000).is_err());
        }
        // R_X86_64_TLSGD needs a function of a dynamic linker.
        assert!(rule(Machine::X86_64, 19).is_err());
    }
}
