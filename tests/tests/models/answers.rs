//! Complete answers of models.

use agent::{Api, Block, Generation, Provider, Stop, Thinking, Usage};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::{APIS, Log, always, ask, server, user};

#[tokio::test]
async fn text_is_streamed_and_complete_with_its_usage() {
    let script = always(&json!([
        { "text": "You said: {{user}} – ä€😀", "usage": { "input": 11, "output": 7, "cached": 3 } },
    ]));
    let server = server(&script);
    for (api, id) in APIS {
        let log = Log::default();
        let reply = ask(server.settings(api, id), &[user("good day")], &log).await.unwrap();
        assert_eq!(reply.message.texts(), "You said: good day – ä€😀", "{api:?}");
        assert_eq!(log.text(), reply.message.texts(), "{api:?}");
        assert_eq!(reply.stop, Stop::End, "{api:?}");
        assert_eq!(reply.usage, Usage { input: 14, output: 7, cached: 3 }, "{api:?}");
        assert_eq!(log.retries(), []);
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    for request in &requests {
        assert!(request["body"].to_string().contains("Be short."), "{request}");
        assert!(request["headers"]["user-agent"].as_str().unwrap().starts_with("toolsmith/"));
    }
    assert_eq!(requests[0]["path"], "/v1/messages");
    assert_eq!(requests[1]["path"], "/v1/chat/completions");
    assert_eq!(requests[2]["path"], "/v1/responses");
    assert_eq!(requests[3]["path"], "/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
}

#[tokio::test]
async fn several_calls_in_one_message_have_unique_ids() {
    let script = always(&json!([{
        "text": "I look.",
        "calls": [
            { "name": "web_search", "arguments": { "query": "{{after:about }}" } },
            { "name": "web_search", "arguments": { "query": "two\n\"ä\"" } },
            { "name": "web_search" },
        ],
    }]));
    let server = server(&script);
    for (api, id) in APIS {
        let reply = ask(server.settings(api, id), &[user("tell me about crabs\nplease")], &Log::default())
            .await
            .unwrap();
        let calls = reply.message.calls();
        let arguments: Vec<_> = calls.iter().map(|call| &call.arguments).collect();
        let expected = [json!({ "query": "crabs" }), json!({ "query": "two\n\"ä\"" }), json!({})];
        assert_eq!(arguments, expected.iter().collect::<Vec<_>>(), "{api:?}");
        assert!(calls.iter().all(|call| call.name == "web_search"));
        assert!(calls[0].id != calls[1].id && calls[1].id != calls[2].id, "{api:?}");
        assert_eq!(reply.stop, Stop::ToolCalls, "{api:?}");
        assert_eq!(reply.message.texts(), "I look.");
    }
}

#[tokio::test]
async fn arguments_that_are_not_json_are_passed_on_unchanged() {
    let script =
        always(&json!([{ "calls": [{ "name": "web_search", "arguments": "{\"query\": \"never" }] }]));
    let server = server(&script);
    for (api, id) in &APIS[..3] {
        let reply = ask(server.settings(*api, id), &[user("go")], &Log::default()).await.unwrap();
        assert_eq!(reply.message.calls()[0].arguments, json!("{\"query\": \"never"), "{api:?}");
    }
}

#[tokio::test]
async fn cut_off_and_refused_answers_are_recognised() {
    let script = always(&json!([{ "text": "half", "stop": "length" }, { "text": "no", "stop": "refusal" }]));
    for (api, id) in APIS {
        let server = server(&script);
        let reply = ask(server.settings(api, id), &[user("go")], &Log::default()).await.unwrap();
        assert_eq!((reply.stop, reply.message.texts()), (Stop::Length, "half".to_owned()), "{api:?}");
        let reply = ask(server.settings(api, id), &[user("go")], &Log::default()).await.unwrap();
        assert!(matches!(reply.stop, Stop::Refused(_)), "{api:?}: {:?}", reply.stop);
    }
}

#[tokio::test]
async fn thoughts_are_separate_from_text() {
    let server = server(&always(&json!([{ "thinking": "hm, hm", "text": "yes" }])));
    for (api, id) in APIS {
        let mut settings = server.settings(api, id);
        settings.thinking = Some(Thinking::Medium);
        let log = Log::default();
        let reply = ask(settings, &[user("go")], &log).await.unwrap();
        assert_eq!((log.thinking().as_str(), log.text().as_str()), ("hm, hm", "yes"), "{api:?}");
        let first = &reply.message.blocks[0];
        assert!(matches!(first, Block::Thinking { text, .. } if text == "hm, hm"), "{api:?}: {first:?}");
        assert_eq!(reply.message.texts(), "yes");
    }
    let requests = server.requests();
    let body = |at: usize| &requests[at]["body"];
    assert_eq!(body(0)["thinking"]["budget_tokens"], 8000);
    assert_eq!(body(1)["reasoning_effort"], "medium");
    assert_eq!(body(2)["reasoning"], json!({ "effort": "medium", "summary": "auto" }));
    assert_eq!(body(3)["generationConfig"]["thinkingConfig"]["includeThoughts"], true);
}

#[tokio::test]
async fn the_body_has_the_tools_and_settings() {
    let server = server(&always(&json!([{ "text": "yes" }])));
    for (api, _) in APIS {
        // Ends like a thinking level, but is part of the model's name.
        let mut settings = server.settings(api, "some-model-max");
        settings.max_output = Some(777);
        settings.generation = Generation {
            temperature: Some(0.5),
            top_p: Some(0.25),
            stop_sequences: vec!["END".to_owned()],
            extra: [("mine".to_owned(), json!([1]))].into_iter().collect(),
            ..Generation::default()
        };
        ask(settings, &[user("go")], &Log::default()).await.unwrap();
    }
    let requests = server.requests();
    let body = |at: usize| &requests[at]["body"];
    let mut shown = Vec::new();
    for request in &requests {
        assert_eq!(request["body"]["mine"], json!([1]));
        let text = request["body"].to_string();
        shown.push(normal(&text));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    {"model":"some-model-max","stream":true,"system":"Be short.","messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]}],"temperature":0.5,"stop_sequences":["END"],"max_tokens":777,"top_p":0.25,"tools":[{"name":"web_search","description":"Searches.","input_schema":{"type":"object","properties":{"query":{"type":"string"}}}}],"mine":[1]}
    {"model":"some-model-max","stream":true,"messages":[{"role":"system","content":"Be short."},{"role":"user","content":"go"}],"stream_options":{"include_usage":true},"temperature":0.5,"stop":["END"],"max_tokens":777,"top_p":0.25,"tools":[{"type":"function","function":{"name":"web_search","description":"Searches.","parameters":{"type":"object","properties":{"query":{"type":"string"}}}}}],"mine":[1]}
    {"store":false,"model":"some-model-max","stream":true,"instructions":"Be short.","reasoning":null,"include":null,"input":[{"role":"user","content":"go"}],"temperature":0.5,"stop":["END"],"max_output_tokens":777,"top_p":0.25,"tools":[{"type":"function","name":"web_search","description":"Searches.","parameters":{"type":"object","properties":{"query":{"type":"string"}}},"strict":false}],"mine":[1]}
    {"systemInstruction":{"parts":[{"text":"Be short."}]},"contents":[{"role":"user","parts":[{"text":"go"}]}],"generationConfig":{"temperature":0.5,"stopSequences":["END"],"maxOutputTokens":777,"topP":0.25},"tools":[{"functionDeclarations":[{"name":"web_search","description":"Searches.","parametersJsonSchema":{"type":"object","properties":{"query":{"type":"string"}}}}]}],"mine":[1]}
    "#);
    for at in 0..3 {
        assert_eq!(body(at)["model"], "some-model-max");
    }
    assert_snapshot!(normal(&requests[3]["path"]), @"/v1/models/some-model-max:streamGenerateContent?alt=sse");
    // A tool with this name is the user's, not the provider's.
    let schema = json!({ "type": "object", "properties": { "query": { "type": "string" } } });
    assert_eq!(
        body(0)["tools"],
        json!([{ "name": "web_search", "description": "Searches.", "input_schema": schema }])
    );
    assert_eq!(body(1)["tools"][0]["function"]["parameters"], schema);
    assert_eq!(body(2)["tools"][0]["type"], "function");
    assert_eq!(body(2)["tools"][0]["strict"], false);
    let declared = &body(3)["tools"][0]["functionDeclarations"][0];
    assert_eq!((&declared["name"], &declared["parametersJsonSchema"]), (&json!("web_search"), &schema));
}

#[tokio::test]
async fn without_streaming_the_server_sends_the_same() {
    let server = server(&always(&json!([{ "text": "yes", "calls": [{ "name": "a" }] }])));
    let bodies = [
        ("v1/messages", json!({ "max_tokens": 9, "messages": [{ "role": "user", "content": "go" }] })),
        ("v1/chat/completions", json!({ "messages": [{ "role": "user", "content": "go" }] })),
        ("v1/responses", json!({ "input": [{ "role": "user", "content": "go" }] })),
        (
            "v1beta/models/m:generateContent",
            json!({ "contents": [{ "role": "user", "parts": [{ "text": "go" }] }] }),
        ),
    ];
    // Installs the process's crypto provider, which every client needs.
    drop(Provider::new(server.settings(Api::OpenAi, "m")).unwrap());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (path, body) in bodies {
        let address = server.base_url().replace("/v1", &format!("/{path}"));
        let request = client.post(address).header("anthropic-version", "1").header("x-api-key", "secret-key");
        let request = request.header("x-goog-api-key", "secret-key").bearer_auth("secret-key");
        let answer: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
        let text = answer.to_string();
        assert!(text.contains("\"yes\"") && text.contains("\"name\":\"a\""), "{path}: {text}");
    }
}
