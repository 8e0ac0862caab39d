//! Commands that are written as one text with their arguments, such as `npx -y server`.

use std::path::Path;

use super::own_program::in_path;
use super::variables;

/// Splits a command into its program and arguments, as a shell does. `folder` is the one that the program starts in.
///
/// `None` if the text is one word, if a file has exactly this name, or if a shell would refuse it.
pub fn split_command(text: &str, folder: Option<&str>) -> Option<(String, Vec<String>)> {
    if !text.trim().contains(char::is_whitespace) || is_file(text, folder) {
        return None;
    }
    // `#` would begin a comment.
    if text.split_whitespace().any(|word| word.starts_with('#')) {
        return None;
    }
    let mut words = shlex::split(text)?;
    // A default with a space, such as `${NAME:-a b}`, must not be split.
    if !words.iter().all(|word| variables::is_complete(word)) || words.first()?.is_empty() {
        return None;
    }
    let program = words.remove(0);
    Some((program, words))
}

fn is_file(text: &str, folder: Option<&str>) -> bool {
    let path = Path::new(text);
    let is_in_folder = folder.is_some_and(|folder| Path::new(folder).join(path).is_file());
    is_in_folder || if text.contains('/') { path.is_file() } else { in_path(text).is_some() }
}

#[cfg(test)]
mod tests {
    use super::split_command;

    fn split(text: &str) -> Option<Vec<String>> {
        let (program, words) = split_command(text, None)?;
        Some([vec![program], words].concat())
    }

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        assert_eq!(
            split("npx -y 'a b' c\\ d"),
            Some(["npx", "-y", "a b", "c d"].map(str::to_owned).to_vec())
        );
        assert_eq!(split("  npx  x "), Some(["npx", "x"].map(str::to_owned).to_vec()));
        for whole in ["npx", " npx ", "npx 'open", "npx # y", "x ${A:-b c}", ""] {
            assert_eq!(split(whole), None, "{whole:?}");
        }
    }

    #[test]
    fn a_command_that_is_the_name_of_a_file_is_not_split() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my server");
        std::fs::write(&file, "").unwrap();
        assert_eq!(split(file.to_str().unwrap()), None);
        assert!(split_command("./my server", folder.path().to_str()).is_none());
        assert!(split_command("./my server", None).is_some());
    }
}
