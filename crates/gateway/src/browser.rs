//! Opens addresses in the user's browser.

/// Opens an address with the system's opener, without a shell. Returns whether a program was started.
pub fn open(address: &str) -> bool {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    is_web && open::that_detached(address).is_ok()
}
