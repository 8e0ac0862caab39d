//! A program that does not call `toolsmith::helper`, and names no helper.

#![allow(clippy::unwrap_used, reason = "tests")]

use insta::assert_snapshot;
use toolsmith::Toolsmith;

#[tokio::test]
async fn a_forgotten_helper_is_an_error_with_advice() {
    let error = Toolsmith::builder().build().await.unwrap_err();
    assert_eq!(error.kind(), "sandbox");
    assert_snapshot!(error, @r#"
    this program has no helper for the sandbox
    help: call toolsmith::helper() first in `main`
    help: or name the program toolsmith-sandbox of the same version: Builder::helper("toolsmith-sandbox")
    "#);
}
