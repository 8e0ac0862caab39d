//! Restores marked numbers in response bodies, across chunk boundaries.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use futures::{Stream, StreamExt as _, stream};
use strict_json::Pieces;
use system::event_loop::off_loop;

/// Restores the marked numbers of a body.
pub(super) fn restored(body: Body) -> Body {
    Body::from_stream(chunks(body.into_data_stream()))
}

fn chunks<E>(chunks: impl Stream<Item = Result<Bytes, E>>) -> impl Stream<Item = Result<Bytes, E>> {
    let initial = Some((Box::pin(chunks), Pieces::default()));
    stream::unfold(initial, async |state| {
        let (mut chunks, mut pieces) = state?;
        loop {
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    let chunk = off_loop(chunk.len(), || ready(&mut pieces, &chunk));
                    if !chunk.is_empty() {
                        return Some((Ok(chunk), Some((chunks, pieces))));
                    }
                }
                Some(Err(error)) => return Some((Err(error), None)),
                None => {
                    let rest = pieces.end();
                    return (!rest.is_empty()).then(|| (Ok(rest.into()), None));
                }
            }
        }
    })
}

/// The part of a chunk that can be written now.
fn ready(pieces: &mut Pieces, chunk: &Bytes) -> Bytes {
    match pieces.push(chunk) {
        Cow::Borrowed(written) => chunk.slice_ref(written),
        Cow::Owned(written) => written.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::FutureExt as _;
    use serde_json::value::RawValue;

    use super::*;

    fn sent(pieces: &[&str]) -> String {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece.as_bytes())))
            .collect();
        let sent: Vec<_> = chunks(stream::iter(pieces)).collect().now_or_never().unwrap();
        let sent: Vec<Bytes> = sent.into_iter().map(Result::unwrap).collect();
        assert!(sent.iter().all(|chunk| !chunk.is_empty()));
        String::from_utf8(sent.concat()).unwrap()
    }

    #[test]
    fn numbers_are_restored_across_chunks() {
        let raw = RawValue::from_string(r#"{"a":1e400,"b":[18446744073709551617]}"#.to_owned()).unwrap();
        let message = strict_json::value_with_numbers(&raw).unwrap().to_string();
        let event = format!("data: {message}\n\n");
        assert!(message.len() > raw.get().len());
        assert_eq!(sent(&[&message]), raw.get());
        for cut in 0..event.len() {
            let (before, after) = event.split_at(cut);
            assert_eq!(sent(&[before, after]), format!("data: {}\n\n", raw.get()), "cut at {cut}");
        }
        assert_eq!(sent(&["\"a", "\""]), "\"a\"", "the rest is sent at the end");
    }
}
