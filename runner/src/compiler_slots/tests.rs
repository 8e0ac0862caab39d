use super::*;
use crate::journal::NoSink;

const GIB: u64 = 1 << 30;

/// A wait of the holder with this key.
fn wait_of(key: &str, longest_wait: Option<Duration>) -> AdmissionWait<'static> {
    let holder = Holder { key: key.to_owned(), longest_wait, ..Holder::default() };
    AdmissionWait { holder: Box::leak(Box::new(holder)), sink: &NoSink, clock: None }
}

fn unlimited() -> AdmissionWait<'static> {
    wait_of("", None)
}

#[test]
fn one_may_always_run_and_more_only_with_memory_for_all() {
    let cases = [
        (0, Some(0), true),
        (1, Some(5 * GIB), false),
        (1, Some(6 * GIB), true),
        (2, Some(8 * GIB), false),
        (15, Some(47 * GIB), false),
        (15, Some(48 * GIB), true),
        (15, None, true),
        (MAX_COMPILERS, Some(u64::MAX), false),
    ];
    for (running, available, may) in cases {
        assert_eq!(admits(running, available, 3 * GIB), may, "{running} {available:?}");
    }
}

/// There is no memory to release.
fn nothing() {}

/// More than any machine has, so that only one runs at a time.
const TOO_MUCH: u64 = u64::MAX;

#[tokio::test]
async fn no_more_run_than_the_processors_can_use() {
    let folder = tempfile::tempdir().unwrap();
    let admission = Admission { processors: 2, ..Admission::new(folder.path().join("compilers")) };
    let first = admission.admit(Priority::Foreground, 0, unlimited(), nothing).await.unwrap();
    let second = admission.admit(Priority::Foreground, 0, unlimited(), nothing).await.unwrap();
    let mut third = Box::pin(admission.admit(Priority::Foreground, 0, unlimited(), nothing));
    assert!(futures::poll!(third.as_mut()).is_pending());
    drop(first);
    drop(third.await.unwrap());
    drop(second);
}

#[tokio::test]
async fn those_in_the_background_keep_no_snippet_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let admission = Admission { processors: 1, ..Admission::new(folder.path().join("compilers")) };
    let background = admission.admit(Priority::Background, 0, unlimited(), nothing).await.unwrap();
    let snippet = admission.admit(Priority::Foreground, 0, unlimited(), nothing).await.unwrap();
    let mut another = Box::pin(admission.admit(Priority::Background, 0, unlimited(), nothing));
    assert!(futures::poll!(another.as_mut()).is_pending());
    drop(background);
    another.await.unwrap();
    // The memory of both kinds counts.
    let mut large = Box::pin(admission.admit(Priority::Background, TOO_MUCH, unlimited(), nothing));
    assert!(futures::poll!(large.as_mut()).is_pending());
    drop(snippet);
    large.await.unwrap();
}

#[tokio::test]
async fn without_memory_they_run_one_by_one_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let admission = Admission::new(folder.path().join("compilers"));
    let first = admission.admit(Priority::Foreground, TOO_MUCH, unlimited(), nothing).await.unwrap();
    let mut second = Box::pin(admission.admit(Priority::Foreground, TOO_MUCH, unlimited(), nothing));
    let mut leaving = Box::pin(admission.admit(Priority::Foreground, TOO_MUCH, unlimited(), nothing));
    let mut third = Box::pin(admission.admit(Priority::Foreground, TOO_MUCH, unlimited(), nothing));
    for waiting in [&mut second, &mut leaving, &mut third] {
        assert!(futures::poll!(waiting.as_mut()).is_pending());
    }
    drop(leaving);
    drop(first);
    assert!(futures::poll!(third.as_mut()).is_pending(), "it is the second's turn");
    let second = second.await.unwrap();
    assert!(futures::poll!(third.as_mut()).is_pending());
    drop(second);
    drop(third.await.unwrap());
}

#[tokio::test]
async fn memory_is_released_only_while_it_is_short() {
    let folder = tempfile::tempdir().unwrap();
    let admission = Admission::new(folder.path().to_owned());
    let released = std::cell::Cell::new(0);
    let release = || released.set(released.get() + 1);
    let first = admission.admit(Priority::Foreground, TOO_MUCH, unlimited(), release).await.unwrap();
    assert_eq!(released.get(), 0);
    let mut second = Box::pin(admission.admit(Priority::Foreground, TOO_MUCH, unlimited(), release));
    assert!(futures::poll!(second.as_mut()).is_pending());
    assert_eq!(released.get(), 1);
    drop(first);
    second.await.unwrap();
}

#[tokio::test]
async fn twelve_texts_of_one_holder_keep_no_other_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let admission = Admission { processors: 2, ..Admission::new(folder.path().to_owned()) };
    let compiler = |holder| admission.admit(Priority::Foreground, 0, wait_of(holder, None), nothing);
    let (first, second) = (compiler("one").await.unwrap(), compiler("one").await.unwrap());
    let mut waiting: Vec<_> = (0..10).map(|_| Box::pin(compiler("one"))).collect();
    for one in &mut waiting {
        assert!(futures::poll!(one.as_mut()).is_pending());
    }
    let other = compiler("other").await.unwrap();
    let mut more_of_other = Box::pin(compiler("other"));
    assert!(futures::poll!(more_of_other.as_mut()).is_pending(), "it has its share");
    drop(first);
    assert!(futures::poll!(waiting[0].as_mut()).is_pending(), "two run");
    drop(other);
    let other = more_of_other.await.unwrap();
    assert!(futures::poll!(waiting[0].as_mut()).is_pending(), "it was the other's turn");
    drop((other, second));
    drop(waiting.remove(0).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let admission = Admission { processors: 1, ..Admission::new(folder.path().to_owned()) };
    let first = admission.admit(Priority::Foreground, 0, unlimited(), nothing).await.unwrap();
    let bounded = wait_of("", Some(Duration::from_secs(30)));
    let error = admission.admit(Priority::Foreground, 0, bounded, nothing).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Busy);
    assert_eq!(
        error.to_string(),
        "it waited 30 s for a compiler, the limit (serve.queueTimeout); try again later"
    );
    // It has left the queue.
    drop(first);
    admission.admit(Priority::Foreground, 0, unlimited(), nothing).await.unwrap();
}

#[tokio::test]
async fn compilers_of_other_processes_count() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [(), ()].map(|()| Admission::new(folder.path().to_owned()));
    let first = one.admit(Priority::Foreground, TOO_MUCH, unlimited(), nothing).await.unwrap();
    let mut second = Box::pin(other.admit(Priority::Foreground, TOO_MUCH, unlimited(), nothing));
    assert!(futures::poll!(second.as_mut()).is_pending());
    drop(first);
    second.await.unwrap();
}

#[tokio::test]
async fn with_memory_they_run_concurrently() {
    let folder = tempfile::tempdir().unwrap();
    let admission = Admission { processors: 16, ..Admission::new(folder.path().to_owned()) };
    let mut running = Vec::new();
    for _ in 0..16 {
        running.push(admission.admit(Priority::Foreground, 1, unlimited(), nothing).await.unwrap());
    }
    assert_eq!(running.len(), 16);
}
