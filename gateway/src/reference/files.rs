//! What models read about the files that programs may use.

use std::path::Path;

use runner::Grants;

/// Maximum paths that are named: each conversation pays for them.
const NAMED: usize = 6;
/// Maximum characters of a path.
const PATH_LENGTH: usize = 120;

/// The sentences about files, network and state, for programs with these grants.
pub(super) fn files(grants: &Grants) -> String {
    let scratch = grants.scratch.map(|_| "/scratch (working folder; kept in a session)".to_owned());
    let (read, write) = (paths("read", &grants.read), paths("read and write", &grants.write));
    let named: Vec<String> = [scratch, read, write].into_iter().flatten().collect();
    if named.is_empty() {
        return "No files, network or state.".to_owned();
    }
    format!("Files: {}. No network or other state.", named.join("; "))
}

/// The first paths after the word for what is allowed; `None` if there are none.
fn paths<P: AsRef<Path>>(allowed: &str, granted: &[P]) -> Option<String> {
    if granted.is_empty() {
        return None;
    }
    let shown = |path: &P| codegen::clean(&path.as_ref().to_string_lossy(), PATH_LENGTH);
    let named: Vec<String> = granted.iter().take(NAMED).map(shown).collect();
    let more = match granted.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{allowed} {}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_granted_files_are_named_and_not_all_of_many() {
        assert_eq!(files(&Grants::default()), "No files, network or state.");
        let scratch = Grants { scratch: Some(1 << 20), ..Grants::default() };
        assert_eq!(
            files(&scratch),
            "Files: /scratch (working folder; kept in a session). No network or other state."
        );
        let read = (0..8).map(|number| format!("/data/{number}").into()).collect();
        let grants = Grants { read, write: vec!["/reports".into()], ..Grants::default() };
        assert_eq!(
            files(&grants),
            "Files: read /data/0, /data/1, /data/2, /data/3, /data/4, /data/5 and 2 more; \
             read and write /reports. No network or other state."
        );
    }
}
