//! A client within this process: an agent, with the same view as any client.

use std::sync::Arc;
use std::time::Duration;

use gateway::failure::Failure;
use rmcp::ServiceExt as _;
use system::random;

use super::line_transport::LineTransport;
use super::service::{McpService, PipeService};
use super::session::{AgentIsolation, ClientSession, ClientTransport};
use super::state::ServerState;

/// Buffer size between both ends, in bytes.
const PIPE: usize = 64 << 10;

/// The session's name in errors.
const NAME: &str = "toolsmith";

/// Time limit of a request: executions and direct calls have their own limits.
const LONGEST: Duration = Duration::from_secs(86_400);

/// A client within this process.
pub struct InProcessClient {
    /// The client's end of the session.
    pub session: mcp::Session,
    /// The server's end.
    pub client: Arc<ClientSession>,
}

/// Starts a session; `host` answers questions and receives notifications.
///
/// # Errors
/// If the kernel has no random numbers, or the handshake fails.
pub async fn connect(
    state: &Arc<ServerState>,
    host: Arc<dyn mcp::Host>,
    isolation: AgentIsolation,
) -> Result<InProcessClient, Failure> {
    let id = random::id().map_err(Failure::system)?;
    // A subagent works for the subject that calls it.
    let subject = identity::current();
    let transport = ClientTransport::InProcess(isolation);
    let client = ClientSession::of_subject(id, transport, subject, state.clone());
    let service = PipeService::new(McpService::new(state.clone(), client.clone()));
    let (near, far) = tokio::io::duplex(PIPE);
    // It ends with the client's end.
    tokio::spawn(async move {
        let (input, output) = tokio::io::split(far);
        if let Ok(serving) = service.serve(LineTransport::new(input, output)).await {
            let _ = serving.waiting().await;
        }
    });
    let mut config = mcp::ServerConfig::stdio(NAME, "", Vec::<String>::new());
    config.request_timeout = LONGEST;
    let session = mcp::Session::connect_over(&config, host, tokio::io::split(near)).await;
    Ok(InProcessClient { session: session?, client })
}
