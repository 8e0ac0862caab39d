//! Tests of the cache: its entries, their owners and their lifetimes.

use std::sync::Arc;

use config::{CacheSettings, Config, Glob};
use serde_json::json;
use serde_json::value::to_raw_value;
use terminal::Terminal;
use tokio::sync::watch;

use super::*;
use crate::tool_list::ToolList;

const TTL: Duration = Duration::from_secs(300);

/// A configuration that lists `web.get_*`, with this value in the server's environment.
fn config(secret: &str) -> Config {
    let mut command = mcp::Command { command: "web-mcp".to_owned(), ..mcp::Command::default() };
    command.env.insert("TOKEN".to_owned(), secret.to_owned());
    let server = mcp::ServerConfig::new("web", mcp::Transport::Stdio(command));
    let cache = CacheSettings { tools: vec![Glob::new("web.get_*")], ..CacheSettings::default() };
    Config { servers: vec![Server::new(server, String::new())], cache, ..Config::default() }
}

fn tools(read_only: &Value, description: &str) -> ToolList {
    let tool = |name: &str| json!({ "name": name, "description": description, "annotations": { "readOnlyHint": read_only } });
    ToolList::new(&[tool("get_page"), tool("post_page")])
}

/// The key of a call.
fn key(
    cache: &ResultCache,
    config: &Config,
    client: &str,
    offered: &ToolList,
    (tool, arguments): (&str, &Value),
) -> Option<Key> {
    let arguments = to_raw_value(arguments).unwrap();
    let call = CheckedCall {
        config,
        client,
        server: "web",
        tool,
        offered: Some(offered),
        arguments: &arguments,
        questions: watch::channel(0).1,
    };
    cache.key(&call, &Terminal::new(true, false).notifier())
}

fn answer(text: &str, is_error: bool) -> Answer {
    let result = to_raw_value(&json!({ "content": [{ "type": "text", "text": text }] })).unwrap();
    Answer { result, is_error, cached: None }
}

#[test]
fn only_listed_tools_that_are_marked_as_read_only_have_a_key() {
    let (cache, config) = (ResultCache::default(), config("a"));
    let key = |offered: &ToolList, tool: &str| key(&cache, &config, "", offered, (tool, &json!({})));
    assert!(key(&tools(&json!(true), ""), "get_page").is_some());
    assert!(key(&tools(&json!(true), ""), "post_page").is_none());
    assert!(key(&tools(&json!(true), ""), "get_other").is_none(), "the server does not list it");
    for other in [json!(false), json!(null), json!("true")] {
        assert!(key(&tools(&other, ""), "get_page").is_none(), "{other}");
    }
}

#[test]
fn a_key_depends_on_client_server_credentials_tool_and_arguments() {
    let cache = ResultCache::default();
    let offered = tools(&json!(true), "");
    let arguments = json!({ "url": "x" });
    let keys = [
        key(&cache, &config("a"), "one", &offered, ("get_page", &arguments)),
        key(&cache, &config("a"), "two", &offered, ("get_page", &arguments)),
        key(&cache, &config("b"), "one", &offered, ("get_page", &arguments)),
        key(&cache, &config("a"), "one", &tools(&json!(true), "changed"), ("get_page", &arguments)),
        key(&cache, &config("a"), "one", &offered, ("get_page", &json!({ "url": "y" }))),
    ];
    let different: std::collections::HashSet<Key> = keys.iter().map(|key| key.unwrap()).collect();
    assert_eq!(different.len(), keys.len());
    assert_eq!(keys[0], key(&cache, &config("a"), "one", &offered, ("get_page", &arguments)));
}

#[tokio::test(start_paused = true)]
async fn a_result_is_used_until_it_is_too_old() {
    let cache = ResultCache::default();
    cache.put(Key([0; 32]), &answer("first", false));
    tokio::time::advance(TTL).await;
    let cached = cache.get(&Key([0; 32]), TTL).unwrap();
    assert!(cached.result.get().contains("first") && cached.cached == Some(TTL));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(cache.get(&Key([0; 32]), TTL).is_none());
    assert_eq!(cache.state().bytes, 0);
}

#[test]
fn failures_unfinished_and_huge_results_are_not_cached() {
    let cache = ResultCache::default();
    cache.put(Key([0; 32]), &answer("failed", true));
    cache.put(Key([1; 32]), &answer(&"x".repeat(RESULT_LIMIT), false));
    let asks = to_raw_value(&json!({ "resultType": "input_required", "inputRequests": {} })).unwrap();
    cache.put(Key([2; 32]), &Answer { result: asks, is_error: false, cached: None });
    assert!(cache.state().results.is_empty());
}

#[test]
fn the_oldest_results_are_dropped_at_the_limits() {
    let cache = Arc::new(ResultCache::default());
    let numbered = |number: usize| {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&(number as u64).to_le_bytes());
        Key(key)
    };
    for number in 0..=RESULTS_KEPT {
        cache.put(numbered(number), &answer("x", false));
    }
    assert!(cache.get(&numbered(0), TTL).is_none() && cache.get(&numbered(1), TTL).is_some());
    let large = answer(&"x".repeat(RESULT_LIMIT / 2), false);
    for number in 0..40 {
        cache.put(numbered(number), &large);
    }
    let state = cache.state();
    assert!(state.bytes <= BYTES_KEPT && state.results.len() == state.ages.len(), "{}", state.bytes);
}
