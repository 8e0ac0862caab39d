use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::contents::{CONTENTS, OWNER};
use super::ledger::Ledger;
use super::{Bucket, Cache, DEFAULT_SIZE, Entry, LAYERS_KEPT, LEAST_SIZE, PROGRAMS_KEPT, eviction};

fn cache() -> (tempfile::TempDir, Cache) {
    cache_of(DEFAULT_SIZE)
}

fn cache_of(size: u64) -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("cache"), size).unwrap();
    (folder, cache)
}

/// Publishes an entry with one file of `bytes` bytes.
fn keep(cache: &Cache, bucket: Bucket, key: &str, (name, bytes): (&str, u64)) -> Entry {
    let built = cache.temporary().unwrap();
    File::create(built.path().join(name)).unwrap().set_len(bytes).unwrap();
    cache.publish(bucket, key, built).unwrap()
}

fn program(cache: &Cache, key: &str, bytes: u64) -> Entry {
    keep(cache, Bucket::Programs, key, ("program", bytes))
}

fn has(cache: &Cache, bucket: Bucket, key: &str) -> bool {
    cache.bucket(bucket).join(key).is_dir()
}

/// Sets the time when an entry was used.
fn used_at(path: &Path, time: SystemTime) {
    File::open(path).unwrap().set_modified(time).unwrap();
}

fn ago(seconds: u64) -> SystemTime {
    SystemTime::now() - Duration::from_secs(seconds)
}

fn temporary(cache: &Cache) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(cache.bucket(Bucket::Temporary)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

const MIB: u64 = 1 << 20;

#[test]
fn an_entry_appears_whole_and_the_first_one_is_kept() {
    let (_folder, cache) = cache();
    assert!(cache.entry(Bucket::Programs, "a").is_none());
    for text in ["first", "second"] {
        let built = cache.temporary().unwrap();
        fs_err::write(built.path().join("program"), text).unwrap();
        cache.publish(Bucket::Programs, "a", built).unwrap();
    }
    let entry = cache.entry(Bucket::Programs, "a").unwrap();
    assert_eq!(fs_err::read_to_string(entry.folder().join("program")).unwrap(), "first");
    assert_eq!(temporary(&cache), Vec::<PathBuf>::new());
}

fn publish(cache: &Cache, text: &str) -> PathBuf {
    let built = cache.temporary().unwrap();
    fs_err::write(built.path().join("program"), text).unwrap();
    fs_err::set_permissions(built.path().join("program"), Permissions::from_mode(0o755)).unwrap();
    fs_err::write(built.path().join("fixes.json"), "[]").unwrap();
    cache.publish(Bucket::Programs, "a", built).unwrap().folder().to_owned()
}

#[test]
fn a_damaged_entry_counts_as_missing_and_is_replaced() {
    type Damage = fn(&Path) -> std::io::Result<()>;
    let damages: [(&str, Damage); 9] = [
        ("cut off", |entry| File::options().write(true).open(entry.join("program"))?.set_len(3)),
        ("empty", |entry| fs_err::write(entry.join("fixes.json"), "")),
        ("longer", |entry| fs_err::write(entry.join("program"), "longer than before")),
        ("missing", |entry| fs_err::remove_file(entry.join("program"))),
        ("mode", |entry| fs_err::set_permissions(entry.join("program"), Permissions::from_mode(0o644))),
        ("no contents", |entry| fs_err::remove_file(entry.join(CONTENTS))),
        ("torn contents", |entry| fs_err::write(entry.join(CONTENTS), "[{")),
        ("no files", |entry| fs_err::remove_dir_all(entry).and_then(|()| fs_err::create_dir(entry))),
        ("a file", |entry| fs_err::remove_dir_all(entry).and_then(|()| fs_err::write(entry, ""))),
    ];
    let (_folder, cache) = cache();
    let found = |cache: &Cache| cache.entry(Bucket::Programs, "a").map(|entry| entry.folder().to_owned());
    let mut entry = publish(&cache, "first");
    for (what, damage) in damages {
        assert_eq!(found(&cache), Some(entry.clone()), "before: {what}");
        damage(&entry).unwrap();
        assert_eq!(found(&cache), None, "{what}");
        entry = publish(&cache, what);
        assert_eq!(fs_err::read_to_string(entry.join("program")).unwrap(), what);
    }
    assert!(found(&cache).is_some());
    cache.discard(Bucket::Programs, "a");
    assert_eq!(found(&cache), None);
    assert!(!entry.exists());
}

#[test]
fn entries_over_the_count_limit_are_evicted_even_if_new() {
    let (_folder, cache) = cache();
    for number in 0..LAYERS_KEPT + 2 {
        let name = number.to_string();
        let entry = keep(&cache, Bucket::Layers, &name, ("index.json", 1));
        used_at(entry.folder(), ago(100 - number as u64));
    }
    let left = (0..LAYERS_KEPT + 2).map(|number| has(&cache, Bucket::Layers, &number.to_string()));
    assert_eq!(left.collect::<Vec<_>>(), [false, false, true, true, true, true]);
}

#[test]
fn entries_in_use_beyond_the_limit_do_not_make_each_publication_evict() {
    let (_folder, cache) = cache();
    let publish = |number: usize| keep(&cache, Bucket::Layers, &number.to_string(), ("index.json", 1));
    let usage = || Ledger::lock(cache.folder()).unwrap().read().unwrap();
    let mut held: Vec<Entry> = (0..10 * LAYERS_KEPT).map(publish).collect();
    let after_eviction = usage().in_use(Bucket::Layers);
    assert!(after_eviction > LAYERS_KEPT);
    // A stray entry shows whether the bucket was walked.
    fs_err::create_dir(cache.bucket(Bucket::Layers).join("stray")).unwrap();
    let before = usage().of(Bucket::Layers).entries;
    held.push(publish(10 * LAYERS_KEPT));
    assert_eq!(usage().of(Bucket::Layers).entries, before + 1);
    // Once they are released, the next eviction goes down to the limit.
    held.clear();
    (0..LAYERS_KEPT * 2).for_each(|number| drop(publish(100 + number)));
    assert!(usage().of(Bucket::Layers).entries <= LAYERS_KEPT && usage().in_use(Bucket::Layers) == 0);
}

#[test]
fn a_bucket_over_its_bytes_evicts_the_least_recently_used() {
    // Programs may take 16 MiB.
    let (_folder, cache) = cache_of(LEAST_SIZE);
    for number in 0..5 {
        let entry = program(&cache, &number.to_string(), 3 * MIB);
        used_at(entry.folder(), ago(100 - number));
    }
    assert!(has(&cache, Bucket::Programs, "0"));
    // Use counts like publication.
    drop(cache.entry(Bucket::Programs, "0").unwrap());
    program(&cache, "5", 3 * MIB);
    let left: Vec<bool> = (0..6).map(|number| has(&cache, Bucket::Programs, &number.to_string())).collect();
    assert_eq!(left, [true, false, false, true, true, true]);
    assert!(eviction::count(cache.folder()).of(Bucket::Programs).bytes <= Bucket::Programs.share(LEAST_SIZE));
}

#[test]
fn held_entries_are_never_evicted() {
    let (_folder, cache) = cache_of(LEAST_SIZE);
    let other = Cache::open(cache.folder(), LEAST_SIZE).unwrap();
    let held = program(&other, "held", 3 * MIB);
    used_at(held.folder(), ago(90_000));
    for number in 0..20 {
        program(&cache, &number.to_string(), 3 * MIB);
    }
    assert!(cache.entry(Bucket::Programs, "held").is_some());
    assert!(held.is_in_place());
    drop(held);
    used_at(&cache.bucket(Bucket::Programs).join("held"), ago(90_000));
    for number in 20..26 {
        program(&cache, &number.to_string(), 3 * MIB);
    }
    assert!(!has(&cache, Bucket::Programs, "held"), "it is no longer held");
}

#[test]
fn a_layer_over_the_budget_stays_until_another_is_used() {
    let (_folder, cache) = cache_of(LEAST_SIZE);
    let layer = keep(&cache, Bucket::Layers, "layer", ("lib.rlib", LEAST_SIZE + MIB));
    assert_eq!(cache.too_small_for(&layer).map(|(budget, _)| budget), Some(LEAST_SIZE));
    for number in 0..3 {
        let held = program(&cache, &number.to_string(), MIB);
        assert!(held.is_in_place(), "just published, so in use");
    }
    assert!(layer.is_in_place());
    // There is no room for anything else.
    assert_eq!(eviction::count(cache.folder()).of(Bucket::Programs).entries, 1);
    // Every run holds the most recently used layer; a layer that is no longer used is evicted.
    drop(layer);
    program(&cache, "last", MIB);
    assert!(has(&cache, Bucket::Layers, "layer"));
    let next = keep(&cache, Bucket::Layers, "next", ("lib.rlib", LEAST_SIZE));
    assert!(!has(&cache, Bucket::Layers, "layer") && next.is_in_place());
}

#[test]
fn a_program_that_is_too_large_is_used_but_not_kept() {
    let (_folder, cache) = cache_of(LEAST_SIZE);
    let entry = program(&cache, "large", 5 * MIB);
    assert!(entry.folder().join("program").is_file());
    assert!(cache.entry(Bucket::Programs, "large").is_none());
    // A new process does not treat it as abandoned.
    Cache::open(cache.folder(), LEAST_SIZE).unwrap();
    assert!(entry.folder().join("program").is_file());
    let folder = entry.folder().to_owned();
    drop(entry);
    assert!(!folder.exists());
    assert_eq!(cache.used(), eviction::count(cache.folder()).of(Bucket::CargoHome).bytes);
}

#[test]
fn a_reduced_budget_applies_at_the_next_publication() {
    let (_folder, cache) = cache();
    for number in 0..8 {
        program(&cache, &number.to_string(), 4 * MIB);
    }
    cache.resize(LEAST_SIZE);
    program(&cache, "next", MIB);
    assert!(cache.used() <= LEAST_SIZE && has(&cache, Bucket::Programs, "next"));
    assert!(eviction::count(cache.folder()).of(Bucket::Programs).bytes <= Bucket::Programs.share(LEAST_SIZE));
}

#[test]
fn one_server_leaves_room_for_the_bindings_of_others() {
    // Bindings may take 16 MiB, those of one server 4 MiB.
    let (_folder, cache) = cache_of(LEAST_SIZE);
    let other = keep(&cache, Bucket::Bindings, "other", ("libother.rlib", MIB));
    used_at(other.folder(), ago(90_000));
    drop(other);
    for number in 0..40 {
        keep(&cache, Bucket::Bindings, &number.to_string(), ("libgreedy.rlib", MIB));
    }
    assert!(has(&cache, Bucket::Bindings, "other"));
    let usage = eviction::count(cache.folder());
    assert!(usage.owner("greedy").bytes <= 4 * MIB, "{usage:?}");
    assert!(usage.owner("greedy").entries > 0, "{usage:?}");
}

#[test]
fn one_subject_leaves_room_for_the_programs_of_others() {
    let (_folder, cache) = cache();
    let owned = |key: &str, subject: &str| {
        let file = format!("{OWNER}{subject}");
        keep(&cache, Bucket::Programs, key, (&file, 0))
    };
    let other = owned("other", "bob");
    used_at(other.folder(), ago(90_000));
    drop(other);
    for number in 0..PROGRAMS_KEPT + 40 {
        owned(&number.to_string(), "ann");
    }
    assert!(has(&cache, Bucket::Programs, "other"));
    let usage = eviction::count(cache.folder());
    let taken = usage.owner("owner-ann");
    assert!((1..=PROGRAMS_KEPT / 4).contains(&taken.entries), "{usage:?}");
}

#[test]
fn entries_from_the_future_are_evicted_first() {
    let (_folder, cache) = cache_of(LEAST_SIZE);
    for number in 0..5 {
        let entry = program(&cache, &format!("future-{number}"), 3 * MIB);
        used_at(entry.folder(), SystemTime::now() + Duration::from_secs(90_000));
    }
    for number in 0..4 {
        program(&cache, &number.to_string(), 3 * MIB);
    }
    assert!((0..4).all(|number| has(&cache, Bucket::Programs, &number.to_string())));
    assert!(eviction::count(cache.folder()).of(Bucket::Programs).bytes <= Bucket::Programs.share(LEAST_SIZE));
}

#[test]
fn abandoned_folders_are_swept_and_live_ones_stay() {
    let (_folder, cache) = cache();
    let living = cache.temporary().unwrap();
    let dead = cache.bucket(Bucket::Temporary).join("build-dead");
    fs_err::create_dir_all(&dead).unwrap();
    fs_err::write(dead.join("program"), "half").unwrap();
    let file = cache.bucket(Bucket::Temporary).join("file");
    fs_err::write(&file, "half").unwrap();
    Cache::open(cache.folder(), DEFAULT_SIZE).unwrap();
    assert_eq!(temporary(&cache), [living.path()]);
}

#[test]
fn publishing_updates_the_ledger_without_a_walk() {
    let (_folder, cache) = cache();
    program(&cache, "first", MIB);
    let counted = |cache: &Cache| Ledger::lock(cache.folder()).unwrap().read().unwrap();
    assert_eq!(counted(&cache), eviction::count(cache.folder()));
    // Another entry, which a walk would count.
    let stray = cache.bucket(Bucket::Programs).join("stray");
    fs_err::create_dir(&stray).unwrap();
    program(&cache, "second", MIB);
    assert_eq!(counted(&cache).of(Bucket::Programs).entries, 2);
    // A damaged ledger is rewritten.
    fs_err::write(cache.folder().join("usage.json"), "{\"published\":").unwrap();
    program(&cache, "third", MIB);
    assert_eq!(counted(&cache), eviction::count(cache.folder()));
    assert_eq!(counted(&cache).of(Bucket::Programs).entries, 4);
}

#[test]
fn a_replaced_file_counts_with_its_new_size() {
    let (_folder, cache) = cache();
    cache.write(Bucket::Catalogs, "list", b"short").unwrap();
    cache.write(Bucket::Catalogs, "list", &vec![b'x'; 100_000]).unwrap();
    assert_eq!(
        Ledger::lock(cache.folder()).unwrap().read().unwrap().of(Bucket::Catalogs),
        eviction::count(cache.folder()).of(Bucket::Catalogs)
    );
    assert_eq!(cache.read(Bucket::Catalogs, "list").unwrap().len(), 100_000);
    // A file that is too large removes the outdated one.
    cache.resize(LEAST_SIZE);
    cache.write(Bucket::Catalogs, "list", &vec![b'x'; 2 << 20]).unwrap();
    assert_eq!(cache.read(Bucket::Catalogs, "list"), None);
}

#[test]
fn concurrent_publishing_use_and_eviction_is_safe() {
    const THREADS: usize = 4;
    let (_folder, cache) = cache_of(LEAST_SIZE);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            // Each thread acts as a process: they share only the folder.
            let cache = Cache::open(cache.folder(), LEAST_SIZE).unwrap();
            scope.spawn(move || {
                for number in 0..40 {
                    // Half of the keys are shared.
                    let key =
                        if number % 2 == 0 { format!("{number}") } else { format!("{thread}-{number}") };
                    let published = program(&cache, &key, MIB);
                    assert!(published.folder().join("program").is_file(), "{key}");
                    for other in 0..number {
                        let Some(entry) = cache.entry(Bucket::Programs, &other.to_string()) else { continue };
                        assert!(entry.folder().join("program").is_file() && entry.is_in_place(), "{other}");
                    }
                }
            });
        }
    });
    let counted = Ledger::lock(cache.folder()).unwrap().read().unwrap();
    assert_eq!(counted.of(Bucket::Programs), eviction::count(cache.folder()).of(Bucket::Programs));
    assert!(cache.used() <= LEAST_SIZE);
    assert_eq!(temporary(&cache), Vec::<PathBuf>::new());
}

#[test]
fn holders_notice_a_deleted_cache() {
    let (_folder, cache) = cache();
    let entry = program(&cache, "a", 1);
    assert!(entry.is_in_place());
    fs_err::remove_dir_all(cache.folder()).unwrap();
    assert!(!entry.is_in_place());
    cache.create().unwrap();
    assert!(!program(&cache, "a", 1).folder().as_os_str().is_empty() && !entry.is_in_place());
}

#[test]
fn entries_of_a_store_are_found_first_and_never_change() {
    let (_folder, store) = cache();
    let (_other, cache) = cache_of(DEFAULT_SIZE);
    let bundled = keep(&store, Bucket::Layers, "both", ("index.json", 1)).folder().to_owned();
    keep(&store, Bucket::Programs, "program", ("program", 1));
    keep(&cache, Bucket::Layers, "both", ("index.json", 1));
    let own = keep(&cache, Bucket::Bindings, "own", ("libone.rlib", 1)).folder().to_owned();
    let long_ago = ago(90_000);
    used_at(&bundled, long_ago);
    let cache = cache.with_store(store.folder().to_owned());
    let found = cache.entry(Bucket::Layers, "both").unwrap();
    found.touch();
    assert_eq!(found.folder(), bundled);
    assert_eq!(fs_err::metadata(&bundled).unwrap().modified().unwrap(), long_ago);
    assert_eq!(cache.entry(Bucket::Bindings, "own").unwrap().folder(), own);
    // A bundle has no programs.
    assert!(cache.entry(Bucket::Programs, "program").is_none());
    // A damaged entry of the store does not hide the cache's own.
    File::options().write(true).open(bundled.join("index.json")).unwrap().set_len(0).unwrap();
    assert!(cache.entry(Bucket::Layers, "both").unwrap().folder().starts_with(cache.folder()));
}
