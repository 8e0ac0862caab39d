//! The secrets of a configuration, which are masked in all output.

use config::Config;
use terminal::Masker;

/// Name parts of environment variables whose values are treated as secrets: a configuration can use any variable in
/// `${…}`.
const SECRET_NAMES: [&str; 8] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY"];

/// Masks the values of headers, variables and client secrets of all servers, of headers of the remote cache, and the keys
/// of models.
pub fn masker(config: &Config) -> Masker {
    let mut values: Vec<String> = Vec::new();
    for server in &config.servers {
        mcp::learn_secrets(&server.connection);
        values.extend(server.variables());
        match &server.connection.transport {
            mcp::Transport::Stdio(command) => values.extend(command.env.values().cloned()),
            mcp::Transport::Http(remote)
            | mcp::Transport::Sse(remote)
            | mcp::Transport::OpenApi(mcp::OpenApi { remote, .. }) => {
                values.extend(remote.headers.values().cloned());
                let oauth = remote.oauth.iter().flat_map(|oauth| [&oauth.client_secret, &oauth.private_key]);
                values.extend(oauth.flatten().cloned());
                values.extend(password(&remote.url));
            }
            mcp::Transport::InProcess(_) => {}
        }
    }
    values.extend(config.serve.telemetry.iter().flat_map(|telemetry| telemetry.headers.values().cloned()));
    values.extend(config.cache.remote.iter().flat_map(|remote| remote.headers.values().cloned()));
    let keys = config.models.iter().filter_map(|model| model.api_key_env.as_deref());
    values.extend(keys.filter_map(|name| std::env::var(name).ok()));
    values.extend(config.models.iter().filter_map(|model| password(model.base_url.as_ref()?.as_str())));
    let is_secret = |name: &str| SECRET_NAMES.iter().any(|part| name.to_ascii_uppercase().contains(part));
    values.extend(std::env::vars_os().filter_map(|(name, value)| {
        name.to_str().filter(|name| is_secret(name)).and_then(|_| value.into_string().ok())
    }));
    Masker::new(&values)
}

/// The password in an address.
fn password(url: &str) -> Option<String> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let (_, password) = authority.rsplit_once('@')?.0.split_once(':')?;
    Some(password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_from_every_kind_of_server() {
        use config::Server;
        let mut local = mcp::ServerConfig::stdio("local", "program", [""; 0]);
        if let mcp::Transport::Stdio(command) = &mut local.transport {
            command.env.insert("KEY".into(), "value-of-env".into());
        }
        let remote = mcp::Remote {
            url: "https://me:pass-in-address@host/".into(),
            headers: [("Authorization".to_owned(), "Bearer value-of-header".to_owned())].into(),
            oauth: Some(mcp::OAuth {
                client_secret: Some("value-of-client".into()),
                private_key: Some("value-of-key".into()),
                ..mcp::OAuth::default()
            }),
            ..mcp::Remote::default()
        };
        let remotes = [mcp::Transport::Http(remote.clone()), mcp::Transport::Sse(remote)];
        for remote in remotes {
            let connections = [local.clone(), mcp::ServerConfig::new("remote", remote)];
            let server = |connection| Server::new(connection, String::new());
            let servers = connections.into_iter().map(server).collect();
            let config = Config { servers, ..Config::default() };
            let output =
                "value-of-env value-of-header value-of-client value-of-key pass-in-address KEY Bearer";
            assert_eq!(masker(&config).mask(output), "*** *** *** *** *** KEY Bearer");
        }
    }

    #[test]
    fn passwords_in_addresses_are_found() {
        assert_eq!(password("https://user:pass-word@host/x@y").as_deref(), Some("pass-word"));
        assert_eq!(password("https://host/a:b@c"), None);
        assert_eq!(password("nonsense"), None);
    }
}
