//! Configures the allocator so that freed memory returns to the system.

/// Allocations of at least this size get their own mapping, in bytes: the threshold that the GNU allocator begins with.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES: std::ffi::c_int = 128 << 10;

/// Returns large allocations to the system as soon as they are freed. By default, once a mapped allocation is freed,
/// the GNU allocator serves later ones of its size from the heap (mallopt(3), "M_MMAP_THRESHOLD"). There, results of
/// many MiB fragment the heap and are copied when they grow: 256 results of 16 MiB, with 50 MiB in use at once, took 20
/// MiB more. What linking a program reads took 4 MiB more.
pub(crate) fn return_large_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: this sets a parameter of the allocator before a second thread exists. If it fails, nothing changes.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
    }
}
