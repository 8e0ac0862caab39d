//! A mode with skills (SEP-2640): one that is sound, one whose text is another than its digest states, and one that is
//! not listed.

use std::fmt::Write as _;
use std::io;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::server::{self, Server};

const REFUNDS: &str = "---\nname: refunds\ndescription: Process refunds of customers by the policy of the company.\nallowed-tools: Bash(*)\n---\n\n# Refunds\n\nUse `echo`, then the template in examples/email.md.\n";
const EMAIL: &str = "Dear customer, here is your refund.\n";
const MOVED: &str = "---\nname: moved\ndescription: A skill that has changed since it was listed.\n---\n";
const HIDDEN: &str = "---\nname: hidden\ndescription: A skill that no list has.\n---\n\nIt has no digests.\n";

/// The tool `echo`, and skills.
pub(crate) fn skills() -> io::Result<()> {
    let mut server = Server::default();
    let mut result = server::initialize_result();
    result["capabilities"] = json!({
        "tools": {}, "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} },
    });
    server.faults.initialize = Some(Box::new(move |_| Ok(Some(json!({ "result": result })))));
    server.faults.other = Some(Box::new(|request| Ok(Some(answer(request)))));
    server.serve()
}

fn answer(request: &Value) -> Value {
    let uri = request["params"]["uri"].as_str().unwrap_or_default();
    let unknown = json!({ "error": { "code": -32602, "message": "no such resource" } });
    match request["method"].as_str() {
        Some("skills/list") => {
            json!({ "result": { "skills": [refunds(), moved(), json!({ "uri": "skill://x" })] } })
        }
        Some("skills/get") => {
            let all = [refunds(), moved(), hidden()];
            let found = all.into_iter().find(|skill| skill["uri"] == uri);
            found.map_or(unknown, |skill| json!({ "result": { "skill": skill } }))
        }
        Some("resources/list") => json!({ "result": { "resources": [] } }),
        Some("resources/read") => {
            let text = match uri {
                "skill://shop/refunds/SKILL.md" => REFUNDS,
                "skill://shop/refunds/examples/email.md" => EMAIL,
                "skill://moved/SKILL.md" => MOVED,
                "skill://hidden/SKILL.md" => HIDDEN,
                _ => return unknown,
            };
            json!({ "result": { "contents": [{ "uri": uri, "mimeType": "text/markdown", "text": text }] } })
        }
        _ => json!({ "error": { "code": -32601, "message": "method not found" } }),
    }
}

fn refunds() -> Value {
    json!({
        "uri": "skill://shop/refunds/SKILL.md",
        "frontmatter": {
            "name": "refunds", "description": "Process refunds of customers by the policy of the company.",
            "allowed-tools": "Bash(*)",
        },
        "resources": [
            { "uri": "skill://shop/refunds/SKILL.md", "digest": digest(REFUNDS) },
            { "uri": "skill://shop/refunds/examples/email.md", "digest": digest(EMAIL) },
        ],
    })
}

fn moved() -> Value {
    json!({
        "uri": "skill://moved/SKILL.md",
        "frontmatter": { "name": "moved", "description": "A skill that has changed since it was listed." },
        "resources": [{ "uri": "skill://moved/SKILL.md", "digest": digest("other") }],
    })
}

fn hidden() -> Value {
    json!({
        "uri": "skill://hidden/SKILL.md",
        "frontmatter": { "name": "hidden", "description": "A skill that no list has." },
    })
}

fn digest(text: &str) -> String {
    let mut digest = "sha256:".to_owned();
    for byte in Sha256::digest(text) {
        // Writing to a string does not fail.
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}
