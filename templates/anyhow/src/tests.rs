//! Tests that errors behave like anyhow's, and know their position.

use std::error::Error as StdError;
use std::num::ParseIntError;

use crate::{Context, Error, Result, anyhow, bail, ensure, format_err};

fn parsed(text: &str) -> Result<i32> {
    Ok(text.parse::<i32>()?)
}

/// The line before the call.
#[track_caller]
fn line_before() -> u32 {
    std::panic::Location::caller().line() - 1
}

#[test]
fn the_position_is_that_of_the_first_question_mark() {
    let through = || -> Result<i32> { Ok(parsed("x")? + 1) };
    let error = through().unwrap_err();
    assert_eq!((error.place().file(), error.place().line()), (file!(), 9));
    assert_eq!(error.context("more").place().line(), 9);
    let failed = Err::<(), _>("x".parse::<i32>().unwrap_err()).context("read").unwrap_err();
    assert_eq!(failed.place().line(), line_before());
    let absent = None::<i32>.with_context(|| "nothing").unwrap_err();
    assert_eq!(absent.place().line(), line_before());
    let made = [anyhow!("a").place().line(), format_err!("{}", 1).place().line()];
    assert_eq!(made, [line_before(); 2]);
    let bailed = || -> Result<()> { bail!("no") };
    assert_eq!(bailed().unwrap_err().place().line(), line_before());
}

#[test]
fn errors_format_and_downcast_like_anyhows() {
    let error = parsed("x").context("a number").unwrap_err();
    assert_eq!(format!("{error}"), "a number");
    assert_eq!(format!("{error:#}"), "a number: invalid digit found in string");
    assert!(format!("{error:?}").contains("Caused by:\n    invalid digit"));
    assert!(error.is::<ParseIntError>() && error.is::<&str>());
    assert!(error.downcast_ref::<ParseIntError>().is_some());
    assert_eq!(error.chain().count(), 2);
    assert_eq!(error.root_cause().to_string(), "invalid digit found in string");
    let error = error.downcast::<std::fmt::Error>().unwrap_err();
    assert!(error.downcast::<ParseIntError>().is_ok());
    let of_error = anyhow!(parsed("x").unwrap_err().context("kept"));
    assert_eq!(format!("{of_error:#}"), "kept: invalid digit found in string");
    let boxed: Box<dyn StdError + Send + Sync> = of_error.into();
    assert_eq!(boxed.to_string(), "kept");
    assert_eq!(Error::from_boxed(boxed).to_string(), "kept");
    let count = 3;
    assert_eq!(anyhow!("{count} are too many").to_string(), "3 are too many");
    assert_eq!(anyhow!(String::from("owned")).to_string(), "owned");
}

#[test]
fn conditions_are_ensured() {
    let checked = |n: i32| -> Result<i32> {
        ensure!(n > 0);
        ensure!(n < 10, "{n} is too large");
        ensure!(n != 5, format_err!("five"));
        crate::Ok(n)
    };
    assert_eq!(checked(1).unwrap(), 1);
    let message = |n| checked(n).unwrap_err().to_string();
    assert_eq!(
        [message(0), message(11), message(5)],
        ["Condition failed: `n > 0`", "11 is too large", "five"]
    );
}
