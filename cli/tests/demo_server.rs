//! The demo server as a server: what it lists is what the checked-in bindings were made from.

use serde_json::Value;

#[tokio::test]
async fn the_checked_in_fixture_is_what_it_lists() {
    let fixture = include_str!("../../codegen/tests/fixtures/schemas/demo.json");
    let fixture: Vec<Value> = serde_json::from_str(fixture).unwrap();
    let config = mcp::ServerConfig::stdio("demo", env!("CARGO_BIN_EXE_toolsmith"), ["demo-server"]);
    let session = mcp::Session::connect(&config).await.unwrap();
    let listing = session.list_tools().await.unwrap();
    session.close().await;
    assert_eq!(listing.warnings, Vec::<String>::new());
    let listed: Vec<Value> = listing.tools.into_iter().map(|tool| tool.raw).collect();
    assert_eq!(
        listed,
        fixture,
        "write this to codegen/tests/fixtures/schemas/demo.json, then run \
         `UPDATE_GOLDEN=1 cargo test -p codegen --test golden`:\n{}",
        serde_json::to_string_pretty(&listed).unwrap()
    );
}
