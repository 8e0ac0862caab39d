//! The configuration of a command: read, with its secrets masked, its complaints told, and its debugging begun.

use crate::arguments::ConfigArguments;
use crate::config::{self, Config};
use crate::debug;
use crate::failure::Failure;
use crate::handing_on;
use crate::masker::Masker;
use crate::telemetry::Exporter;
use crate::terminal;

/// The configuration that the arguments name, to be used.
pub(crate) fn load(place: &ConfigArguments) -> Result<Config, Failure> {
    config::load(place).map_err(Failure::configuration).and_then(begin)
}

/// The same, to be looked at: there may be no server in it that can be used.
pub(crate) fn survey(place: &ConfigArguments) -> Result<Config, Failure> {
    if place.strict {
        return load(place);
    }
    config::survey(place).map_err(Failure::configuration).and_then(begin)
}

/// The same without a project's file that is not trusted, which the configuration then says.
pub(crate) fn load_without_untrusted(place: &ConfigArguments) -> Result<Config, Failure> {
    config::load_without_untrusted(place).map_err(Failure::configuration).and_then(begin)
}

/// The configuration for a server, with the export of traces that it asks for; with `lenient`, as
/// [`load_without_untrusted`].
pub(crate) fn load_to_serve(
    place: &ConfigArguments,
    lenient: bool,
) -> Result<(Config, Option<Exporter>), Failure> {
    let load = if lenient { config::load_without_untrusted } else { config::load };
    let mut config = load(place).map_err(Failure::configuration)?;
    handing_on::hand_on(&mut config)?;
    let exporter = config.serve.telemetry.as_ref().map(Exporter::begin).transpose()?.flatten();
    introduce(&config);
    debug::begin_with(&config, exporter.as_ref());
    Ok((config, exporter))
}

fn begin(mut config: Config) -> Result<Config, Failure> {
    handing_on::hand_on(&mut config)?;
    introduce(&config);
    debug::begin(&config);
    Ok(config)
}

/// Its secrets are told nowhere from now on; what is wrong with it is.
pub(crate) fn introduce(config: &Config) {
    terminal::mask(Masker::of(config));
    config
        .complaints()
        .for_each(|complaint| terminal::say(format_args!("toolsmith: warning: {complaint}\n")));
}
