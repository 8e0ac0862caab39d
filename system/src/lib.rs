//! What the system is asked for in one way everywhere: files that are read within a bound and replaced as a whole, and
//! random numbers; points of time as people and machines read them.
//!
//! Where a file lies, what it says, and who else writes it at the same time is the caller's business.

pub mod calendar;
pub mod file;
pub mod random;
