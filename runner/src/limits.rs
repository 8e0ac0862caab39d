//! The fixed limits of executions, for the documentation.

pub use bridge::size::MESSAGE_LIMIT;
pub use bridge::wire::{BYTES_IN_FLIGHT, CALLS_IN_FLIGHT, FRAME_LIMIT, WARNINGS_LIMIT};
pub use bridge::{RESULT_LIMIT, STACK as PROGRAM_STACK};
pub use snippet::{CHAIN_LIMIT, NESTING_LIMIT, SNIPPET_LIMIT};

pub use crate::bindings::TIMEOUT as BINDINGS_TIMEOUT;
pub use crate::broker::{CONTENT_LIMIT, PARTS_LIMIT};
pub use crate::compiler::{LARGEST_LIBRARY, LARGEST_PROGRAM, SNIPPET_SECONDS};
pub use crate::layer::{BUILD_TIMEOUT, DOWNLOAD_TIMEOUT};
pub use crate::sandbox_policies::FILE_SIZE;
