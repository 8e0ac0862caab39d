//! Where requests go: to one origin, which the configuration names or the document itself comes from.

use oas3::spec::Server;
use url::Url;

use crate::document::bounded;
use crate::error::Error;

/// The address of an API.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Its path has no slash at the end, and its query is part of each request.
    base: Url,
    /// Whether the configuration names it, so that servers of single operations do not apply.
    is_configured: bool,
}

/// The facts that decide the address.
pub(crate) struct Given<'a> {
    /// `url`, empty if it is not configured.
    pub(crate) configured: &'a str,
    /// The address of the document, if it has one.
    pub(crate) document: Option<&'a Url>,
    /// The first server of the document.
    pub(crate) server: Option<&'a Server>,
    /// Whether requests have configured headers.
    pub(crate) has_headers: bool,
}

impl Address {
    /// Chooses the address.
    ///
    /// A document must not choose where secrets go, and one from the network not into which network requests go. So the
    /// address is that of the configuration; without one, it has the origin from which the document was fetched, or is
    /// that of a local document if no header is sent.
    pub(crate) fn choose(given: &Given<'_>) -> Result<Self, Error> {
        if !given.configured.is_empty() {
            let base = Url::parse(given.configured);
            let base = base.map_err(|error| Error::Http(format!("its url is invalid: {error}")))?;
            return Ok(Address { base: usable(base)?, is_configured: true });
        }
        let written = given.server.map(expanded).transpose()?.unwrap_or_else(|| "/".to_owned());
        let base = match given.document {
            Some(document) => document.join(&written),
            None => Url::parse(&written),
        };
        let base = base.map_err(|error| Error::NoAddress(format!("`{}`: {error}", bounded(&written))))?;
        let base = usable(base)?;
        let is_named = match given.document {
            Some(document) => document.origin() == base.origin(),
            None => !given.has_headers,
        };
        if !is_named {
            return Err(Error::Unnamed(bounded(base.as_str().trim_end_matches('/'))));
        }
        Ok(Address { base, is_configured: false })
    }

    /// The address of a request.
    pub(crate) fn of(&self, own: Option<&Server>, path: &str, query: &str) -> Result<Url, Error> {
        let mut url = match own.filter(|_| !self.is_configured) {
            Some(own) => self.own(own)?,
            None => self.base.clone(),
        };
        let below = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{below}/{}", path.trim_start_matches('/')));
        let all: Vec<&str> = [self.base.query().unwrap_or_default(), query]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        url.set_query((!all.is_empty()).then(|| all.join("&")).as_deref());
        Ok(url)
    }

    /// The server of an operation, if it is at the same origin.
    fn own(&self, own: &Server) -> Result<Url, Error> {
        let written = expanded(own)?;
        let url = self.base.join(&written);
        let url = url.map_err(|error| Error::NoAddress(format!("`{}`: {error}", bounded(&written))))?;
        let url = usable(url)?;
        if url.origin() == self.base.origin() {
            return Ok(url);
        }
        Err(Error::Http(format!(
            "the document sends this operation to {}, another origin than the other ones; configure it as a server of its \
             own, with this address as `url` and the operation in `enabledTools`",
            bounded(url.as_str())
        )))
    }
}

/// The address of a server with the defaults of its variables.
fn expanded(server: &Server) -> Result<String, Error> {
    let mut address = server.url.clone();
    for (name, variable) in &server.variables {
        address = address.replace(&format!("{{{name}}}"), &variable.default);
    }
    match address.contains('{') {
        true => Err(Error::NoAddress(format!("`{}` has a variable without a default", bounded(&address)))),
        false => Ok(address),
    }
}

fn usable(mut url: Url) -> Result<Url, Error> {
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(Error::NoAddress(format!("`{}` is not an http or https address", bounded(url.as_str()))));
    }
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests;
