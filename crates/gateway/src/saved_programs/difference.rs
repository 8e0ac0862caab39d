//! The difference between two texts, by line.

/// The changed lines: those before with `-`, those after with `+`. Equal lines at the start and the end are left out.
pub(crate) fn lines(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let changed = |lines: &[&str], mark: &str| -> Vec<String> {
        let kept = lines.len() - end;
        lines.iter().take(kept).map(|line| format!("{mark} {line}")).collect()
    };
    let mut text = vec![format!("line {}:", same + 1)];
    text.extend(changed(old, "-"));
    text.extend(changed(new, "+"));
    text.join("\n")
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn only_changed_lines_are_shown() {
        assert_eq!(lines("a\nb\nc\nd", "a\nx\nc\nd"), "line 2:\n- b\n+ x");
        assert_eq!(lines("a\nb", "a\nb\nc"), "line 3:\n+ c");
        assert_eq!(lines("a\na", "a"), "line 2:\n- a");
        assert_eq!(lines("", "a"), "line 1:\n+ a");
    }
}
