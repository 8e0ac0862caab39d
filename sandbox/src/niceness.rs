//! The niceness of children, by which they yield to other work.

/// The default of [`Limits::niceness`](crate::Limits::niceness): a third of the processor time of normal processes, the
/// host among them.
pub const NICENESS: u8 = 5;

/// The highest niceness (`sched(7)`): only idle processor time is used.
pub const MOST: u8 = 19;

/// Levels by which the niceness of `count` threads or children must rise, so that all of them together get as much
/// processor time as `competing` would: at most [`MOST`].
///
/// Each level is a factor of 1.25 (`sched_prio_to_weight`, kernel/sched/core.c).
#[must_use]
pub fn levels(count: u64, competing: u64) -> u8 {
    let mut levels = 0;
    let mut weight = competing.max(1).saturating_mul(1000);
    while weight < count.saturating_mul(1000) && levels < MOST {
        weight += weight / 4;
        levels += 1;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn more_than_the_competing_ones_raise_the_niceness() {
        for (count, competing, expected) in [
            (0, 2, 0),
            (2, 2, 0),
            (3, 2, 2),
            (4, 2, 4),
            (8, 2, 7),
            (64, 2, 16),
            (64, 64, 0),
            (1, 0, 0),
            (u64::MAX, 1, 19),
        ] {
            assert_eq!(levels(count, competing), expected, "{count}, of which {competing} compete");
        }
    }
}
