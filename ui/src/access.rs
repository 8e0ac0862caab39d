//! Decides whose requests are answered: those with the cookie that the one-time address gave.
//!
//! A browser sends a cookie to every port of a host, also with `SameSite=Strict`. So the cookie is limited to a folder
//! with a random name, which a page of another port cannot guess.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, header};
use system::random;

/// The cookie's name.
const COOKIE: &str = "toolsmith-ui";

/// Limit on browsers that have the page open; a further one replaces the first.
const SESSIONS: usize = 8;

/// Random bytes in a ticket and in a cookie.
const SECRET: usize = 32;

/// The secrets of the page, as hashes.
pub(crate) struct Access {
    /// The folder of all pages.
    folder: String,
    state: Mutex<State>,
}

struct State {
    /// What opens the page once.
    ticket: blake3::Hash,
    /// The cookies, the oldest first.
    sessions: VecDeque<blake3::Hash>,
}

/// What a ticket was exchanged for.
pub(crate) struct Opened {
    /// The value of `Set-Cookie`.
    pub(crate) cookie: String,
    /// The next ticket.
    pub(crate) ticket: String,
}

impl fmt::Debug for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Access").finish_non_exhaustive()
    }
}

impl Access {
    /// New secrets; returns the first ticket as well.
    ///
    /// # Errors
    /// If the kernel provides no random numbers.
    pub(crate) fn new() -> io::Result<(Self, String)> {
        let ticket = secret()?;
        let state = State { ticket: hash(&ticket), sessions: VecDeque::new() };
        Ok((Access { folder: random::id()?, state: Mutex::new(state) }, ticket))
    }

    /// The folder of all pages, without slashes.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// Exchanges a ticket for a cookie; `None` if it is not the current one.
    ///
    /// # Errors
    /// If the kernel provides no random numbers.
    pub(crate) fn open(&self, ticket: &str) -> io::Result<Option<Opened>> {
        let (cookie, next) = (secret()?, secret()?);
        let mut state = self.state();
        // Hashes are compared in constant time.
        if state.ticket != hash(ticket) {
            return Ok(None);
        }
        state.ticket = hash(&next);
        if state.sessions.len() == SESSIONS {
            state.sessions.pop_front();
        }
        state.sessions.push_back(hash(&cookie));
        let cookie = format!("{COOKIE}={cookie}; Path=/{}/; HttpOnly; SameSite=Strict", self.folder);
        Ok(Some(Opened { cookie, ticket: next }))
    }

    /// Whether a request has one of the cookies.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let shown: Vec<blake3::Hash> =
            pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| hash(value)).collect();
        self.state().sessions.iter().any(|session| shown.contains(session))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn secret() -> io::Result<String> {
    Ok(random::bytes::<SECRET>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn hash(secret: &str) -> blake3::Hash {
    blake3::hash(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn with(cookies: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        cookies.iter().for_each(|cookie| {
            headers.append(header::COOKIE, HeaderValue::from_str(cookie).unwrap());
        });
        headers
    }

    fn pair(opened: &Opened) -> &str {
        opened.cookie.split(';').next().unwrap()
    }

    #[test]
    fn a_ticket_opens_the_page_once() {
        let (access, ticket) = Access::new().unwrap();
        assert!(access.open("").unwrap().is_none() && access.open(&ticket[1..]).unwrap().is_none());
        let opened = access.open(&ticket).unwrap().unwrap();
        assert!(access.open(&ticket).unwrap().is_none());
        assert!(access.open(&opened.ticket).unwrap().is_some());
        assert!(opened.cookie.ends_with("; HttpOnly; SameSite=Strict"), "{}", opened.cookie);
        assert!(opened.cookie.contains(&format!("; Path=/{}/;", access.folder())), "{}", opened.cookie);
    }

    #[test]
    fn only_its_cookies_are_admitted() {
        let (access, ticket) = Access::new().unwrap();
        let opened = access.open(&ticket).unwrap().unwrap();
        let right = pair(&opened);
        for cookies in [vec![right], vec!["a=b", right], vec![&format!("{COOKIE}=x; {right}")]] {
            assert!(access.admits(&with(&cookies)), "{cookies:?}");
        }
        let value = right.split_once('=').unwrap().1;
        let wrong =
            [format!("{COOKIE}="), format!("{COOKIE}={ticket}"), format!("other={value}"), value.to_owned()];
        for cookies in &wrong {
            assert!(!access.admits(&with(&[cookies])), "{cookies}");
        }
        assert!(!access.admits(&HeaderMap::new()));
    }

    #[test]
    fn the_first_of_too_many_browsers_is_replaced() {
        let (access, mut ticket) = Access::new().unwrap();
        let mut cookies = Vec::new();
        for _ in 0..=SESSIONS {
            let opened = access.open(&ticket).unwrap().unwrap();
            cookies.push(pair(&opened).to_owned());
            ticket = opened.ticket;
        }
        let admitted: Vec<bool> = cookies.iter().map(|cookie| access.admits(&with(&[cookie]))).collect();
        assert!(!admitted[0] && admitted[1..].iter().all(|admitted| *admitted), "{admitted:?}");
    }
}
