//! The sandbox settings of a server and its command in, a confined process out.
//!
//! `confinement` starts the process, `policy` decides what it may do, `installation` finds what its command needs to run,
//! and `record` has what it was refused in a trial, or while its user watches it (`watch`).
//! The configuration of servers is in `config`, their sessions in `mcp`, and the layers in `sandbox`.

#![forbid(unsafe_code)]

mod confinement;
mod environment;
mod installation;
mod package_managers;
mod policy;
mod record;
mod settings;
mod system_paths;
mod watch;
mod words;

pub use confinement::Confinement;
pub use record::{Record, Refusal, proposal};
pub use sandbox::Network;
pub use settings::Settings;
pub use watch::{Seen, Watch};
