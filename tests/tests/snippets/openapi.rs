//! The APIs of OpenAPI documents, called by snippets beside an MCP server.

use std::fs;

use end_to_end::api_server::{Api, ApiAnswer, ApiRequest};
use end_to_end::cache::{json, plain, shared};
use end_to_end::harness::Run;
use end_to_end::page::normal;
use insta::assert_snapshot;

const DOCUMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/openapi/tests/documents");

/// A pet store with one pet, and others that are busy, moved or guarded.
fn petstore() -> Api {
    let busy = std::sync::atomic::AtomicUsize::new(0);
    let pet =
        r#"{"id":9007199254740993,"name":"Rex","nickname":null,"status":"sold","owner":{"name":"Ada"}}"#;
    Api::start(move |request: &ApiRequest| match request.line.as_str() {
        line if line.starts_with("GET /v1/pets?") || line == "GET /v1/pets" => {
            ApiAnswer::json(200, &format!("[{pet}]"))
        }
        "POST /v1/pets" => ApiAnswer::json(201, pet),
        "GET /v1/pets/1" if busy.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2 => {
            ApiAnswer::json(503, "{}").header("retry-after", "0")
        }
        "GET /v1/pets/1" => ApiAnswer::json(200, pet),
        "GET /v1/pets/2" => ApiAnswer::json(301, "").header("location", "/v1/pets/1"),
        "GET /v1/pets/3" => ApiAnswer::json(302, "").header("location", "http://127.0.0.1:1/stolen"),
        "GET /v1/pets/4" => ApiAnswer::json(401, r#"{"title":"Unauthorized","detail":"no key"}"#),
        "GET /v1/pets/5" => ApiAnswer::of("text/html", b"<h1>lost</h1>").status(404),
        "DELETE /v1/pets/1" => ApiAnswer::of("text/plain", b"").status(204),
        "POST /v1/notes" => ApiAnswer::json(503, "{}").header("retry-after", "0"),
        _ => ApiAnswer::of("image/png", b"\x89PNG"),
    })
}

/// A forge with two pages of issues.
fn forge() -> Api {
    Api::start(|request: &ApiRequest| match request.line.as_str() {
        "GET /openapi.json" => {
            let document = fs::read(format!("{DOCUMENTS}/forge.json")).unwrap();
            ApiAnswer::of("application/json", &document)
        }
        line if line.starts_with("POST") => {
            ApiAnswer::json(201, r#"{"number":3,"title":"new","state":"open","parent":null}"#)
        }
        line if line.contains("page=2") => ApiAnswer::of(
            "application/vnd.forge+json",
            br#"[{"number":2,"title":"second","state":"closed"}]"#,
        ),
        _ => ApiAnswer::of("application/vnd.forge+json", br#"[{"number":1,"title":"first","state":"open"}]"#)
            .header("link", "<https://forge.example/issues?page=2>; rel=\"next\""),
    })
}

/// Payments of one customer.
fn payments() -> Api {
    Api::start(|request: &ApiRequest| match request.line.as_str() {
        line if line.starts_with("GET") => ApiAnswer::json(
            200,
            r#"{"object":"list","has_more":false,"data":[{"id":"cus_1","object":"customer","email":null,"balance":5}]}"#,
        ),
        _ => ApiAnswer::json(200, r#"{"id":"cus_2","object":"customer","default_source":{"id":"src_1"}}"#),
    })
}

fn petstore_entry(api: &Api, more: &str) -> String {
    format!(
        "  petstore: {{ openapi: {DOCUMENTS}/petstore.yaml, url: {}/v1, trust: true{more} }}\n",
        api.address
    )
}

#[test]
fn three_documents_are_called_in_one_snippet_beside_an_mcp_server() {
    let (pets, issues, money) = (petstore(), forge(), payments());
    let config = format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server], trust: true }}\n{}  forge: {{ openapi: {}/openapi.json, trust: true }}\n  payments: {{ openapi: {DOCUMENTS}/payments.json, url: {}, trust: true, headers: {{ Authorization: \"Basic ${{KEY_OF_TEST}}\" }} }}\n",
        petstore_entry(&pets, ""),
        issues.address,
        money.address
    );
    let code = r#"
        let pets = petstore::list_pets().limit(5).tags(["a b", "c"]).await?;
        let new = petstore::create_pet("Rex", "secret").status("sold").await?;
        let first = forge::issues_list_for_repo("ada", "engine").raw().await?;
        let has_next = first.text().contains("rel=\"next\"");
        let second = forge::issues_list_for_repo("ada", "engine").page(2).labels(["x", "y"]).await?;
        let created = forge::issues_create("ada", "engine", "new").body(None).await?;
        let page = payments::get_customers().created(json!({ "gte": 1 })).expand(["data.source"]).await?;
        let made = payments::post_customers().email("a@b.example").await?;
        let orders = demo::list_orders().limit(2).await?;
        (
            (pets[0].id, &pets[0].name, &new.owner),
            (has_next, &second[0].title, created.number),
            (&page.data[0].id, page.data[0].balance, &made.default_source),
            orders.orders.len(),
        )
    "#;
    let result = json(code).config(&config).variable("KEY_OF_TEST", "key-of-the-test").result();
    assert_snapshot!(result, @r#"[[9007199254740993,"Rex",{"name":"Ada"}],[true,"second",3],["cus_1",5,{"id":"src_1"}],2]"#);
    assert_snapshot!(pets.lines(), @r#"
    GET /v1/pets?limit=5&tags=a%20b&tags=c
    POST /v1/pets {"name":"Rex","password":"secret","status":"sold"}
    "#);
    assert_snapshot!(issues.lines(), @r#"
    GET /openapi.json
    GET /api/repos/ada/engine/issues
    GET /api/repos/ada/engine/issues?page=2&labels=x,y
    POST /api/repos/ada/engine/issues {"title":"new","body":null}
    "#);
    assert_snapshot!(money.lines(), @r#"
    GET /v1/customers?created%5Bgte%5D=1&expand%5B0%5D=data.source
    POST /v1/customers email=a%40b.example
    "#);
    assert!(
        money.requests().iter().all(|request| request.header("authorization") == "Basic key-of-the-test")
    );
    assert!(pets.requests().iter().all(|request| request.header("authorization").is_empty()));
}

#[test]
fn failures_of_an_api_are_errors_that_say_what_to_do() {
    let api = petstore();
    let config = format!("mcpServers:\n{}", petstore_entry(&api, ""));
    let code = r#"
        let busy = petstore::get_pets_id(1).await.is_ok();
        let moved = petstore::get_pets_id(2).await.is_ok();
        let elsewhere = petstore::get_pets_id(3).await.unwrap_err().message;
        let guarded = petstore::get_pets_id(4).await.unwrap_err().message;
        let lost = petstore::get_pets_id(5).await.unwrap_err().message;
        let note = petstore::add_note().body("once").await.unwrap_err().message;
        let gone = petstore::delete_pets_id(1).await?.text();
        let photo = petstore::get_photo(1).await?.image().is_some();
        let broken = petstore::list_pets().limit(1000).await.unwrap_err().message;
        format!("{busy} {moved} {photo}\n{elsewhere}\n{guarded}\n{lost}\n{note}\n{gone}\n{broken}")
    "#;
    let result = json(code).config(&config).result();
    assert_snapshot!(normal(&result).replace(&api.address, "http://API"), @r#"
    true true true
    the API at http://127.0.0.1:[port]/v1/pets/3 redirects to http://127.0.0.1:[port]/stolen, to which nothing was sent; redirects are followed only within the origin
    the API answered 401 Unauthorized: Unauthorized: no key
    {"title":"Unauthorized","detail":"no key"}
    the document names these credentials: key, configured as `headers: { X-API-Key: "${KEY}" }`
    the API answered 404 Not Found: <h1>lost</h1>
    the API answered 503 Service Unavailable: {}
    204 No Content
    at .limit: 1000 is more than the maximum 100
    "#);
    assert_snapshot!(api.lines(), @r#"
    GET /v1/pets/1
    GET /v1/pets/1
    GET /v1/pets/1
    GET /v1/pets/2
    GET /v1/pets/1
    GET /v1/pets/3
    GET /v1/pets/4
    GET /v1/pets/5
    POST /v1/notes once
    DELETE /v1/pets/1
    GET /v1/pets/1/photo
    "#);
}

#[test]
fn documents_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let swagger = folder.path().join("swagger.json");
    fs::write(&swagger, r#"{"swagger":"2.0","paths":{}}"#).unwrap();
    let entries = [
        "openapi: missing.yaml".to_owned(),
        format!("openapi: {}", swagger.display()),
        format!("openapi: {DOCUMENTS}/forge.json"),
        format!("openapi: {DOCUMENTS}/payments.json, headers: {{ A: b }}"),
        "openapi: \"http://127.0.0.1:1/openapi.json\"".to_owned(),
    ];
    let mut shown = Vec::new();
    for entry in entries {
        let config = format!("mcpServers:\n  api: {{ {entry} }}\n");
        let done = Run::new(shared()).arguments(&["mcp", "tools", "api"]).config(&config).done();
        shown.push(format!("{}: {}", done.code(), done.stderr));
    }
    assert_snapshot!(normal(&shown.join("")), @r#"
    7: MCP server `api`: cannot connect: there is no OpenAPI document /tmp/.tmpXXXXXX/missing.yaml; check `openapi`
    toolsmith: no server answered
    7: MCP server `api`: cannot connect: the document is of Swagger 2.0; convert it to OpenAPI 3, for example with `npx swagger2openapi FILE`
    toolsmith: no server answered
    7: MCP server `api`: cannot connect: the OpenAPI document does not say where its API is (`/api`: relative URL without a base); write `url: https://…` beside `openapi`
    toolsmith: no server answered
    7: MCP server `api`: cannot connect: the OpenAPI document sends requests to https://payments.example, which the configuration does not name; if that is right, write `url: https://payments.example` beside `openapi`
    toolsmith: no server answered
    7: MCP server `api`: cannot connect: can't fetch the OpenAPI document from http://127.0.0.1:[port]/openapi.json: client error (Connect): tcp connect error: Connection refused (os error 111)
    toolsmith: no server answered
    "#);
}

#[test]
fn a_server_of_a_document_is_added_listed_and_checked() {
    let api = petstore();
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let run = Run::new(shared()).arguments(arguments).working_folder(home.path());
        let done = run.variable("XDG_CONFIG_HOME", home.path().to_str().unwrap()).done();
        format!("{}{}", done.stderr, done.stdout)
    };
    let document = format!("{DOCUMENTS}/petstore.yaml");
    let url = format!("{}/v1", api.address);
    let added = run(&["mcp", "add", "pets", "--scope", "user", "--openapi", &document, "--url", &url]);
    let listed = run(&["mcp", "list-servers"]);
    let status = run(&["mcp", "status"]);
    let text = [added, listed, status].join("\n");
    let text = text.replace(DOCUMENTS, "DOCUMENTS").replace(&api.address, "http://API");
    assert_snapshot!(normal(&text), @r#"
    toolsmith: added pets to /tmp/.tmpXXXXXX/toolsmith/config.yaml
    toolsmith: pets answers, with 8 tools

     ID    TRANSPORT  SOURCE                                      ENABLED  TIMEOUT  REQUEST TIMEOUT  ADDRESS
     pets  openapi    user /tmp/.tmpXXXXXX/toolsmith/config.yaml  yes      60       30               DOCUMENTS/petstore.yaml

     ID    TRANSPORT  SOURCE                                      ENABLED  STATE  SANDBOX  TOOLS
     pets  openapi    user /tmp/.tmpXXXXXX/toolsmith/config.yaml  yes      ready  -        8
    "#);
    let file = fs::read_to_string(home.path().join("toolsmith/config.yaml")).unwrap();
    assert_snapshot!(file.replace(DOCUMENTS, "DOCUMENTS").replace(&api.address, "http://API"), @r#"
    mcpServers:
      pets:
        openapi: DOCUMENTS/petstore.yaml
        url: http://API/v1
        permission: ask
    "#);
}

#[test]
fn a_changed_document_is_noticed() {
    let api = petstore();
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("petstore.yaml");
    let text = fs::read_to_string(format!("{DOCUMENTS}/petstore.yaml")).unwrap();
    fs::write(&document, &text).unwrap();
    let config = format!(
        "mcpServers:\n  petstore: {{ openapi: {}, url: {}/v1, trust: true }}\n",
        document.display(),
        api.address
    );
    plain("petstore::list_pets().await?.len()").config(&config).done().exits(0);
    fs::write(
        &document,
        text.replace(
            "operationId: listPets\n      summary: List pets",
            "operationId: allPets\n      summary: All",
        ),
    )
    .unwrap();
    let result = json("petstore::all_pets().await?.len()").config(&config).result();
    assert_eq!(result, 1);
}
