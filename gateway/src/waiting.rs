//! Waits for several servers at once, and shows on a terminal which ones are still awaited.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use futures::future::join_all;
use terminal::Notifier;

/// Maximum servers named while they are awaited.
const NAMED: usize = 3;

/// Awaits work of servers, each by its name, and returns the results in the same order. A single server is awaited
/// silently.
pub async fn all<T, F: Future<Output = T>>(
    notifier: &Notifier,
    work: impl IntoIterator<Item = (String, F)>,
) -> Vec<T> {
    let work: Vec<(String, F)> = work.into_iter().collect();
    let total = work.len();
    if total < 2 {
        return join_all(work.into_iter().map(|(_, work)| work)).await;
    }
    let awaited: Mutex<BTreeSet<String>> = Mutex::new(work.iter().map(|(name, _)| name.clone()).collect());
    let show = |ended: Option<&str>| {
        let mut awaited = awaited.lock().unwrap_or_else(PoisonError::into_inner);
        ended.map(|name| awaited.remove(name));
        notifier.step(total - awaited.len(), total, &message(&awaited));
    };
    show(None);
    let show = &show;
    let results = join_all(work.into_iter().map(|(name, work)| async move {
        let result = work.await;
        show(Some(&name));
        result
    }));
    let results = results.await;
    notifier.end_steps();
    results
}

fn message(awaited: &BTreeSet<String>) -> String {
    let named: Vec<&str> = awaited.iter().take(NAMED).map(String::as_str).collect();
    match awaited.len().saturating_sub(NAMED) {
        _ if named.is_empty() => "servers answered".to_owned(),
        0 => format!("servers, waiting for {}", named.join(", ")),
        more => format!("servers, waiting for {} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_are_in_the_order_of_the_servers() {
        let notifier = terminal::Terminal::new(true, false).notifier();
        let (first, second) = tokio::sync::oneshot::channel::<u8>();
        let slow = async { second.await.unwrap_or(0) };
        let work: Vec<(String, futures::future::BoxFuture<'_, u8>)> = vec![
            ("slow".to_owned(), Box::pin(slow)),
            ("fast".to_owned(), Box::pin(async { first.send(1).map_or(9, |()| 2) })),
        ];
        assert_eq!(all(&notifier, work).await, [1, 2]);
    }

    #[test]
    fn awaited_servers_are_named_in_a_bounded_line() {
        let names = |count: usize| (1..=count).map(|number| format!("s{number}")).collect();
        assert_eq!(message(&names(0)), "servers answered");
        assert_eq!(message(&names(2)), "servers, waiting for s1, s2");
        assert_eq!(message(&names(5)), "servers, waiting for s1, s2, s3 and 2 more");
    }
}
