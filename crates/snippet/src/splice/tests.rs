//! Tests of splicing: what surrounds a text, and where its positions are in the compiled file.

use super::*;
use crate::insertion::MODULE;

/// The program in templates/program, which is compiled with the workspace, matches the output of splicing.
#[test]
fn the_template_is_a_spliced_snippet() {
    const TEMPLATE: &str = include_str!("../../../../templates/program/src/snippet.rs");
    const TEXT: &str = "use tools::demo;\nlet greeting = demo::echo(\"hello\").await?;\n\
                        println!(\"{greeting}\");\ngreeting.text().len()";
    let spliced = splice(&Snippet::read(TEXT).unwrap(), &Changes::default(), &[]);
    assert_eq!(spliced.text, TEMPLATE, "templates/program/src/snippet.rs must be:\n{}", spliced.text);
}

/// The function around a text: what it returns, and its body.
fn body(text: &str, finish: Finish) -> (String, String) {
    let changes = Changes { finish, ..Changes::default() };
    let spliced = splice(&Snippet::read(text).unwrap(), &changes, &[]).text;
    let (_, function) = spliced.split_once("fn __body").unwrap();
    let (function, _) = function.split_once(" pub(crate) fn __entry").unwrap();
    let (_, function) = function.split_once(" -> ::bridge::Result<").unwrap();
    let (returns, body) = function.split_once("> ").unwrap();
    (returns.to_owned(), body.to_owned())
}

#[test]
fn the_end_of_statements_is_taken_by_its_kind() {
    const ANY: &str = "impl ::bridge::tail::Outcome";
    let once = "}; ::bridge::finish_once!(__tail) }";
    let never = Finish::Diverges { returns: false };
    let returning = Finish::Diverges { returns: true };
    for (text, finish, returns, before, after) in [
        ("a", Finish::Typed, ANY, "{ let __tail = { ", "}; ::bridge::finish!(__tail) }"),
        ("a + 1", Finish::Typed, ANY, "{ let __tail = { ", "}; ::bridge::Result::Ok(__tail) }"),
        ("a", Finish::Once, ANY, "{ let __tail = { ", once),
        ("a", Finish::Plain, ANY, "{ let __tail = { ", "}; ::bridge::Result::Ok(__tail) }"),
        ("a", never, "()", "{ ", "}"),
        ("a", returning, ANY, "{ ", "}"),
        ("a();", Finish::Typed, ANY, "{ let __tail: () = { ", "}; ::bridge::Result::Ok(__tail) }"),
        ("Err(a)", Finish::Typed, "()", "{ let __tail = { ", once),
        ("if a { return Ok(1) }\nErr(a)", Finish::Typed, ANY, "{ let __tail = { ", once),
        ("loop { a() }", Finish::Typed, "()", "{ ", "}"),
        ("loop { return Ok(1) }", Finish::Typed, ANY, "{ ", "}"),
    ] {
        let expected = (returns.to_owned(), format!("{before}{text}\n{after}"));
        assert_eq!(body(text, finish), expected, "{text} {finish:?}");
    }
}

#[test]
fn the_entry_of_items_is_called_as_it_is_declared() {
    for (text, prefix, returns, call) in [
        ("fn main() {}", "", "()", "::bridge::Result::Ok(main())"),
        ("fn main() -> i32 { 1 }", "", "impl ::bridge::tail::Outcome", "::bridge::finish!(main())"),
        ("async fn main() {}", "async ", "()", "::bridge::Result::Ok(main().await)"),
        (
            "async fn run(args: Args) -> Result<i32> { Ok(1) }",
            "async ",
            "impl ::bridge::tail::Outcome",
            "::bridge::finish!(run(args).await)",
        ),
    ] {
        let spliced = splice(&Snippet::read(text).unwrap(), &Changes::default(), &[]).text;
        let function = format!(
            "\n#[allow(unused_variables)] {prefix}fn __body(args: ::bridge::Args) -> ::bridge::Result<{returns}> \
             {{ #[allow(unused_imports)] use ::bridge::tail::*; {call} }} "
        );
        assert!(spliced.contains(&format!("{text}{function}")), "{spliced}");
    }
}

/// A corrected text: each first part is replaced by the second, in text order.
fn corrected(original: &str, edits: &[(&str, &str)]) -> (String, Vec<Corrected>) {
    let (mut text, mut rest, mut places) = (String::new(), original, Vec::new());
    for (old, new) in edits {
        let (before, after) = rest.split_once(old).unwrap();
        text.push_str(before);
        places.push(Corrected { at: text.len(), added: new.chars().count(), removed: old.chars().count() });
        text.push_str(new);
        rest = after;
    }
    (text + rest, places)
}

/// The line and column of a word that a text contains once, from 1.
fn position(text: &str, word: &str) -> (u32, u32) {
    assert_eq!(text.matches(word).count(), 1, "{word} in {text}");
    let (before, _) = text.split_once(word).unwrap();
    let line = before.rsplit('\n').next().unwrap();
    (1 + count(before.matches('\n').count()), 1 + count(line.chars().count()))
}

/// Checks that each word in capitals of the original text is found at its position from the compiled one.
#[track_caller]
fn assert_mapped(original: &str, edits: &[(&str, &str)], tail_in_place: bool) {
    let (text, corrected) = corrected(original, edits);
    let changes = Changes { corrected, tail_in_place, imports: "use é; ".to_owned(), ..Changes::default() };
    let spliced = splice(&Snippet::read(&text).unwrap(), &changes, &[]);
    assert_eq!(count(original.split('\n').count()), spliced.lines);
    assert_eq!(tail_in_place, spliced.text.contains(TAIL.0));
    let origin = bridge::Origin::new(spliced.offset).edited(&spliced.edits);
    for word in original
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() == 5 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
    {
        let (line, column) = position(&spliced.text, word);
        assert_eq!((line, origin.column(line, column)), position(original, word), "{word} in {text}");
    }
    // The program maps its positions with the same table.
    let edited =
        if spliced.edits.is_empty() { ";".to_owned() } else { format!(".edited(&{:?});", spliced.edits) };
    assert!(spliced.text.ends_with(&format!("::bridge::Origin::new({}){edited}\n", spliced.offset)));
}

const STATEMENTS: &str = "let é = one(ALPHA); two(BRAVO);\nlet b = three(CHARL); DELTA();\n\
                          let c = ECHOS; last(FOXES) + GOLFS\n    .four(HOTEL, INDIA)";

#[test]
fn positions_in_statements_are_those_of_the_snippet() {
    let edits =
        [("one(", "one(&"), ("two(", "é(3.0, "), ("three(", "t("), ("last(", "last(&&"), ("four(", "f((")];
    for tail_in_place in [false, true] {
        assert_mapped(STATEMENTS, &[], tail_in_place);
        for edit in edits {
            if edit.1 != "f((" {
                assert_mapped(STATEMENTS, &[edit], tail_in_place);
            }
        }
        assert_mapped(STATEMENTS, &edits[..4], tail_in_place);
        // At the start of the last value, before it in its line, and in its second line.
        assert_mapped(STATEMENTS, &[("last(", "&last(")], tail_in_place);
        assert_mapped(
            STATEMENTS,
            &[("c = ", "c = &"), ("last(", "(last)("), (".four(", ".é(1, ")],
            tail_in_place,
        );
    }
}

#[test]
fn positions_in_items_are_those_of_the_snippet() {
    let text = "fn main() { crate::one(ALPHA); crate::two(BRAVO, CHARL); DELTA() }\n\
                fn other() { é(ECHOS); crate::three(FOXES); crate::é(); GOLFS }\nfn last() { HOTEL }";
    assert_mapped(text, &[], false);
    let edits = [
        ("one(", "one(&"),
        ("BRAVO, ", "BRAVO, 1.0, "),
        ("é(", "é(&"),
        ("three(", "t("),
        ("last() { ", "last() { &"),
    ];
    for edit in edits {
        assert_mapped(text, &[edit], false);
    }
    assert_mapped(text, &edits, false);
}

#[test]
fn offsets_in_the_compiled_text_are_those_of_the_snippet() {
    let text = "fn main() { crate::one(); crate::two() }\nfn two() { crate::three() }";
    let snippet = Snippet::read(text).unwrap();
    let spliced = splice(&snippet, &Changes::default(), &[]);
    assert_eq!(spliced.inserted.len(), 3);
    let start = spliced.text.find("fn main").unwrap();
    assert_eq!(spliced.text[..start].chars().count(), spliced.offset as usize);
    let compiled = &spliced.text[start..];
    let mut at = 0;
    for (offset, character) in text.char_indices() {
        if spliced.inserted.contains(&(offset, MODULE.len())) {
            for inserted in 0..MODULE.len() {
                assert_eq!(Spliced::own(&spliced.inserted, at + inserted), offset);
            }
            at += MODULE.len();
        }
        assert_eq!(Spliced::own(&spliced.inserted, at), offset);
        assert!(compiled[at..].starts_with(character));
        at += character.len_utf8();
    }
    assert_eq!(Spliced::own(&spliced.inserted, at + 7), text.len() + 7);
    assert_eq!(Spliced::own(&[], 7), 7);
}
