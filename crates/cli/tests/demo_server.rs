//! The demo server lists the tools that the checked-in bindings were generated from.

use serde_json::Value;

#[tokio::test]
async fn the_server_lists_the_tools_of_the_fixture() {
    let fixture = include_str!("../../../codegen/tests/fixtures/schemas/demo.json");
    let fixture: Vec<Value> = serde_json::from_str(fixture).unwrap();
    let config = mcp::ServerConfig::stdio("demo", env!("CARGO_BIN_EXE_toolsmith"), ["demo-server"]);
    let session = mcp::Session::connect(&config).await.unwrap();
    let listing = session.list_tools().await.unwrap();
    session.close().await;
    assert_eq!(listing.warnings, Vec::<String>::new());
    let listed: Vec<Value> = listing.tools.iter().map(mcp::Tool::definition).collect();
    assert_eq!(
        listed,
        fixture,
        "write this to codegen/tests/fixtures/schemas/demo.json, then run `cargo insta test -p codegen --review`:\n{}",
        serde_json::to_string_pretty(&listed).unwrap()
    );
}
