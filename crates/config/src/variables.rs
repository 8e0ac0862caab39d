//! `${VAR}` in configured values, expanded only where it is used, so that listings never show the value.

/// The prefix of the name of a secret in the keyring.
const KEYRING: &str = "keyring:";

/// The reason why a text with variables, or the name of one, can't be used. It contains no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VariableError {
    /// A `${` has no end.
    #[error("`${{` without `}}`; close it, or write `$${{` for a literal one")]
    Unclosed,
    /// The variable is not set.
    #[error("the environment variable {0} is not set; set it, or write a default: ${{{0}:-…}}")]
    Unset(String),
    /// A default contains another variable.
    #[error("the default of ${{{0}:-…}} contains another variable; write it without one")]
    Default(String),
    /// A secret of the keyring can't have this name.
    #[error("{0:?} is not the name of a secret: it has 1 to 128 letters, digits, `_`, `-` and `.`")]
    Secret(String),
    /// A text contains a character that marks secrets of the keyring.
    #[error("the characters U+E000 and U+E001 can't be used here; remove them")]
    Reserved,
    /// A text for a program contains NUL.
    #[error("a NUL character can't be passed to a program; remove it")]
    Nul,
    /// A variable can't have this name.
    #[error("{0:?} is not the name of an environment variable: it needs at least one character and no `=`")]
    Name(String),
}

/// Replaces each `${VAR}` in `text` by its value from `lookup`; `$${` is a literal `${`. `${VAR:-default}` is the default
/// if the variable is empty or not set. `${keyring:NAME}` becomes a placeholder, which `mcp` replaces when the server is
/// used.
pub(crate) fn expand(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<String, VariableError> {
    without_marks(text)?;
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            expanded.push_str(&rest[..start - 1]);
            expanded.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        expanded.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let end = after.find('}').ok_or(VariableError::Unclosed)?;
        expanded.push_str(&value(&after[..end], &lookup)?);
        rest = &after[end + 1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// The value of what is between `${` and `}`.
fn value(inner: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<String, VariableError> {
    if let Some(name) = inner.strip_prefix(KEYRING) {
        let placeholder = mcp::keyring::placeholder(name);
        return placeholder.ok_or_else(|| VariableError::Secret(name.to_owned()));
    }
    let value = match inner.split_once(":-") {
        None => lookup(inner).ok_or_else(|| VariableError::Unset(inner.to_owned()))?,
        Some((name, default)) if default.contains("${") => {
            return Err(VariableError::Default(name.to_owned()));
        }
        Some((name, default)) => {
            lookup(name).filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())
        }
    };
    without_marks(&value)?;
    Ok(value)
}

/// Fails on the characters of placeholders for secrets, so that no text and no variable forges one.
fn without_marks(text: &str) -> Result<(), VariableError> {
    if mcp::keyring::has_marks(text) { Err(VariableError::Reserved) } else { Ok(()) }
}

/// Whether every variable in a text has its end.
pub(crate) fn is_complete(text: &str) -> bool {
    expand(text, |_| Some(String::new())) != Err(VariableError::Unclosed)
}

/// Expands a text that is passed to a program.
pub(super) fn expand_for_program(
    text: &str,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<String, VariableError> {
    without_nul(text)?;
    let expanded = expand(text, lookup)?;
    without_nul(&expanded)?;
    Ok(expanded)
}

/// Checks for NUL: program arguments end at the first one (execve(2)).
pub(super) fn without_nul(text: &str) -> Result<(), VariableError> {
    if text.contains('\0') {
        return Err(VariableError::Nul);
    }
    Ok(())
}

/// The names of the secrets of the keyring in `text`, in order.
pub fn secrets(text: &str) -> Vec<String> {
    let expanded = expand(text, |_| Some(String::new())).unwrap_or_default();
    mcp::keyring::names(&expanded)
}

/// The names of the environment variables in `text`, in order.
pub fn names(text: &str) -> Vec<String> {
    let names = std::cell::RefCell::new(Vec::new());
    let note = |name: &str| {
        names.borrow_mut().push(name.to_owned());
        Some(String::new())
    };
    // After an unclosed variable there are no further ones.
    let _ = expand(text, note);
    names.into_inner()
}

/// The names of the environment variables in `text` without which it can't be used: those that have no default.
pub fn required(text: &str) -> Vec<String> {
    let mut names = names(text);
    names.retain(|name| expand(text, |other| (other != name).then(String::new)).is_err());
    names
}

#[cfg(test)]
mod tests {
    use super::{VariableError, expand, names, required};

    #[test]
    fn variables_with_defaults_are_not_required() {
        assert_eq!(required("${A} ${B:-b} $${C} ${keyring:d} ${A}${E}"), ["A", "A", "E"]);
    }

    fn lookup(name: &str) -> Option<String> {
        (name == "NAME").then(|| "value".to_owned())
    }

    #[test]
    fn variables_are_replaced() {
        assert_eq!(expand("a ${NAME} b ${NAME}", lookup).as_deref(), Ok("a value b value"));
        assert_eq!(expand("no variable, $HOME", lookup).as_deref(), Ok("no variable, $HOME"));
        assert_eq!(expand("$${NAME}", lookup).as_deref(), Ok("${NAME}"));
    }

    #[test]
    fn a_default_replaces_a_variable_that_is_empty_or_not_set() {
        assert_eq!(expand("${NAME:-x} ${OTHER:-y z}${OTHER:-}", lookup).as_deref(), Ok("value y z"));
        assert_eq!(expand("${NAME:-x}", |_| Some(String::new())).as_deref(), Ok("x"));
        assert_eq!(expand("${A:-${NAME}}", lookup), Err(VariableError::Default("A".to_owned())));
        assert_eq!(names("${A:-b} ${keyring:c}"), ["A"]);
    }

    #[test]
    fn secrets_of_the_keyring_are_not_read() {
        let expanded = expand("Bearer ${keyring:my.token}", lookup).unwrap();
        assert!(!expanded.contains("${"), "{expanded}");
        assert_eq!(super::secrets("Bearer ${keyring:my.token} $${keyring:no}"), ["my.token"]);
        assert_eq!(expand("${keyring:a/b}", lookup), Err(VariableError::Secret("a/b".to_owned())));
    }

    #[test]
    fn names_are_found_in_order() {
        assert_eq!(names("a ${B} $${C} ${D}"), ["B", "D"]);
        assert_eq!(names("${A} ${B"), ["A"]);
    }

    #[test]
    fn missing_variables_are_named() {
        assert_eq!(expand("${OTHER}", lookup), Err(VariableError::Unset("OTHER".to_owned())));
        let unclosed = expand("${NAME", lookup).unwrap_err();
        assert_eq!(unclosed.to_string(), "`${` without `}`; close it, or write `$${` for a literal one");
    }
}
