//! Requests that are carried on to the server that they are about: calls of direct tools, resources, prompts,
//! completions.

use std::sync::Arc;

use mcp::{Carried, ErrorKind, ProgressMade, ProgressSink, Session};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::answer;
use super::approval::Approver;
use super::caller::Caller;
use super::session::ClientSession;
use super::snapshot::Snapshot;
use super::upstreams::Upstreams;
use super::workshop::Workshop;
use crate::config::Server;
use crate::direct::DirectTool;
use crate::permission::{Grants, Policy, Wanted};

/// How many reports of progress wait for a client that does not read; the rest is left out.
const REPORTS_WAITING: usize = 100;

/// A request on its way through.
pub(crate) struct Passing {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) session: Arc<ClientSession>,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) upstreams: Arc<Upstreams>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) cancel: CancellationToken,
}

impl Passing {
    /// Calls a direct tool; its result as it came.
    pub(crate) async fn call(self, tool: DirectTool, mut parameters: Map<String, Value>) -> Result<Value, ErrorData> {
        let arguments = parameters.entry("arguments").or_insert_with(|| json!({}));
        let raw = serde_json::value::to_raw_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        if let Err(refusal) = self.permit(&tool, &raw).await {
            return Ok(answer::failure(&format!("denied: {refusal}")));
        }
        parameters.insert("name".to_owned(), json!(tool.tool));
        self.carry(&tool.server, "tools/call", parameters).await
    }

    async fn permit(&self, tool: &DirectTool, arguments: &RawValue) -> Result<(), String> {
        let config = self.snapshot.config();
        let has_session = self.session.lasts();
        let approver = Approver::new(self.caller.clone(), None, has_session, self.cancel.clone());
        let answers = self.session.answers.clone();
        let policy = Policy::of_session(config, &self.workshop.allow, answers, approver);
        let (server, name) = (tool.server.as_str(), tool.tool.as_str());
        let offered = self.snapshot.lists.get(server).map(|list| &**list);
        let wanted = || Wanted::new(server, name, offered);
        let decided = policy.decide_call((server, name), wanted, arguments, &Grants::default()).await;
        decided.map_err(|refusal| refusal.message())
    }

    /// Makes a request of a server; its result as it came.
    pub(crate) async fn carry(
        &self,
        server: &str,
        method: &'static str,
        parameters: Map<String, Value>,
    ) -> Result<Value, ErrorData> {
        let Some(server) = self.snapshot.config().server(server) else {
            return Err(ErrorData::internal_error(format!("the server {server} is not configured"), None));
        };
        let _under_way = self.upstreams.host().under_way(Some(&server.connection.name), self.caller.clone());
        let (reports, mut made) = mpsc::channel::<ProgressMade>(REPORTS_WAITING);
        let sink: ProgressSink = Arc::new(move |report| drop(reports.try_send(report)));
        let request = Carried {
            parameters,
            progress: self.caller.wants_progress().then_some(sink),
            answers_input: !self.caller.is_asked_by_answers(),
        };
        let asking = async {
            let session = self.connected(server).await?;
            session.carry(method, request).await
        };
        let mut asking = std::pin::pin!(asking);
        let done = loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
                Some(report) = made.recv() => {
                    self.caller.progress(report.done, report.total, report.message).await;
                }
                done = &mut asking => break done,
            }
        };
        match done {
            Ok(result) => Ok(read(&result)),
            Err(error) => self.failed(method, &error),
        }
    }

    async fn connected(&self, server: &Server) -> Result<Session, mcp::Error> {
        self.upstreams.session(server).await
    }

    /// What a server answers with an error is passed on; what kept it from answering is told.
    fn failed(&self, method: &str, error: &mcp::Error) -> Result<Value, ErrorData> {
        if let ErrorKind::Rpc { code, message, data, .. } = &*error.kind {
            let code = i32::try_from(*code).unwrap_or(ErrorCode::INTERNAL_ERROR.0);
            let data = data.as_ref().map(|data| read(data));
            return Err(ErrorData::new(ErrorCode(code), message.clone(), data));
        }
        let message = self.snapshot.settings.masker.mask(&error.to_string()).into_owned();
        match method {
            // A model reads results, and may try something else.
            "tools/call" => Ok(answer::failure(&message)),
            _ => Err(ErrorData::internal_error(message, None)),
        }
    }
}

/// JSON as a value; what nests too deep to be one, as a text.
fn read(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| answer::failure(raw.get()))
}
