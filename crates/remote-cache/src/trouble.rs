//! The reasons why requests to the store fail, in words that have no secrets.

use std::error::Error as _;
use std::time::Duration;

use tokio::time::timeout;

use crate::breaker::Failed;

/// Maximum length of a description, in characters.
const LONGEST: usize = 200;

/// Codes of stores for a missing bucket, which also have the status 404.
const NO_BUCKET: [&str; 2] = ["NoSuchBucket", "ContainerNotFound"];

/// The reason why a request failed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// There was no answer within this time.
    Slow(Duration),
    /// The store refused, or could not be reached.
    Store(object_store::Error),
    /// The files on this machine.
    Local(std::io::Error),
}

impl Trouble {
    pub(crate) fn failed(&self) -> Failed {
        match self {
            Trouble::Slow(_) => Failed::Slow,
            Trouble::Store(_) | Trouble::Local(_) => Failed::Fast,
        }
    }

    /// Whether the answer is that there is no such object. A bucket that does not exist is another matter.
    pub(crate) fn is_missing_object(&self) -> bool {
        match self {
            Trouble::Store(error @ object_store::Error::NotFound { .. }) => {
                let text = format!("{error:?}");
                !NO_BUCKET.iter().any(|code| text.contains(code))
            }
            _ => false,
        }
    }

    /// The reason, for users.
    pub(crate) fn words(&self) -> String {
        match self {
            Trouble::Slow(limit) => format!("it did not answer within {} s", limit.as_secs_f64()),
            Trouble::Local(error) => error.to_string(),
            Trouble::Store(object_store::Error::PermissionDenied { .. }) => {
                "permission denied (S3 also answers this for a missing object if the credentials lack s3:ListBucket)"
                    .to_owned()
            }
            Trouble::Store(object_store::Error::Unauthenticated { .. }) => {
                "it does not accept the credentials".to_owned()
            }
            Trouble::Store(object_store::Error::NotFound { .. }) => {
                "there is no such bucket, container or folder".to_owned()
            }
            Trouble::Store(error) => innermost(error),
        }
    }
}

impl From<object_store::Error> for Trouble {
    fn from(error: object_store::Error) -> Self {
        Trouble::Store(error)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Trouble::Local(error)
    }
}

/// Waits for an answer of the store, for at most `limit`.
pub(crate) async fn within<T>(
    limit: Duration,
    request: impl Future<Output = object_store::Result<T>>,
) -> Result<T, Trouble> {
    match timeout(limit, request).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Trouble::Slow(limit)),
    }
}

/// The text of the first cause. Addresses lose their query, which may have a signature or a token.
fn innermost(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    let words = text.split_whitespace().map(|word| match word.split_once('?') {
        Some((address, _)) if address.contains("://") => address,
        _ => word,
    });
    let text = words.collect::<Vec<_>>().join(" ");
    printable::prose(&text).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_no_queries_and_are_bounded() {
        let text = format!("GET https://a.example/b?sig=SECRET failed: {}", "x".repeat(10_000));
        let error = object_store::Error::Generic { store: "test", source: text.into() };
        let words = Trouble::Store(error).words();
        assert!(words.starts_with("GET https://a.example/b failed") && !words.contains("SECRET"), "{words}");
        assert_eq!(words.chars().count(), LONGEST);
    }

    #[test]
    fn a_missing_bucket_is_not_a_missing_object() {
        let missing = |code: &str| {
            let source = format!("404 Not Found: <Error><Code>{code}</Code></Error>").into();
            Trouble::Store(object_store::Error::NotFound { path: "a".to_owned(), source })
        };
        assert!(missing("NoSuchKey").is_missing_object());
        assert!(!missing("NoSuchBucket").is_missing_object());
        assert!(missing("NoSuchBucket").words().contains("no such bucket"));
        assert!(!Trouble::Slow(Duration::ZERO).is_missing_object());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_an_answer_is_slow() {
        let limit = Duration::from_secs(1);
        let trouble = within::<()>(limit, std::future::pending()).await.unwrap_err();
        assert_eq!(
            (trouble.failed(), trouble.words().as_str()),
            (Failed::Slow, "it did not answer within 1 s")
        );
    }
}
