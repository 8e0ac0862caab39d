//! The sandbox settings of a server and its command in, a confined process out.
//!
//! `confinement` starts the process, `policy` decides what it may do, `installation` finds what its command needs to run.
//! The configuration of servers is in `config`, their sessions in `mcp`, and the layers in `sandbox`.

#![forbid(unsafe_code)]

mod confinement;
mod environment;
mod installation;
mod package_managers;
mod policy;
mod settings;
mod system_paths;

pub use confinement::Confinement;
pub use sandbox::Network;
pub use settings::Settings;
