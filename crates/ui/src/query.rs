//! Reads the query of an address, and the fields of a form.

use std::time::SystemTime;

use history::Filter;
use system::calendar::start_of_day;
use url::form_urlencoded;

use crate::error::PageError;

/// Maximum length of a query, in bytes: filters and ids are far shorter.
const LONGEST: usize = 8 << 10;

/// The fields of a query that have a value, or of a form.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// The fields of the part of an address after `?`.
    ///
    /// # Errors
    /// If it is too long.
    pub(crate) fn of(text: Option<&str>) -> Result<Self, PageError> {
        let text = text.unwrap_or_default();
        if text.len() > LONGEST {
            return Err(PageError::wrong(format!("the address is longer than {LONGEST} bytes")));
        }
        let fields = form_urlencoded::parse(text.as_bytes());
        let fields = fields.map(|(name, value)| (name.into_owned(), value.trim().to_owned()));
        Ok(Query(fields.filter(|(_, value)| !value.is_empty()).collect()))
    }

    /// The fields of a form, as they are, also those without a value.
    pub(crate) fn of_form(body: &[u8]) -> Self {
        Query(form_urlencoded::parse(body).into_owned().collect())
    }

    /// The first value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// All values of a field.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field as a number.
    ///
    /// # Errors
    /// If it is another text.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, PageError> {
        self.get(name)
            .map(|value| {
                value.parse().map_err(|_| PageError::wrong(format!("{name} is {value:?}, and not a number")))
            })
            .transpose()
    }

    /// The value of a field as a number, which may have decimals.
    ///
    /// # Errors
    /// If it is another text.
    pub(crate) fn decimal(&self, name: &str) -> Result<Option<f64>, PageError> {
        self.get(name)
            .map(|value| {
                let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
                number.ok_or_else(|| PageError::wrong(format!("{name} is {value:?}, and not a number")))
            })
            .transpose()
    }

    /// The start of the day in a field, in milliseconds since 1970.
    fn day(&self, name: &str) -> Result<Option<i64>, PageError> {
        let parse = |value: &str| {
            let start = start_of_day(value)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            i64::try_from(start.as_millis()).ok()
        };
        let wrong =
            |value: &str| PageError::wrong(format!("{name} is {value:?}, and not a date such as 2026-11-01"));
        self.get(name).map(|value| parse(value).ok_or_else(|| wrong(value))).transpose()
    }

    /// The executions that the fields choose.
    ///
    /// # Errors
    /// If a date is wrong.
    pub(crate) fn filter(&self) -> Result<Filter, PageError> {
        let text = |name| self.get(name).map(str::to_owned);
        let (mut server, mut tool) = (text("server"), text("tool"));
        // Names of servers have no dot.
        if let (None, Some((of, name))) = (&server, tool.as_deref().and_then(|tool| tool.split_once('.'))) {
            (server, tool) = (Some(of.to_owned()), Some(name.to_owned()));
        }
        Ok(Filter {
            status: text("status"),
            server,
            tool,
            session: text("session"),
            program: text("program"),
            subject: text("subject"),
            text: text("text"),
            since: self.day("since")?,
            until: self.day("until")?,
        })
    }

    /// The query with another value of a field; without the field if there is none.
    pub(crate) fn with(&self, name: &str, value: Option<&str>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let others = self.0.iter().filter(|(field, _)| field != name);
        query.extend_pairs(others);
        query.extend_pairs(value.map(|value| (name, value)));
        query.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::of(Some(text)).unwrap()
    }

    #[test]
    fn fields_choose_executions() {
        let filter =
            query("status=ok&tool=demo.list_orders&text=two+words&since=1970-01-02&session=").filter();
        let expected = Filter {
            status: Some("ok".to_owned()),
            server: Some("demo".to_owned()),
            tool: Some("list_orders".to_owned()),
            text: Some("two words".to_owned()),
            since: Some(86_400_000),
            ..Filter::default()
        };
        assert_eq!(filter.unwrap(), expected);
        assert!(query("since=yesterday").filter().is_err() && query("before=x").number("before").is_err());
        assert!(Query::of(Some(&"a".repeat(LONGEST + 1))).is_err());
    }

    #[test]
    fn one_field_is_replaced() {
        let query = query("status=ok&before=7&text=a%26b");
        assert_eq!(query.with("before", Some("5")), "status=ok&text=a%26b&before=5");
        assert_eq!(query.with("before", None), "status=ok&text=a%26b");
    }
}
