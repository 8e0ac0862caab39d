//! Decides whose requests are answered: those with the cookie that the one-time address gave.
//!
//! Handlers learn from [`Visitor`] which browser asks and whether it may change anything; a form gets
//! [`Visitor::field`]. A handler of a form takes [`Action`](crate::action::Action), which refuses everything else.
//!
//! A browser sends a cookie to every port of a host, also with `SameSite=Strict`. So the cookie is limited to a folder
//! with a random name, which a page of another port cannot guess.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;

use axum::http::{HeaderMap, header};
use maud::{Markup, html};
use parking_lot::{Mutex, MutexGuard};
use system::random;

/// The cookie's name.
const COOKIE: &str = "toolsmith-ui";

/// Limit on browsers that have the page open; a further one replaces the first.
const SESSIONS: usize = 8;

/// Random bytes in a ticket, in a cookie, and in the key of tokens.
const SECRET: usize = 32;

/// The field of a form with the visitor's token.
pub(crate) const TOKEN: &str = "token";

/// The secrets of the page, as hashes.
pub(crate) struct Access {
    /// The folder of all pages.
    folder: String,
    /// The key of tokens; `None` if the page only reads.
    key: Option<[u8; SECRET]>,
    state: Mutex<State>,
}

struct State {
    /// The secret that opens the page once.
    ticket: blake3::Hash,
    /// The cookies, the oldest first.
    sessions: VecDeque<blake3::Hash>,
}

/// The access that a ticket was exchanged for.
pub(crate) struct Opened {
    /// The value of `Set-Cookie`.
    pub(crate) cookie: String,
    /// The next ticket.
    pub(crate) ticket: String,
}

/// A browser that has opened the page. Each request that is answered has one in its extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visitor {
    /// The token that a form of this browser must contain (against cross-site request forgery); `None` if the page only
    /// reads.
    token: Option<Arc<str>>,
}

impl Visitor {
    /// Whether this browser may change anything: `--allow-actions` was given.
    pub(crate) fn may_act(&self) -> bool {
        self.token.is_some()
    }

    /// The hidden field that every form with the method POST needs; nothing if the page only reads.
    pub(crate) fn field(&self) -> Markup {
        html! { @if let Some(token) = &self.token { input type="hidden" name=(TOKEN) value=(token); } }
    }

    /// Whether a form has this browser's token.
    pub(crate) fn has_token(&self, shown: &str) -> bool {
        // Hashes are compared in constant time.
        self.token.as_ref().is_some_and(|token| hash(token) == hash(shown))
    }
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
        Ok((Access { folder: random::id()?, key: None, state: Mutex::new(state) }, ticket))
    }

    /// From now on, visitors may change things.
    ///
    /// # Errors
    /// If the kernel provides no random numbers.
    pub(crate) fn allow_actions(&mut self) -> io::Result<()> {
        self.key = Some(random::bytes::<SECRET>()?);
        Ok(())
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

    /// The browser that made a request; `None` if the request has none of the cookies.
    pub(crate) fn visitor(&self, headers: &HeaderMap) -> Option<Visitor> {
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut shown = pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| hash(value));
        let state = self.state();
        let session = shown.find(|shown| state.sessions.contains(shown))?;
        let token = self.key.as_ref().map(|key| blake3::keyed_hash(key, session.as_bytes()).to_hex());
        Some(Visitor { token: token.map(|token| Arc::from(token.as_str())) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
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
            assert!(access.visitor(&with(&cookies)).is_some(), "{cookies:?}");
        }
        let value = right.split_once('=').unwrap().1;
        let wrong =
            [format!("{COOKIE}="), format!("{COOKIE}={ticket}"), format!("other={value}"), value.to_owned()];
        for cookies in &wrong {
            assert!(access.visitor(&with(&[cookies])).is_none(), "{cookies}");
        }
        assert!(access.visitor(&HeaderMap::new()).is_none());
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
        let admitted: Vec<bool> =
            cookies.iter().map(|cookie| access.visitor(&with(&[cookie])).is_some()).collect();
        assert!(!admitted[0] && admitted[1..].iter().all(|admitted| *admitted), "{admitted:?}");
    }

    #[test]
    fn each_browser_has_a_token_of_its_own_if_actions_are_allowed() {
        let (mut access, ticket) = Access::new().unwrap();
        let first = access.open(&ticket).unwrap().unwrap();
        let visitor = |access: &Access, opened: &Opened| access.visitor(&with(&[pair(opened)])).unwrap();
        let reader = visitor(&access, &first);
        assert!(!reader.may_act() && reader.field().0.is_empty() && !reader.has_token(""));
        access.allow_actions().unwrap();
        let second = access.open(&first.ticket).unwrap().unwrap();
        let tokens = [&first, &second].map(|opened| visitor(&access, opened).token.unwrap());
        let first = visitor(&access, &first);
        assert!(first.may_act() && first.field().0.contains(&*tokens[0]));
        assert!(first.has_token(&tokens[0]) && !first.has_token(&tokens[1]) && !first.has_token(""));
    }
}
