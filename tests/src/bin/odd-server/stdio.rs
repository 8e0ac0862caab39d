//! Standard input and output: one message per line, and the modes that change the lines.

use std::io::{self, BufRead as _, Write as _};

use serde_json::Value;

use crate::messages::answers;

/// Serves one client until it disconnects.
pub(crate) fn serve(mode: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    if mode == "bom-on-stdout" {
        output.write_all(b"\xef\xbb\xbf")?;
    }
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?).unwrap_or_default();
        for answer in answers(mode, &message) {
            match mode {
                "plain-text-on-stdout" => output.write_all(b"INFO handling a request\n")?,
                "invalid-utf8-on-stdout" => output.write_all(b"caf\xe9 \xff\xfe\n")?,
                "json-log-on-stdout" => {
                    output.write_all(b"{\"level\":30,\"msg\":\"handling a request\"}\n")?;
                }
                "blank-lines" => output.write_all(b"\n\n")?,
                _ => {}
            }
            output.write_all(&answer)?;
            output.write_all(if mode == "crlf-on-stdout" { b"\r\n" } else { b"\n" })?;
            output.flush()?;
        }
        if mode == "closes-stdout" && message["method"] == "tools/call" {
            return Ok(());
        }
    }
    Ok(())
}
