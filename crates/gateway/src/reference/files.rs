//! The texts that models read about the files that programs may use.

use std::path::Path;

use runner::Grants;

use super::words::characters;

/// Maximum paths that are named, tried in this order: each conversation pays for them.
const NAMED: [usize; 4] = [6, 3, 1, 0];
/// Maximum characters of a path.
const PATH_LENGTH: usize = 120;

/// The sentences about files, network and state, for programs with these grants. They name as many paths as fit into
/// `longest` characters.
pub(super) fn files(grants: &Grants, longest: usize) -> String {
    let mut texts = NAMED.iter().map(|most| naming(grants, *most));
    texts.find(|text| characters(text) <= longest).unwrap_or_else(|| naming(grants, 0))
}

fn naming(grants: &Grants, most: usize) -> String {
    let scratch = grants.scratch.map(|_| "/scratch (working folder; kept in a session)".to_owned());
    let (read, write) = (paths("read", &grants.read, most), paths("read and write", &grants.write, most));
    let named: Vec<String> = [scratch, read, write].into_iter().flatten().collect();
    if named.is_empty() {
        return "No files, network or state.".to_owned();
    }
    format!("Files: {}. No network or other state.", named.join("; "))
}

/// The first paths after the word for what is allowed; `None` if there are none.
fn paths<P: AsRef<Path>>(allowed: &str, granted: &[P], most: usize) -> Option<String> {
    if granted.is_empty() {
        return None;
    }
    let shown = |path: &P| codegen::clean(&path.as_ref().to_string_lossy(), PATH_LENGTH);
    if most == 0 {
        return Some(format!("{allowed} {}", report::count(granted.len(), "path")));
    }
    let named: Vec<String> = granted.iter().take(most).map(shown).collect();
    let more = match granted.len().saturating_sub(most) {
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
        assert_eq!(files(&Grants::default(), 1_000), "No files, network or state.");
        let scratch = Grants { scratch: Some(1 << 20), ..Grants::default() };
        assert_eq!(
            files(&scratch, 1_000),
            "Files: /scratch (working folder; kept in a session). No network or other state."
        );
        let read = (0..8).map(|number| format!("/data/{number}").into()).collect();
        let grants = Grants { read, write: vec!["/reports".into()], ..Grants::default() };
        assert_eq!(
            files(&grants, 1_000),
            "Files: read /data/0, /data/1, /data/2, /data/3, /data/4, /data/5 and 2 more; \
             read and write /reports. No network or other state."
        );
        assert_eq!(
            files(&grants, 100),
            "Files: read /data/0 and 7 more; read and write /reports. No network or other state."
        );
        assert_eq!(
            files(&grants, 0),
            "Files: read 8 paths; read and write 1 path. No network or other state."
        );
    }
}
