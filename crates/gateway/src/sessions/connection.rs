//! Opens a session and lists its tools, or explains why that failed.

use std::sync::Arc;

use mcp::{ErrorKind, Host, Session};
use report::{Kind, Report};
use terminal::Masker;

use crate::login_hook::LoginHook;
use crate::tool_list::ToolList;

/// A session with the tools that its server offers.
#[derive(Clone)]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// The tools that the server listed.
    pub tools: Arc<ToolList>,
    /// Warnings about the server.
    pub warnings: Vec<String>,
    /// Whether `tools` is complete; `false` if the server could not list them.
    pub is_whole: bool,
    /// The text that `tools` were read from, if it is known.
    pub page: Option<mcp::PageDigest>,
    /// Whether other executions use the session as well; its owner closes it.
    pub is_shared: bool,
}

/// The tools that a server listed.
#[derive(Clone)]
pub(super) struct ListedTools {
    pub(super) tools: Arc<ToolList>,
    /// Warnings about them, with secrets masked.
    pub(super) warnings: Vec<String>,
    /// The text that they were read from, if it is known.
    pub(super) page: Option<mcp::PageDigest>,
}

impl ListedTools {
    pub(super) fn new(listing: &mcp::Listing, masker: &Masker) -> Self {
        let warnings = listing.warnings.iter().map(|warning| masker.mask(warning).into_owned()).collect();
        ListedTools { tools: Arc::new(ToolList::of(&listing.tools)), warnings, page: listing.page }
    }
}

/// The reason why a session could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{report}")]
pub struct Unopened {
    /// The failure, with secrets masked.
    pub report: Report,
    /// Whether a login may help.
    pub wants_login: bool,
}

impl Unopened {
    pub(super) fn new(message: String) -> Self {
        Unopened { report: Report::new(Kind::Server, message), wants_login: false }
    }

    /// The failure of a connection, with secrets masked.
    pub fn of(error: &mcp::Error, masker: &Masker) -> Self {
        Unopened {
            report: error.report(|message| masker.mask(message).into_owned()),
            wants_login: matches!(*error.kind, ErrorKind::Unauthorized { .. }),
        }
    }
}

impl From<Unopened> for Report {
    fn from(error: Unopened) -> Self {
        error.report
    }
}

/// Opens a session; if the user accepts an offered login, tries once more.
pub(crate) async fn connect(
    config: &mcp::ServerConfig,
    masker: &Masker,
    host: Arc<dyn Host>,
    logs_in: Option<Arc<dyn LoginHook>>,
) -> Result<Opened, Unopened> {
    let listed = match listed(config, host.clone()).await {
        // Only once: after a login that does not help, the error is returned.
        Err(error) => match logs_in {
            Some(hook) if hook.offer(config, &error).await => listed(config, host).await,
            _ => Err(error),
        },
        listed => listed,
    };
    let Listed { session, listing, is_whole } = listed.map_err(|error| Unopened::of(&error, masker))?;
    let ListedTools { tools, warnings, page } = ListedTools::new(&listing, masker);
    Ok(Opened { session, tools, warnings, is_whole, page, is_shared: false })
}

/// A session, and the tools that its server lists.
struct Listed {
    session: Session,
    listing: mcp::Listing,
    /// Whether the server could list its tools.
    is_whole: bool,
}

/// Connects and lists the tools: some servers accept any connection and require a login only now.
async fn listed(config: &mcp::ServerConfig, host: Arc<dyn Host>) -> Result<Listed, mcp::Error> {
    let session = Session::connect_with(config, host).await?;
    match session.list_tools().await {
        Ok(listing) => Ok(Listed { session, listing, is_whole: true }),
        // A server that requires a login here, or has closed the session, can't be used at all.
        Err(error) if session.is_closed() || matches!(*error.kind, ErrorKind::Unauthorized { .. }) => {
            Err(error)
        }
        Err(error) => {
            let why = error.kind;
            let warnings = vec![format!("its tools can't be listed, so it is used without them: {why}")];
            let listing = mcp::Listing { warnings, ..mcp::Listing::default() };
            Ok(Listed { session, listing, is_whole: false })
        }
    }
}
