//! Tests of the permissions of tokens under a configuration.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::collections::BTreeMap;

use config::{Auth, Denied, NamedToken, SignatureAlgorithm};

use super::*;

const ISSUER: &str = "https://login.example.com";

fn auth() -> Auth {
    let tools = |globs: &[&str]| globs.iter().map(|glob| Glob::new(glob)).collect::<Vec<_>>();
    Auth {
        issuer: ISSUER.to_owned(),
        resource: "https://tools.example.com/mcp".to_owned(),
        audiences: None,
        jwks: None,
        algorithms: vec![SignatureAlgorithm::ES256],
        clock_tolerance: 0,
        required_scopes: Some(vec!["tools".to_owned()]),
        scopes: Some(BTreeMap::from([
            ("read".to_owned(), tools(&["*.get_*"])),
            ("write".to_owned(), tools(&["db.put"])),
        ])),
    }
}

fn serve(auth: Auth) -> Serve {
    Serve { auth: Some(auth), ..Serve::default() }
}

fn issued(scopes: &[&str]) -> Identity {
    let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    Identity::issued(ISSUER, "alice".to_owned(), scopes, Some("t-1".to_owned()))
}

fn lacking(scopes: &[&str]) -> NoAccess {
    NoAccess::Scopes(scopes.iter().map(|scope| (*scope).to_owned()).collect())
}

#[test]
fn scopes_add_up_to_the_permitted_tools() {
    let serve = serve(auth());
    let globs = |access: Option<Vec<Glob>>| -> Vec<String> {
        access.unwrap().iter().map(|glob| glob.text().to_owned()).collect()
    };
    assert_eq!(globs(issued(&["tools", "read"]).access(&serve).unwrap()), ["*.get_*"]);
    assert_eq!(
        globs(issued(&["write", "read", "tools", "x"]).access(&serve).unwrap()),
        ["*.get_*", "db.put"]
    );
    assert_eq!(issued(&["read"]).access(&serve), Err(lacking(&["tools"])));
    assert_eq!(issued(&["tools"]).access(&serve), Err(lacking(&["read", "write"])));
}

#[test]
fn without_scopes_in_the_configuration_every_tool_is_permitted() {
    let serve = serve(Auth { required_scopes: None, scopes: None, ..auth() });
    assert_eq!(issued(&[]).access(&serve), Ok(None));
}

#[test]
fn denied_subjects_and_tokens_have_no_access() {
    let all = ["tools", "read"];
    let with = |subjects: &[&str], token_ids: &[&str]| {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let deny = Denied { subjects: names(subjects), token_ids: names(token_ids) };
        issued(&all).access(&Serve { deny, ..serve(auth()) })
    };
    assert!(with(&["bob"], &["t-2"]).is_ok());
    assert!(matches!(with(&["alice"], &[]), Err(NoAccess::Denied(_))));
    assert!(matches!(with(&[], &["t-1"]), Err(NoAccess::Denied(_))));
    let other = serve(Auth { issuer: "https://other.example.com".to_owned(), ..auth() });
    assert!(matches!(issued(&all).access(&other), Err(NoAccess::Denied(_))));
    assert!(matches!(issued(&all).access(&Serve::default()), Err(NoAccess::Denied(_))));
}

#[test]
fn a_token_of_the_configuration_gives_access_while_it_is_there() {
    let token = NamedToken { hash: [1; 32], tools: None, expires: None };
    let serve = |token: NamedToken| Serve {
        tokens: Some(BTreeMap::from([("ci".to_owned(), token)])),
        ..Serve::default()
    };
    let ci = Identity::named("ci", [1; 32]);
    assert_eq!(ci.access(&serve(token.clone())), Ok(None));
    let tools = Some(vec![Glob::new("a.*")]);
    assert_eq!(ci.access(&serve(NamedToken { tools: tools.clone(), ..token.clone() })), Ok(tools));
    assert!(ci.access(&serve(NamedToken { hash: [2; 32], ..token })).is_err());
    assert!(ci.access(&Serve::default()).is_err());
}

#[test]
fn subjects_of_different_origins_are_different() {
    let subjects = [
        Identity::named("alice", [0; 32]).subject,
        issued(&[]).subject,
        Identity::issued("https://other.example.com", "alice".to_owned(), BTreeSet::new(), None).subject,
    ];
    let keys: BTreeSet<String> = subjects.iter().map(|subject| subject.key()).collect();
    assert_eq!(keys.len(), 3);
}

#[tokio::test]
async fn a_subject_is_current_only_while_its_request_is_handled() {
    let alice = issued(&[]).subject;
    let seen = on_behalf_of(Some(alice.clone()), async { current() }).await;
    assert_eq!(seen, Some(alice));
    assert_eq!(current(), None);
}
