//! Property tests with arbitrary numbers from a tool to a program and back: each arrives unchanged, or with an error.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p bridge arbitrary`.

use serde_json::Value;

use crate::answer::{Answer, read};
use crate::convert::{Argument, FromJson, ToJson, checked};
use crate::scalar::Scalar;
use crate::tool::Tool;
use crate::written::to_raw;

static TOOL: Tool = Tool { server: "server", name: "tool", mark: [0; 32] };

/// A number generator (SplitMix64) with the same sequence in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// An integer of any size, so that small ones are common.
    fn integer(&mut self) -> u128 {
        let wide = (u128::from(self.next()) << 64) | u128::from(self.next());
        wide >> self.below(128)
    }

    fn double(&mut self) -> f64 {
        let bits = match self.below(8) {
            // Subnormal.
            0 => self.next() >> 12,
            _ => self.next(),
        };
        let double = f64::from_bits(bits);
        if double.is_finite() { double } else { 1.5 }
    }

    /// An integral double of any size, mostly beyond the range in which all integers are doubles.
    fn double_of_an_integer(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "any integral double will do")]
        let mantissa = (self.next() >> self.below(64)) as f64;
        mantissa * 2_f64.powi(i32::try_from(self.below(80)).unwrap_or(0))
    }

    fn digits(&mut self, limit: u64) -> String {
        let count = 1 + self.below(limit);
        (0..count).map(|_| char::from(b'0' + u8::try_from(self.below(10)).unwrap_or(0))).collect()
    }

    /// A JSON number.
    fn text(&mut self) -> String {
        let sign = if self.below(2) == 0 { "" } else { "-" };
        match self.below(8) {
            0 | 1 => format!("{sign}{}", self.integer()),
            2 => format!(
                "{sign}{}.{}",
                self.integer(),
                "0".repeat(1 + usize::try_from(self.below(3)).unwrap_or(0))
            ),
            3 => format!("{}", self.double()),
            // All digits of an integral double.
            4 if self.below(2) == 0 => format!("{sign}{:.0}", self.double_of_an_integer()),
            4 => format!("{:e}", self.double()),
            5 => format!("{:.16e}", self.double()),
            6 => format!("{sign}{}e{}", self.integer(), i128::from(self.below(700)) - 350),
            _ => {
                let whole = self.below(1_000_000_000_000_000_000) >> self.below(60);
                let letter = if self.below(2) == 0 { "e" } else { "E+" };
                format!("{sign}{whole}.{}{letter}{}", self.digits(20), self.below(40))
            }
        }
    }
}

/// A number's significant digits with a sign, and the power of ten of the last one.
fn decimal(text: &str) -> (String, i64) {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    let dropped = all.len() - digits.len();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return (String::new(), 0);
    }
    let power: i64 = power.parse().unwrap();
    (
        format!("{sign}{digits}"),
        power - i64::try_from(fraction.len()).unwrap() + i64::try_from(dropped).unwrap(),
    )
}

/// The value of an integral number, if it has few enough digits.
fn integer(text: &str) -> Option<i128> {
    let (digits, power) = decimal(text);
    let zeros = usize::try_from(power).ok()?;
    if digits.is_empty() {
        return Some(0);
    }
    (digits.len() + zeros < 38).then(|| format!("{digits}{}", "0".repeat(zeros)).parse().unwrap())
}

fn is_integer(text: &str) -> bool {
    decimal(text).1 >= 0
}

/// Whether two numbers are equal: integers exactly; others, and larger ones that look like doubles, as doubles.
fn are_same(one: &str, other: &str) -> bool {
    match is_integer(one) && integer(one).is_some_and(is_of_64_bits) {
        true => decimal(one) == decimal(other),
        false => are_same_double(one, other),
    }
}

fn are_same_double(one: &str, other: &str) -> bool {
    one.parse::<f64>().unwrap().to_bits() == other.parse::<f64>().unwrap().to_bits()
}

/// Whether an integral number equals a double exactly.
fn is_exactly(double: f64, text: &str) -> bool {
    decimal(&format!("{double:.0}")) == decimal(text)
}

fn is_of_64_bits(integer: i128) -> bool {
    i64::try_from(integer).is_ok() || u64::try_from(integer).is_ok()
}

fn is_plain(text: &str) -> bool {
    !text.contains(['.', 'e', 'E'])
}

/// Whether a number is the shortest one that parses as the double.
fn is_shortest(double: f64, text: &str) -> bool {
    decimal(&format!("{double:e}")) == decimal(text)
}

/// Whether a double is serialized as this number.
fn is_written_as(double: f64, text: &str) -> bool {
    let digits = decimal(text).0.trim_start_matches('-').len().max(1);
    is_shortest(double, text)
        || (!is_plain(text) && decimal(&format!("{double:.*e}", digits - 1)) == decimal(text))
}

/// Whether a `Value` can hold a number: a 64-bit integer, or a double that is serialized as it.
fn is_held(text: &str) -> bool {
    let double: f64 = text.parse().unwrap();
    integer(text).is_some_and(is_of_64_bits)
        || (double.is_finite()
            && (double != 0.0 || decimal(text).0.is_empty())
            && (!is_integer(text) || is_exactly(double, text) || is_written_as(double, text)))
}

/// Reads a number in an answer as a program does.
fn received<T: FromJson>(text: &str) -> Option<T> {
    let raw = format!(r#"{{"content":[],"structuredContent":[{text}]}}"#);
    let mut reader = Answer::of(read(&raw, &TOOL).unwrap(), &TOOL).reader;
    let mut items = Vec::<T>::from_json(reader.whole(), &mut reader);
    if reader.stopped { None } else { items.pop() }
}

/// Returns the text that a tool is sent for a value.
fn sent<T: ToJson>(value: &T) -> Option<String> {
    checked(|| value.to_json()).ok().map(|value| value.to_string())
}

/// Reads a number with `.json()` in text, and in structured content.
fn untyped(text: &str) -> [Option<Value>; 2] {
    let quoted = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    let structured = format!(r#"{{"content":[],"structuredContent":{text}}}"#);
    let result = |raw: &str| read(raw, &TOOL).unwrap().untyped(&TOOL);
    let structured = result(&structured).ok().and_then(|result| result.structured);
    [result(&quoted).unwrap().json().ok(), structured]
}

fn count() -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

/// A number read as a `T` is sent unchanged.
fn goes_on<T: FromJson + ToJson>(text: &str, is_expected: bool) {
    goes_on_as::<T>(text, is_expected, are_same);
}

fn goes_on_as<T: FromJson + ToJson>(text: &str, is_expected: bool, are_same: fn(&str, &str) -> bool) {
    let value = received::<T>(text);
    assert_eq!(value.is_some(), is_expected, "{text} as {}", std::any::type_name::<T>());
    if let Some(value) = value {
        let sent = sent(&value).unwrap();
        assert!(are_same(text, &sent), "{text} as {} is sent as {sent}", std::any::type_name::<T>());
        assert_eq!(received::<Value>(&sent).map(|value| value.to_string()), Some(sent));
    }
}

#[test]
fn numbers_from_tools_are_sent_on_unchanged() {
    let mut random = Random(1);
    for text in (0..count()).map(|_| random.text()) {
        let whole = integer(&text);
        let held = is_held(&text);
        goes_on::<i64>(&text, whole.is_some_and(|integer| i64::try_from(integer).is_ok()));
        goes_on::<u64>(&text, whole.is_some_and(|integer| u64::try_from(integer).is_ok()));
        goes_on::<Value>(&text, held);
        goes_on::<Scalar>(&text, held);
        let double: f64 = text.parse().unwrap();
        let is_in_range = double.is_finite() && (double != 0.0 || decimal(&text).0.is_empty());
        // A number that is not the double is reported by a warning.
        let is_exact = is_integer(&text) && is_exactly(double, &text);
        goes_on_as::<f64>(&text, is_in_range, if is_exact { are_same } else { are_same_double });
        if let Some(read) = received::<f64>(&text) {
            assert!(
                read == double && (read.to_bits() == double.to_bits() || whole == Some(0)),
                "{text}: {read}"
            );
        }
        for value in untyped(&text) {
            assert_eq!(value.is_some(), held, "{text}");
            if let Some(value) = value {
                let argument = crate::convert::value(&value);
                assert!(are_same(&text, &sent(&argument).unwrap()), "{text}: {argument}");
            }
        }
    }
}

#[test]
fn numbers_from_programs_arrive_unchanged() {
    let mut random = Random(2);
    for _ in 0..count() {
        let (signed, unsigned, double) =
            (random.next().cast_signed() >> random.below(64), random.next(), random.double());
        assert_eq!(sent::<f64>(&signed.into_argument()), Some(signed.to_string()));
        assert_eq!(sent::<f64>(&unsigned.into_argument()), Some(unsigned.to_string()));
        let list: Vec<f64> = [unsigned, 1].into_argument();
        assert_eq!(sent(&list), Some(format!("[{unsigned},1]")));
        assert_eq!(sent(&crate::convert::value(&(signed, unsigned))), Some(format!("[{signed},{unsigned}]")));
        for text in [
            sent(&double),
            sent(&crate::convert::value(&double)),
            to_raw(&double).ok().map(|raw| raw.to_string()),
        ] {
            let text = text.unwrap();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), double.to_bits(), "{text}");
        }
        let wide = match random.below(2) {
            0 => random.integer(),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "any integer will do"
            )]
            _ => random.double_of_an_integer() as u128,
        };
        let sent_wide = sent::<f64>(&wide.into_argument());
        match u64::try_from(wide) {
            Ok(wide) => assert_eq!(sent_wide, Some(wide.to_string())),
            Err(_) => {
                #[expect(clippy::cast_precision_loss, reason = "that is what is tested")]
                let double = wide as f64;
                assert_eq!(sent_wide.is_some(), is_exactly(double, &wide.to_string()), "{wide}");
                assert!(sent_wide.is_none_or(|sent| are_same_double(&sent, &wide.to_string())), "{wide}");
            }
        }
    }
}

#[test]
fn non_numbers_are_never_sent() {
    let mut random = Random(3);
    for _ in 0..count().min(20_000) {
        let exponent = 0x7ff0_0000_0000_0000;
        let none = f64::from_bits(random.next() | exponent);
        if none.is_finite() {
            continue;
        }
        // This NaN may represent an integer, if one was ever held.
        let numbers =
            [sent(&none), sent(&vec![1.0, none]), sent(&Some(none)), sent(&crate::convert::value(&none))];
        assert_eq!(numbers, [const { None }; 4], "{:x}", none.to_bits());
        assert_eq!(to_raw(&none).unwrap().get(), "null");
    }
}
