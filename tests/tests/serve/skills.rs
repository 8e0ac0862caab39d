//! Skills that servers offer (SEP-2640), in `search_tools` and `describe_tools`.

use end_to_end::harness::FAULT_SERVER;
use end_to_end::page::normal;
use end_to_end::serving::{Serve, Server};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn looked_up(server: &mut Server, id: u32, tool: &str, arguments: &Value) -> String {
    let answer = server.ask(id, "tools/call", &json!({ "name": tool, "arguments": arguments }));
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    let texts: Vec<&str> = content.iter().map(|block| block["text"].as_str().unwrap()).collect();
    normal(&texts.join("\n---- block ----\n"))
}

#[test]
fn skills_of_servers_are_found_and_read() {
    let entry = |name: &str, trust: bool| {
        format!("  {name}: {{ command: {FAULT_SERVER:?}, args: [skills], trust: {trust} }}\n")
    };
    let servers = [entry("shop", true), entry("other", false)].concat();
    let config = format!("mcpServers:\n{servers}serve: {{ listWait: 50 }}\n");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    // The tools of both servers would fit into the description of `execute_code`.
    let tools = server.ask(1, "tools/list", &json!({}));
    let described: Vec<String> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| format!("{}: {}", tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap()))
        .filter(|described| !described.starts_with("execute_code"))
        .collect();
    assert_snapshot!(normal(&described.join("\n")), @r#"
    search_tools: Finds tools for execute_code by words; returns signatures. Also finds servers' skills, which are instructions for tasks; describe_tools reads them.
    describe_tools: Returns types and documentation of tools.
    "#);
    let search = |server: &mut Server, id, query: &str| {
        looked_up(server, id, "search_tools", &json!({ "query": query }))
    };
    assert_snapshot!(search(&mut server, 2, "Refunds for customers"), @r#"
    No tool matches any of these words. Try others, or an empty query with a `server`: other, shop
    ---- block ----
    Skills of servers: instructions that the server wrote. describe_tools returns one by its address:
    refunds (other): Process refunds of customers by the policy of the company.
      toolsmith://servers/other/resource?uri=skill%3A%2F%2Fshop%2Frefunds%2FSKILL.md
    refunds (shop): Process refunds of customers by the policy of the company.
      toolsmith://servers/shop/resource?uri=skill%3A%2F%2Fshop%2Frefunds%2FSKILL.md
    // 1 skill of other left out: it has no `uri`, or its `frontmatter` has no `name` or no `description`
    // 1 skill of shop left out: it has no `uri`, or its `frontmatter` has no `name` or no `description`
    "#);
    // No skill fits.
    assert_snapshot!(search(&mut server, 3, "echo"), @r#"
    mod other {
    /// A tool of the fault server.
    echo(message?: String)
    }
    mod shop {
    /// A tool of the fault server.
    echo(message?: String)
    }
    // `name?: T` is a setter: `.name(value)`. No `->`: ToolResult. describe_tools returns a tool's full documentation.
    "#);
    let of_shop = json!({ "query": "", "server": "shop" });
    assert_snapshot!(looked_up(&mut server, 4, "search_tools", &of_shop), @r#"
    mod shop {
    /// A tool of the fault server.
    echo(message?: String)
    }
    // `name?: T` is a setter: `.name(value)`. No `->`: ToolResult. describe_tools returns a tool's full documentation.
    ---- block ----
    Skills of servers: instructions that the server wrote. describe_tools returns one by its address:
    refunds (shop): Process refunds of customers by the policy of the company.
      toolsmith://servers/shop/resource?uri=skill%3A%2F%2Fshop%2Frefunds%2FSKILL.md
    moved (shop): A skill that has changed since it was listed.
      toolsmith://servers/shop/resource?uri=skill%3A%2F%2Fmoved%2FSKILL.md
    // 1 skill of shop left out: it has no `uri`, or its `frontmatter` has no `name` or no `description`
    "#);
    let address = |server: &str, uri: &str| {
        let uri: String = uri.replace(':', "%3A").replace('/', "%2F");
        format!("toolsmith://servers/{server}/resource?uri={uri}")
    };
    let read = |server: &mut Server, id, addresses: &[String]| {
        looked_up(server, id, "describe_tools", &json!({ "tools": addresses }))
    };
    let refunds = address("shop", "skill://shop/refunds/SKILL.md");
    let email = address("shop", "skill://shop/refunds/examples/email.md");
    assert_snapshot!(read(&mut server, 5, &[refunds, "shop::echo".to_owned(), email]), @r#"
    /// A tool of the fault server.
    shop::echo().message(…).await?
    shop::EchoInput { message }.call().await?
    // Setters (`.name(…)`) are optional; with named fields an optional one is `Some(…)` or `None`.
    // Returns a ToolResult: `.text()`, `.json::<T>()?`, `.content`, `.structured` (Option<Value>).

    struct EchoInput {
        message: Option<String>, // optional
    }
    ---- block ----
    // A file of the skill refunds of the server shop, which wrote the text below. It is not from the user.
    ---
    name: refunds
    description: Process refunds of customers by the policy of the company.
    allowed-tools: Bash(*)
    ---

    # Refunds

    Use `echo`, then the template in examples/email.md.

    // Other files of the skill, for describe_tools:
    // toolsmith://servers/shop/resource?uri=skill%3A%2F%2Fshop%2Frefunds%2Fexamples%2Femail.md
    ---- block ----
    // A file of the skill refunds of the server shop, which wrote the text below. It is not from the user.
    Dear customer, here is your refund.
    "#);
    let unlisted = address("shop", "skill://hidden/SKILL.md");
    assert_snapshot!(read(&mut server, 6, &[unlisted]), @r#"
    // A file of the skill hidden of the server shop, which wrote the text below. It is not from the user.
    // The server publishes no digests of its files, so that none could be verified.
    ---
    name: hidden
    description: A skill that no list has.
    ---

    It has no digests.
    "#);
    // A digest that differs, a file that no skill has, a server without permission, and none.
    let refused = [
        address("shop", "skill://moved/SKILL.md"),
        address("shop", "skill://shop/refunds/other.md"),
        address("other", "skill://shop/refunds/SKILL.md"),
        address("none", "skill://shop/refunds/SKILL.md"),
        "skill://shop/refunds/SKILL.md".to_owned(),
    ];
    assert_snapshot!(read(&mut server, 7, &refused), @r#"
    // toolsmith://servers/shop/resource?uri=skill%3A%2F%2Fmoved%2FSKILL.md: it is not used: its content has another digest than the skill's entry states
    ---- block ----
    // toolsmith://servers/shop/resource?uri=skill%3A%2F%2Fshop%2Frefunds%2Fother.md: it is not used: the skill does not list it
    ---- block ----
    // toolsmith://servers/other/resource?uri=skill%3A%2F%2Fshop%2Frefunds%2FSKILL.md: denied: other.mcp_resource_read: permission is required, but the user can't be asked through this client
    help: to allow it without a question, add to the configuration:
    mcpServers:
      other: { permissions: { "mcp_resource_read": allow } }
    help: or start the server with --allow 'other.mcp_resource_read'
    help: or start it with --ui --allow-actions, and answer its questions on a page in your browser
    ---- block ----
    // toolsmith://servers/none/resource?uri=skill%3A%2F%2Fshop%2Frefunds%2FSKILL.md: no server has this skill; search_tools finds skills
    ---- block ----
    // skill://shop/refunds/SKILL.md: no server has this skill; search_tools finds skills
    "#);
}
