//! The permissions of a configuration, and whether work started under an older configuration may continue.

use config::{Config, Glob, Permission};

use crate::resources;

/// The permission of a tool before anyone is asked. The command line turns asking into allowing; denials stay.
pub(super) fn holds(config: &Config, allow: &[Glob], server: &str, tool: &str) -> Permission {
    let is_denied = match resources::is_name(tool) {
        true => config.denies(server, tool),
        false => !config.admits(server, tool),
    };
    if is_denied {
        return Permission::Deny;
    }
    let name = format!("{server}.{tool}");
    match config.permission(server, tool) {
        Permission::Ask | Permission::AskEach if allow.iter().any(|glob| glob.fits(&name)) => {
            Permission::Allow
        }
        permission => permission,
    }
}

/// The reason why work that started under an older configuration may not continue, for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInForce {
    /// The server was removed.
    #[error("the server {server} is no longer configured")]
    Removed {
        /// Its name.
        server: String,
    },
    /// The server is another one now.
    #[error("the configuration of the server {server} has changed since this started; start it again")]
    Changed {
        /// Its name.
        server: String,
    },
    /// The tool is denied now.
    #[error("the configuration now denies {server}.{tool}")]
    Denied {
        /// The name of its server.
        server: String,
        /// Its name.
        tool: String,
    },
    /// The flows are others now.
    #[error(
        "the flows of the configuration have changed since this started, and may concern {server}.{tool}; start again"
    )]
    Flows {
        /// The name of its server.
        server: String,
        /// Its name.
        tool: String,
    },
    /// The user who started it may not do it any more.
    #[error("{reason}")]
    User {
        /// Why.
        reason: String,
    },
    /// The tool now needs an answer of the user.
    #[error("the configuration now requires the user to be asked about {server}.{tool}; start again")]
    Asked {
        /// The name of its server.
        server: String,
        /// Its name.
        tool: String,
    },
}

/// Whether work that started under the configuration `used` may still use a server, or call one of its tools, after
/// `now` has replaced it. `allow` holds the command line's globs.
///
/// # Errors
/// If the server is gone or changed, the tool now needs a stricter permission, or other flows concern it.
pub fn check(
    used: &Config,
    now: &Config,
    allow: &[String],
    server: &str,
    tool: Option<&str>,
) -> Result<(), NotInForce> {
    let of_server = || server.to_owned();
    let Some(configured) = now.server(server) else {
        return Err(NotInForce::Removed { server: of_server() });
    };
    if used.server(server).is_none_or(|before| before.connection != configured.connection) {
        return Err(NotInForce::Changed { server: of_server() });
    }
    let Some(tool) = tool else { return Ok(()) };
    // Its flows are decided by the rules that it started with.
    if used.flows != now.flows && flows::Rules::new(&now.flows).concern(server, tool) {
        return Err(NotInForce::Flows { server: of_server(), tool: tool.to_owned() });
    }
    let allow: Vec<Glob> = allow.iter().map(|glob| Glob::new(glob)).collect();
    let strictness = |config: &Config| match holds(config, &allow, server, tool) {
        Permission::Allow => 0,
        Permission::Ask => 1,
        Permission::AskEach => 2,
        Permission::Deny => 3,
    };
    match strictness(now) {
        3 => Err(NotInForce::Denied { server: of_server(), tool: tool.to_owned() }),
        asks if asks > strictness(used) => {
            Err(NotInForce::Asked { server: of_server(), tool: tool.to_owned() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Rules, Server};

    fn config(command: &str, permission: Permission, deny: &[&str]) -> Config {
        let server = Server {
            permissions: Rules { rules: Vec::new(), otherwise: permission },
            ..Server::new(mcp::ServerConfig::stdio("s", command, [""; 0]), String::new())
        };
        Config {
            servers: vec![server],
            deny: deny.iter().map(|glob| Glob::new(glob)).collect(),
            ..Config::default()
        }
    }

    #[test]
    fn started_work_continues_if_the_newer_configuration_allows_it() {
        use Permission::{Allow, Ask, AskEach, Deny};
        let used = config("one", Ask, &[]);
        let says = |now: &Config, allow: &[&str], tool: Option<&str>| {
            let allow: Vec<String> = allow.iter().map(|glob| (*glob).to_owned()).collect();
            check(&used, now, &allow, "s", tool).err().map(|why| why.to_string()).unwrap_or_default()
        };
        for permission in [Allow, Ask] {
            assert_eq!(says(&config("one", permission, &[]), &[], Some("t")), "");
        }
        assert!(says(&config("one", AskEach, &[]), &[], Some("t")).contains("to be asked about s.t"));
        assert_eq!(says(&config("one", AskEach, &[]), &["s.*"], Some("t")), "");
        assert!(says(&config("one", Deny, &[]), &["s.*"], Some("t")).contains("denies s.t"));
        assert!(says(&config("one", Allow, &["s.t"]), &[], Some("t")).contains("denies s.t"));
        assert_eq!(says(&config("one", Allow, &["s.t"]), &[], None), "");
        assert!(says(&config("two", Ask, &[]), &[], None).contains("has changed"));
        assert!(says(&Config::default(), &[], None).contains("no longer configured"));
        let external = |glob| config::Flows { external: vec![Glob::new(glob)], ..config::Flows::default() };
        let with = |glob| Config { flows: external(glob), ..config("one", Ask, &[]) };
        assert!(says(&with("s.t"), &[], Some("t")).contains("the flows of the configuration have changed"));
        assert_eq!(says(&with("s.u"), &[], Some("t")), "");
    }
}
