//! A file in memory, of which only those pages are read that are used (mmap(2)).

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::{null_mut, slice_from_raw_parts};

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
}

// The same numbers on x86-64 and arm64.
const PROT_READ: c_int = 1;
const MAP_PRIVATE: c_int = 2;

/// A file's bytes. They stay in memory until the process ends.
pub struct Mapping(*const [u8]);

impl Mapping {
    /// Maps a whole file, which nobody may change meanwhile: an entry of the cache.
    pub fn of(file: &File) -> Option<Self> {
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe { mmap(null_mut(), length, PROT_READ, MAP_PRIVATE, file.as_raw_fd(), 0) };
        // MAP_FAILED is -1.
        (start.addr() != usize::MAX).then(|| Mapping(slice_from_raw_parts(start.cast(), length)))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped for as long as the process lives.
        unsafe { &*self.0 }
    }
}
