use insta::assert_snapshot;
use oas3::spec::Server;
use url::Url;

use super::{Address, Given};

fn server(url: &str) -> Server {
    serde_json::from_value(serde_json::json!({ "url": url })).unwrap()
}

/// The address of a request for `/pets?a=b`.
fn chosen(
    configured: &str,
    document: Option<&str>,
    of_document: &str,
    has_headers: bool,
    own: Option<&str>,
) -> String {
    let (document, of_document) = (document.map(|url| Url::parse(url).unwrap()), server(of_document));
    let given = Given { configured, document: document.as_ref(), server: Some(&of_document), has_headers };
    let own = own.map(server);
    let address = Address::choose(&given).and_then(|address| address.of(own.as_ref(), "/pets", "a=b"));
    address.map_or_else(|error| error.to_string(), String::from)
}

#[test]
fn a_document_does_not_choose_where_secrets_go() {
    let fetched = Some("https://docs.example/openapi.json");
    let all = [
        chosen("https://api.example/v1/?key=k", fetched, "https://evil.example", true, None),
        chosen("", fetched, "https://evil.example", true, None),
        chosen("", fetched, "http://169.254.169.254/latest", false, None),
        chosen("", fetched, "/v2", true, None),
        chosen("", None, "https://api.example/v1", false, None),
        chosen("", None, "https://api.example/v1", true, None),
        chosen("", None, "/v2", false, None),
        chosen("", None, "file:///etc/passwd", false, None),
        chosen("", None, "https://{region}.example", false, None),
        chosen("", fetched, "/v2", true, Some("https://evil.example")),
        chosen("", fetched, "/v2", true, Some("/uploads")),
        chosen("https://api.example", fetched, "/v2", true, Some("https://evil.example")),
    ];
    assert_snapshot!(all.join("\n"), @r#"
    https://api.example/v1/pets?key=k&a=b
    the OpenAPI document sends requests to https://evil.example, which the configuration does not name; if that is right, write `url: https://evil.example` beside `openapi`
    the OpenAPI document sends requests to http://169.254.169.254/latest, which the configuration does not name; if that is right, write `url: http://169.254.169.254/latest` beside `openapi`
    https://docs.example/v2/pets?a=b
    https://api.example/v1/pets?a=b
    the OpenAPI document sends requests to https://api.example/v1, which the configuration does not name; if that is right, write `url: https://api.example/v1` beside `openapi`
    the OpenAPI document does not say where its API is (`/v2`: relative URL without a base); write `url: https://…` beside `openapi`
    the OpenAPI document does not say where its API is (`file:///etc/passwd` is not an http or https address); write `url: https://…` beside `openapi`
    the OpenAPI document does not say where its API is (`https://{region}.example` has a variable without a default); write `url: https://…` beside `openapi`
    the document sends this operation to https://evil.example/, another origin than the other ones; configure it as a server of its own, with this address as `url` and the operation in `enabledTools`
    https://docs.example/uploads/pets?a=b
    https://api.example/pets?a=b
    "#);
}
