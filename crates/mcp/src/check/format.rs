//! The formats that are checked, in the widest reading common among servers.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Whether texts of this format are checked.
pub(super) fn is_known(name: &str) -> bool {
    check(name).is_some()
}

/// Describes the error in a text of the format, as in `"x" is not a URI`; `None` if the text is valid.
pub(super) fn complaint(name: &str, text: &str) -> Option<&'static str> {
    let (is_fine, complaint) = check(name)?;
    let text = text.trim();
    (!text.is_empty() && !is_fine(text)).then_some(complaint)
}

/// Whether a text has the format, and the complaint if it does not.
type Check = (fn(&str) -> bool, &'static str);

fn check(name: &str) -> Option<Check> {
    Some(match name {
        "date-time" => (is_moment, "is not a date and time such as 2024-05-31T12:00:00Z"),
        "date" => (is_moment, "is not a date such as 2024-05-31"),
        "email" => (is_address, "is not an e-mail address"),
        "uri" => (has_scheme, "is not a URI with a scheme such as https://example.com"),
        "uuid" => (is_uuid, "is not a UUID"),
        "ipv4" => (is_ipv4, "is not an IPv4 address"),
        "ipv6" => (is_ipv6, "is not an IPv6 address"),
        _ => return None,
    })
}

/// Whether a text begins like a date that exists, or is a number (a timestamp).
fn is_moment(text: &str) -> bool {
    if text.parse::<f64>().is_ok() {
        return true;
    }
    let Some((year, rest)) = number(text, 4) else { return false };
    let Some((month, rest)) = rest.strip_prefix('-').and_then(|rest| number(rest, 2)) else { return true };
    if !(1..=12).contains(&month) {
        return false;
    }
    let Some((day, rest)) = rest.strip_prefix('-').and_then(|rest| number(rest, 2)) else { return true };
    if !(1..=days(year, month)).contains(&day) {
        return false;
    }
    let Some((hour, rest)) = rest.strip_prefix(['T', 't', ' ']).and_then(|rest| number(rest, 2)) else {
        return true;
    };
    let minute = rest.strip_prefix(':').and_then(|rest| number(rest, 2)).map_or(0, |(minute, _)| minute);
    hour <= 24 && minute < 60
}

/// The number in the first `digits` characters, and the rest.
fn number(text: &str, digits: usize) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(digits)?;
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| all_digits)?, rest))
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Also accepts a name before the address, as in `Ann <ann@example.com>`.
fn is_address(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty())
}

fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// Accepts all ways to write one: with or without hyphens, in braces, as a URN.
fn is_uuid(text: &str) -> bool {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let digits = text.bytes().filter(|byte| *byte != b'-');
    text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) && digits.count() == 32
}

fn is_ipv4(text: &str) -> bool {
    let (address, _) = text.split_once('/').unwrap_or((text, ""));
    address.parse::<Ipv4Addr>().is_ok()
}

fn is_ipv6(text: &str) -> bool {
    let (address, _) = text.split_once(['/', '%']).unwrap_or((text, ""));
    address.trim_matches(['[', ']']).parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn only_what_no_common_reading_accepts_is_refused() {
        let fine = [
            ("date-time", "2024-05-31T12:00:00Z"),
            ("date-time", "2024-05-31T12:00:00.123+02:00"),
            ("date-time", "2024-05-31 12:00"),
            ("date-time", "2024-02-29"),
            ("date-time", "1717156800"),
            ("date-time", "20240531T120000Z"),
            ("date-time", "2016-12-31T23:59:60Z"),
            ("date", "2024-05-31"),
            ("date", "2024-05"),
            ("email", "ann@example.com"),
            ("email", "Ann <ann@localhost>"),
            ("uri", "https://example.com/ä b?{x}"),
            ("uri", "urn:isbn:1"),
            ("uri", "data:,"),
            ("uuid", "936DA01F-9ABD-4D9D-80C7-02AF85C822A8"),
            ("uuid", "936da01f9abd4d9d80c702af85c822a8"),
            ("uuid", "urn:uuid:936da01f-9abd-4d9d-80c7-02af85c822a8"),
            ("ipv4", "10.0.0.0/8"),
            ("ipv6", "fe80::1%eth0"),
            ("uri", ""),
            ("hostname", "???"),
            ("uint32", "-1"),
        ];
        for (format, text) in fine {
            assert_eq!(complaint(format, text), None, "{format} {text}");
        }
        let refused = [
            ("date-time", "tomorrow"),
            ("date-time", "05/31/2024"),
            ("date-time", "2024-13-01T00:00:00Z"),
            ("date-time", "2023-02-29"),
            ("date-time", "2024-05-31T25:00:00Z"),
            ("date-time", "2024-05-31T12:61:00Z"),
            ("date", "31st of May"),
            ("date", "äöü"),
            ("email", "ann"),
            ("email", "@example.com"),
            ("uri", "example.com"),
            ("uri", "/tmp/file"),
            ("uuid", "936da01f"),
            ("uuid", "936da01f-9abd-4d9d-80c7-02af85c822ag"),
            ("ipv4", "10.0.0.256"),
            ("ipv6", "10.0.0.1"),
        ];
        for (format, text) in refused {
            assert!(complaint(format, text).is_some(), "{format} {text}");
        }
    }
}
