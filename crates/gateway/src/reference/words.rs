//! Splits names and texts into normalized words for comparison.

/// Maximum bytes of a word; longer ones are data, not words.
const LONGEST: usize = 40;

/// Words that say nothing about what a tool does.
const STOP_WORDS: [&str; 44] = [
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "has", "have", "how",
    "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "so", "some", "that",
    "the", "their", "this", "to", "tool", "want", "was", "we", "what", "which", "with", "you",
];

/// Groups of synonyms.
const ALIKE: [&[&str]; 27] = [
    &["delete", "remove", "erase", "drop", "destroy"],
    &["create", "add", "new", "make", "insert", "open", "schedule", "book", "register", "give", "send"],
    &["get", "fetch", "read", "show", "retrieve", "view", "look", "download"],
    &["list", "all", "browse", "enumerate"],
    &["search", "find", "query", "lookup", "look"],
    &["update", "edit", "modify", "change", "set", "patch"],
    &["send", "post", "publish", "deliver"],
    &["directory", "folder", "dir"],
    &["image", "picture", "photo", "img"],
    &["mail", "email"],
    &["rename", "move"],
    &["start", "run", "execute", "launch", "trigger"],
    &["stop", "cancel", "abort", "kill", "end"],
    &["user", "person", "people", "member"],
    &["pull", "pr"],
    &["issue", "ticket", "bug"],
    &["customer", "client"],
    &["product", "item", "article"],
    &["database", "db", "sql"],
    &["comment", "reply", "note"],
    &["event", "meeting", "appointment", "calendar"],
    &["message", "chat", "msg"],
    &["price", "cost"],
    &["invoice", "bill"],
    &["weather", "forecast", "temperature"],
    &["repository", "repo"],
    &["web", "url", "internet", "website", "http"],
];

/// The first words of the groups for changes, as opposed to reading.
const CHANGES: [&str; 7] = ["delete", "create", "update", "send", "rename", "start", "stop"];

/// The normalized words of `text`: split where the case changes and at digits, in lower case, without most endings,
/// and without stop words.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = split(text);
    words.retain(|word| !STOP_WORDS.contains(&word.as_str()));
    words.iter().map(|word| stem(word)).collect()
}

/// Synonyms of one of [`words`], in a fixed order.
pub(super) fn alike(word: &str) -> Vec<String> {
    let groups = ALIKE.iter().filter(|group| group.iter().any(|other| stem(other) == word));
    let mut others: Vec<String> = groups.flat_map(|group| group.iter().map(|other| stem(other))).collect();
    others.sort();
    others.dedup();
    others.retain(|other| other != word);
    others
}

/// Whether a query asks for a change, not only for reading.
pub(super) fn is_to_change(question: &str) -> bool {
    let groups = || ALIKE.iter().filter(|group| group.first().is_some_and(|first| CHANGES.contains(first)));
    words(question).iter().any(|word| groups().any(|group| group.iter().any(|other| stem(other) == *word)))
}

/// The letters and digits of a name in lower case, to compare names regardless of spelling.
pub fn letters(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    /// Of a script without spaces: each character is a word.
    Alone,
    Between,
}

impl Kind {
    fn of(character: char) -> Self {
        match character {
            '\u{2e80}'.. if character.is_alphabetic() => Kind::Alone,
            _ if character.is_numeric() => Kind::Digit,
            _ if character.is_uppercase() => Kind::Upper,
            _ if character.is_alphabetic() => Kind::Lower,
            _ => Kind::Between,
        }
    }
}

fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut last = Kind::Between;
    let mut characters = text.chars().filter(|character| *character != '\'').peekable();
    while let Some(character) = characters.next() {
        let kind = Kind::of(character);
        let next = characters.peek().copied().map_or(Kind::Between, Kind::of);
        let begins = match (last, kind) {
            (Kind::Upper, Kind::Lower) => false,
            // The last capital of several starts a word: `HTTPServer`.
            (Kind::Upper, Kind::Upper) => next == Kind::Lower,
            (last, kind) => last != kind || kind == Kind::Alone,
        };
        if begins {
            words.push(std::mem::take(&mut word));
        }
        if kind != Kind::Between && word.len() < LONGEST {
            word.extend(character.to_lowercase());
        }
        last = kind;
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The word without the endings of plurals, participles and gerunds.
fn stem(word: &str) -> String {
    let mut word = word.to_owned();
    if !word.is_ascii() {
        return word;
    }
    let long = |word: &str, ending: &str, min_stem: usize| {
        word.len() >= ending.len() + min_stem && word.ends_with(ending)
    };
    if long(&word, "ies", 2) {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| long(&word, ending, 2)) {
        word.truncate(word.len() - 2);
    } else if long(&word, "s", 3) && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        word.pop();
    }
    for ending in ["ing", "ed"] {
        if long(&word, ending, 3) && word.bytes().take(word.len() - ending.len()).any(is_vowel) {
            word.truncate(word.len() - ending.len());
            let bytes = word.as_bytes();
            if let [.., one, other] = bytes
                && one == other
                && !is_vowel(*one)
                && !b"lsz".contains(one)
            {
                word.pop();
            }
            break;
        }
    }
    // Nouns from verbs: delivery, expiry.
    if long(&word, "ery", 3) || long(&word, "iry", 3) {
        word.pop();
    }
    if long(&word, "e", 3) {
        word.pop();
    }
    word
}

fn is_vowel(letter: u8) -> bool {
    b"aeiouy".contains(&letter)
}

/// The length of a text in UTF-16, as most clients count characters.
pub(crate) fn characters(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::{alike, is_to_change, letters, stem, words};

    #[test]
    fn all_styles_of_names_have_the_same_words() {
        for name in
            ["listHTTPOrders", "list_http_orders", "list-http.orders", "List HTTP orders", "ListHttpOrder"]
        {
            assert_eq!(words(name), ["list", "http", "order"], "{name}");
        }
        assert_eq!(words("get2ndItem"), ["get", "2", "nd", "item"]);
        assert_eq!(words("检索 file"), ["检", "索", "fil"]);
        assert_eq!(words("the of ' "), [""; 0]);
        assert_eq!(letters("List_HTTP-orders2"), "listhttporders2");
    }

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        for forms in [
            &["create", "creates", "created", "creating"][..],
            &["query", "queries"],
            &["search", "searches", "searching", "searched"],
            &["run", "running", "runs"],
            &["branch", "branches"],
            &["file", "files"],
            &["expire", "expires", "expiry"],
            &["deliver", "delivery", "deliveries"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?}: {stems:?}");
        }
        for (one, other) in [("status", "stat"), ("class", "clas"), ("string", "str"), ("red", "r")] {
            assert_ne!(stem(one), stem(other));
        }
    }

    #[test]
    fn synonyms_are_known() {
        assert!(alike("folder").contains(&stem("directory")));
        assert!(alike(&stem("delete")).contains(&stem("remove")));
        assert!(alike("zebra").is_empty());
        assert!(is_to_change("removing old orders") && !is_to_change("read the orders of a customer"));
    }
}
