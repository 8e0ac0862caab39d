//! Compiles the snapshot of every server's code as a module, which is half of the test. The other half converts values
//! from and to JSON, and writes calls in all supported ways.

#![deny(warnings)]
#![allow(unsafe_code, reason = "the markers of a manifest are in sections of their own names")]

mod instances;
mod support;

#[rustfmt::skip]
#[path = "snapshots/demo.snap.rs"]
pub mod demo;
#[rustfmt::skip]
#[path = "snapshots/everything.snap.rs"]
pub mod everything;
#[rustfmt::skip]
#[path = "snapshots/fetch.snap.rs"]
pub mod fetch;
#[rustfmt::skip]
#[path = "snapshots/filesystem.snap.rs"]
pub mod filesystem;
#[rustfmt::skip]
#[path = "snapshots/git.snap.rs"]
pub mod git;
#[rustfmt::skip]
#[path = "snapshots/memory.snap.rs"]
pub mod memory;
#[rustfmt::skip]
#[path = "snapshots/nasty.snap.rs"]
pub mod nasty;
#[rustfmt::skip]
#[path = "snapshots/sequential_thinking.snap.rs"]
pub mod sequential_thinking;
#[rustfmt::skip]
#[path = "snapshots/shared.snap.rs"]
pub mod shared;
#[rustfmt::skip]
#[path = "snapshots/time.snap.rs"]
pub mod time;

#[rustfmt::skip]
#[path = "snapshots/round_trips.snap.rs"]
mod round_trips;

use bridge::convert::{FromJson, ToJson, read};
use serde_json::{Value, json};

/// A type's conversion from JSON and back.
type RoundTrip = fn(Value) -> Result<Value, String>;

fn round_trip<T: FromJson + ToJson + Clone + PartialEq + std::fmt::Debug>(
    value: Value,
) -> Result<Value, String> {
    let first = read::<T>(value).map_err(|mismatch| mismatch.to_string())?;
    let json = first.to_json();
    let second = read::<T>(json.clone()).map_err(|mismatch| mismatch.to_string())?;
    assert_eq!(first, second);
    assert_eq!(first.clone(), second);
    Ok(json)
}

/// The result of one tool can be an argument of another tool of the server if their shapes are equal. So can
/// JSON.
#[test]
fn values_of_the_same_shape_convert_into_each_other() {
    let graph: memory::ReadGraphOutput = read(json!({
        "entities": [{ "name": "a", "entityType": "b", "observations": ["c"] }],
        "relations": [],
    }))
    .unwrap();
    let sent = json!([{ "name": "a", "entityType": "b", "observations": ["c"] }]);
    let taken = |entities: Vec<memory::Entity>| entities.to_json();
    use bridge::convert::Argument;
    assert_eq!(taken(graph.entities.clone().into_argument()), sent);
    assert_eq!(taken((&graph.entities).into_argument()), sent);
    assert_eq!(taken(graph.entities.iter().collect::<Vec<_>>().into_argument()), sent);
    assert_eq!(taken(sent.clone().into_argument()), sent);
    assert_eq!(
        taken([json!({ "name": "a", "entityType": "b", "observations": ["c"] })].into_argument()),
        sent
    );
    drop(memory::create_entities(graph.entities));
    drop(memory::create_entities(json!([])));
}

/// Members that all variants have are returned for each of them; for a value that is not listed, as far as it has them.
#[test]
fn common_members_of_a_union_have_methods() {
    let pet = |pet: Value| read::<shared::GetPetOutput>(json!({ "pet": pet })).unwrap().pet;
    let cat =
        pet(json!({ "kind": "cat", "name": "Tom", "age": 3, "tags": ["a"], "owner": { "name": "Ann" } }));
    assert_eq!((cat.kind(), cat.name(), cat.age(), cat.weight()), ("cat", Some("Tom"), Some(3), None));
    assert_eq!(cat.tags(), Some(&["a".to_owned()][..]));
    assert_eq!(cat.owner().map(|owner| owner.name.as_str()), Some("Ann"));
    assert_eq!(cat.none(), Some(()));
    let fish = pet(json!({ "kind": "fish", "name": "Nemo", "tags": [] }));
    assert_eq!((fish.kind(), fish.name(), fish.age(), fish.tags()), ("fish", Some("Nemo"), None, None));
    let toy = |toy: Value| read::<shared::PutPetToy>(toy).unwrap();
    let ball = toy(json!({ "type": "ball", "color": "red", "size": 2 }));
    let bone = toy(json!({ "type": "bone", "color": "dark blue" }));
    assert_eq!((ball.type_(), ball.size(), bone.size()), ("ball", Some(2), None));
    assert!(*ball.color() == "red" && bone.color() == &shared::PutPetColor::DarkBlue);
}

/// Equal types of several tools are one type.
#[test]
fn results_of_several_tools_are_collected_in_one_list() {
    let email = json!({ "id": "1", "subject": "a", "status": "sent" });
    let sent: shared::GetSentEmailsOutput = read(json!({ "result": [email] })).unwrap();
    let received: shared::GetReceivedEmailsOutput = read(json!({ "result": [email, email] })).unwrap();
    let mut all: Vec<shared::Email> = sent.result;
    all.extend(received.result);
    assert_eq!(all.len(), 3);
    let page = json!({ "issues": [{ "number": 1, "title": "a" }], "next": "2" });
    let mut issues: Vec<shared::Issue> = read::<shared::ListOpenOutput>(page.clone()).unwrap().issues;
    let closed: shared::ListOpenOutput = read::<shared::ListClosedOutput>(page).unwrap();
    issues.extend(closed.issues);
    assert_eq!((issues.len(), closed.next.as_deref()), (2, Some("2")));
    let user: shared::User = read(json!({ "id": 1, "name": "Ann" })).unwrap();
    let team: shared::GetTeamOutput = read(json!({ "lead": user.to_json(), "root": {} })).unwrap();
    assert_eq!([team.lead], [user]);
    let tree: shared::GetTreeOutput = read(json!({ "top": {} })).unwrap();
    assert_eq!(team.root, tree.top);
}

/// Instances of each schema are unchanged after a round trip.
#[test]
fn instances_survive_the_round_trip() {
    const INSTANCES: u64 = 40;
    let mut tried = 0;
    for server in support::servers() {
        // Two have no finite instance, and resolving anchors independently is not worth it.
        let left_out = ["recursive_required", "recursive_list", "anchors"];
        for tool in server.tools.iter().filter(|tool| !left_out.contains(&tool.name.as_str())) {
            let sides = [("input", Some(&tool.input_schema)), ("output", tool.output_schema.as_ref())];
            for (side, schema) in sides {
                let Some(schema) = schema else { continue };
                let Some(round_trip) = round_trips::find(&server.name, &tool.name, side) else { continue };
                for seed in 0..INSTANCES {
                    let instance = instances::instance(schema, seed);
                    // MCP arguments are objects, whatever the schema allows.
                    if side == "input" && !instance.is_object() {
                        continue;
                    }
                    let place = format!("{} {} {side}: {instance}", server.name, tool.name);
                    let back =
                        round_trip(instance.clone()).unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_eq!(back, instance, "{place}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 3_000, "only {tried} instances were tried");
}

/// Servers may send values that their schema does not list, or in other spellings.
#[test]
fn results_are_read_leniently() {
    let order = json!({
        "id": "o-1", "customer_id": "c-1", "status": "lost", "total_cents": 1e3, "placed_at": "now",
        "items": [{ "sku": "a", "quantity": 5.0 }],
        "unknown": [1, 2, 3],
    });
    let orders = read::<demo::ListOrdersOutput>(json!({ "orders": [order], "next_cursor": null })).unwrap();
    let order = &orders.orders[0];
    assert_eq!((order.items[0].quantity, order.total_cents), (5, 1000));
    assert_eq!(order.status, demo::OrderStatus::Other("lost".into()));
    assert_eq!(order.status, "lost");
    assert_eq!(order.status.to_string(), "lost");
    assert_eq!(orders.next_cursor, None);
    assert_eq!(orders.to_json()["orders"][0]["items"][0]["quantity"].to_string(), "5");
    let block = read::<nasty::TaggedBlock>(json!({ "type": "video", "url": "x" })).unwrap();
    assert_eq!(block, nasty::TaggedBlock::Other(json!({ "type": "video", "url": "x" })));
    let sum = everything::GetSumInput { a: 3.0, b: 0.5 };
    assert_eq!(sum.to_json().to_string(), r#"{"a":3,"b":0.5}"#);
}

#[test]
fn mismatches_name_the_place() {
    fn check<T: FromJson + std::fmt::Debug>(value: Value, expected: &str) {
        assert_eq!(read::<T>(value).unwrap_err().to_string(), expected);
    }
    let order = |items: Value| {
        json!({ "orders": [{
            "id": "o-1", "customer_id": "c-1", "status": "pending", "total_cents": 1, "items": items, "placed_at": "",
        }] })
    };
    check::<demo::ListOrdersOutput>(
        order(json!([{ "sku": "a", "quantity": 1 }, { "sku": "b", "quantity": "x" }])),
        r#"at .orders[0].items[1].quantity: expected 64-bit integer, got "x""#,
    );
    check::<demo::ListOrdersOutput>(
        order(json!([{ "sku": "a" }])),
        "at .orders[0].items[0].quantity: expected 64-bit integer, got nothing",
    );
    check::<demo::ListOrdersOutput>(json!([]), "expected object, got []");
    check::<demo::CreateNoteOutput>(
        json!({ "created_at": "", "id": 1.5 }),
        "at .id: expected 64-bit integer, got 1.5",
    );
    check::<nasty::PropertyNamesInput>(
        json!({ "type": "", "self": "", "@id": 1, "1st": "" }),
        r#"at ["@id"]: expected string, got 1"#,
    );
    // For a missing value, no variant that contains the enum again is tried.
    check::<nasty::Expression>(
        json!({ "kind": "sum", "left": { "kind": "literal", "value": 1 } }),
        "at .right: expected object, got nothing",
    );
    check::<nasty::Expression>(json!({ "kind": 1 }), "at .kind: expected string, got 1");
    check::<nasty::TaggedShape>(
        json!({ "kind": "line" }),
        r#"expected kind of one of "circle", "square", "point", got {"kind":"line"}"#,
    );
}

/// Generated types can be fields of serde types.
#[test]
fn types_work_with_serde() {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Row {
        order: demo::Order,
        state: demo::OrderStatus,
    }
    let item = demo::OrderItem { sku: "a".into(), quantity: 2, extra: Default::default() };
    let order = demo::Order {
        id: "o-1".into(),
        customer_id: "c-2".into(),
        status: demo::OrderStatus::Shipped,
        total_cents: 3,
        items: vec![item],
        placed_at: "now".into(),
        extra: Default::default(),
    };
    let row = Row { order, state: demo::OrderStatus::Pending };
    let text = serde_json::to_string(&row).unwrap();
    assert!(text.contains(r#""status":"shipped""#), "{text}");
    assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
    let error = serde_json::from_str::<Row>(&text.replace("\"quantity\":2", "\"quantity\":[]")).unwrap_err();
    assert!(error.to_string().contains("at .items[0].quantity: expected 64-bit integer, got []"), "{error}");
}

/// A text is accepted as a variant if it is listed. A text that the schema does not allow never becomes
/// another variant.
#[test]
fn texts_convert_to_enum_variants() {
    use demo::OrderStatus as Open;
    use everything::GetAnnotatedMessageMessageType as Closed;

    fn argument<T>(argument: impl bridge::convert::Argument<T>) -> T {
        argument.into_argument()
    }

    assert_eq!(argument::<Open>("shipped"), Open::Shipped);
    assert_eq!(argument::<Open>(String::from("lost")), Open::Other("lost".into()));
    assert_eq!(Open::from("pending"), Open::Pending);
    assert_eq!(argument::<Vec<Closed>>(["error", "debug"]), [Closed::Error, Closed::Debug]);
    assert_eq!(argument::<Vec<Closed>>(vec![String::from("error")]), [Closed::Error]);
    assert_eq!(argument::<Vec<Closed>>(&["success"][..]), [Closed::Success]);
    let unknown = r#""eror" is not one of "error", "success", "debug""#;
    assert_eq!("eror".parse::<Closed>().unwrap_err().to_string(), unknown);
    let mismatch = read::<Closed>(json!("eror")).unwrap_err();
    assert_eq!(mismatch.to_string(), r#"expected one of "error", "success", "debug", got "eror""#);
}

/// The ways to write a call. There is no server here, so the test is that they compile.
#[test]
fn calls_can_be_written_in_many_ways() {
    async fn calls(cursor: Option<String>) -> bridge::Result<()> {
        let path = String::from("/a");
        let content: String = filesystem::read_text_file("/a").await?.content;
        filesystem::read_text_file(&path).head(5).tail(Some(2.5)).await?;
        filesystem::read_text_file(path.clone()).head(content.len()).await?;
        filesystem::read_text_file(format!("{path}/b")).head(None::<i32>).await?;
        filesystem::ReadTextFileInput { path, head: Some(5.0), tail: None }.call().await?;
        let edit = filesystem::EditFileEdit { old_text: "a".into(), new_text: "b".into() };
        filesystem::edit_file("/a", [edit.clone()]).dry_run(true).await?;
        filesystem::edit_file("/a", vec![edit.clone()]).dry_run(Some(false)).await?;
        filesystem::edit_file("/a", &[edit]).await?;
        filesystem::read_multiple_files(["/a", "/b"]).await?;
        filesystem::read_multiple_files(vec!["/a".to_string()]).await?;
        let names = vec!["a".to_string()];
        filesystem::read_multiple_files(&names).await?;
        filesystem::read_multiple_files(names.iter().map(|name| format!("/{name}")).collect::<Vec<_>>())
            .await?;
        demo::list_orders().cursor(cursor).limit(10_u8).status(demo::OrderStatus::Shipped).await?;
        demo::list_orders().cursor(None::<String>).status(Some(demo::OrderStatus::Shipped)).await?;
        let status = String::from("shipped");
        demo::list_orders().status("pending").await?;
        demo::list_orders().status(Some("pending")).await?;
        demo::list_orders().status(None::<&str>).await?;
        demo::list_orders().status(&status).await?;
        demo::list_orders().status(status.clone()).await?;
        demo::ListOrdersInput { status: Some("pending".into()), ..Default::default() }.call().await?;
        demo::ListOrdersInput { status: Some(status.into()), cursor: None, limit: Some(1) }.call().await?;
        everything::get_annotated_message("error").include_image(true).await?;
        demo::ListOrdersInput::default().call().await?;
        let mut next = None;
        loop {
            let page = demo::list_orders().cursor(next).await?;
            next = page.next_cursor;
            if next.is_none() {
                break;
            }
        }
        demo::ImageInput {}.call().await?;
        demo::create_note("a", "b").tags(["c"]).await?;
        demo::slow(1).await?;
        everything::get_sum(1, 2.5).await?;
        let (customer, pages) = futures::join!(demo::get_customer("c-07"), demo::list_orders());
        customer?;
        futures::future::try_join_all(
            pages?.orders.iter().map(|order| demo::get_customer(&order.customer_id)),
        )
        .await?;
        nasty::maps([("a", "b")]).nested(std::collections::HashMap::from([("a", [nasty_map()])])).await?;
        nasty::tuples((1, 2.5))
            .draft2020(("a", 1, nasty::ResultItem { a: None, extra: Default::default() }))
            .await?;
        nasty::boolean_schemas(json!({ "a": 1 })).any_items(vec![json!(1)]).empty("text").await?;
        nasty::nullable(3, None::<nasty::ResultItem>).items(vec![Some("a"), None]).await?;
        nasty::nullable(Some(3), nasty::ResultItem { a: None, extra: Default::default() }).await?;
        nasty::additional("known").extra(1).extra2([("more", 2)]).await?;
        nasty::recursive_root(1).next(nasty::RecursiveRootInput { value: 2, next: None }).await?;
        nasty::method_names().call(1).poll(2).clone(3).into_future(4).map(5).await?;
        nasty::call().input(nasty::CallInput2 { output: None }).await?;
        Ok(())
    }
    fn nasty_map() -> nasty::MapsNested {
        nasty::MapsNested { a: Some(1) }
    }
    fn is_send<T: Send>(_: T) {}
    is_send(calls(None));
}
