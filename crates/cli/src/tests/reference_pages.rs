//! Holds the parts of the documentation that are generated from the code to the code: the limits, the shares, and the
//! kinds of errors. With `UPDATE_DOCS=1`, the test writes what differs.
//!
//! A generated part of a page is between `<!-- generated: NAME -->` and `<!-- end -->`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::CommandFactory as _;
use runner::{limits, size};

#[test]
fn serve_page_shows_the_shares_of_the_code() {
    compare_part("serve.md", "shares", &server::shares::table());
}

#[test]
fn limits_page_shows_the_limits_of_the_code() {
    let program = sandbox::Policy::program().limits;
    let compiler = sandbox::Policy::compiler().limits;
    let bytes = |limit: Option<u64>| size(usize::try_from(limit.unwrap()).unwrap());
    let minutes = |time: Duration| format!("{} minutes", time.as_secs() / 60);
    let rows = [
        (
            "text of a snippet",
            format!(
                "{}; brackets nested {} deep; {} tokens in one expression",
                size(limits::SNIPPET_LIMIT),
                limits::NESTING_LIMIT,
                count(limits::CHAIN_LIMIT)
            ),
        ),
        ("result", format!("{} of JSON", size(limits::RESULT_LIMIT))),
        (
            "content parts of an execution",
            format!("{} of JSON together, {} parts", size(limits::CONTENT_LIMIT), count(limits::PARTS_LIMIT)),
        ),
        ("message of an error or a panic", size(limits::MESSAGE_LIMIT)),
        (
            "lists in an [outcome](outcome.md#fields)",
            format!(
                "the first {} compiler messages, {} warnings of the running program and {} calls",
                snippet::diagnostics::DIAGNOSTICS_KEPT,
                limits::WARNINGS_LIMIT,
                count(runner::CALLS_KEPT)
            ),
        ),
        (
            "texts of an answer of `serve`",
            "[`serve.output`](serve.md#long-output) in bytes, whatever the number of lines".to_owned(),
        ),
        ("images in an answer of `serve`", format!("{} of Base64", size(answer::IMAGES_ROOM))),
        (
            "texts that `serve` keeps whole because an answer is cut",
            format!(
                "{}, {} together",
                server::output_store::TEXTS_KEPT,
                size(server::output_store::BYTES_KEPT)
            ),
        ),
        ("a message between program and host, either way", size(limits::FRAME_LIMIT)),
        ("a message, HTTP response body or event *from a server*", size(mcp::MAX_MESSAGE_BYTES)),
        (
            "an HTTP request *from a client* of `serve --http`",
            format!("[{}](serve-http.md#access)", size(server::http::BODY_LIMIT)),
        ),
        (
            "calls in flight in one execution",
            format!(
                "{}, with {} of arguments together; others wait",
                limits::CALLS_IN_FLIGHT,
                size(limits::BYTES_IN_FLIGHT)
            ),
        ),
        (
            "tool list of a server",
            format!(
                "{} pages, {} tools, {} for one tool, {} together",
                mcp::MAX_PAGES,
                count(mcp::MAX_TOOLS),
                size(mcp::MAX_TOOL_BYTES),
                size(mcp::MAX_LISTING_BYTES)
            ),
        ),
        ("the program's stack", size(limits::PROGRAM_STACK)),
        ("the program's open file descriptors", program.open_files.unwrap().to_string()),
        ("a file that a program writes to a granted path", bytes(Some(limits::FILE_SIZE))),
        ("the number of files in scratch space", count(sandbox::SCRATCH_FILES)),
        (
            "the compiler",
            format!(
                "{} of address space and {} s of processor time for each process; output files up to {} ({} when \
                 compiling bindings)",
                bytes(compiler.address_space),
                limits::SNIPPET_SECONDS,
                bytes(Some(limits::LARGEST_PROGRAM)),
                bytes(Some(limits::LARGEST_LIBRARY))
            ),
        ),
        ("compiling the bindings of one server", format!("{} s", limits::BINDINGS_TIMEOUT.as_secs())),
        ("files that `codegen` reads", bytes(Some(crate::commands::codegen::source::FILE_LIMIT))),
        (
            "the crates for snippets, at first use",
            format!(
                "{} to download, and {} to build",
                minutes(limits::DOWNLOAD_TIMEOUT),
                minutes(limits::BUILD_TIMEOUT)
            ),
        ),
    ];
    let rows: Vec<_> = rows.iter().map(|(what, limit)| [(*what).to_owned(), limit.clone()]).collect();
    compare_part("limits.md", "limits", &table(["what", "limit"], &rows));
}

#[test]
fn errors_page_shows_the_kinds_of_tool_errors() {
    let source = read(&repository().join("templates/bridge/src/error.rs"));
    let rows: Vec<_> = variants(&source, "ToolErrorKind")
        .into_iter()
        .map(|(name, documentation)| [format!("`{name}`"), documentation])
        .collect();
    compare_part("errors.md", "tool error kinds", &table(["`ToolErrorKind::`", "meaning"], &rows));
}

#[test]
fn command_line_page_lists_every_command() {
    let page = read(&repository().join("docs/command-line.md"));
    let table = page.split("\n## ").next().unwrap();
    let mut listed = BTreeSet::new();
    for cell in table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next()) {
        let mut parent = None;
        for name in cell.split('`').step_by(2).map(|name| name.split(" -").next().unwrap()) {
            let name = parent.map_or_else(|| name.to_owned(), |parent| format!("{parent} {name}"));
            listed.insert(name.clone());
            parent = parent.or(cell
                .split('`')
                .next()
                .and_then(|first| first.rsplit_once(' '))
                .map(|(one, _)| one));
        }
    }
    let mut commands = BTreeSet::new();
    let mut toolsmith = crate::arguments::Arguments::command();
    toolsmith.build();
    add_commands(&mut commands, &toolsmith, "");
    assert_eq!(listed, commands);
}

/// Adds the commands that have no subcommands, without hidden ones.
fn add_commands(all: &mut BTreeSet<String>, command: &clap::Command, name: &str) {
    let is_shown = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    let below: Vec<_> = command.get_subcommands().filter(is_shown).collect();
    if below.is_empty() {
        all.insert(name.trim_start().to_owned());
    }
    below.iter().for_each(|below| add_commands(all, below, &format!("{name} {}", below.get_name())));
}

#[test]
fn outcome_page_lists_every_status() {
    let source = read(&repository().join("runner/src/outcome.rs"));
    let page = read(&repository().join("docs/outcome.md"));
    for (name, _) in variants(&source, "Status") {
        let status: String = name
            .char_indices()
            .flat_map(|(at, c)| {
                (at > 0 && c.is_uppercase()).then_some('_').into_iter().chain(c.to_lowercase())
            })
            .collect();
        assert!(page.contains(&format!("\n| `{status}` | ")), "docs/outcome.md has no status `{status}`");
    }
}

/// The variants of an enum in a file, each with the text of its documentation.
fn variants(source: &str, name: &str) -> Vec<(String, String)> {
    let file = syn::parse_file(source).unwrap();
    let found = file.items.iter().find_map(|item| match item {
        syn::Item::Enum(item) if item.ident == name => Some(item),
        _ => None,
    });
    found.unwrap().variants.iter().map(|variant| (variant.ident.to_string(), doc(&variant.attrs))).collect()
}

fn doc(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            path,
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) if path.is_ident("doc") => Some(text.value().trim().to_owned()),
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// A number with a space before every three digits.
fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn table(head: [&str; 2], rows: &[[String; 2]]) -> String {
    let mut text = format!("| {} | {} |\n| --- | --- |\n", head[0], head[1]);
    for [left, right] in rows {
        let _ = writeln!(text, "| {left} | {right} |");
    }
    text
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Compares a page with what it must be.
fn compare(page: &str, expected: &str) {
    let path = repository().join("docs").join(page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    assert!(
        read(&path) == expected,
        "docs/{page} differs from the code; write it with: UPDATE_DOCS=1 cargo test -p toolsmith-cli reference_pages"
    );
}

/// Compares a generated part of a page with what it must be.
fn compare_part(page: &str, name: &str, expected: &str) {
    let text = read(&repository().join("docs").join(page));
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = text.split_once(&begin).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    compare(page, &format!("{before}{begin}\n{expected}\n<!-- end -->{after}"));
}
