//! An OpenAPI document in, the tools of a server out; and the requests that their calls become.
//!
//! `document` reads a text, `operation` its operations, `schema` and `render` their types, and `compile` makes the list
//! of tools. `request` and `answer` translate calls, `caller` sends them, and `session` is the server's end of a session
//! within this process. The configuration of such a server is in `config`, and the client's end of a session in `mcp`.

#![forbid(unsafe_code)]

mod address;
mod answer;
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
use reqwest::Method;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use address::{Address, Given};
use answer::CallResult;
use caller::{Call, Caller, place};
use request::Arguments;
use source::{Admits, Source, Wanted};

pub use compile::{Compiled, Report, compile};
pub use error::Error;
pub use operation::Untyped;

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

    async fn api(&self, api: &mcp::OpenApi, connect_timeout: Duration) -> Result<Api, Error> {
        let headers = api.remote.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        let wanted =
            Wanted { document: &api.document, headers, admits: self.admits.clone(), connect_timeout };
        let compiled = self.source.compiled(wanted).await?;
        let address = Address::choose(&Given {
            configured: &api.remote.url,
            document: source::address(&api.document).as_ref(),
            server: compiled.servers.first(),
            has_headers: !api.remote.headers.is_empty(),
        })?;
        let caller = Caller::new(&api.remote.headers, connect_timeout)?;
        Ok(Api { compiled, address, caller })
    }
}

impl mcp::ApiServer for Server {
    fn open<'a>(
        &'a self,
        api: &'a mcp::OpenApi,
        connect_timeout: Duration,
    ) -> BoxFuture<'a, Result<mcp::Serving, Box<dyn std::error::Error + Send + Sync>>> {
        async move {
            let api = Arc::new(self.api(api, connect_timeout).await?);
            let serving = move |stream: DuplexStream| session::serve(api, stream).boxed();
            Ok(Box::new(serving) as mcp::Serving)
        }
        .boxed()
    }

    fn identity(&self) -> String {
        self.filter.clone()
    }
}

/// An API that can be called.
pub(crate) struct Api {
    compiled: Arc<Compiled>,
    address: Address,
    caller: Caller,
}

impl Api {
    /// The result of `initialize`.
    pub(crate) fn introduction(&self, version: Option<String>) -> Value {
        let Compiled { title, version: of_api, instructions, .. } = &*self.compiled;
        let mut introduction = json!({
            "protocolVersion": version,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": title, "version": of_api },
        });
        if !instructions.is_empty() {
            introduction["instructions"] = instructions.as_str().into();
        }
        introduction
    }

    /// The result of `tools/list`.
    pub(crate) fn list(&self) -> &RawValue {
        self.compiled.list()
    }

    /// Calls a tool; `None` if there is none of this name.
    pub(crate) async fn call(&self, name: &str, arguments: Option<&RawValue>) -> Option<CallResult> {
        let operation = self.compiled.operations.get(name)?;
        let called = self.called(operation, arguments).await;
        Some(called.unwrap_or_else(|error| CallResult::failure(&error.to_string())))
    }

    async fn called(
        &self,
        operation: &operation::Operation,
        arguments: Option<&RawValue>,
    ) -> Result<CallResult, Box<dyn std::error::Error + Send + Sync>> {
        let arguments: Arguments<'_> = match arguments {
            Some(arguments) => serde_json::from_str(arguments.get())?,
            None => Arguments::new(),
        };
        let request = request::request(operation, &arguments)?;
        let url = self.address.of(operation.server.as_ref(), &request.path, &request.query)?;
        let method = Method::from_bytes(operation.method.as_bytes())?;
        let address = place(&url);
        let call = Call { method, url, accept: &operation.accept, request: &request };
        let received = self.caller.call(&call).await?;
        Ok(answer::result(received, &address, &self.compiled.security))
    }
}
