//! Connections to authorization servers: which addresses they reach.
//!
//! An authorization server is named by metadata that the resource controls. So its host may have any public address,
//! but a loopback or private one only if the server's own URL names such an address itself; link-local and other
//! reserved addresses never. The hosts of proxies are not filtered.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Request, Response};
use reqwest::{
    Client, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::Policy,
};
use rmcp::transport::auth::OAuthHttpClientError;
use url::Host;

use super::bounded::{Refused, Transport, place};
use crate::http::{connections, failure::HttpFailure, read_bounded};

/// Time limit for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for a response, with its body.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response, in bytes (1 MiB).
const MAX_BYTES: usize = 1024 * 1024;

/// The variables that name proxies.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Sends requests to the authorization servers of one resource.
pub(super) struct Network {
    client: Client,
    addresses: Addresses,
}

impl Network {
    /// A client for the authorization servers of the resource at `url`.
    pub(super) fn new(url: &Url) -> reqwest::Result<Self> {
        let addresses = Addresses::of(url);
        let builder = connections::builder(CONNECT_TIMEOUT).timeout(TIMEOUT).redirect(Policy::none());
        Ok(Self { client: builder.dns_resolver(Arc::new(addresses.clone())).build()?, addresses })
    }
}

impl Transport for Network {
    fn send(
        &self,
        request: Request<Vec<u8>>,
    ) -> BoxFuture<'_, Result<Response<Vec<u8>>, OAuthHttpClientError>> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(request)?;
            if !self.addresses.allow(request.url()) {
                return Err(Refused::Address(place(request.url())).into());
            }
            let place = place(request.url());
            let response = self.client.execute(request).await?;
            let mut built = Response::builder().status(response.status());
            for (name, value) in response.headers() {
                built = built.header(name, value);
            }
            let body = read_bounded(response, MAX_BYTES).await.map_err(|failure| match failure {
                HttpFailure::Protocol(_) => Refused::TooLarge { place, limit: MAX_BYTES }.into(),
                failure => OAuthHttpClientError::from(failure),
            })?;
            Ok(built.body(body)?)
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error(
    "all addresses of its name are private or reserved, so nothing is sent there; configure other endpoints under `oauth`"
)]
struct NotAllowed;

/// A kind of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    Public,
    Loopback,
    Private,
    Reserved,
}

impl Range {
    fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => embedded(address).map_or_else(|| Self::of_v6(address), Self::of_v4),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            _ if address.is_loopback() => Self::Loopback,
            [100, 64..=127, ..] => Self::Private,
            _ if address.is_private() => Self::Private,
            [0, ..] | [198, 18 | 19, ..] => Self::Reserved,
            _ if address.is_link_local() || address.is_broadcast() || address.is_multicast() => {
                Self::Reserved
            }
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        match address.segments() {
            _ if address.is_loopback() => Self::Loopback,
            [first, ..] if first & 0xfe00 == 0xfc00 => Self::Private,
            // Link-local, Teredo, and NAT64 for local use.
            [first, ..] if first & 0xffc0 == 0xfe80 => Self::Reserved,
            [0x2001, 0, ..] | [0x64, 0xff9b, 1, ..] => Self::Reserved,
            _ if address.is_unspecified() || address.is_multicast() => Self::Reserved,
            _ => Self::Public,
        }
    }
}

/// The IPv4 address in an IPv6 address that is mapped, compatible, NAT64 or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let joined = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(joined(g, h)),
        [0, 0, 0, 0, 0, 0] if !address.is_loopback() && !address.is_unspecified() => Some(joined(g, h)),
        [0x2002, ..] => Some(joined(b, c)),
        _ => None,
    }
}

/// The addresses to which requests may go.
#[derive(Clone)]
struct Addresses {
    /// The address in the resource's URL.
    own: Option<IpAddr>,
    /// The range of that address, or of `localhost`.
    range: Option<Range>,
    proxies: Arc<[String]>,
}

impl Addresses {
    fn of(url: &Url) -> Self {
        let own = literal(url);
        let is_local = |host: &str| host == "localhost" || host.ends_with(".localhost");
        let range = match url.host() {
            Some(Host::Domain(domain)) => is_local(&normal(domain)).then_some(Range::Loopback),
            _ => own.map(Range::of),
        };
        let proxies = PROXIES.iter().filter_map(|name| std::env::var(name).ok()).filter_map(|proxy| {
            let proxy = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
            Url::parse(&proxy).ok()?.host_str().map(normal)
        });
        Self { own, range, proxies: proxies.collect() }
    }

    fn allow_address(&self, address: IpAddr) -> bool {
        match Range::of(address) {
            Range::Public => true,
            Range::Reserved => false,
            range => self.range == Some(range),
        }
    }

    /// Whether an address in a URL, which is not resolved, is allowed.
    fn allow(&self, url: &Url) -> bool {
        literal(url).is_none_or(|address| self.own == Some(address) || self.allow_address(address))
    }
}

impl Resolve for Addresses {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let is_proxy = this.proxies.contains(&normal(&host));
            let resolve = move || (host.as_str(), 0).to_socket_addrs().map(Vec::from_iter);
            let mut found: Vec<SocketAddr> = tokio::task::spawn_blocking(resolve).await??;
            found.retain(|address| is_proxy || this.allow_address(address.ip()));
            if found.is_empty() {
                return Err(NotAllowed.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

fn normal(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_their_ranges() {
        for (address, range) in [
            ("93.184.216.34", Range::Public),
            ("2606:4700::1111", Range::Public),
            ("64:ff9b::5db8:d822", Range::Public),
            ("127.0.0.1", Range::Loopback),
            ("::1", Range::Loopback),
            ("::ffff:127.0.0.1", Range::Loopback),
            ("2002:7f00:1::", Range::Loopback),
            ("10.0.0.9", Range::Private),
            ("100.64.0.1", Range::Private),
            ("fd00::1", Range::Private),
            ("64:ff9b::a00:9", Range::Private),
            ("169.254.169.254", Range::Reserved),
            ("::ffff:169.254.169.254", Range::Reserved),
            ("::169.254.169.254", Range::Reserved),
            ("2002:a9fe:a9fe::", Range::Reserved),
            ("fe80::1", Range::Reserved),
            ("0.0.0.0", Range::Reserved),
            ("198.18.0.1", Range::Reserved),
            ("224.0.0.1", Range::Reserved),
            ("2001:0:4136:e378::1", Range::Reserved),
            ("64:ff9b:1::a9fe:a9fe", Range::Reserved),
        ] {
            assert_eq!(Range::of(address.parse().unwrap()), range, "{address}");
        }
    }

    #[test]
    fn only_a_server_at_such_an_address_has_an_authorization_server_there() {
        let allow = |server: &str, authority: &str| {
            Addresses::of(&Url::parse(server).unwrap()).allow(&Url::parse(authority).unwrap())
        };
        assert!(allow("https://a.example/", "https://93.184.216.34/"));
        assert!(allow("https://a.example/", "https://b.example/"));
        assert!(!allow("https://a.example/", "https://127.0.0.1/"));
        assert!(!allow("https://a.example/", "https://10.0.0.9/"));
        assert!(!allow("http://127.0.0.1/", "http://10.0.0.9/"));
        assert!(allow("http://localhost./", "http://127.0.0.2/"));
        assert!(allow("http://10.0.0.1/", "http://10.0.0.9/"));
        assert!(!allow("http://10.0.0.1/", "http://169.254.169.254/"));
    }
}
