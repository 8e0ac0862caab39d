//! The variables of manifests: which names stand for folders of this user, and how a text gets their values.

/// A text with this user's folders, for a default value.
pub(super) fn with_folders(text: &str) -> String {
    let mut filled = String::new();
    replace(text, &mut filled, user_folder);
    filled
}

/// A folder of the user by the name that manifests have for it, or the separator of paths.
pub(super) fn user_folder(name: &str) -> Option<String> {
    let below = match name {
        "/" | "pathSeparator" => return Some("/".to_owned()),
        "HOME" => None,
        "DESKTOP" => Some("Desktop"),
        "DOCUMENTS" => Some("Documents"),
        "DOWNLOADS" => Some("Downloads"),
        _ => return None,
    };
    let home = std::env::home_dir()?;
    let folder = below.map_or_else(|| home.clone(), |below| home.join(below));
    Some(folder.to_string_lossy().into_owned())
}

/// Replaces each `${NAME}`, or `$${NAME}`, for which there is a value. Others stay.
pub(super) fn replace(text: &str, filled: &mut String, mut value: impl FnMut(&str) -> Option<String>) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let before_name = before.strip_suffix('$').unwrap_or(before);
        match after.split_once('}').and_then(|(name, end)| Some((value(name)?, end))) {
            Some((value, end)) => {
                filled.push_str(before_name);
                filled.push_str(&value);
                rest = end;
            }
            None => {
                filled.push_str(before);
                filled.push_str("${");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
}
