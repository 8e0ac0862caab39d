//! Finding texts by words: BM25 with weighted fields.
//!
//! Which fields there are, and what the texts mean, is left to others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::words::{alike, words};

/// How soon a word that comes again counts for nothing more (BM25's k1).
const SATURATION: f64 = 1.2;
/// How much a long field takes from the weight of its words (BM25's b).
const LENGTH: f64 = 0.6;
/// What another word for the one that was asked for counts; one that only begins alike, times the share of it that was
/// asked for; and one that is spelled alike.
const ALIKE: f64 = 0.4;
const PREFIX: f64 = 1.0;
const MISSPELLED: f64 = 0.6;
/// Each of the two words that one may be written apart as.
const APART: f64 = 0.8;
/// What a second word for the same counts in a text that has both.
const AGAIN: f64 = 0.25;
/// The shortest beginning of a word, in bytes.
const SHORTEST_PREFIX: usize = 3;
/// The shortest word that one letter may be wrong in, and two.
const ONE_WRONG: usize = 4;
const TWO_WRONG: usize = 8;
/// What a text keeps of its score that has hardly any of the words that were asked for.
const FEW_WORDS: f64 = 0.4;
/// Most words of a question that count.
const WORDS_ASKED: usize = 32;
/// Most words of one field that count.
const WORDS_KEPT: usize = 400;

/// A part of a text, with what a word in it counts.
pub(super) struct Field<'a> {
    pub(super) text: &'a str,
    pub(super) weight: f64,
}

/// Texts by their words.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Where each word occurs: the number of the text, and how much it counts there.
    places: BTreeMap<String, Vec<(usize, f64)>>,
    count: usize,
}

impl Index {
    /// An index of texts, each with the same fields in the same order; they are numbered as they come.
    pub(super) fn new<'a, const FIELDS: usize>(texts: impl IntoIterator<Item = [Field<'a>; FIELDS]>) -> Self {
        let texts: Vec<[(Vec<String>, f64); FIELDS]> = texts
            .into_iter()
            .map(|fields| {
                fields.map(|field| {
                    let mut words = words(field.text);
                    words.truncate(WORDS_KEPT);
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

    /// The texts that have any word of `question`, with their scores, in no order.
    pub(super) fn find(&self, question: &str) -> HashMap<usize, f64> {
        let asked: BTreeSet<String> = words(question).into_iter().take(WORDS_ASKED).collect();
        let mut scores: HashMap<usize, (f64, usize)> = HashMap::new();
        for word in &asked {
            let mut found: HashMap<usize, f64> = HashMap::new();
            for (word, factor) in self.meant(word) {
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
        let share = |count: usize| FEW_WORDS + (1.0 - FEW_WORDS) * real(count) / real(asked.len().max(1));
        scores.into_iter().map(|(number, (sum, count))| (number, sum * share(count))).collect()
    }

    /// The words that one of a question may mean, with what they count.
    fn meant(&self, word: &str) -> Vec<(String, f64)> {
        let mut meant = vec![(word.to_owned(), 1.0)];
        meant.extend(alike(word).into_iter().map(|other| (other, ALIKE)));
        if self.places.contains_key(word) {
            return meant;
        }
        if let Some(apart) = self.apart(word) {
            meant.extend(apart.map(|part| (part, APART)));
            return meant;
        }
        let known = meant.len();
        if word.len() >= SHORTEST_PREFIX {
            let longer = self.places.range(word.to_owned()..).map(|(other, _)| other);
            let longer = longer.take_while(|other| other.starts_with(word));
            meant.extend(longer.map(|other| (other.clone(), PREFIX * real(word.len()) / real(other.len()))));
        }
        let is_found = meant.len() > known || meant.iter().any(|(other, _)| self.places.contains_key(other));
        if !is_found {
            meant.extend(self.spelled_alike(word).into_iter().map(|other| (other, MISSPELLED)));
        }
        meant
    }

    /// The two words that one of no text consists of, both of the same text: `rollback` for `roll_back`.
    fn apart(&self, word: &str) -> Option<[String; 2]> {
        let ends = SHORTEST_PREFIX..=word.len().checked_sub(SHORTEST_PREFIX)?;
        let parts = ends.filter_map(|end| Some((word.get(..end)?, word.get(end..)?)));
        let mut known = parts.filter_map(|(one, other)| {
            let (places, others) = (self.places.get(one)?, self.places.get(other)?);
            // Places are in the order of the texts.
            let is_there = |number: &usize| others.binary_search_by_key(number, |(other, _)| *other).is_ok();
            let is_common = places.iter().any(|(number, _)| is_there(number));
            is_common.then(|| [one.to_owned(), other.to_owned()])
        });
        known.next()
    }

    /// The words that are hardly different: only the nearest of them.
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
        let least = near.iter().map(|(distance, _)| *distance).min();
        near.into_iter().filter(|(distance, _)| Some(*distance) == least).map(|(_, other)| other).collect()
    }
}

/// How much a word says that `of` of `all` texts have.
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
    fn what_is_meant_is_found() {
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
