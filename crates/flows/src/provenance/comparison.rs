//! Finds the windows of [`RUN`] characters of a call's arguments in answers.
//!
//! The windows of the arguments are in a table, by their rolling hash; each answer passes over it. A hit is compared
//! character by character, so the result is exact. The base of the hash is random: no text can choose its collisions. A
//! window that is found leaves the table, so repetitive texts cost no more than others.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};

use super::marks::{Mark, Origin};
use super::strings::{RUN, Text, strings};

/// The modulus of the hash: a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// Marks the end of a list of equal windows.
const NONE: u32 = u32::MAX;

/// The arguments of a call, and the answers in which their windows were found.
pub(super) struct Comparison {
    texts: Vec<Compared>,
    /// The characters of all texts.
    characters: Vec<char>,
    hash: RollingHash,
    /// The windows that were not found yet: the last one of each text by its hash, as a position in `characters`.
    windows: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// For each position, the one before it with the same window.
    equal: Vec<u32>,
    /// For each position, the number of the answer that has its window, in `origins`.
    found: Vec<u32>,
    origins: Vec<Origin>,
}

struct Compared {
    path: String,
    is_inner: bool,
    start: usize,
    end: usize,
}

impl Comparison {
    /// Prepares the arguments of a call, a JSON text.
    pub(super) fn new(arguments: &str) -> Self {
        let mut comparison = Comparison {
            texts: Vec::new(),
            characters: Vec::new(),
            hash: RollingHash::new(),
            windows: HashMap::default(),
            equal: Vec::new(),
            found: Vec::new(),
            origins: Vec::new(),
        };
        strings(arguments).for_each(|text| comparison.add(text));
        comparison
    }

    fn add(&mut self, Text { path, text, is_inner }: Text) {
        let start = self.characters.len();
        self.characters.extend(text.chars());
        let end = self.characters.len();
        if end - start < RUN {
            self.characters.truncate(start);
            return;
        }
        self.texts.push(Compared { path, is_inner, start, end });
        self.equal.resize(end, NONE);
        self.found.resize(end, NONE);
        let Comparison { characters, windows, equal, hash, .. } = self;
        for (place, value, window) in hash.windows(&characters[start..end]) {
            let position = start + place;
            let Ok(number) = u32::try_from(position) else { return };
            match windows.entry(value) {
                Entry::Vacant(vacant) => drop(vacant.insert(number)),
                Entry::Occupied(mut last) if is_at(characters, *last.get(), window) => {
                    equal[position] = last.insert(number);
                }
                // Two windows with the same hash, which is all but impossible: the second is not compared.
                Entry::Occupied(_) => {}
            }
        }
    }

    /// Whether no window is left to find.
    pub(super) fn is_complete(&self) -> bool {
        self.windows.is_empty()
    }

    /// Finds the windows that an answer has.
    pub(super) fn find(&mut self, origin: &Origin, answer: &str) {
        let number = u32::try_from(self.origins.len()).unwrap_or(NONE);
        let mut is_found = false;
        let mut characters = Vec::new();
        for Text { text, .. } in strings(answer) {
            characters.clear();
            characters.extend(text.chars());
            let Comparison { hash, characters: own, windows, equal, found, .. } = self;
            for (_, value, window) in hash.windows(&characters) {
                let Entry::Occupied(entry) = windows.entry(value) else { continue };
                if !is_at(own, *entry.get(), window) {
                    continue;
                }
                is_found = true;
                let mut position = entry.remove();
                while position != NONE {
                    found[position as usize] = number;
                    position = equal[position as usize];
                }
            }
        }
        if is_found {
            self.origins.push(origin.clone());
        }
    }

    /// The texts of which parts were found: a text that is JSON itself, or the strings in it if more of them was found.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let of_each = self.texts.chunk_by(|_, next| next.is_inner).map(|texts| {
            let (outer, inner) = texts.split_at(1);
            let marks = |texts: &[Compared]| texts.iter().filter_map(|text| self.mark(text)).collect();
            let (outer, inner): (Vec<Mark>, Vec<Mark>) = (marks(outer), marks(inner));
            let found = |marks: &[Mark]| marks.iter().map(|mark| mark.characters).sum::<usize>();
            if found(&inner) > found(&outer) { inner } else { outer }
        });
        of_each.flatten().collect()
    }

    fn mark(&self, text: &Compared) -> Option<Mark> {
        let mut windows: HashMap<u32, usize> = HashMap::new();
        let (mut characters, mut covered_until) = (0, text.start);
        for (position, number) in (text.start..text.end).zip(&self.found[text.start..text.end]) {
            if *number != NONE {
                *windows.entry(*number).or_default() += 1;
                covered_until = position + RUN;
            }
            characters += usize::from(position < covered_until);
        }
        let mut from: Vec<(u32, usize)> = windows.into_iter().collect();
        from.sort_by_key(|(number, windows)| (Reverse(*windows), *number));
        let from = from.iter().filter_map(|(number, _)| self.origins.get(*number as usize).cloned());
        let mark = Mark::new(text.path.clone(), characters, text.end - text.start, from.collect());
        (characters > 0).then_some(mark)
    }
}

/// Whether the window at a position is this one.
fn is_at(characters: &[char], position: u32, window: &[char]) -> bool {
    let start = position as usize;
    characters.get(start..start + RUN) == Some(window)
}

/// Keys of a table that are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        // The table uses the upper seven bits, which hashes below 2^61 do not fill.
        self.0 = hash.rotate_left(3);
    }
}

/// Hashes all windows of a text, each from the one before it.
struct RollingHash {
    base: u64,
    /// The base to the power of [`RUN`].
    leaving: u64,
}

impl RollingHash {
    fn new() -> Self {
        let base = RandomState::new().hash_one(RUN) % PRIME;
        RollingHash { base, leaving: (0..RUN).fold(1, |power, _| product(power, base)) }
    }

    /// Each window with its position and hash.
    fn windows<'a>(&'a self, text: &'a [char]) -> impl Iterator<Item = (usize, u64, &'a [char])> {
        let first = text.iter().take(RUN - 1).fold(0, |hash, entering| self.next(hash, *entering, None));
        text.windows(RUN).enumerate().scan(first, |hash, (place, window)| {
            let left = place.checked_sub(1).map(|before| text[before]);
            *hash = self.next(*hash, window[RUN - 1], left);
            Some((place, *hash, window))
        })
    }

    fn next(&self, hash: u64, entering: char, left: Option<char>) -> u64 {
        let left = left.map_or(0, |left| product(self.leaving, number(left)));
        (product(hash, self.base) + number(entering) + PRIME - left) % PRIME
    }
}

/// The number of a character; none is zero.
fn number(character: char) -> u64 {
    u64::from(u32::from(character)) + 1
}

fn product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // 2^61 is 1 more than a multiple of the prime, so the upper bits count as much as the lower ones.
    let folded = (product & u128::from(PRIME)) + (product >> 61);
    u64::try_from(folded).unwrap_or_default() % PRIME
}
