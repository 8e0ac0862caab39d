//! The trials: loads around the capacity, and failures under load.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use end_to_end::fault_proxy::Fault;
use rustix::process::Signal;

use crate::Checked;
use crate::client::http;
use crate::load::Load;
use crate::proxy::NOTICES;
use crate::replica::Plan;
use crate::scene::{NAMES, Scene};
use crate::tally::{HEAD, Killed, Tally};

/// Executions that are in progress while the capacity is measured: as many as run in all replicas, and some that wait.
const AT_ONCE: usize = 12;
/// Load during failures, relative to the capacity.
const MODERATE: f64 = 0.5;
/// The delay that a slow store adds to each part of an answer.
const SLOW: Duration = Duration::from_millis(300);
/// Size of the file system that becomes full.
const DISK: &str = "1g";
/// The clock that goes wrong: by 5 minutes, and the least deviation that counts as such.
const WRONG_CLOCK: &str = "-5m";
const DEVIATION: Duration = Duration::from_secs(240);

/// The trials of one run.
pub(crate) struct Trials {
    pub(crate) scene: Scene,
    /// Time of each load.
    pub(crate) time: Duration,
    /// Names of the trials to make; all if it is empty.
    pub(crate) only: Vec<String>,
    /// The library that changes the clock of a program.
    pub(crate) faketime: Option<PathBuf>,
    /// Executions per second at the capacity.
    pub(crate) capacity: f64,
    pub(crate) tallies: Vec<Tally>,
}

impl Trials {
    /// Makes all of them; returns what must not happen.
    pub(crate) async fn run(&mut self) -> Checked<Vec<String>> {
        self.warm_up().await?;
        println!("{HEAD}");
        self.measure_capacity().await;
        for (name, factor) in
            [("0.5 × capacity", 0.5), ("1 × capacity", 1.0), ("2 × capacity", 2.0), ("10 × capacity", 10.0)]
        {
            if self.wants(name) {
                self.load(name, factor).await;
            }
        }
        self.failures().await?;
        self.summary();
        Ok(self.tallies.iter_mut().flat_map(|tally| std::mem::take(&mut tally.wrong)).collect())
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.contains(only.as_str()))
    }

    /// Compiles the repeated texts.
    async fn warm_up(&mut self) -> Checked<()> {
        for replica in self.scene.replicas.iter().flatten() {
            eprintln!("{} was ready after {} ms", replica.plan.name, replica.ready_after.as_millis());
        }
        for _ in NAMES {
            let samples = self.scene.clients.in_turn(self.scene.clients.mix.repeats()).await;
            let bad = samples.iter().find(|sample| sample.seen.ending != crate::client::Ending::Good);
            if let Some(bad) = bad {
                let logs: String =
                    self.scene.replicas.iter().flatten().map(crate::replica::Replica::log).collect();
                return Err(format!("a repeated text fails: {bad:?}\n{logs}"));
            }
        }
        Ok(())
    }

    async fn measure_capacity(&mut self) {
        let load = self.scene.clients.keep(AT_ONCE, self.time).await;
        let tally = Tally::of(&format!("{AT_ONCE} at a time"), &load, &self.scene.upstream.effects(), None);
        println!("{}", tally.row());
        if self.capacity == 0.0 {
            self.capacity = tally.goodput;
        }
        self.tallies.push(tally);
    }

    /// Sends a load, relative to the capacity.
    async fn load(&mut self, name: &str, factor: f64) {
        let before = self.scene.server.requests().len();
        let load = self.scene.clients.send(factor * self.capacity, self.time).await;
        self.report(name, &load, None);
        let requests = self.scene.server.requests();
        let about = |method: &str| {
            let requests = requests.iter().skip(before).filter(|line| line.contains("/programs-v1/"));
            requests.filter(|line| line.starts_with(method)).count()
        };
        let compiled = load.samples.iter().filter(|sample| sample.seen.compiled).count();
        let (read, written, deleted) = (about("GET"), about("PUT"), about("DELETE"));
        eprintln!(
            "{name}: {compiled} texts compiled; requests to the store about programs: {read} GET, {written} PUT, {deleted} \
             DELETE"
        );
    }

    /// Prints the row of a load.
    fn report(&mut self, name: &str, load: &Load, killed: Option<Killed>) {
        let tally = Tally::of(name, load, &self.scene.upstream.effects(), killed);
        println!("{}", tally.row());
        self.tallies.push(tally);
    }

    async fn failures(&mut self) -> Checked<()> {
        if self.wants("kill") {
            self.kill().await?;
        }
        if self.wants("drain") {
            self.drain().await?;
        }
        for (name, fault) in [("store down", Fault::Reset), ("store slow", Fault::Latency(SLOW))] {
            if self.wants(name) {
                self.scene.store.set(fault);
                self.load(name, MODERATE).await;
                self.scene.store.set(Fault::None);
            }
        }
        if self.wants("keys rotated") {
            self.rotate().await?;
        }
        if self.wants("server hung") {
            self.hang().await?;
        }
        if self.wants("clock") {
            self.clock().await?;
        }
        if self.wants("disk") {
            self.disk().await?;
        }
        Ok(())
    }

    async fn kill(&mut self) -> Checked<()> {
        let (third, lost) = (self.time / 3, self.scene.take(0)?);
        let clients = &self.scene.clients;
        let kill = async {
            tokio::time::sleep(third).await;
            let at = Instant::now();
            lost.signal(Signal::KILL);
            lost.ended().await.map(|(plan, _)| (plan, Killed { replica: NAMES[0], at }))
        };
        let (load, killed) = tokio::join!(clients.send(MODERATE * self.capacity, self.time), kill);
        let (plan, killed) = killed?;
        self.report("kill −9 of a replica", &load, Some(killed));
        self.renew(0, plan).await
    }

    /// Starts a replica again, as a new machine: with an empty cache.
    async fn renew(&mut self, index: usize, plan: Plan) -> Checked<()> {
        std::fs::remove_dir_all(plan.cache()).map_err(|error| error.to_string())?;
        let replica = plan.start().await?;
        let missing = replica.metric("toolsmith_cache_lookups_total{source=\"missing\"}").await;
        let compiled =
            missing.map_or_else(String::new, |missing| format!("; entries built for that: {missing}"));
        eprintln!("{} was ready again after {} ms{compiled}", NAMES[index], replica.ready_after.as_millis());
        self.scene.replicas[index] = Some(replica);
        tokio::time::sleep(NOTICES).await;
        Ok(())
    }

    async fn drain(&mut self) -> Checked<()> {
        let (third, leaving) = (self.time / 3, self.scene.take(1)?);
        let drain = async {
            tokio::time::sleep(third).await;
            leaving.signal(Signal::TERM);
            leaving.ended().await
        };
        let (load, ended) = tokio::join!(self.scene.clients.send(MODERATE * self.capacity, self.time), drain);
        let (plan, is_success) = ended?;
        let mut tally = Tally::of("SIGTERM to a replica", &load, &self.scene.upstream.effects(), None);
        if !is_success {
            tally.wrong.push("SIGTERM: the replica did not end with success".to_owned());
        }
        println!("{}", tally.row());
        self.tallies.push(tally);
        self.renew(1, plan).await
    }

    async fn rotate(&mut self) -> Checked<()> {
        let third = self.time / 3;
        let rotate = async {
            tokio::time::sleep(third).await;
            self.scene.issuer.rotate().await;
            self.scene.log_in().await
        };
        let (load, rotated) =
            tokio::join!(self.scene.clients.send(MODERATE * self.capacity, self.time), rotate);
        rotated?;
        self.report("issuer's keys rotated", &load, None);
        Ok(())
    }

    async fn hang(&mut self) -> Checked<()> {
        let third = self.time / 3;
        let hang = async {
            tokio::time::sleep(third).await;
            self.scene.upstream.hang(true);
            tokio::time::sleep(third).await;
            self.scene.upstream.hang(false);
        };
        let (load, ()) = tokio::join!(self.scene.clients.send(MODERATE * self.capacity, self.time), hang);
        self.report("server hung", &load, None);
        Ok(())
    }

    /// Ends a replica in order, and returns what is needed to start it again.
    async fn stop(&mut self, index: usize) -> Checked<Plan> {
        let replica = self.scene.take(index)?;
        replica.signal(Signal::TERM);
        Ok(replica.ended().await?.0)
    }

    async fn clock(&mut self) -> Checked<()> {
        let Some(library) = &self.faketime else {
            eprintln!("clock: not tried without --faketime LIBRARY");
            return Ok(());
        };
        let launcher = ["env".to_owned(), format!("LD_PRELOAD={}", library.display())];
        let settings = [format!("FAKETIME={WRONG_CLOCK}"), "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned()];
        let clock = launcher.into_iter().chain(settings).collect();
        let plan = self.stop(2).await?;
        self.scene.replicas[2] = Some(Plan { clock, ..plan }.start().await?);
        if !self.has_wrong_clock().await {
            eprintln!("clock: not tried, because the library has no effect on this program (is it static?)");
        } else {
            tokio::time::sleep(NOTICES).await;
            self.load("clock of a replica 5 min slow", MODERATE).await;
        }
        let plan = self.stop(2).await?;
        self.renew(2, Plan { clock: Vec::new(), ..plan }).await
    }

    async fn has_wrong_clock(&self) -> bool {
        let Ok(replica) = self.scene.replica(2) else { return false };
        let answer = http().get(format!("http://{}/readyz", replica.plan.address)).send().await;
        let date =
            answer.ok().and_then(|answer| answer.headers().get("date")?.to_str().ok().map(str::to_owned));
        let shown =
            date.and_then(|date| Command::new("date").args(["--utc", "+%s", "--date", &date]).output().ok());
        let shown = shown.and_then(|shown| String::from_utf8(shown.stdout).ok()?.trim().parse::<u64>().ok());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        shown.is_some_and(|shown| now.as_secs().saturating_sub(shown) > DEVIATION.as_secs())
    }

    async fn disk(&mut self) -> Checked<()> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("disk: not tried, because only root can mount a file system");
            return Ok(());
        }
        let plan = self.stop(2).await?;
        let cache = plan.cache();
        std::fs::remove_dir_all(&cache)
            .and_then(|()| std::fs::create_dir(&cache))
            .map_err(|error| error.to_string())?;
        let mounted = Mounted::new(cache)?;
        self.scene.replicas[2] = Some(plan.start().await?);
        tokio::time::sleep(NOTICES).await;
        let filler = mounted.fill();
        self.load("disk of a replica full", MODERATE).await;
        let _ = std::fs::remove_file(filler);
        let plan = self.stop(2).await?;
        drop(mounted);
        self.renew(2, plan).await
    }

    /// Prints what the table does not show.
    fn summary(&self) {
        let peak = self.tallies.iter().map(|tally| tally.goodput).fold(0.0, f64::max);
        if let Some(tally) = self.tallies.iter().find(|tally| tally.row().contains("10 × capacity")) {
            println!("\nAt 10 × capacity, goodput is {:.0} % of the peak.", 100.0 * tally.goodput / peak);
        }
        for tally in &self.tallies {
            let name = tally.row().split('|').nth(1).unwrap_or_default().trim().to_owned();
            for (reason, count) in &tally.reasons {
                println!("{name}: {count} × {reason}");
            }
            if tally.silent_refusals() > 0 {
                println!("{name}: {} refusals do not say when to try again", tally.silent_refusals());
            }
        }
    }
}

/// A file system in memory, until this is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(folder: PathBuf) -> Checked<Self> {
        let options = format!("size={DISK},mode=0700");
        let status =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&folder).status();
        match status {
            Ok(status) if status.success() => Ok(Mounted(folder)),
            other => Err(format!("can't mount a file system on {}: {other:?}", folder.display())),
        }
    }

    /// Fills it with a file, whose path is returned.
    fn fill(&self) -> PathBuf {
        let file = self.0.join("filler");
        let zeros = std::fs::File::open("/dev/zero").and_then(|mut zeros| {
            std::fs::File::create(&file).and_then(|mut file| std::io::copy(&mut zeros, &mut file))
        });
        // It ends when there is no room left.
        debug_assert!(zeros.is_err());
        file
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
