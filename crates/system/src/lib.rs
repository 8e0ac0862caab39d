//! Shared access to the operating system: size-limited reads and atomic replacement of files, folders that only this user
//! can use, random numbers, timestamps, and long work beside the event loop.
//!
//! The caller decides where files are and what they contain, and handles concurrent writers.

#![forbid(unsafe_code)]

pub mod calendar;
pub mod event_loop;
pub mod file;
pub mod private;
pub mod random;
