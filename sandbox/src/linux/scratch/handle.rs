//! A handle of scratch space: a descriptor, which a policy may hold.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Scratch space for the children of one owner: files that one child leaves there are there for the next.
/// Clones refer to the same space. It is gone when the last clone is dropped or this process dies, and no
/// child has it mounted.
///
/// It has a fixed size in bytes, and holds at most 65 536 files and folders.
#[derive(Clone)]
pub struct Scratch {
    space: Arc<Space>,
}

struct Space {
    bytes: u64,
    /// The mount namespace that contains it.
    namespace: OwnedFd,
}

impl Scratch {
    /// The space in this mount namespace.
    pub(super) fn held_by(bytes: u64, namespace: OwnedFd) -> Self {
        Self { space: Arc::new(Space { bytes, namespace }) }
    }

    /// The size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.space.bytes
    }

    pub(crate) fn namespace(&self) -> BorrowedFd<'_> {
        self.space.namespace.as_fd()
    }
}

impl PartialEq for Scratch {
    /// Whether both are the same space.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.space, &other.space)
    }
}

impl Eq for Scratch {}

impl fmt::Debug for Scratch {
    /// Size, and the namespace in `/proc` notation.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = rustix::fs::fstat(self.namespace()).map_or(0, |status| status.st_ino);
        write!(formatter, "Scratch({} bytes, mnt:[{number}])", self.space.bytes)
    }
}
