//! The configuration of a command: read, with its secrets masked, its complaints told, and its debugging begun.

use crate::arguments::ConfigArguments;
use crate::config::{self, Config};
use crate::debug;
use crate::failure::Failure;
use crate::masker::Masker;
use crate::terminal::{self, plain};

/// The configuration that the arguments name, to be used.
pub(crate) fn load(place: &ConfigArguments) -> Result<Config, Failure> {
    config::load(place).map_err(Failure::configuration).map(begin)
}

/// The same, to be looked at: there may be no server in it that can be used.
pub(crate) fn survey(place: &ConfigArguments) -> Result<Config, Failure> {
    if place.strict {
        return load(place);
    }
    config::survey(place).map_err(Failure::configuration).map(begin)
}

fn begin(config: Config) -> Config {
    terminal::mask(Masker::of(&config));
    config
        .complaints()
        .for_each(|complaint| terminal::say(format_args!("toolsmith: warning: {}\n", plain(complaint))));
    debug::begin(&config);
    config
}
