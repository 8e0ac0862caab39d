//! Combines two rounds of corrections into changes of the original text.

use super::edit::Edit;

/// The edits from the original text to the result of `second` on `between`, the result of `first`. Both lists are in
/// text order; adjacent edits are merged.
pub(super) fn composed(between: &str, first: &[Edit], second: &[Edit]) -> Vec<Edit> {
    let mut places = Vec::new();
    let mut shift = 0_isize;
    for edit in first {
        let start = edit.start.saturating_add_signed(shift);
        let added = growth(edit);
        shift += added;
        places.push(Place { start, end: start + edit.text.len(), added, edit: None });
    }
    let second =
        second.iter().map(|edit| Place { start: edit.start, end: edit.end, added: 0, edit: Some(edit) });
    places.extend(second);
    places.sort_by_key(|place| (place.start, place.end));
    let mut edits = Vec::new();
    let mut shift = 0;
    let mut rest = &places[..];
    while let Some(start) = rest.first().map(|place| place.start) {
        let mut end = start;
        let mut count = 0;
        while let Some(place) = rest.get(count).filter(|place| place.start <= end) {
            end = end.max(place.end);
            count += 1;
        }
        let (group, others) = rest.split_at(count);
        rest = others;
        let mut text = between.get(start..end).unwrap_or("").to_owned();
        for edit in group.iter().rev().filter_map(|place| place.edit) {
            text.replace_range(edit.start - start..edit.end - start, &edit.text);
        }
        let before = start.saturating_add_signed(-shift);
        shift += group.iter().map(|place| place.added).sum::<isize>();
        edits.push(Edit { start: before, end: end.saturating_add_signed(-shift), text });
    }
    edits
}

/// Bytes of the intermediate text that one edit has inserted or replaces.
struct Place<'a> {
    start: usize,
    end: usize,
    /// The intermediate text's offset from the original text at this point.
    added: isize,
    edit: Option<&'a Edit>,
}

fn growth(edit: &Edit) -> isize {
    edit.text.len().cast_signed() - (edit.end - edit.start).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::{Edit, composed};

    fn apply(text: &str, edits: &[Edit]) -> String {
        let mut text = text.to_owned();
        edits.iter().rev().for_each(|edit| text.replace_range(edit.start..edit.end, &edit.text));
        text
    }

    fn edits(edits: &[(usize, usize, &str)]) -> Vec<Edit> {
        edits
            .iter()
            .map(|(start, end, text)| Edit { start: *start, end: *end, text: (*text).to_owned() })
            .collect()
    }

    #[test]
    fn two_rounds_are_merged() {
        let text = "f(n).x(5)\ny[0]";
        let first = edits(&[(2, 2, "&"), (4, 4, ".await?"), (11, 14, ".0")]);
        let between = apply(text, &first);
        assert_eq!(between, "f(&n).await?.x(5)\ny.0");
        assert_eq!(composed(&between, &first, &[]), first);
        for second in [
            edits(&[(0, 0, "g(")]),
            edits(&[(3, 3, "mut "), (15, 16, "5.0")]),
            edits(&[(2, 4, "m"), (12, 12, ".z()"), (18, 19, "w"), (21, 21, "?")]),
            edits(&[(6, 11, "b"), (20, 21, "1")]),
            edits(&[(0, 21, "all")]),
        ] {
            let both = composed(&between, &first, &second);
            assert_eq!(apply(text, &both), apply(&between, &second), "{second:?}");
            assert!(both.windows(2).all(|pair| pair[0].end < pair[1].start), "{both:?}");
        }
    }
}
