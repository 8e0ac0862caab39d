//! An OpenAPI document in, the tools of a server out; and the requests that their calls become.
//!
//! `document` reads a text, `operation` its operations, `schema` and `render` their types, and `compile` makes the list
//! of tools. `request` and `answer` translate calls, `caller` sends them, `api` joins these, and `session` is the
//! server's end of a session within this process. The configuration of such a server is in `config`, and the client's
//! end of a session in `mcp`.

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
mod session;
mod source;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::io::DuplexStream;

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
    ) -> BoxFuture<'a, Result<mcp::Serving, Box<dyn std::error::Error + Send + Sync>>> {
        async move {
            let opening = Api::open(&self.source, self.admits.clone(), api, connect_timeout);
            let api = Arc::new(opening.await?);
            let serving = move |stream: DuplexStream| session::serve(api, stream).boxed();
            Ok(Box::new(serving) as mcp::Serving)
        }
        .boxed()
    }

    fn identity(&self) -> String {
        self.filter.clone()
    }
}
