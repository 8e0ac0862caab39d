//! Recognises Python, JavaScript and TypeScript, so that the error asks for Rust.
//!
//! Only text that is refused anyway is examined, so this affects only the message.

use crate::lexical::is_of_word;

/// A Rust example: three statements that call a tool and end with a value.
const EXAMPLE: &str = "write the whole snippet in Rust, for example:\n\
    let answer = server::tool(\"argument\").limit(10).await?;\n\
    let lines: Vec<String> = answer.text().lines().filter(|line| line.contains(\"x\")).map(String::from).collect();\n\
    lines.len() // the last expression, without `;`, is the result";

/// Prefixes and parts of lines that do not occur in Rust.
struct Language {
    name: &'static str,
    begins: &'static [&'static str],
    holds: &'static [&'static str],
}

const PYTHON: Language = Language {
    name: "Python",
    begins: &[
        "def ",
        "async def ",
        "elif ",
        "except ",
        "except:",
        "print(",
        "from ",
        "import ",
        "with ",
        "raise ",
        "lambda ",
        "try:",
        "else:",
        "async with ",
        "async for ",
    ],
    holds: &[" = await ", "__name__", " is None", " is not None", "await asyncio", "asyncio.run("],
};
const TYPESCRIPT: Language = Language {
    name: "TypeScript",
    begins: &["interface ", "export type ", "declare ", "export interface "],
    holds: &[": string", ": number", ": boolean", "Promise<", " as any", ": any"],
};
const JAVASCRIPT: Language = Language {
    name: "JavaScript",
    begins: &["function ", "async function ", "export ", "console.", "var ", "import "],
    holds: &[
        "console.log(",
        " === ",
        " !== ",
        "(async ",
        "(() => ",
        " = () => ",
        " = await ",
        "require(",
        "Promise.all(",
        "JSON.",
        "new Map(",
    ],
};

/// Parts that only Rust has.
const RUST: [&str; 9] =
    ["let mut ", "fn ", ".await", "?;", ".unwrap()", "println!", "vec![", "impl ", "let _ "];

/// The language of a text, if it is one that models write instead of Rust.
pub(crate) fn language(text: &str) -> Option<&'static str> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.iter().any(|line| has_path(line) || RUST.iter().any(|own| line.contains(own))) {
        return None;
    }
    let count = |found: &dyn Fn(&str) -> bool| lines.iter().filter(|line| found(line)).count();
    let braces = count(&|line| line.ends_with('{') || line.ends_with(';') || line.ends_with("});"));
    let python = count(&|line| {
        let is_block = line.ends_with(':') && !line.starts_with("//") && !line.starts_with('\'');
        let is_import = line.starts_with("import ") || line.starts_with("from ");
        let marked = PYTHON.marks(line) && !(is_import && line.ends_with(';'));
        is_block || marked || line == "pass"
    });
    let script = count(&|line| JAVASCRIPT.marks(line) || is_constant(line));
    let typed = count(&|line| TYPESCRIPT.marks(line));
    match () {
        () if python == 0 && script == 0 => None,
        () if python > script
            || (python > 0 && braces == 0 && !lines.iter().any(|line| is_constant(line))) =>
        {
            Some(PYTHON.name)
        }
        () if script == 0 => None,
        () if typed > 0 => Some(TYPESCRIPT.name),
        () => Some(JAVASCRIPT.name),
    }
}

impl Language {
    fn marks(&self, line: &str) -> bool {
        self.begins.iter().any(|begin| line.starts_with(begin))
            || self.holds.iter().any(|part| line.contains(part))
    }
}

/// Whether a line contains a path such as `demo::echo`, which none of these languages has.
fn has_path(line: &str) -> bool {
    line.match_indices("::").any(|(at, colons)| {
        let (before, after) = (line.get(..at), line.get(at + colons.len()..));
        before.is_some_and(|before| before.ends_with(is_of_word))
            && after.is_some_and(|after| after.starts_with(is_of_word) || after.starts_with(['<', '{', '*']))
    })
}

/// Whether this is a `const` of a script: a Rust constant has a type and a name in capitals.
fn is_constant(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("const ") else { return false };
    let declared = rest.split('=').next().unwrap_or_default();
    let is_untyped = !declared.contains(": ") || declared.contains("[]") || TYPESCRIPT.marks(line);
    rest.starts_with(['{', '[']) || is_untyped && rest.starts_with(|first: char| first.is_lowercase())
}

/// A hint for a refused text, if it is in another language.
#[must_use]
pub fn hint(text: &str) -> Option<String> {
    let text = crate::markdown::within(text);
    language(&text).map(|name| format!("this is {name}, but a snippet is Rust: {EXAMPLE}"))
}

#[cfg(test)]
mod tests {
    use super::{hint, language};

    #[test]
    fn languages_are_recognised() {
        for (name, text) in [
            ("Python", "orders = await shop.list_orders(limit=50)\nprint(len(orders))"),
            ("Python", "import json\nprint(json.dumps({'a': 1}))"),
            ("Python", "for order in orders:\n    total += order.total\ntotal"),
            ("Python", "print(1 + 1)"),
            ("Python", "result = [x for x in items if x is not None]\nresult"),
            (
                "JavaScript",
                "const orders = await shop.listOrders({ limit: 50 });\nconsole.log(orders.length);",
            ),
            (
                "JavaScript",
                "let total = 0;\nfor (const o of orders) {\n  total += o.total;\n}\nconsole.log(total)",
            ),
            ("JavaScript", "console.log(1)"),
            ("JavaScript", "const { data } = await call();\nreturn data.filter(x => x.ok === true);"),
            ("TypeScript", "const total: number = items.length;\nconsole.log(total);"),
            (
                "TypeScript",
                "interface Order { id: string }\nconst all: Order[] = await list();\nconsole.log(all)",
            ),
        ] {
            assert_eq!(language(text), Some(name), "{text}");
        }
    }

    #[test]
    fn rust_with_a_mistake_is_rust() {
        for text in [
            "let x = 1\nx",
            "const LIMIT: usize = 3;\nLIMIT +",
            "let a = demo::echo(\"x\").await?;\nconsole.log(a)",
            "fn main() { print(1) }",
            "let t: string = \"a\";",
            "match x { 1 => { 2 }, _ => 3 ",
            "use itertools::Itertools;\nlet x = ;",
            "let a: shop::Order;\n1",
            "let total;\ntotal",
            "password.lenn()",
            "exceptions.first().foo",
            "const most: usize = 5;\nmost +",
            "'outer:\nloop { break 'inner }",
            "",
        ] {
            assert_eq!(language(text), None, "{text}");
        }
    }

    #[test]
    fn the_fence_does_not_matter() {
        for fence in ["python", "rust", "", "js"] {
            let hint = hint(&format!("Here:\n```{fence}\nimport os\nprint(os.name)\n```")).unwrap();
            assert!(hint.starts_with("this is Python, but a snippet is Rust: write"), "{hint}");
            assert_eq!(hint.lines().count(), 4, "{hint}");
        }
    }
}
