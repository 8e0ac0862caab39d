//! The signs of a secret: values with certain names, and tokens of known forms.

/// Parts of the names of variables, headers, options and parameters whose values are secrets.
const SECRET_NAMES: [&str; 11] = [
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "apikey",
    "accesskey",
    "authorization",
    "cookie",
    "auth",
    "key",
];

/// The first characters of tokens of widespread services. Each is followed by many letters and digits.
const TOKEN_STARTS: [&str; 21] = [
    "AIza",
    "AKIA",
    "SG.",
    "dop_v1_",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "lin_api_",
    "npm_",
    "ntn_",
    "pypi-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "xapp-",
    "xox",
];

/// Minimum length of such a token, in characters.
const SHORTEST_TOKEN: usize = 20;

/// Whether a variable, header, option or parameter of this name has a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| plain.contains(part)) && plain != "author"
}

/// Whether a text has a value of its own: not empty, and not read from a variable.
pub(super) fn is_plain(text: &str) -> bool {
    !text.trim().is_empty() && !text.replace("$${", "").contains("${")
}

/// Whether a word is a token by its form.
pub(super) fn is_token(word: &str) -> bool {
    word.chars().count() >= SHORTEST_TOKEN
        && TOKEN_STARTS.iter().any(|start| word.starts_with(start))
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.=+/".contains(c))
}
