//! An OpenAPI document in, the tools of a server out; and the requests that their calls become.
//!
//! `document` reads a text, `operation` its operations, `schema` and `render` their types, and `compile` makes the list
//! of tools. `request` and `answer` translate calls, `caller` sends them, and `api` joins these. The configuration of such
//! a server is in `config`, and both ends of its sessions within this process are in `mcp`.

#![forbid(unsafe_code)]

mod address;
mod answer;
mod api;
mod arguments;
mod caller;
mod compile;
mod document;
mod error;
mod media;
mod operation;
mod render;
mod request;
mod schema;
mod source;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use api::Api;
use source::{Admits, Source};

pub use compile::{Compiled, Report, compile};
pub use error::Error;

/// Serves the API of a document within this process.
pub struct Server {
    source: Source,
    admits: Admits,
    /// Everything that `admits` depends on.
    filter: String,
}

impl Server {
    /// A server whose tools are those that `admits` accepts; `filter` differs for servers with other tools.
    #[must_use]
    pub fn new(filter: String, admits: Arc<dyn Fn(&str) -> bool + Send + Sync>) -> Self {
        Server { source: Source::default(), admits, filter }
    }
}

impl mcp::ApiServer for Server {
    fn open<'a>(
        &'a self,
        api: &'a mcp::OpenApi,
        connect_timeout: Duration,
    ) -> BoxFuture<'a, Result<Arc<dyn mcp::Tools>, mcp::OpenError>> {
        async move {
            let opening = Api::open(&self.source, self.admits.clone(), api, connect_timeout);
            Ok(Arc::new(opening.await?) as Arc<dyn mcp::Tools>)
        }
        .boxed()
    }

    fn identity(&self) -> String {
        self.filter.clone()
    }
}
