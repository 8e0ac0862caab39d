//! `regex` for snippets: the crate itself, with what is generic in it compiled once instead of in each snippet.
//!
//! It is a crate of its own, because the compiler then reads it only for snippets that name it. For how instances are
//! shared, see `bridge::instantiate`.

extern crate regex as original;

pub use original::*;

/// Never called: it only has to be compiled.
///
/// # Errors
/// Returns the errors of the pattern.
#[doc(hidden)]
pub fn __instantiate(pattern: &str, text: &str) -> anyhow::Result<Vec<String>> {
    use anyhow::Context;
    let mut found = Vec::new();
    let insensitive = RegexBuilder::new(pattern).case_insensitive(true).multi_line(true).build();
    let regex = insensitive.context("a")?;
    for captures in Regex::new(pattern)?.captures_iter(text) {
        found.push(captures[0].to_owned() + &captures["name"]);
        found.extend(captures.get(1).map(|part| part.as_str().to_string()));
        found.extend(captures.name("name").map(|part| part.as_str().trim().to_owned()));
        let (all, [one]) = captures.extract();
        found.push(all.replace(one, ""));
    }
    for part in regex.find_iter(text) {
        found.push(format!("{} {} {:?}", part.start(), part.end(), part.as_str()));
    }
    if let Some(captures) = regex.captures(text) {
        found.extend(captures.iter().flatten().map(|part| part.as_str().to_string()));
        found.push(captures.get(1).map_or(String::new(), |part| part.as_str().into()));
    }
    found.extend(regex.find(text).map(|part| part.as_str().to_string()));
    found.extend(regex.split(text).map(String::from));
    found.push(regex.replace_all(text, "$1").into_owned());
    found.push(regex.replace(text, "").to_string());
    found.push(regex.replace_all(text, |captures: &Captures<'_>| captures[0].to_uppercase()).to_string());
    found.retain(|line| regex.is_match(line));
    Ok(found)
}
