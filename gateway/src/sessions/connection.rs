//! One session from its connection to the list of its tools, and why there is none.

use std::sync::Arc;

use mcp::{ErrorKind, Session};
use terminal::Masker;

use crate::login_hook::{self, LoginHook};
use crate::session_host::SessionHost;
use crate::tool_list::ToolList;

/// A session with the tools that its server offers.
#[derive(Clone)]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// The tools that the server listed.
    pub tools: Arc<ToolList>,
    /// What there is to tell of the server.
    pub warnings: Vec<String>,
    /// Whether these are the tools that the server has, and not those that were left when it could not say.
    pub is_whole: bool,
}

/// Why there is no session.
#[derive(Debug, Clone)]
pub struct Unopened {
    /// Why, with what to do.
    pub message: String,
    /// Whether a login may help.
    pub wants_login: bool,
}

impl Unopened {
    pub(super) fn new(message: String) -> Self {
        Unopened { message, wants_login: false }
    }
}

impl std::fmt::Display for Unopened {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// Opens a session, once more after a login that the person agrees to.
pub(super) async fn connect(
    config: &mcp::ServerConfig,
    masker: &Masker,
    host: Arc<dyn SessionHost>,
    logs_in: Option<Arc<dyn LoginHook>>,
) -> Result<Opened, Unopened> {
    let unopened = |error: mcp::Error| Unopened {
        message: masker.mask(&login_hook::explained(&error)).into_owned(),
        wants_login: matches!(*error.kind, ErrorKind::Unauthorized { .. }),
    };
    let listed = match listed(config, host.clone()).await {
        // Once: after a login that does not help, its refusal stands.
        Err(error) => match logs_in {
            Some(hook) if hook.offer(config, &error).await => listed(config, host).await,
            _ => Err(error),
        },
        listed => listed,
    };
    let Listed { session, mut listing, is_whole } = listed.map_err(unopened)?;
    for warning in &mut listing.warnings {
        *warning = masker.mask(warning).into_owned();
    }
    let tools = listing.tools.into_iter().map(mcp::Tool::repaired).collect();
    Ok(Opened { session, tools: Arc::new(ToolList::new(tools)), warnings: listing.warnings, is_whole })
}

/// A session, and what its server lists.
struct Listed {
    session: Session,
    listing: mcp::Listing,
    /// Whether the server could be asked at all.
    is_whole: bool,
}

/// Connects and asks for the tools: some servers let anybody connect, and want a login then.
async fn listed(config: &mcp::ServerConfig, host: Arc<dyn SessionHost>) -> Result<Listed, mcp::Error> {
    let session = Session::connect_with(config, host).await?;
    match session.list_tools().await {
        Ok(listing) => Ok(Listed { session, listing, is_whole: true }),
        // A server that wants a login at this point, or is gone, can't be asked anything else either.
        Err(error) if session.is_closed() || matches!(*error.kind, ErrorKind::Unauthorized { .. }) => {
            Err(error)
        }
        Err(error) => {
            let warnings = vec![format!("its tools can't be listed, it is used without: {error}")];
            let listing = mcp::Listing { warnings, ..mcp::Listing::default() };
            Ok(Listed { session, listing, is_whole: false })
        }
    }
}
