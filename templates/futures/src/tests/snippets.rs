//! Typical snippets, each compiled and run with this crate and with the crate `futures`: what compiles with the crate
//! compiles here, and does the same.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Waker};

use super::Log;
use super::comparison::{Dropped, Is, Isnt as _, run, same, send, stays, wait};

same! {
    borrowed_locals => {
        let (names, suffix) = (vec![String::from("a"), String::from("b")], String::from("!"));
        let suffix = &suffix;
        let all =
            run(lib::future::join_all(names.iter().map(|name| async move { format!("{name}{suffix}") })));
        (all, names.len())
    }
    outputs_that_borrow => {
        let words: Vec<String> = "one two three".split(' ').map(str::to_owned).collect();
        let all: Vec<&str> =
            run(lib::future::join_all(words.iter().map(|word| async move { word.as_str() })));
        all.into_iter().max_by_key(|word| word.len()).map(str::to_owned)
    }
    locals_changed_through_cells => {
        let total = std::cell::Cell::new(0);
        run(lib::future::join_all((1..=4).map(|n| {
            let total = &total;
            async move {
                wait(n).await;
                total.set(total.get() * 10 + n);
            }
        })));
        total.get()
    }
    a_borrow_ends_with_the_join => {
        let mut list = vec![1, 2];
        let sum: i32 = run(lib::future::join_all(list.iter().map(|n| async move { *n }))).iter().sum();
        list.push(sum);
        list
    }
    futures_borrowed_mutably => {
        let mut futures: Vec<_> = (0..3)
            .map(|n| {
                Box::pin(async move {
                    wait(n).await;
                    n
                })
            })
            .collect();
        run(lib::future::join_all(futures.iter_mut()))
    }
    mutable_elements => {
        let mut list = [1, 2, 3];
        run(lib::future::join_all(list.iter_mut().map(|n| async move {
            wait(2).await;
            *n *= 2;
        })));
        list
    }
    futures_that_are_not_send => {
        let shared = Rc::new(std::cell::RefCell::new(Vec::new()));
        let work = |n: usize| {
            let shared = Rc::clone(&shared);
            async move {
                wait(4 - n).await;
                shared.borrow_mut().push(n);
                Rc::clone(&shared)
            }
        };
        let all = run(lib::future::join_all((0..3).map(work)));
        (all.len(), Rc::strong_count(&shared), shared.borrow().clone())
    }
    boxed_futures_of_different_kinds => {
        let n = 3;
        let all: Vec<Pin<Box<dyn Future<Output = i32> + '_>>> = vec![
            Box::pin(async { n }),
            Box::pin(std::future::ready(4)),
            Box::pin(async {
                wait(3).await;
                &n + 2
            }),
        ];
        run(lib::future::join_all(all))
    }
    boxed_and_shared_joins => {
        use lib::FutureExt as _;
        let join = lib::future::join_all((0..3).map(|n| async move { n })).boxed().shared();
        (run(join.clone()), run(join))
    }
    a_boxed_join_that_borrows => {
        use lib::FutureExt as _;
        fn lengths<'a>(words: &'a [String]) -> lib::future::BoxFuture<'a, Vec<usize>> {
            lib::future::join_all(words.iter().map(|word| async move { word.len() })).boxed()
        }
        run(lengths(&["a".to_owned(), "bcd".to_owned()]))
    }
    a_join_in_a_thread => {
        let join = stays(send(lib::future::try_join_all((0..40).map(|n| async move { Ok::<_, String>(n) }))));
        std::thread::spawn(move || run(join)).join().unwrap()
    }
    restrictions_of_types => {
        type Ready<T> = std::future::Ready<T>;
        type Of<T> = Is<lib::future::JoinAll<Ready<T>>>;
        type Try<T> = Is<lib::future::TryJoinAll<Ready<Result<T, T>>>>;
        type Cell = std::cell::Cell<u8>;
        type Boxed<'a> = lib::future::BoxFuture<'a, u8>;
        type LocalBoxed<'a> = lib::future::LocalBoxFuture<'a, u8>;
        [
            [Of::<u8>::SEND, Of::<u8>::SYNC, Try::<u8>::SEND, Try::<u8>::SYNC],
            [Of::<Rc<u8>>::SEND, Of::<Rc<u8>>::SYNC, Try::<Rc<u8>>::SEND, Try::<Rc<u8>>::SYNC],
            [Of::<Cell>::SEND, Of::<Cell>::SYNC, Try::<Cell>::SEND, Try::<Cell>::SYNC],
            [
                Is::<lib::future::JoinAll<Boxed<'_>>>::SEND,
                Is::<lib::future::JoinAll<Boxed<'_>>>::SYNC,
                Is::<lib::future::JoinAll<LocalBoxed<'_>>>::SEND,
                Is::<lib::future::JoinAll<LocalBoxed<'_>>>::SYNC,
            ],
        ]
    }
    nested_joins => {
        run(lib::future::join_all((1..4).map(|n| {
            lib::future::join_all((0..n).map(move |m| async move {
                wait(m).await;
                n * m
            }))
        })))
    }
    nested_joins_that_fail => {
        run(lib::future::try_join_all((1..4).map(|n| async move {
            let inner = lib::future::try_join_all((0..n).map(|m| async move {
                wait(m + 1).await;
                if n * m == 4 { Err(format!("{n} {m}")) } else { Ok(m) }
            }));
            inner.await.map(|all| all.len())
        })))
    }
    errors_of_different_types => {
        async fn parse(text: &str) -> Result<i32, std::num::ParseIntError> {
            text.parse()
        }
        async fn either(text: &str) -> Result<i32, Box<dyn std::error::Error>> {
            if text.is_empty() {
                return Err("empty".into());
            }
            Ok(parse(text).await?)
        }
        let good = run(lib::future::try_join_all(["1", "2"].map(parse)));
        let bad = run(lib::future::try_join_all(["1", "x"].map(parse))).map_err(|error| error.to_string());
        let other = ["", "x"].map(|text| {
            run(lib::future::try_join_all([either("1"), either(text)])).map_err(|e| e.to_string())
        });
        (good, bad, other)
    }
    errors_converted_by_the_question_mark => {
        async fn all() -> Result<usize, Box<dyn std::error::Error>> {
            let texts =
                lib::future::try_join_all(["1", "2", "q"].map(|text| async move { text.parse::<u8>() }))
                    .await?;
            Ok(texts.len())
        }
        run(all()).map_err(|error| error.to_string())
    }
    errors_that_borrow => {
        let names = ["a".to_owned(), "b".to_owned()];
        let result: Result<Vec<()>, &str> = run(lib::future::try_join_all(
            names.iter().map(|name| async move { if name == "b" { Err(name.as_str()) } else { Ok(()) } }),
        ));
        result.map_err(str::to_owned)
    }
    results_are_kept_by_join_all => {
        let all = run(lib::future::join_all(
            (0..4).map(|n| async move { if n % 2 == 0 { Ok(n) } else { Err(n.to_string()) } }),
        ));
        let (good, bad): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
        (good, bad)
    }
    results_collected_afterwards => {
        let all = run(lib::future::join_all((0..4).map(|n| async move { u8::try_from(n * 100_i32) })));
        all.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())
    }
    large_outputs => {
        let all = run(lib::future::join_all((0..40_u8).map(|n| async move {
            wait(2).await;
            [n; 20_000]
        })));
        all.iter().map(|bytes| bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>()).sum::<usize>()
    }
    no_futures => {
        let none: Vec<std::future::Ready<Result<u8, String>>> = Vec::new();
        (
            run(lib::future::join_all(Vec::<std::future::Ready<u8>>::new())),
            run(lib::future::try_join_all(none)),
        )
    }
    anything_that_iterates => {
        let table = std::collections::BTreeMap::from([(1, "a"), (2, "b")]);
        let pairs =
            run(lib::future::join_all(table.iter().map(|(n, text)| async move { format!("{n}{text}") })));
        let option = run(lib::future::join_all(Some(std::future::ready(1))));
        let array = run(lib::future::join_all([std::future::ready('x'), std::future::ready('y')]));
        (pairs, option, array)
    }
    joins_with_names => {
        struct Pending<F: Future> {
            all: lib::future::JoinAll<F>,
            tried: lib::future::TryJoinAll<std::future::Ready<Result<u8, u8>>>,
        }
        let pending = Pending {
            all: (0..3).map(|n| async move { n }).collect(),
            tried: [Ok(1), Err(2)].map(std::future::ready).into_iter().collect(),
        };
        (run(pending.all), run(pending.tried))
    }
    combined_with_others => {
        use lib::{FutureExt as _, TryFutureExt as _};
        let doubled = lib::future::join_all((0..3).map(|n| async move { n })).map(|all| all.len() * 2);
        let tried = lib::future::try_join_all([std::future::ready(Err::<u8, u8>(7))]).map_err(|n| n + 1);
        let (doubled, tried) = run(lib::future::join(doubled, tried));
        let now = lib::future::join_all([std::future::ready(1)]).now_or_never();
        let later = lib::future::join_all([std::future::pending::<()>()]).now_or_never();
        (doubled, tried, now, later)
    }
    joined_by_macros => {
        run(async {
            let (one, two) = lib::join!(
                lib::future::join_all([wait(3), wait(1)]),
                lib::future::try_join_all([std::future::ready(Ok::<u8, u8>(1))])
            );
            (one, two)
        })
    }
    the_first_of_two_joins => {
        run(async {
            let slow = pin!(lib::future::join_all([wait(9), wait(2)]));
            let fast = pin!(lib::future::join_all([wait(1), wait(3)]));
            match lib::future::select(slow, fast).await {
                lib::future::Either::Left(_) => "slow",
                lib::future::Either::Right(_) => "fast",
            }
        })
    }
    joins_that_are_cancelled => {
        let log = Log::default();
        let work = |n: usize| {
            let guard = Dropped(n, &log);
            async move {
                wait(n * 3).await;
                guard.1.borrow_mut().push(format!("done {}", guard.0));
            }
        };
        let mut join = Box::pin(lib::future::join_all((1..4).map(work)));
        for _ in 0..4 {
            assert!(join.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        log.borrow_mut().push("cancelled".to_owned());
        drop(join);
        drop(lib::future::join_all((4..6).map(work)));
        drop(lib::future::try_join_all((6..8).map(|n| {
            let work = work(n);
            async move {
                work.await;
                Ok::<(), ()>(())
            }
        })));
        log.into_inner()
    }
    a_panic_in_one_branch => {
        let log = Log::default();
        let done = catch_unwind(AssertUnwindSafe(|| {
            run(lib::future::join_all((0..4).map(|n| {
                let guard = Dropped(n, &log);
                async move {
                    wait(n).await;
                    assert!(n != 2, "branch {}", guard.0);
                    guard
                }
            })))
            .len()
        }));
        let message = done.unwrap_err().downcast_ref::<String>().cloned();
        (message, log.into_inner())
    }
    a_panic_among_many_branches => {
        let log = Log::default();
        let done = catch_unwind(AssertUnwindSafe(|| {
            run(lib::future::try_join_all((0..40).map(|n| {
                let guard = Dropped(n, &log);
                async move {
                    wait(n % 5).await;
                    assert!(n != 33, "branch {}", guard.0);
                    Ok::<_, ()>(guard)
                }
            })))
            .map(|all| all.len())
        }));
        let mut log = log.into_inner();
        log.sort_unstable();
        (done.is_err(), log)
    }
    a_panic_that_is_caught_in_its_branch => {
        use lib::FutureExt as _;
        run(lib::future::join_all((0..3).map(|n| {
            AssertUnwindSafe(async move {
                assert!(n != 1, "branch");
                n
            })
            .catch_unwind()
            .map(Result::ok)
        })))
    }
    streams => {
        use lib::{StreamExt as _, TryStreamExt as _};
        let text = String::from("abc");
        run(async {
            let lengths: Vec<usize> = lib::stream::iter(0..3)
                .map(|n| {
                    let text = &text;
                    async move { text.len() + n }
                })
                .buffered(2)
                .collect()
                .await;
            let mut unordered: Vec<usize> = lib::stream::iter(0..3)
                .map(|n| async move {
                    wait(3 - n).await;
                    n
                })
                .buffer_unordered(3)
                .collect()
                .await;
            let failed: Result<Vec<usize>, String> = lib::stream::iter(0..3)
                .map(|n| async move { if n == 1 { Err(n.to_string()) } else { Ok(n) } })
                .buffered(2)
                .try_collect()
                .await;
            let joins: Vec<Vec<usize>> = lib::stream::iter(1..3)
                .then(|n| lib::future::join_all((0..n).map(|m| async move { m })))
                .collect()
                .await;
            unordered.sort_unstable();
            (lengths, unordered, failed, joins)
        })
    }
    unordered_futures_of_joins => {
        use lib::StreamExt as _;
        let all: lib::stream::FuturesUnordered<_> = (1..4)
            .map(|n| {
                lib::future::join_all((0..n).map(move |m| async move {
                    wait(n * 2).await;
                    m
                }))
            })
            .collect();
        run(all.collect::<Vec<_>>()).into_iter().map(|all| all.len()).sum::<usize>()
    }
    names_from_the_prelude => {
        use lib::prelude::*;
        run(future::join_all([future::ready(1), future::ready(2)]).map(|all| all.len()))
    }
    recursion => {
        fn depth(n: usize) -> lib::future::LocalBoxFuture<'static, usize> {
            Box::pin(async move {
                if n == 0 {
                    return 1;
                }
                lib::future::join_all([depth(n - 1), depth(n - 1)]).await.into_iter().sum()
            })
        }
        run(depth(5))
    }
    closures_and_generic_functions => {
        async fn each<T, F, W>(items: Vec<T>, work: F) -> Vec<W::Output>
        where
            F: Fn(T) -> W,
            W: Future,
        {
            lib::future::join_all(items.into_iter().map(work)).await
        }
        let offset = 10;
        run(each(vec![1, 2], |n| async move { n + offset }))
    }
}
