//! How other clients write variables, and their form in Toolsmith's configuration.

/// How a client expands variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
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
    pub(super) fn convert(self, text: &str, notes: &mut Vec<String>) -> String {
        match self {
            Dialect::Braces => braces(text, notes),
            Dialect::Shell => braces(&with_braces(text), notes),
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
        return format!("${{{name}}}");
    }
    if let Some(input) = name.strip_prefix("input:") {
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let variable: String = input.chars().map(word).collect();
        notes.push(format!("the input {input} is now read from the environment variable {variable}: set it"));
        return format!("${{{variable}}}");
    }
    match name {
        "workspaceFolder" => {
            notes.push("${workspaceFolder} became `.`, the folder in which toolsmith starts".to_owned());
            ".".to_owned()
        }
        "userHome" => "${HOME}".to_owned(),
        "pathSeparator" | "/" => "/".to_owned(),
        _ => {
            let plain = name.split_once(":-").map_or(name, |(name, _)| name);
            if !plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                notes.push(format!("${{{name}}} has no meaning in Toolsmith: change it"));
            }
            format!("${{{name}}}")
        }
    }
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
        new.push_str(&format!("${{{name}}}"));
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
}
