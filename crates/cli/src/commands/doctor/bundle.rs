//! The lines of the report about the bundle that this program is part of.

use super::line::{Line, line};

/// Maximum number of files of a bundle to print that differ from its manifest; `--json` has all.
const DIFFERENCES: usize = 20;

/// Compares the bundle with its manifest.
pub(super) fn bundle(integrity: &runner::bundle::Integrity) -> Vec<Line> {
    let runner::bundle::Integrity { folder, files, contents, differences } = integrity;
    let compared = if *contents { "contents" } else { "sizes (--verify compares contents)" };
    let text = match differences.len() {
        0 => format!("{} as in the manifest, compared by {compared}", report::count(*files, "file")),
        some => format!("{some} of {} differ from the manifest", report::count(*files, "file")),
    };
    let mut lines =
        vec![line(true, "place", folder.display().to_string()), line(differences.is_empty(), "files", text)];
    lines.extend(differences.iter().take(DIFFERENCES).map(|difference| line(false, "file", difference)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_has_its_own_lines() {
        let integrity = |contents, differences| runner::bundle::Integrity {
            folder: "/opt/toolsmith".into(),
            files: 120,
            contents,
            differences,
        };
        let text = |integrity| {
            let lines = bundle(&integrity).into_iter();
            lines.map(|line| format!("{} {}: {}", line.ok, line.name, line.text)).collect::<Vec<_>>()
        };
        let whole =
            ["true place: /opt/toolsmith", "true files: 120 files as in the manifest, compared by contents"];
        assert_eq!(text(integrity(true, Vec::new())), whole);
        let changed = text(integrity(false, vec!["bin/toolsmith: is missing".to_owned()]));
        assert_eq!(changed[1], "false files: 1 of 120 files differ from the manifest");
        assert_eq!(changed[2], "false file: bin/toolsmith: is missing");
    }
}
