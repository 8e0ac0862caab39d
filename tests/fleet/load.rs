//! Sends executions: so many at a time, or at a rate that does not depend on the answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _};
use tokio::task::JoinSet;

use crate::client::{Client, Seen};
use crate::mix::{Mix, Work};

/// An execution and what its client saw of it.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) work: Work,
    pub(crate) seen: Seen,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

/// The samples of one load.
pub(crate) struct Load {
    /// The number of executions sent per second; 0 if that depended on the answers.
    pub(crate) rate: f64,
    pub(crate) began: Instant,
    pub(crate) time: Duration,
    pub(crate) samples: Vec<Sample>,
}

/// The clients, which take turns.
pub(crate) struct Clients {
    pub(crate) all: Vec<Arc<Client>>,
    pub(crate) next: AtomicUsize,
    pub(crate) mix: Mix,
}

async fn sample(client: Arc<Client>, work: Work) -> Sample {
    let began = Instant::now();
    let seen = client.execute(&work).await;
    Sample { work, seen, began, ended: Instant::now() }
}

impl Clients {
    fn client(&self) -> Arc<Client> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.all[next % self.all.len()].clone()
    }

    /// Sends these executions, one after the other.
    pub(crate) async fn in_turn(&self, works: Vec<Work>) -> Vec<Sample> {
        let mut samples = Vec::new();
        for work in works {
            samples.push(sample(self.client(), work).await);
        }
        samples
    }

    /// Keeps `at_once` executions going for this time, and waits for their answers.
    pub(crate) async fn keep(&self, at_once: usize, time: Duration) -> Load {
        let began = Instant::now();
        let works = stream::iter(std::iter::from_fn(|| {
            (began.elapsed() < time).then(|| stream::iter(self.mix.next()))
        }));
        let sent = works.flatten().map(|work| sample(self.client(), work));
        let samples = sent.buffer_unordered(at_once).collect().await;
        Load { rate: 0.0, began, time, samples }
    }

    /// Sends `rate` executions per second for this time, and waits for their answers.
    pub(crate) async fn send(&self, rate: f64, time: Duration) -> Load {
        let began = Instant::now();
        let (mut sent, mut going) = (0_u32, JoinSet::new());
        loop {
            let due = Duration::from_secs_f64(f64::from(sent) / rate);
            if due >= time {
                break;
            }
            tokio::time::sleep_until((began + due).into()).await;
            for work in self.mix.next() {
                going.spawn(sample(self.client(), work));
                sent += 1;
            }
        }
        let samples = going.join_all().await;
        Load { rate, began, time, samples }
    }
}
