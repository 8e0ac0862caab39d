//! What has no form in JSON, or none in the type that holds it, on its way to a tool.
//!
//! Conversions to JSON have no way out but their end: what goes wrong is kept aside, and told when the call is to be sent.
//! An argument's type may not be able to hold what was given for it: then something stands in for it until then, or the call
//! that is built with it keeps why it is not to be sent.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};

thread_local! {
    static REFUSED: RefCell<Option<Refused>> = const { RefCell::new(None) };
    /// Of an argument, until the call that is being built takes it.
    static UNFIT: RefCell<Option<Refused>> = const { RefCell::new(None) };
}

/// Why a value can't be sent.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The names of the fields that lead to it, from the innermost.
    path: Vec<String>,
    what: String,
}

impl Refused {
    /// Why, and of which argument.
    pub(crate) fn message(&self) -> String {
        let place: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        match place.is_empty() {
            true => format!("the argument is {}", self.what),
            false => format!("the argument `{}` is {}", place.join("."), self.what),
        }
    }
}

/// Keeps the first reason why what is converted can't be sent; the value is one of those that can, and means nothing.
pub(super) fn refuse(what: String) -> Value {
    REFUSED.with_borrow_mut(|refused| {
        refused.get_or_insert(Refused { path: Vec::new(), what });
    });
    Value::Null
}

/// Keeps the first reason why an argument of the call that is being built can't be sent: its type has nothing to stand in for
/// it.
pub(crate) fn unfit(what: String) {
    UNFIT.with_borrow_mut(|unfit| {
        unfit.get_or_insert(Refused { path: Vec::new(), what });
    });
}

/// An argument of a call that is being built, made for the field `key`.
#[inline]
pub fn named<T>(key: &str, argument: T) -> T {
    name(key);
    argument
}

fn name(key: &str) {
    UNFIT.with_borrow_mut(|unfit| {
        if let Some(unfit) = unfit.as_mut().filter(|unfit| unfit.path.is_empty()) {
            unfit.path.push(key.to_owned());
        }
    });
}

/// Takes the reason why the call that was built can't be sent.
pub(crate) fn taken_unfit() -> Option<Box<Refused>> {
    UNFIT.take().map(Box::new)
}

/// The JSON of the field `key`, made by `convert`.
pub(super) fn field(key: &str, convert: impl FnOnce() -> Value) -> Value {
    let before = REFUSED.with_borrow(Option::is_some);
    let value = convert();
    if !before {
        REFUSED.with_borrow_mut(|refused| {
            if let Some(refused) = refused {
                refused.path.push(key.to_owned());
            }
        });
    }
    value
}

/// What `convert` gives, unless there is a reason not to send it.
pub(crate) fn checked(convert: impl FnOnce() -> Value) -> Result<Value, Refused> {
    let outer = REFUSED.take();
    let value = convert();
    match REFUSED.replace(outer) {
        None => Ok(value),
        Some(refused) => Err(refused),
    }
}

/// Why a double is no number in JSON.
pub(crate) fn no_number(double: f64) -> String {
    format!("{double}, which is no number in JSON")
}

/// NaNs with this beginning hold the place of an integer in [`HELD`].
const HOLDS: u64 = 0x7ffc_7001_0000_0000;

/// Up to here every integer is a double (2 to the power of 53).
const EXACT: u128 = 1 << 53;

/// Integers that were given for numbers, and that no double holds, with their places.
static HELD: Mutex<Held> = Mutex::new(Held { places: BTreeMap::new(), integers: Vec::new() });

struct Held {
    places: BTreeMap<Integer, usize>,
    integers: Vec<Integer>,
}

/// An integer of any type: whether it is below zero, and its distance from it.
type Integer = (bool, u128);

/// An integer as an argument of the type `f64`. One that may not be a double is kept, and the double, a NaN, says where: it
/// lives only within the call, whose fields nobody else sees.
pub(super) fn hold(integer: Integer) -> f64 {
    let (is_negative, magnitude) = integer;
    if magnitude <= EXACT {
        #[expect(clippy::cast_precision_loss, reason = "there is none up to here")]
        let double = magnitude as f64;
        return if is_negative { -double } else { double };
    }
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let next = held.integers.len();
    let place = *held.places.entry(integer).or_insert(next);
    if place == next {
        held.integers.push(integer);
    }
    u32::try_from(place).map_or(f64::NAN, |place| f64::from_bits(HOLDS | u64::from(place)))
}

/// The JSON of a double that is not finite: of the integer that it holds the place of.
pub(super) fn not_finite(double: f64) -> Value {
    let bits = double.to_bits();
    let place = u32::try_from(bits ^ HOLDS).ok().and_then(|place| usize::try_from(place).ok());
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let integer = place.and_then(|place| held.integers.get(place).copied());
    drop(held);
    let Some((is_negative, magnitude)) = integer else { return refuse(no_number(double)) };
    let sign = if is_negative { "-" } else { "" };
    let text = format!("{sign}{magnitude}");
    match (text.parse::<u64>(), text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(integer), ..) => Value::from(integer),
        (_, Ok(integer), _) => Value::from(integer),
        (.., Ok(double)) if format!("{double:.0}") == text => Value::from(double),
        _ => refuse(format!("{text}, which neither 64 bits nor a double hold")),
    }
}

/// The only name in an object that stands for a reason not to send it. No server knows it.
fn reason_key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let random = || RandomState::new().hash_one(0);
        format!("not sent {:016x}{:016x}", random(), random())
    })
}

/// A value in the place of one that can't be sent.
pub(super) fn stand_in(reason: String) -> Value {
    Value::Object(Map::from_iter([(reason_key().to_owned(), Value::String(reason))]))
}

/// A value as it is sent: what stands in for another one is refused.
pub(super) fn sent(value: &Value) -> Value {
    if let Value::Object(fields) = value
        && fields.len() == 1
        && let Some(Value::String(reason)) = fields.get(reason_key())
    {
        return refuse(reason.clone());
    }
    value.clone()
}
