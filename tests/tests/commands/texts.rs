//! Snapshots of what people and models read, as pages: one for each subject, with all its texts.

mod agents;
mod command_line;
mod configuration;
mod confined;
mod descriptions;
mod prompts;
mod servers;
mod snippets;
mod tables;
