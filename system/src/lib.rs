//! Shared access to the operating system: size-limited reads and atomic replacement of files, folders that only this user
//! can use, random numbers, timestamps.
//!
//! The caller decides where files are and what they contain, and handles concurrent writers.

#![forbid(unsafe_code)]

pub mod calendar;
pub mod file;
pub mod private;
pub mod random;
