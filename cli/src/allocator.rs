//! How this process gives memory back.

/// From this size on an allocation is mapped by itself, in bytes (1 MiB).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES: std::ffi::c_int = 1 << 20;

/// Has large allocations given back to the system where they are freed. Once a mapped allocation is freed, the GNU allocator
/// takes further ones of its size from its heap (mallopt(3), "M_MMAP_THRESHOLD"). There answers of many MiB leave holes
/// behind and are copied where they grow: 256 answers of 16 MiB, of which 50 MiB are in use at once, took 20 MiB more.
pub(crate) fn return_large_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number of the allocator's, before there is a second thread. Where it fails, nothing changes.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
    }
}
