//! Maps positions in the compiled file to the lines and columns of the snippet.

/// The file of the snippet's text in positions.
pub(crate) const SNIPPET_FILE: &str = "snippet.rs";

/// An edit of the compiled text: line and column in the compiled text, characters inserted there, and characters of the
/// snippet that they replace.
pub type Edited = (u32, u32, u32, u32);

/// The position of a snippet's text in its file.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// Characters before the text in line 1.
    offset: u32,
    /// In text order.
    edits: &'a [Edited],
}

impl<'a> Origin<'a> {
    /// A text with `offset` characters before it in line 1.
    #[must_use]
    pub const fn new(offset: u32) -> Self {
        Origin { offset, edits: &[] }
    }

    /// Adds the edits of a text, in text order.
    #[must_use]
    pub const fn edited(mut self, edits: &'a [Edited]) -> Self {
        self.edits = edits;
        self
    }

    /// The snippet's column for a column in the file; inserted text maps to its position.
    #[must_use]
    pub fn column(self, line: u32, column: u32) -> u32 {
        let column = if line == 1 { column.saturating_sub(self.offset) } else { column };
        let mut own = column;
        for (_, at, added, removed) in self.edits.iter().filter(|(edited, ..)| *edited == line) {
            if column < *at {
                break;
            }
            // Later edits start after this one.
            let after = column.saturating_sub(at + added);
            let before = own.saturating_sub(column - at);
            own = if column < at + added { before } else { before + removed + after };
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn columns_map_to_the_snippet() {
        // `f(n).x(5, 6)` became `f(&n).await?.x(5.0, 6)`, then `y[0]` became `y.0`.
        let edits = [(2, 3, 1, 0), (2, 6, 7, 0), (2, 17, 2, 0), (3, 2, 2, 3)];
        let origin = Origin::new(10).edited(&edits);
        let columns = |line, columns: &[u32]| {
            columns.iter().map(|column| origin.column(line, *column)).collect::<Vec<_>>()
        };
        assert_eq!(columns(1, &[1, 11, 15]), [0, 1, 5]);
        assert_eq!(
            columns(2, &[1, 2, 3, 4, 5, 6, 12, 13, 14, 16, 17, 18, 19, 22]),
            [1, 2, 3, 3, 4, 5, 5, 5, 6, 8, 9, 9, 9, 12]
        );
        assert_eq!(columns(3, &[1, 2, 3, 4, 5]), [1, 2, 2, 5, 6]);
        assert_eq!(columns(4, &[7]), [7]);
    }
}
