//! The local web page: the executions that are kept, one of them as a waterfall, two compared, and what code mode
//! saved.
//!
//! `access` decides whose requests are answered, `action` which of them may change something, `routes` which page
//! answers them, and `store` reads the history for it. `list`, `execution`, `compare`, `questions` and `savings` write
//! the pages, from the parts in `trace` (with `waterfall` and `exchanges`), `code`, `output` and `plot`; `layout` is around them. `servers`,
//! `programs` and `permissions` are about the configuration, which `configured` reads. `again`, `checking`, `saving` and
//! `try_call` change something, all but the last with this program's own commands (`command`); `shown` ties an answer to
//! what its form showed. Texts of the history are untrusted: they pass through `text` and the escapes of the templates,
//! and the policy of `headers` lets no script of theirs run.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod access;
mod action;
mod again;
mod checking;
mod code;
mod command;
mod compare;
mod configured;
mod error;
mod exchanges;
mod execution;
mod headers;
mod layout;
mod list;
mod output;
mod permissions;
mod plot;
mod programs;
mod programs_one;
mod query;
mod questions;
mod routes;
mod saving;
mod savings;
mod schema;
mod servers;
mod servers_one;
mod servers_tool;
mod shown;
mod site;
mod store;
mod text;
mod trace;
mod try_call;
mod try_form;
mod waterfall;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use config::LoadOptions;
use gateway::failure::Failure;
use server::http::local::LocalListener;
use server::open_questions::OpenQuestions;
use tokio_util::sync::CancellationToken;

use access::Access;
use command::Commands;
use site::Site;
use store::Store;

/// A page that is ready to be served. It only reads, unless actions are allowed.
#[derive(Debug)]
pub struct Page {
    listener: LocalListener,
    site: Site,
    ticket: String,
}

impl Page {
    /// Listens at a loopback address, for the history in `history`; `option` is the option that names the address.
    /// `announce` is called with each address that opens the page: with a new one after the one before was used.
    ///
    /// # Errors
    /// If the address is not a loopback address or can't be used, or the kernel provides no random numbers.
    pub async fn bind(
        address: SocketAddr,
        option: &str,
        history: PathBuf,
        announce: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let listener = LocalListener::bind(address, option).await?;
        let (access, ticket) = Access::new().map_err(Failure::system)?;
        let address = listener.address();
        let site = Site {
            access,
            store: Store::new(history),
            questions: None,
            commands: Commands::new(Vec::new()),
            announce: Box::new(move |ticket| announce(&format!("http://{address}{}{ticket}", routes::OPEN))),
            configuration: LoadOptions::default(),
        };
        Ok(Page { listener, site, ticket })
    }

    /// From now on, the page can change things (`--allow-actions`); otherwise it only reads.
    ///
    /// # Errors
    /// If the kernel provides no random numbers.
    pub fn allow_actions(&mut self) -> Result<(), Failure> {
        self.site.access.allow_actions().map_err(Failure::system)
    }

    /// The page shows the servers and permissions of this configuration, which is read for each page. The commands that it
    /// runs get `words`, which choose the same configuration.
    #[must_use]
    pub fn with_configuration(mut self, configuration: LoadOptions, words: Vec<OsString>) -> Self {
        self.site.configuration = configuration;
        self.site.commands = Commands::new(words);
        self
    }

    /// The page shows these questions, and answers them if it can change things.
    #[must_use]
    pub fn with_questions(mut self, questions: Arc<OpenQuestions>) -> Self {
        self.site.questions = Some(questions);
        self
    }

    /// Announces the address, and serves until `closing`.
    pub async fn serve(self, closing: CancellationToken) {
        (self.site.announce)(&self.ticket);
        self.listener.serve(routes::routes(Arc::new(self.site)), closing).await;
    }
}
