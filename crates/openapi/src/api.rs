//! An API that can be called: its document, its address, and the way from a call to its result.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Introduction, ProgressSink, Tools};
use reqwest::Method;
use serde_json::value::{RawValue, to_raw_value};

use crate::address::{Address, Given};
use crate::answer::{self, CallResult};
use crate::caller::{Call, Caller, place};
use crate::compile::Compiled;
use crate::error::Error;
use crate::operation::Operation;
use crate::request::{self, Arguments};
use crate::source::{self, Admits, Source, Wanted};

/// An API that can be called.
pub(crate) struct Api {
    compiled: Arc<Compiled>,
    address: Address,
    caller: Caller,
}

impl Api {
    /// Reads the document, and finds out where the API is.
    pub(crate) async fn open(
        source: &Source,
        admits: Admits,
        api: &mcp::OpenApi,
        connect_timeout: Duration,
    ) -> Result<Self, Error> {
        let headers = api.remote.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        let wanted = Wanted { document: &api.document, headers, admits, connect_timeout };
        let compiled = source.compiled(wanted).await?;
        let address = Address::choose(&Given {
            configured: &api.remote.url,
            document: source::address(&api.document).as_ref(),
            server: compiled.servers.first(),
            has_headers: !api.remote.headers.is_empty(),
        })?;
        let caller = Caller::new(&api.remote.headers, connect_timeout)?;
        Ok(Api { compiled, address, caller })
    }

    async fn called(
        &self,
        operation: &Operation,
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

impl Tools for Api {
    fn introduction(&self) -> Introduction {
        let Compiled { title, version, instructions, .. } = &*self.compiled;
        Introduction { name: title.clone(), version: version.clone(), instructions: instructions.clone() }
    }

    fn list(&self) -> &RawValue {
        self.compiled.list()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Option<&'a RawValue>,
        _: ProgressSink,
    ) -> BoxFuture<'a, Option<Box<RawValue>>> {
        async move {
            let operation = self.compiled.operations.get(name)?;
            let called = self.called(operation, arguments).await;
            let result = called.unwrap_or_else(|error| CallResult::failure(&error.to_string()));
            to_raw_value(&result).ok()
        }
        .boxed()
    }
}
