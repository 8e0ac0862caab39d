//! Opens addresses in the person's browser.

/// Opens an address with the system's own opener; no shell sees it. Says whether something was started.
pub(crate) fn open(address: &str) -> bool {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    is_web && open::that_detached(address).is_ok()
}
