//! The addresses of resources that name their server: `toolsmith://servers/NAME/resource?uri=…`, and for views, which
//! clients know by their scheme (MCP Apps, "UI Resource Format"), `ui://toolsmith/servers/NAME/resource?uri=…`.

use crate::audience::VIEWS;

const PREFIX: &str = "toolsmith://servers/";
const VIEW_PREFIX: &str = "ui://toolsmith/servers/";
const MIDDLE: &str = "/resource?uri=";

/// The address of a resource of this server.
pub fn of_resource(server: &str, uri: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(uri.as_bytes()).collect();
    format!("{}{server}{MIDDLE}{encoded}", prefix(uri))
}

/// The template of resources of this server; its expressions stay unchanged.
pub fn of_template(server: &str, template: &str) -> String {
    format!("{}{server}{MIDDLE}{template}", prefix(template))
}

/// The server of an address, and the server's own address of the resource.
pub fn parts(address: &str) -> Option<(&str, String)> {
    let named = address.strip_prefix(PREFIX).or_else(|| address.strip_prefix(VIEW_PREFIX))?;
    let (server, uri) = named.split_once(MIDDLE)?;
    let query = format!("uri={uri}");
    let (_, decoded) = url::form_urlencoded::parse(query.as_bytes()).next()?;
    Some((server, decoded.into_owned()))
}

/// Whether an address is that of a view. Servers need not list their views, so two may use one address unnoticed: clients
/// only get addresses with the server.
pub fn is_view(uri: &str) -> bool {
    uri.starts_with(VIEWS)
}

fn prefix(uri: &str) -> &'static str {
    if is_view(uri) { VIEW_PREFIX } else { PREFIX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_parts_again() {
        for uri in
            ["ui://cart", "book://a b?c=d&e=1%20", "ui://toolsmith/servers/x/resource?uri=ui%3A%2F%2Fa"]
        {
            assert_eq!(parts(&of_resource("shop", uri)), Some(("shop", uri.to_owned())));
        }
        assert_eq!(
            of_resource("shop", "ui://cart"),
            "ui://toolsmith/servers/shop/resource?uri=ui%3A%2F%2Fcart"
        );
        assert_eq!(of_template("shop", "ui://{id}"), "ui://toolsmith/servers/shop/resource?uri=ui://{id}");
        assert_eq!(parts("ui://cart"), None);
    }
}
