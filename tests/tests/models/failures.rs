//! Failures of models: retries, messages, and masking of keys.

use std::time::Duration;

use agent::{Api, ChatModel as _, ModelErrorKind, Provider, Request};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;
use tokio::time::sleep;

use crate::fixture::{APIS, LOOK, Log, always, ask, server, user, watched};

#[tokio::test]
async fn after_429_the_requested_delay_is_observed() {
    for (header, value) in [("retry-after", "0"), ("retry-after-ms", "30")] {
        let script = always(&json!([
            { "status": 429, "headers": { header: value }, "message": "slower" },
            { "text": "yes" },
        ]));
        for (api, id) in APIS {
            let server = server(&script);
            let log = Log::default();
            let reply = ask(server.settings(api, id), &[user("go")], &log).await.unwrap();
            assert_eq!(reply.message.texts(), "yes");
            let wait = Duration::from_millis(if header == "retry-after" { 0 } else { 30 });
            assert_eq!(log.retries(), [(1, wait, "the provider answers 429: slower".to_owned())]);
            assert_eq!(server.requests().len(), 2);
        }
    }
}

#[tokio::test]
async fn provider_failures_are_retried_as_configured() {
    for (status, kind) in
        [(500, ModelErrorKind::Provider), (529, ModelErrorKind::Provider), (429, ModelErrorKind::RateLimited)]
    {
        let headers = json!({ "retry-after-ms": "1" });
        let server = server(&always(&json!([{ "status": status, "headers": headers, "message": "no" }])));
        let log = Log::default();
        let error = ask(server.settings(Api::Anthropic, "m"), &[user("go")], &log).await.unwrap_err();
        assert_eq!(error.kind, kind);
        assert_eq!(error.to_string(), format!("model: the provider answers {status}: no (after 3 attempts)"));
        assert_eq!((log.retries().len(), server.requests().len()), (2, 3));
    }
}

#[tokio::test]
async fn a_rejected_request_is_not_retried() {
    for (api, id) in APIS {
        for status in [400, 403, 404, 413, 422] {
            let server = server(&always(&json!([{ "status": status, "message": "this will never do" }])));
            let log = Log::default();
            let error = ask(server.settings(api, id), &[user("go")], &log).await.unwrap_err();
            let kind = if status == 403 { ModelErrorKind::Unauthorized } else { ModelErrorKind::Refused };
            assert_eq!(error.kind, kind, "{api:?} {status}");
            assert!(error.message.contains(&format!("{status}: this will never do")), "{error}");
            assert!(!error.message.contains("Be short"), "{error}");
            assert_eq!((log.retries().len(), server.requests().len()), (0, 1));
        }
    }
}

#[tokio::test]
async fn a_broken_answer_is_retried() {
    for (fault, why) in [
        ("cut", "cut off"),
        ("no_end", "cut off before its end"),
        ("malformed", "not valid JSON"),
        ("error", "the provider aborted its answer: too much"),
    ] {
        let script = always(&json!([
            { "text": "a wrong beginning", "fault": fault, "message": "too much" },
            { "text": "right" },
        ]));
        for (api, id) in APIS {
            let server = server(&script);
            let log = Log::default();
            let reply = ask(server.settings(api, id), &[user("go")], &log).await.unwrap();
            assert_eq!((reply.message.texts(), log.text()), ("right".to_owned(), "right".to_owned()));
            let retries = log.retries();
            assert_eq!(retries.len(), 1, "{api:?} {fault}");
            assert!(retries[0].2.contains(why), "{api:?} {fault}: {}", retries[0].2);
        }
    }
}

#[tokio::test]
async fn an_answer_that_always_breaks_is_an_error_with_the_reason() {
    for (fault, kind) in [("malformed", ModelErrorKind::Malformed), ("cut", ModelErrorKind::Network)] {
        let server = server(&always(&json!([{ "text": "a wrong beginning", "fault": fault }])));
        for (api, id) in APIS {
            let mut settings = server.settings(api, id);
            settings.retries = 0;
            let error = ask(settings, &[user("go")], &Log::default()).await.unwrap_err();
            assert_eq!(error.kind, kind, "{api:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_provider_that_does_not_answer_in_time_is_disconnected() {
    let server = server(&always(&json!([{ "text": "late", "delay": 3_600_000 }])));
    let mut shown = Vec::new();
    for (number, (api, id)) in APIS.into_iter().enumerate() {
        let mut settings = server.settings(api, id);
        settings.timeout = Duration::from_millis(1500);
        let error = ask(settings, &[user("go")], &Log::default()).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
        shown.push(normal(&error.message));
        watched(async {
            while server.gone() <= number {
                sleep(LOOK).await;
            }
        })
        .await;
    }
    assert_snapshot!(shown.join("\n"), @r"
    the answer was not complete after [time]; raise the model's timeout
    the answer was not complete after [time]; raise the model's timeout
    the answer was not complete after [time]; raise the model's timeout
    the answer was not complete after [time]; raise the model's timeout
    ");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn dropping_a_reply_in_the_middle_closes_the_connection() {
    let server = server(&always(&json!([{ "text": "one two three", "pause": 400 }])));
    let provider = Provider::new(server.settings(Api::OpenAi, "m")).unwrap();
    let messages = [user("go")];
    let request = Request { system: "", messages: &messages, tools: &[] };
    let log = Log::default();
    watched(async {
        tokio::select! {
            reply = provider.reply(&request, &log) => panic!("the reply completed: {reply:?}"),
            () = async { while log.text().is_empty() { sleep(LOOK).await } } => {}
        }
        while server.gone() == 0 {
            sleep(LOOK).await;
        }
    })
    .await;
}

#[tokio::test]
async fn keys_are_masked_in_provider_errors() {
    let mut texts = Vec::new();
    for (api, id) in APIS {
        let server = server(&always(&json!([{ "text": "yes" }])));
        let mut settings = server.settings(api, id);
        settings.key = Some("another-key".to_owned());
        let error = ask(settings.clone(), &[user("go")], &Log::default()).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Unauthorized);
        texts.push(normal(&error.message));
        let shown = format!("{error:?} {settings:?} {:?}", Provider::new(settings.clone()).unwrap());
        assert!(!shown.contains("another-key"), "{shown}");
        settings.key = None;
        let error = ask(settings, &[user("go")], &Log::default()).await.unwrap_err();
        texts.push(normal(&error.message));
    }
    assert_snapshot!(texts.join("\n"), @r"
    the provider answers 401: the key *** is not valid; check the key and what it may be used for
    the provider answers 401: the key none is not valid; check the key and what it may be used for (no key was sent: api_key_env is not set)
    the provider answers 401: the key *** is not valid; check the key and what it may be used for
    the provider answers 401: the key none is not valid; check the key and what it may be used for (no key was sent: api_key_env is not set)
    the provider answers 401: the key *** is not valid; check the key and what it may be used for
    the provider answers 401: the key none is not valid; check the key and what it may be used for (no key was sent: api_key_env is not set)
    the provider answers 401: the key *** is not valid; check the key and what it may be used for
    the provider answers 401: the key none is not valid; check the key and what it may be used for (no key was sent: api_key_env is not set)
    ");
}

#[tokio::test]
async fn unreachable_addresses_and_non_apis_are_reported() {
    let server = server(&always(&json!([{ "text": "yes" }])));
    let mut settings = server.settings(Api::OpenAi, "m");
    settings.retries = 0;
    settings.base_url = Some("http://127.0.0.1:1/v1".to_owned());
    let error = ask(settings.clone(), &[user("go")], &Log::default()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert_snapshot!(normal(&error.message), @r"
    the provider can't be reached: Connection refused (os error 111); check base_url and the network
    ");
    settings.base_url = Some("http://127.0.0.1:1/?token=hidden".to_owned());
    let error = ask(settings.clone(), &[user("go")], &Log::default()).await.unwrap_err();
    assert!(!error.message.contains("hidden"), "{error}");
    settings.base_url = None;
    settings.key = None;
    assert_snapshot!(normal(&Provider::new(settings.clone()).unwrap_err()), @r"
    the model model: it has no key; set api_key_env to the name of the environment variable that contains it
    ");
    settings.key = Some("a\nb".to_owned());
    assert!(!Provider::new(settings).unwrap_err().to_string().contains("a\nb"));
}

#[tokio::test]
async fn fifty_concurrent_requests_get_their_own_answers() {
    let script = json!({ "rules": [{ "together": 50, "answers": [{ "text": "{{word:file }} is fine" }] }] });
    let server = server(&script);
    let provider = Provider::new(server.settings(Api::OpenAi, "m")).unwrap();
    let replies = (0..50).map(|number| {
        let provider = &provider;
        async move {
            let messages = [user(&format!("Review the file {number}.rs now."))];
            let request = Request { system: "", messages: &messages, tools: &[] };
            let reply = watched(provider.reply(&request, &Log::default())).await.unwrap();
            assert_eq!(reply.message.texts(), format!("{number}.rs is fine"));
        }
    });
    futures::future::join_all(replies).await;
    assert_eq!(server.requests().len(), 50);
}
