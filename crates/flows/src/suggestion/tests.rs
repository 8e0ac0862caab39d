//! Whole proposals.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn tool(name: &str, annotations: &Value) -> Value {
    json!({ "name": name, "annotations": annotations })
}

#[test]
fn labels_follow_annotations_and_names() {
    let (reads, open) =
        (json!({ "readOnlyHint": true }), json!({ "readOnlyHint": true, "openWorldHint": true }));
    let offers = [
        Offer {
            server: "mail",
            tools: vec![
                tool("read_message", &reads),
                tool("read_attachment", &reads),
                tool("search", &reads),
                tool("send_message", &json!({ "readOnlyHint": true })),
                tool("send_draft", &Value::Null),
            ],
        },
        Offer {
            server: "web",
            tools: vec![tool("fetch", &open), tool("post_form", &json!({ "openWorldHint": true }))],
        },
        Offer {
            server: "crm",
            tools: vec![
                tool("getCustomer", &reads),
                tool("mergeCustomers", &json!({ "destructiveHint": true })),
                tool("compact", &json!({ "destructiveHint": true })),
                tool("ping", &reads),
            ],
        },
        Offer { server: "clock", tools: vec![tool("now", &Value::Null)] },
    ];
    assert_snapshot!(suggestion(&offers), @r#"
    # Proposed from the annotations of tools, which are claims of their servers, and from names.
    # Check each line and what is missing, then paste it into your configuration.
    flows:
      # Answers that must not leave.
      private:
        - mail.read_*      # 2 tools: server named "mail"; named "message"
        - mail.search      # server named "mail"
        - crm.getCustomer  # named "customer"
      # Answers that may contain instructions of others.
      untrusted:
        - mail.read_*  # 2 tools: server named "mail"; named "message"
        - mail.search  # server named "mail"
        - web.fetch    # claims openWorldHint
      # Calls that leave or change the world.
      external:
        - mail.send_*         # 2 tools: named "send"
        - web.*               # 2 tools: claims openWorldHint; named "post"
        - crm.compact         # claims destructiveHint
        - crm.mergeCustomers  # named "merge"
    # 2 tools without a label:
    #   crm.ping
    #   clock.now
    "#);
}

#[test]
fn nothing_to_label_is_said() {
    assert_snapshot!(suggestion(&[]), @r#"
    # Proposed from the annotations of tools, which are claims of their servers, and from names.
    # Check each line and what is missing, then paste it into your configuration.
    flows:
      # Answers that must not leave.
      private: []
      # Answers that may contain instructions of others.
      untrusted: []
      # Calls that leave or change the world.
      external: []
    "#);
}

#[test]
fn names_cannot_add_lines_or_keys() {
    let forged = "get_file\n  private: []\n# \u{202e}";
    let offers =
        [Offer { server: "x", tools: vec![tool(forged, &Value::Null), tool("a\n: b", &Value::Null)] }];
    assert_snapshot!(suggestion(&offers), @r#"
    # Proposed from the annotations of tools, which are claims of their servers, and from names.
    # Check each line and what is missing, then paste it into your configuration.
    flows:
      # Answers that must not leave.
      private:
        - "x.get_file\n  private: []\n# \u202e"  # named "file"
      # Answers that may contain instructions of others.
      untrusted:
        - "x.get_file\n  private: []\n# \u202e"  # named "file"
      # Calls that leave or change the world.
      external: []
    # 1 tool without a label:
    #   x.a\u{a}:\u{20}b
    "#);
}
