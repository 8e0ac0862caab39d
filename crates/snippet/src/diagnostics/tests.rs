use bridge::wire::Warning;

use super::{Reader, from_warning};
use crate::splice::Spliced;

#[test]
fn program_warnings_may_have_any_position() {
    let warning = |line, column| Warning { message: "odd".to_owned(), line, column };
    let shown = from_warning(warning(Some(2), Some(3)), "a\nb == c");
    assert_eq!((shown.line, shown.column, shown.level.as_str()), (2, 3, "warning"));
    assert_eq!(shown.rendered, "warning: odd\n --> 2:3\n2 | b == c\n  |   ^\n");
    for (line, column) in [(0, 1), (1, 0), (3, 1), (u32::MAX, 1)] {
        let shown = from_warning(warning(Some(line), Some(column)), "a\nb");
        assert_eq!((shown.line, shown.rendered.as_str()), (1, "warning: odd\n"), "{line} {column}");
    }
    assert!(from_warning(warning(Some(1), Some(u32::MAX)), "a").rendered.contains("1 |"));
    assert_eq!(from_warning(warning(None, Some(1)), "a").rendered, "warning: odd\n");
}

#[test]
fn positions_in_texts_are_mapped_to_the_snippet() {
    let spliced = Spliced {
        text: String::new(),
        offset: 171,
        lines: 2,
        edits: Vec::new(),
        inserted: Vec::new(),
        programs: Vec::new(),
    };
    let reader = Reader { lines: vec!["|x: i32| x + 1", ""], spliced: &spliced };
    let cases = [
        ("`{closure@snippet.rs:1:172: 1:180}` and more", "`{closure@snippet.rs:1:1: 1:9}` and more"),
        ("{async block@snippet.rs:1:207}", "{async block@snippet.rs:1:36}"),
        ("{closure@snippet.rs:1:200: 2:4}", "{closure@snippet.rs:1:29: 2:4}"),
        ("{async fn body@snippet.rs:1:60: 1:70}", "{async fn body@snippet.rs:1:1: 1:1}"),
        (
            "[snippet.rs:2:300, snippet.rs:1:181: not a place]",
            "[snippet.rs:2:300, snippet.rs:1:10: not a place]",
        ),
    ];
    for (text, moved) in cases {
        assert_eq!(reader.moved(text), moved);
    }
    for odd in [
        "",
        "snippet.rs:",
        "snippet.rs:1",
        "snippet.rs:1:",
        "snippet.rs:99999999999:1",
        "snippet.rs:ä:1",
        "größe 1:2",
    ] {
        assert_eq!(reader.moved(odd), odd);
    }
}
