//! The words of a name: `read_message`, `readMessage` and `slack-post-message` have the same parts in all notations.

/// The words of a name, in lower case.
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn of(name: &str) -> Self {
        let mut words = vec![String::new()];
        let mut before = '_';
        for letter in name.chars() {
            let begins = letter.is_uppercase() && !before.is_uppercase();
            if !letter.is_alphanumeric() || begins {
                words.push(String::new());
            }
            if letter.is_alphanumeric() {
                words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
            }
            before = letter;
        }
        Words(words.into_iter().filter(|word| !word.is_empty()).collect())
    }

    /// The first word that is in a list.
    pub(super) fn first_in(&self, list: &[&'static str]) -> Option<&'static str> {
        self.0.iter().find_map(|word| list.iter().find(|known| *known == word).copied())
    }

    /// The first word whose singular is in a list.
    pub(super) fn first_noun_in(&self, list: &[&'static str]) -> Option<&'static str> {
        self.0.iter().find_map(|word| list.iter().find(|known| is_form_of(word, known)).copied())
    }
}

/// Whether a word is a noun in the singular or plural.
fn is_form_of(word: &str, noun: &str) -> bool {
    let plural = || match noun.strip_suffix('y') {
        Some(stem) => word.strip_suffix("ies") == Some(stem),
        None => matches!(word.strip_prefix(noun), Some("s" | "es")),
    };
    word == noun || plural()
}

/// The first word of a name with the separator after it, as the name has it. Empty if the name has one word.
pub(super) fn prefix(name: &str) -> &str {
    let end = name.find(['_', '-', '.', '/']);
    end.and_then(|end| name.get(..=end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_notations_have_words() {
        for name in ["read_message", "readMessage", "read-message", "Read.Message", "READ_MESSAGE"] {
            assert_eq!(Words::of(name).0, ["read", "message"], "{name}");
        }
        let words = Words::of("list_entries_and_boxes");
        assert_eq!(
            ["entry", "box", "list"].map(|noun| words.first_noun_in(&[noun])),
            [Some("entry"), Some("box"), Some("list")]
        );
        assert_eq!(words.first_in(&["entry", "and"]), Some("and"));
        assert_eq!(["read_message", "a-b-c", "now"].map(prefix), ["read_", "a-", ""]);
    }
}
