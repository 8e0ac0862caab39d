//! Explanations of the compiler's error codes.

use crate::bundle::Bundle;
use crate::bundled_toolchain;
use crate::error::Result;
use crate::toolchain::{self, Found};

/// Returns the explanation by the compiler of snippets for one of its error codes, such as `E0308`; `None` if it has no
/// such code.
///
/// # Errors
/// If there is no compiler, or the bundle that this program is part of can't be used.
pub fn rustc_explanation(code: &str) -> Result<Option<String>> {
    let bundle = Bundle::of_this_program()?;
    let bundled = bundle.as_ref().map(bundled_toolchain::find).transpose()?;
    let (Found::Complete(toolchain) | Found::Lacking(toolchain)) = toolchain::look(bundled, toolchain::ask)?;
    Ok(toolchain::answer(&toolchain.rustc, &["--explain", code]).ok())
}
