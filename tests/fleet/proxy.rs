//! HAProxy in front of the replicas, with the configuration of `dist/deploy/proxies/haproxy.cfg`.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Checked;
use crate::client::REPLICA;

/// The configuration that the documentation recommends.
const CONFIGURATION: &str = include_str!("../../dist/deploy/proxies/haproxy.cfg");

/// The time limit on noticing that a replica is ready or has gone: three checks, and one to spare.
pub(crate) const NOTICES: Duration = Duration::from_secs(8);

/// The time limit until it listens.
const START: Duration = Duration::from_secs(10);

/// A running proxy; it is killed on drop.
pub(crate) struct Proxy {
    process: Child,
    pub(crate) address: SocketAddr,
}

/// The configuration with these addresses instead of those of the example. Answers name their replica.
fn configuration(address: SocketAddr, replicas: &[(&str, SocketAddr)]) -> String {
    let mut text = String::new();
    for line in CONFIGURATION.lines().filter(|line| !line.trim_start().starts_with("server ")) {
        text += &line.replace("bind :8080", &format!("bind {address}"));
        text += "\n";
    }
    text += &format!("    http-response set-header {REPLICA} %s\n");
    for (name, address) in replicas {
        text += &format!("    server {name} {address}\n");
    }
    text
}

impl Proxy {
    /// Starts it in a folder.
    pub(crate) async fn start(
        folder: &Path,
        address: SocketAddr,
        replicas: &[(&str, SocketAddr)],
    ) -> Checked<Self> {
        let file = folder.join("haproxy.cfg");
        fs::write(&file, configuration(address, replicas)).map_err(|error| error.to_string())?;
        let log = fs::File::create(folder.join("haproxy.log")).map_err(|error| error.to_string())?;
        let mut command = Command::new("haproxy");
        command.args(["-db", "-f"]).arg(&file).stdin(Stdio::null());
        let errors = log.try_clone().map_err(|error| error.to_string())?;
        let process =
            command.stdout(log).stderr(errors).spawn().map_err(|error| format!("haproxy: {error}"))?;
        let mut proxy = Proxy { process, address };
        let started = Instant::now();
        while started.elapsed() < START {
            if tokio::net::TcpStream::connect(address).await.is_ok() {
                return Ok(proxy);
            }
            if let Ok(Some(status)) = proxy.process.try_wait() {
                let log = fs::read_to_string(folder.join("haproxy.log")).unwrap_or_default();
                return Err(format!("haproxy has ended with {status}: {log}"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err("haproxy does not listen".to_owned())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
