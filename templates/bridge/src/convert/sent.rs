//! Refuses arguments that JSON, or the type that holds them, does not support.
//!
//! Conversions to JSON return no errors: the first problem is recorded, and reported when the call is to be sent. If an
//! argument's type can't hold the given value, it holds a placeholder until then, or the call records why it must not
//! be sent.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};

use crate::warning::warn;

thread_local! {
    static REFUSED: RefCell<Option<Refused>> = const { RefCell::new(None) };
    /// The problem of an argument, until the call being built takes it.
    static UNFIT: RefCell<Option<Refused>> = const { RefCell::new(None) };
    static PURPOSE: Cell<Purpose> = const { Cell::new(Purpose::Call) };
}

/// The purpose of converting a value to JSON, which decides about NaN and infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A call is sent: they are refused.
    Call,
    /// A value becomes an argument: they are refused.
    Argument,
    /// A value is written as text, for example a snippet's result: they are null, with a warning.
    Text,
}

impl Purpose {
    /// The result of `work`, which converts values for this purpose. Within an argument, everything is part of it.
    pub(crate) fn during<R>(self, work: impl FnOnce() -> R) -> R {
        let outer = PURPOSE.get();
        if outer != Purpose::Argument {
            PURPOSE.set(self);
        }
        let result = work();
        PURPOSE.set(outer);
        result
    }

    pub(crate) fn current() -> Self {
        PURPOSE.get()
    }
}

/// Warns of a double that is written as null.
pub(crate) fn warn_of_null(double: f64) {
    warn(format!("{}, is written as `null`", no_number(double)), None);
}

/// The reason why a value can't be sent.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The names of the enclosing fields, innermost first.
    path: Vec<String>,
    what: String,
}

impl Refused {
    /// The reason, with the argument's name.
    pub(crate) fn message(&self) -> String {
        let place: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        match place.is_empty() {
            true => format!("the argument is {}", self.what),
            false => format!("the argument `{}` is {}", place.join("."), self.what),
        }
    }
}

/// Records the first reason why the value being converted can't be sent; returns a meaningless value.
pub(super) fn refuse(what: String) -> Value {
    REFUSED.with_borrow_mut(|refused| {
        refused.get_or_insert(Refused { path: Vec::new(), what });
    });
    Value::Null
}

/// Records the first reason why an argument of the call being built can't be sent, if its type can't hold a
/// placeholder.
pub(crate) fn unfit(what: String) {
    UNFIT.with_borrow_mut(|unfit| {
        unfit.get_or_insert(Refused { path: Vec::new(), what });
    });
}

/// An argument of a call being built, for the field `key`.
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

/// Takes the reason why the call can't be sent.
pub(crate) fn taken_unfit() -> Option<Box<Refused>> {
    UNFIT.take().map(Box::new)
}

/// The JSON of the field `key`, created by `convert`.
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

/// The result of `convert`, unless there is a reason not to send it.
pub(crate) fn checked(convert: impl FnOnce() -> Value) -> Result<Value, Refused> {
    let outer = REFUSED.take();
    let value = convert();
    match REFUSED.replace(outer) {
        None => Ok(value),
        Some(refused) => Err(refused),
    }
}

/// Returns the reason why a double is not valid in JSON.
pub(crate) fn no_number(double: f64) -> String {
    format!("{double}, which JSON does not support")
}

/// The prefix of NaNs that refer to an integer in [`HELD`].
const HOLDS: u64 = 0x7ffc_7001_0000_0000;

/// Up to this limit, every integer is a double (2 to the power of 53).
const EXACT: u128 = 1 << 53;

/// Integers given as numbers that no double holds, with their indices.
static HELD: Mutex<Held> = Mutex::new(Held { places: BTreeMap::new(), integers: Vec::new() });

struct Held {
    places: BTreeMap<Integer, usize>,
    integers: Vec<Integer>,
}

/// An integer of any type: whether it is negative, and its magnitude.
type Integer = (bool, u128);

/// An integer as an argument of type `f64`. If no double may hold it, it is stored, and the result is a NaN with its
/// index, which exists only inside the call, whose fields are private.
pub(super) fn hold(integer: Integer) -> f64 {
    let (is_negative, magnitude) = integer;
    if magnitude <= EXACT {
        #[expect(clippy::cast_precision_loss, reason = "exact up to this limit")]
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

/// The JSON of a double that is not finite: that of the integer it refers to.
pub(super) fn not_finite(double: f64) -> Value {
    let bits = double.to_bits();
    let place = u32::try_from(bits ^ HOLDS).ok().and_then(|place| usize::try_from(place).ok());
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let integer = place.and_then(|place| held.integers.get(place).copied());
    drop(held);
    let Some((is_negative, magnitude)) = integer else {
        if Purpose::current() == Purpose::Text {
            warn_of_null(double);
            return Value::Null;
        }
        return refuse(no_number(double));
    };
    let sign = if is_negative { "-" } else { "" };
    let text = format!("{sign}{magnitude}");
    match (text.parse::<u64>(), text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(integer), ..) => Value::from(integer),
        (_, Ok(integer), _) => Value::from(integer),
        (.., Ok(double)) if format!("{double:.0}") == text => Value::from(double),
        _ => refuse(format!("{text}, which fits neither 64 bits nor a double")),
    }
}

/// The only key of an object that represents a reason not to send it. No server knows it.
fn reason_key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let random = || RandomState::new().hash_one(0);
        format!("not sent {:016x}{:016x}", random(), random())
    })
}

/// A placeholder for a value that can't be sent.
pub(super) fn stand_in(reason: String) -> Value {
    Value::Object(Map::from_iter([(reason_key().to_owned(), Value::String(reason))]))
}

/// The value to send; placeholders are refused.
pub(super) fn sent(value: &Value) -> Value {
    if let Value::Object(fields) = value
        && fields.len() == 1
        && let Some(Value::String(reason)) = fields.get(reason_key())
    {
        return refuse(reason.clone());
    }
    value.clone()
}
