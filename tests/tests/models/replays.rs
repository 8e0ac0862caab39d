//! Conversations sent back to a provider: thoughts, calls, results and media in each API's format. The server rejects
//! what the real one would.

use agent::{Api, Block, Message, Role, Stop, Thinking, ToolResult};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::{APIS, Log, ask, server, user};

/// A pixel, in base64.
const PIXEL: &str = "iVBORw0KGgo=";

fn script() -> Value {
    json!({ "rules": [
        { "when": { "turn": 0 }, "answers": [{
            "thinking": "I must look twice.",
            "text": "I look.",
            "calls": [
                { "name": "web_search", "arguments": { "query": "one" } },
                { "name": "web_search", "arguments": { "query": "two" } },
            ],
        }] },
        { "when": { "turn": 1, "result": "found 2" }, "answers": [{
            "thinking": "Once more.", "calls": [{ "name": "web_search", "arguments": { "query": "three" } }],
        }] },
        { "when": { "turn": 2, "result_of": "web_search" }, "answers": [{ "text": "Done: {{result}}" }] },
    ] })
}

fn results(reply: &Message, texts: &[(&str, bool)], media: Option<Block>) -> Message {
    let calls = reply.calls();
    assert_eq!(calls.len(), texts.len());
    let mut results: Vec<ToolResult> =
        calls.iter().zip(texts).map(|(call, (text, fails))| ToolResult::of(call, *text, *fails)).collect();
    results[0].blocks.extend(media);
    Message { role: Role::Tool, blocks: results.into_iter().map(Block::ToolResult).collect() }
}

fn image() -> Option<Block> {
    Some(Block::Media { media_type: "image/png".to_owned(), data: PIXEL.to_owned(), name: None })
}

#[tokio::test]
async fn a_conversation_with_thoughts_calls_errors_and_an_image_continues_with_every_api() {
    let server = server(&script());
    for (api, id) in APIS {
        let mut settings = server.settings(api, id);
        settings.thinking = Some(Thinking::Low);
        let mut conversation = vec![user("Look for it.")];
        for texts in [&[("found 1", false), ("found 2", false)][..], &[("it broke", true)]] {
            let reply = ask(settings.clone(), &conversation, &Log::default()).await.unwrap();
            assert_eq!(reply.stop, Stop::ToolCalls, "{api:?}");
            let media = if texts.len() == 2 { image() } else { None };
            let answered = results(&reply.message, texts, media);
            conversation.extend([reply.message, answered]);
        }
        let last = ask(settings, &conversation, &Log::default()).await.unwrap();
        let expected = if api == Api::Anthropic { "Done: it broke" } else { "Done: Error: it broke" };
        assert_eq!(last.message.texts(), expected, "{api:?}");
        let mut ids: Vec<_> = conversation.iter().flat_map(Message::calls).map(|call| &call.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 3, "{api:?}: ids are not unique in the conversation");
    }
    let requests = server.requests();
    let body = |at: usize| &requests[at * 3 + 2]["body"];
    let anthropic = &body(0)["messages"];
    let kinds: Vec<_> = anthropic[1]["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(anthropic[1]["content"][0]["thinking"], "I must look twice.");
    let first = &anthropic[2]["content"][0];
    assert_eq!(first["content"][0]["text"], "found 1");
    assert_eq!(first["content"][1]["source"]["data"], PIXEL);
    assert_eq!(anthropic[4]["content"][0]["is_error"], true);

    let chat = &body(1)["messages"];
    assert_eq!(chat[2]["reasoning_content"], "I must look twice.");
    let roles: Vec<_> = chat.as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user", "assistant", "tool"]);
    assert_snapshot!(normal(&chat[5]["content"][0]["text"]), @r"
    Media returned by the call call_4_0 of the tool web_search:
    ");
    assert_eq!(chat[5]["content"][1]["image_url"]["url"], format!("data:image/png;base64,{PIXEL}"));

    let input = &body(2)["input"];
    assert_eq!(input[1]["type"], "reasoning");
    assert_eq!((&input[2]["type"], &input[3]["type"]), (&json!("message"), &json!("function_call")));
    assert_eq!(body(2)["include"], json!(["reasoning.encrypted_content"]));

    let gemini = &body(3)["contents"];
    let parts = gemini[1]["parts"].as_array().unwrap();
    let calls: Vec<_> = parts.iter().filter(|part| part.get("functionCall").is_some()).collect();
    assert!(calls[0]["thoughtSignature"].is_string() && calls[1].get("thoughtSignature").is_none());
    assert_eq!(gemini[3]["parts"][1]["inline_data"]["data"], PIXEL);
}

#[tokio::test]
async fn redacted_thoughts_are_sent_back_unchanged() {
    let server = server(&json!({ "rules": [
        { "when": { "turn": 0 }, "answers": [{ "thinking": "", "calls": [{ "name": "web_search" }] }] },
        { "answers": [{ "text": "{{result}}" }] },
    ] }));
    let settings = server.settings(Api::Anthropic, "claude-sonnet-4-5");
    let mut conversation = vec![user("go")];
    let reply = ask(settings.clone(), &conversation, &Log::default()).await.unwrap();
    let answered = results(&reply.message, &[("found", false)], None);
    conversation.extend([reply.message, answered]);
    let last = ask(settings, &conversation, &Log::default()).await.unwrap();
    assert_eq!(last.message.texts(), "found");
    assert_eq!(server.requests()[1]["body"]["messages"][1]["content"][0]["type"], "redacted_thinking");
}

#[tokio::test]
async fn a_conversation_continues_with_a_model_of_another_api() {
    let server = server(&script());
    for (from, id) in APIS {
        let mut settings = server.settings(from, id);
        settings.thinking = Some(Thinking::Low);
        let first = user("Look for it.");
        let reply = ask(settings, std::slice::from_ref(&first), &Log::default()).await.unwrap();
        let answered = results(&reply.message, &[("found 1", false), ("found 2", false)], None);
        let conversation = [first, reply.message, answered];
        for (to, id) in APIS.into_iter().filter(|(to, _)| *to != from) {
            let reply = ask(server.settings(to, id), &conversation, &Log::default()).await.unwrap();
            assert_eq!(reply.message.calls()[0].arguments, json!({ "query": "three" }), "{from:?} {to:?}");
            let sent = server.requests().pop().unwrap()["body"].to_string();
            assert!(!sent.contains("I must look twice."), "{from:?} {to:?}: {sent}");
        }
    }
}

#[tokio::test]
async fn unsupported_content_is_described_as_text_and_nothing_is_empty() {
    let server = server(&json!({ "rules": [{ "answers": [{ "text": "yes" }] }] }));
    let conversation = [
        user("one"),
        Message { role: Role::Assistant, blocks: vec![Block::text("")] },
        Message { role: Role::User, blocks: Vec::new() },
        Message {
            role: Role::User,
            blocks: vec![
                Block::text(" "),
                Block::Media {
                    media_type: "application/zip".to_owned(),
                    data: "UEsFBg==".to_owned(),
                    name: Some("a.zip".to_owned()),
                },
            ],
        },
    ];
    for (api, id) in APIS {
        ask(server.settings(api, id), &conversation, &Log::default()).await.unwrap();
        let sent = server.requests().pop().unwrap()["body"].to_string();
        assert!(
            sent.contains("application/zip") && sent.contains("a.zip") && !sent.contains("UEsFBg"),
            "{sent}"
        );
    }
}
