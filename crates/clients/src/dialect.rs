//! The forms of variables in other clients, and their form in Toolsmith's configuration.

/// A client's syntax of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:id}` and `${workspaceFolder}`.
    Braces,
    /// As `Braces`, and `$NAME`.
    Shell,
    /// `{env:NAME}`.
    Opencode,
    /// None: texts mean themselves.
    Literal,
}

impl Dialect {
    /// Converts a text; what the user has to know is added to `notes`.
    pub(crate) fn convert(self, text: &str, notes: &mut Vec<String>) -> String {
        match self {
            Dialect::Braces => braces(text, notes),
            Dialect::Shell => {
                if text.contains("$(") {
                    notes.push("the command in $(…) is not run: its text stays".to_owned());
                }
                braces(&with_braces(text), notes)
            }
            Dialect::Opencode => opencode(text, notes),
            Dialect::Literal => literal(text),
        }
    }
}

/// A text that means itself.
fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

fn braces(text: &str, notes: &mut Vec<String>) -> String {
    let mut new = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        new.push_str(before);
        new.push_str(&variable(name, notes));
        rest = behind;
    }
    new.push_str(rest);
    new
}

fn variable(name: &str, notes: &mut Vec<String>) -> String {
    if let Some(name) = name.strip_prefix("env:") {
        return of_environment(name, notes);
    }
    if let Some(input) = name.strip_prefix("input:") {
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let variable: String = input.chars().map(word).collect();
        notes.push(format!("the input {input} is now read from the environment variable {variable}"));
        return format!("${{{variable}}}");
    }
    match name {
        "workspaceFolder" => {
            notes.push("${workspaceFolder} became `.`, the folder in which toolsmith starts".to_owned());
            ".".to_owned()
        }
        "userHome" => "${HOME}".to_owned(),
        "pathSeparator" | "/" => "/".to_owned(),
        _ => of_environment(name, notes),
    }
}

/// A variable of the environment, with or without a default. Any other name is written as text: a client's file may
/// belong to a project that is not trusted, and must not name anything else that Toolsmith reads, such as `keyring:NAME`.
fn of_environment(name: &str, notes: &mut Vec<String>) -> String {
    let plain = name.split_once(":-").map_or(name, |(name, _)| name);
    let is_start = plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_start && plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return format!("${{{name}}}");
    }
    let shown = printable::exact(name).to_string();
    notes.push(format!("${{{shown}}} is not a variable, and is imported as text: change it"));
    format!("$${{{name}}}")
}

/// Writes `$NAME` as `${NAME}`.
fn with_braces(text: &str) -> String {
    let mut new = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        new.push_str(before);
        let is_start = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        let (name, behind) = if is_start { after.split_at(end) } else { ("", after) };
        if is_start {
            new.push_str(&format!("${{{name}}}"));
        } else {
            new.push('$');
        }
        rest = behind;
    }
    new.push_str(rest);
    new
}

fn opencode(text: &str, notes: &mut Vec<String>) -> String {
    let mut new = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{env:") {
        let Some((name, behind)) = after.split_once('}') else { break };
        new.push_str(&literal(before));
        new.push_str(&of_environment(name, notes));
        rest = behind;
    }
    new.push_str(&literal(rest));
    if new.contains("{file:") {
        notes.push("{file:…} has no meaning in Toolsmith: use a variable".to_owned());
    }
    new
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    fn converted(dialect: Dialect, text: &str) -> String {
        dialect.convert(text, &mut Vec::new())
    }

    #[test]
    fn variables_of_each_client_become_those_of_toolsmith() {
        assert_eq!(
            converted(Dialect::Braces, "a ${env:B} ${C:-d e} ${userHome}/x"),
            "a ${B} ${C:-d e} ${HOME}/x"
        );
        assert_eq!(converted(Dialect::Shell, "Bearer $TOKEN, ${A}, $5, $"), "Bearer ${TOKEN}, ${A}, $5, $");
        assert_eq!(converted(Dialect::Opencode, "Bearer {env:TOKEN} ${X}"), "Bearer ${TOKEN} $${X}");
        assert_eq!(converted(Dialect::Literal, "${X} $Y"), "$${X} $Y");
        assert_eq!(converted(Dialect::Braces, "${unclosed"), "${unclosed");
    }

    #[test]
    fn no_other_client_names_a_secret_of_the_keyring() {
        for (dialect, text) in [
            (Dialect::Braces, "${keyring:a}"),
            (Dialect::Braces, "${env:keyring:a}"),
            (Dialect::Braces, "${keyring:a:-b}"),
            (Dialect::Shell, "${keyring:a}"),
            (Dialect::Opencode, "{env:keyring:a}"),
        ] {
            let mut notes = Vec::new();
            let converted = dialect.convert(text, &mut notes);
            assert!(converted.starts_with("$${") && notes.len() == 1, "{text}: {converted} {notes:?}");
        }
    }
}
