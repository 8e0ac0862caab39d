//! Highlights Rust. Text that is not valid Rust is shown as well.

use codegen::highlight::{Look, parts};

use super::style::{Style, TextStyle};

/// Colours a text, or returns it unchanged if `style` has no colours. Colours end at the end of each line.
pub(crate) fn rust(code: &str, style: Style) -> String {
    if !style.0 {
        return code.to_owned();
    }
    let mut painted = String::with_capacity(code.len() * 2);
    for (look, text) in parts(code) {
        let Some(look) = look.map(text_style) else {
            painted.push_str(text);
            continue;
        };
        let lines: Vec<String> = text.split('\n').map(|line| style.paint(look, line)).collect();
        painted.push_str(&lines.join("\n"));
    }
    painted
}

fn text_style(look: Look) -> TextStyle {
    match look {
        Look::Comment => TextStyle::Dim,
        Look::Text => TextStyle::Green,
        Look::Number => TextStyle::Cyan,
        Look::Keyword => TextStyle::Magenta,
        Look::Function => TextStyle::Blue,
        Look::Type => TextStyle::Yellow,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keywords_macros_types_and_calls_have_different_colours() {
        let painted = rust("let x = shop::search(Kind::A); print!(\"a\nb\")", Style(true));
        for phrase in [
            "\x1b[35mlet\x1b[39m",
            "\x1b[34msearch\x1b[39m",
            "\x1b[33mKind\x1b[39m",
            "\x1b[34mprint\x1b[39m!",
            "\x1b[32m\"a\x1b[39m\n\x1b[32mb\"\x1b[39m",
        ] {
            assert!(painted.contains(phrase), "{phrase:?} in {painted:?}");
        }
        assert_eq!(rust("let x", Style(false)), "let x");
    }

    proptest! {
        #[test]
        fn colours_leave_every_text_complete(code in "(\\PC|[\"'/*#rb\\\\\n!.]){0,60}") {
            let painted = rust(&code, Style(true));
            let mut plain = String::new();
            let mut rest = painted.as_str();
            while let Some(place) = rest.find("\x1b[") {
                plain.push_str(&rest[..place]);
                rest = &rest[place..];
                rest = &rest[rest.find('m').unwrap() + 1..];
            }
            plain.push_str(rest);
            prop_assert_eq!(plain, code);
        }
    }
}
