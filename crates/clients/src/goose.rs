//! The properties of goose.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{ASKS, Calls, Form, JSON, Key, Profile, Refusal, Syntax, Value, seconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["goose"],
    client_info: "goose-cli",
    files: &[Location::new(Base::Config, "goose", "config.yaml")],
    syntax: Syntax::Yaml,
    section: &["extensions"],
    form: Form { command: "cmd", args: Some("args"), env: "envs" },
    kind: Some("stdio"),
    keys: &[
        Key { shows: true, ..Key::new("name", Value::Name, "it refuses the entry") },
        Key { shows: true, ..Key::new("enabled", Value::Bool(true), "it does not start the server") },
        seconds("timeout", "calls end after 5 minutes"),
    ],
    calls: Calls {
        default: "calls without asking, unless GOOSE_MODE is approve, smart_approve or chat",
        are_allowed: true,
        ..ASKS
    },
    dialect: Dialect::Literal,
    // Most of its extensions are built in, and the secrets of the others are in its own keyring.
    refusal: Some(Refusal {
        why: "goose's extensions can't be taken over",
        advice: "add each server with `toolsmith mcp add`, and Toolsmith with `toolsmith setup goose`",
    }),
    ..JSON
};
