//! Keys of entries: hashes of all inputs of an entry.

/// Hashes parts into a key, each with its length, so that different lists of parts never hash the same bytes.
#[derive(Debug)]
pub(crate) struct Key(blake3::Hasher);

impl Key {
    /// Starts a key for one kind of entry; `kind` includes a version.
    pub(crate) fn new(kind: &str) -> Self {
        Key(blake3::Hasher::new()).part(kind)
    }

    /// Starts a key for an entry that only `subject` may find, if there are subjects.
    pub(crate) fn of_subject(kind: &str, subject: Option<&str>) -> Self {
        match subject {
            Some(subject) => Key::new(&format!("{kind} of a subject")).part(subject),
            None => Key::new(kind),
        }
    }

    /// Adds a part.
    pub(crate) fn part(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// The key as 32 hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        let one = Key::new("test").part("ab").part("c").finish();
        let other = Key::new("test").part("a").part("bc").finish();
        assert_ne!(one, other);
    }
}
