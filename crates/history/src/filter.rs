//! The selection of the executions that are read from a history.

use rusqlite::types::Value;

use crate::prune::GONE;

/// Chooses executions; an empty filter chooses all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only with this status, as in [`Summary::status`](crate::Summary::status).
    pub status: Option<String>,
    /// Only those that called a tool of this server.
    pub server: Option<String>,
    /// Only those that called this tool.
    pub tool: Option<String>,
    /// Only of this MCP session.
    pub session: Option<String>,
    /// Only of this saved program.
    pub program: Option<String>,
    /// Only of this subject.
    pub subject: Option<String>,
    /// Only those whose snippet, error or output contains all of these words; each may be the beginning of one.
    pub text: Option<String>,
    /// Only those that began at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only those that began before this time.
    pub until: Option<i64>,
}

/// A part of a list, the latest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Maximum number of executions.
    pub limit: usize,
    /// Only executions before the one with this [number](crate::Summary::number).
    pub before: Option<i64>,
}

impl Page {
    /// All executions.
    pub const ALL: Page = Page { limit: usize::MAX, before: None };
}

/// A condition in SQL, with its values.
pub(crate) struct Conditions {
    sql: Vec<String>,
    pub(crate) values: Vec<Value>,
}

impl Conditions {
    /// The conditions of a filter on `executions` at a time in milliseconds since 1970.
    pub(crate) fn of(filter: &Filter, now: i64) -> Self {
        let mut conditions = Conditions { sql: Vec::new(), values: Vec::new() };
        let alive = format!("process IN (SELECT id FROM processes WHERE seen >= {})", now - GONE);
        match filter.status.as_deref() {
            None => {}
            Some("running") => conditions.sql.push(format!("status IS NULL AND {alive}")),
            Some("interrupted") => {
                conditions.sql.push(format!("(status = 'interrupted' OR status IS NULL AND NOT {alive})"));
            }
            Some(status) => conditions.add("status = ?", status),
        }
        let named =
            [("session", &filter.session), ("subject", &filter.subject), ("program", &filter.program)];
        for (column, value) in named {
            value.iter().for_each(|value| conditions.add(&format!("{column} = ?"), value));
        }
        match (&filter.server, &filter.tool) {
            (None, None) => {}
            (server, tool) => {
                let names = [("server", server), ("tool", tool)];
                let given = names.iter().filter_map(|(column, value)| Some((*column, value.as_ref()?)));
                let (columns, values): (Vec<_>, Vec<_>) = given.unzip();
                let sql =
                    columns.iter().map(|column| format!("{column} = ?")).collect::<Vec<_>>().join(" AND ");
                conditions.sql.push(format!("number IN (SELECT execution FROM tools WHERE {sql})"));
                conditions.values.extend(values.into_iter().map(|value| Value::Text(value.clone())));
            }
        }
        if let Some(words) = filter.text.as_deref().map(words) {
            conditions.add("number IN (SELECT rowid FROM words WHERE words MATCH ?)", &words);
        }
        for (compared, time) in [("begun >= ?", filter.since), ("begun < ?", filter.until)] {
            if let Some(time) = time {
                conditions.sql.push(compared.to_owned());
                conditions.values.push(Value::Integer(time));
            }
        }
        conditions
    }

    /// Only executions before this number.
    pub(crate) fn before(&mut self, number: i64) {
        self.sql.push("number < ?".to_owned());
        self.values.push(Value::Integer(number));
    }

    fn add(&mut self, sql: &str, value: &str) {
        self.sql.push(sql.to_owned());
        self.values.push(Value::Text(value.to_owned()));
    }

    /// The conditions as one.
    pub(crate) fn sql(&self) -> String {
        if self.sql.is_empty() { "true".to_owned() } else { self.sql.join(" AND ") }
    }
}

/// A query of the index for texts with all of these words. Each is quoted, so that nothing in it is an operator.
fn words(text: &str) -> String {
    let word = |word: &str| format!("\"{}\" *", word.replace('"', "\"\""));
    let words: Vec<String> = text.split_whitespace().map(word).collect();
    if words.is_empty() { "\"\"".to_owned() } else { words.join(" AND ") }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_quoted() {
        assert_eq!(words("list_orders  NOT"), "\"list_orders\" * AND \"NOT\" *");
        assert_eq!(words("a\"b*"), "\"a\"\"b*\" *");
        assert_eq!(words(" "), "\"\"");
    }
}
