//! A full-text index: BM25 with weighted fields.
//!
//! The caller chooses the fields.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::words::{alike, words};

/// The speed at which repetitions of a word stop counting (BM25's k1).
const SATURATION: f64 = 1.2;
/// The share by which a field's length reduces the weight of its words (BM25's b).
const LENGTH: f64 = 0.6;
/// Factors for a synonym; for a longer word that starts with the queried one, multiplied by the share that was typed;
/// and for a word with a similar spelling.
const ALIKE: f64 = 0.5;
const PREFIX: f64 = 1.0;
const MISSPELLED: f64 = 0.6;
/// Factor for each of two words that the queried word consists of.
const APART: f64 = 0.8;
/// Factor for a second match of the same queried word in a text.
const AGAIN: f64 = 0.25;
/// Minimum length of a prefix, in bytes.
const MIN_PREFIX: usize = 3;
/// Minimum length of a word that may have one wrong letter, and two.
const ONE_WRONG: usize = 4;
const TWO_WRONG: usize = 8;
/// Share of the score that a text keeps if it has hardly any of the queried words.
const FEW_WORDS: f64 = 0.4;
/// Maximum words of a query that count.
const QUERY_WORDS: usize = 32;
/// Maximum words of a field that count.
const FIELD_WORDS: usize = 400;

/// A part of a text, with the weight of its words.
pub(super) struct Field<'a> {
    pub(super) text: &'a str,
    pub(super) weight: f64,
}

/// The index.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// For each word, the texts that contain it, with its weight there.
    places: BTreeMap<String, Vec<(usize, f64)>>,
    count: usize,
}

impl Index {
    /// Indexes texts, each with the same fields in the same order; they are numbered from 0.
    pub(super) fn new<'a, const FIELDS: usize>(texts: impl IntoIterator<Item = [Field<'a>; FIELDS]>) -> Self {
        let texts: Vec<[(Vec<String>, f64); FIELDS]> = texts
            .into_iter()
            .map(|fields| {
                fields.map(|field| {
                    let mut words = words(field.text);
                    words.truncate(FIELD_WORDS);
                    (words, field.weight)
                })
            })
            .collect();
        let mut lengths = [0_usize; FIELDS];
        for text in &texts {
            text.iter().zip(&mut lengths).for_each(|((words, _), length)| *length += words.len());
        }
        let average = lengths.map(|length| (real(length) / real(texts.len().max(1))).max(1.0));
        let mut index = Index { places: BTreeMap::new(), count: texts.len() };
        for (number, text) in texts.into_iter().enumerate() {
            let mut weights: BTreeMap<String, f64> = BTreeMap::new();
            for ((words, weight), average) in text.into_iter().zip(average) {
                let weight = weight / (1.0 + LENGTH * (real(words.len()) / average - 1.0));
                words.into_iter().for_each(|word| *weights.entry(word).or_default() += weight);
            }
            for (word, weight) in weights {
                index.places.entry(word).or_default().push((number, weight));
            }
        }
        index
    }

    /// The texts that match any word of `query`, with their scores, unordered.
    pub(super) fn find(&self, query: &str) -> HashMap<usize, f64> {
        let queried: BTreeSet<String> = words(query).into_iter().take(QUERY_WORDS).collect();
        let mut scores: HashMap<usize, (f64, usize)> = HashMap::new();
        for word in &queried {
            let mut found: HashMap<usize, f64> = HashMap::new();
            for (word, factor) in self.candidates(word) {
                let places = self.places.get(&word).map_or(&[][..], Vec::as_slice);
                let rarity = rarity(self.count, places.len());
                for (number, weight) in places {
                    let score = factor * rarity * weight / (weight + SATURATION);
                    let best = found.entry(*number).or_default();
                    *best = best.max(score) + AGAIN * best.min(score);
                }
            }
            for (number, score) in found {
                let (sum, count) = scores.entry(number).or_default();
                *sum += score;
                *count += 1;
            }
        }
        let share = |count: usize| FEW_WORDS + (1.0 - FEW_WORDS) * real(count) / real(queried.len().max(1));
        scores.into_iter().map(|(number, (sum, count))| (number, sum * share(count))).collect()
    }

    /// The words that a queried word may stand for, with their factors.
    fn candidates(&self, word: &str) -> Vec<(String, f64)> {
        let mut candidates = vec![(word.to_owned(), 1.0)];
        candidates.extend(alike(word).into_iter().map(|other| (other, ALIKE)));
        if self.places.contains_key(word) {
            return candidates;
        }
        if let Some(apart) = self.apart(word) {
            candidates.extend(apart.map(|part| (part, APART)));
            return candidates;
        }
        let known = candidates.len();
        if word.len() >= MIN_PREFIX {
            let longer = self.places.range(word.to_owned()..).map(|(other, _)| other);
            let longer = longer.take_while(|other| other.starts_with(word));
            candidates
                .extend(longer.map(|other| (other.clone(), PREFIX * real(word.len()) / real(other.len()))));
        }
        let is_found =
            candidates.len() > known || candidates.iter().any(|(other, _)| self.places.contains_key(other));
        if !is_found {
            candidates.extend(self.spelled_alike(word).into_iter().map(|other| (other, MISSPELLED)));
        }
        candidates
    }

    /// Splits a word that is in no text into two words that are both in the same text: `rollback` as `roll_back`.
    fn apart(&self, word: &str) -> Option<[String; 2]> {
        let ends = MIN_PREFIX..=word.len().checked_sub(MIN_PREFIX)?;
        let parts = ends.filter_map(|end| Some((word.get(..end)?, word.get(end..)?)));
        let mut known = parts.filter_map(|(one, other)| {
            let (places, others) = (self.places.get(one)?, self.places.get(other)?);
            // The entries are in the order of the texts.
            let is_there = |number: &usize| others.binary_search_by_key(number, |(other, _)| *other).is_ok();
            let is_common = places.iter().any(|(number, _)| is_there(number));
            is_common.then(|| [one.to_owned(), other.to_owned()])
        });
        known.next()
    }

    /// The words with the most similar spelling.
    fn spelled_alike(&self, word: &str) -> Vec<String> {
        let wrong = match word.chars().count() {
            ..ONE_WRONG => return Vec::new(),
            ONE_WRONG..TWO_WRONG => 1,
            _ => 2,
        };
        let near = |other: &String| {
            let differs = other.len().abs_diff(word.len()) > 4 * wrong;
            let distance = if differs { usize::MAX } else { strsim::osa_distance(word, other) };
            (distance <= wrong).then(|| (distance, other.clone()))
        };
        let near: Vec<(usize, String)> = self.places.keys().filter_map(near).collect();
        let smallest = near.iter().map(|(distance, _)| *distance).min();
        near.into_iter().filter(|(distance, _)| Some(*distance) == smallest).map(|(_, other)| other).collect()
    }
}

/// The weight of a word that `of` of `all` texts contain.
fn rarity(all: usize, of: usize) -> f64 {
    (1.0 + (real(all) - real(of) + 0.5) / (real(of) + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and tools")]
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{Field, Index};

    fn index() -> Index {
        let texts = [
            ("list_orders", "List the shop's orders."),
            ("delete_order", "Remove an order."),
            ("read_file", "Read a file of a directory."),
            ("get_repository", "A repository with its orders of magnitude."),
        ];
        let fields =
            texts.map(|(name, text)| [Field { text: name, weight: 4.0 }, Field { text, weight: 1.0 }]);
        Index::new(fields)
    }

    fn best(question: &str) -> Option<usize> {
        let mut found: Vec<(usize, f64)> = index().find(question).into_iter().collect();
        found.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
        found.first().map(|(number, _)| *number)
    }

    #[test]
    fn names_count_more_than_texts() {
        assert_eq!(best("orders list"), Some(0));
        assert_eq!(best("repository"), Some(3));
    }

    #[test]
    fn similar_words_are_found() {
        for (question, number) in [
            ("removing orders", 1),
            ("folder", 2),
            ("repo", 3),
            ("repostiory", 3),
            ("oredrs listing", 0),
            ("magn", 3),
            ("readfile", 2),
        ] {
            assert_eq!(best(question), Some(number), "{question}");
        }
    }

    #[test]
    fn nothing_is_found_for_nothing() {
        for question in ["", "zebra", "the of", "xx", "\u{0}"] {
            assert_eq!(best(question), None, "{question}");
        }
        assert!(Index::new::<1>([]).find("orders").is_empty());
    }
}
