//! `chrono` for snippets: the crate itself, with what is generic in it compiled once instead of in each snippet.
//!
//! It is a crate of its own, because the compiler then reads it only for snippets that name it. For how instances are
//! shared, see `bridge::instantiate`.

extern crate chrono as original;

pub use original::*;

use std::collections::BTreeMap;

/// Never called: it only has to be compiled.
///
/// # Errors
/// Returns the errors of reading a time.
#[doc(hidden)]
pub fn __instantiate(text: &str) -> anyhow::Result<String> {
    use anyhow::Context;
    let (format, now) = ("%Y-%m-%d", Utc::now());
    let mut days = vec![NaiveDate::parse_from_str(text, format)?, text.parse::<NaiveDate>().context("a")?];
    days.extend(NaiveDate::from_ymd_opt(2000, 1, 1));
    days.sort();
    let mut moments: Vec<DateTime<Utc>> =
        vec![text.parse()?, now, DateTime::parse_from_rfc3339(text)?.with_timezone(&Utc)];
    moments.sort();
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S")?.and_utc();
    let mut output = format!("{:?} {} {now:?} {now}", days, local.to_rfc3339());
    let mut counts: BTreeMap<NaiveDate, usize> = BTreeMap::new();
    for day in &days {
        output += &format!("{day} {day:?} {}", day.format(format));
        output += &day.format(format).to_string();
        output += &format!("{} {} {} {}", day.year(), day.month(), day.day(), day.weekday());
        *counts.entry(*day).or_insert(0) += 1;
    }
    for (day, count) in &counts {
        output += &format!("{day}: {count}");
    }
    for moment in &moments {
        output += &format!("{} {} {}", moment.format(format), moment.date_naive(), moment.hour());
        let elapsed = now.signed_duration_since(*moment);
        output +=
            &format!("{} {} {}", (now - *moment).num_days(), elapsed.num_hours(), elapsed.num_seconds());
        output += &(*moment + Duration::days(1) - TimeDelta::hours(1)).format(format).to_string();
    }
    let latest =
        (days.iter().max().copied(), days.iter().min().copied(), moments.iter().max(), moments.iter().min());
    if let (Some(last), Some(first), Some(_), Some(_)) = latest {
        output += &format!("{} {}", (last - first).num_days(), first < last && first != last);
        output += &(first + Duration::days(7)).to_string();
    }
    Ok(output)
}
