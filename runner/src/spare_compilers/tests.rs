use super::*;
use crate::cache::DEFAULT_SIZE;

/// A spare compiler that is no process.
#[derive(Debug, PartialEq)]
struct Fake {
    bindings: BindingKeys,
    is_usable: bool,
}

impl Spare for Fake {
    fn is_for(&self, bindings: &[(String, String)]) -> bool {
        self.bindings == bindings
    }

    fn is_usable(&mut self) -> bool {
        self.is_usable
    }
}

/// Bindings of one module.
fn bindings(module: &str) -> BindingKeys {
    vec![(module.to_owned(), format!("key of {module}"))]
}

fn fake(bindings: &[(String, String)]) -> Fake {
    Fake { bindings: bindings.to_vec(), is_usable: true }
}

/// Starts what is missing; returns the modules of what there is then, and the number of removed ones.
fn refill(pool: &mut Pool<Fake>, limit: usize) -> (Vec<String>, usize) {
    let mut ended = 0;
    for _ in 0..100 {
        let (removed, missing) = pool.prune(limit);
        ended += removed.len();
        let Some(bindings) = missing else {
            return (pool.spares.iter().map(modules).collect(), ended);
        };
        assert_eq!(pool.add(fake(&bindings)), None);
    }
    panic!("there is always another one missing")
}

fn modules(spare: &Fake) -> String {
    spare.bindings.iter().map(|(module, _)| module.as_str()).collect()
}

fn all(modules: &[&str], ended: usize) -> (Vec<String>, usize) {
    (modules.iter().map(ToString::to_string).collect(), ended)
}

#[test]
fn there_are_compilers_for_the_latest_bindings_and_for_none_if_there_is_room() {
    let mut pool = Pool::default();
    assert_eq!(refill(&mut pool, 2), all(&[], 0), "before the first snippet");
    pool.note_use(bindings("a"));
    assert_eq!(refill(&mut pool, 2), all(&["a", ""], 0));
    pool.note_use(bindings("b"));
    assert_eq!(refill(&mut pool, 2), all(&["a", "b"], 1));
    pool.note_use(Vec::new());
    assert_eq!(refill(&mut pool, 2), all(&["b", ""], 1));
    pool.note_use(bindings("b"));
    assert_eq!(refill(&mut pool, 2), all(&["b", ""], 0), "no second one for the same bindings");
    assert_eq!(refill(&mut pool, 3), all(&["b", "", "a"], 0));
}

#[test]
fn the_limit_holds() {
    let mut pool = Pool::default();
    pool.note_use(bindings("a"));
    pool.note_use(bindings("b"));
    assert_eq!(refill(&mut pool, 2), all(&["b", "a"], 0));
    assert_eq!(refill(&mut pool, 1), all(&["b"], 1));
    assert_eq!(refill(&mut pool, 0), all(&[], 1));
}

#[test]
fn an_unusable_compiler_is_replaced() {
    let mut pool = Pool::default();
    pool.note_use(Vec::new());
    assert_eq!(refill(&mut pool, 2), all(&[""], 0));
    pool.spares[0].is_usable = false;
    assert_eq!(refill(&mut pool, 2), all(&[""], 1));
    assert!(pool.spares[0].is_usable);
}

#[test]
fn a_closed_pool_accepts_no_compiler() {
    let mut pool = Pool { is_closed: true, ..Pool::default() };
    pool.note_use(Vec::new());
    assert_eq!(pool.prune(2), (Vec::new(), None));
    assert_eq!(pool.add(fake(&[])), Some(fake(&[])));
}

#[test]
fn the_remembered_bindings_have_a_bound() {
    let mut pool: Pool<Fake> = Pool::default();
    for number in 0..MAX_SETS * 2 {
        pool.note_use(bindings(&format!("module{number}")));
    }
    assert_eq!(pool.sets.len(), MAX_SETS);
    assert_eq!(pool.sets[0], bindings(&format!("module{}", MAX_SETS * 2 - 1)));
}

/// Bindings of one module in a cache, as a snippet uses them.
fn published(cache: &Cache, module: &str) -> Vec<Library> {
    let entry = cache.publish(Bucket::Bindings, module, cache.temporary().unwrap()).unwrap();
    vec![Library::new(module, entry)]
}

/// Whether eviction and `toolsmith cache` may remove the bindings of this module (flock(2)).
fn is_free(cache: &Cache, module: &str) -> bool {
    let folder = std::fs::File::open(cache.bucket(Bucket::Bindings).join(module)).unwrap();
    folder.try_lock().is_ok()
}

#[test]
fn remembered_bindings_are_held_only_for_a_spare_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), DEFAULT_SIZE).unwrap();
    let spares = SpareCompilers::new(cache.clone());
    spares.note_use(&published(&cache, "a"));
    assert!(is_free(&cache, "a"), "no spare compiler waits");
    let missing = spares.prune_to(1).unwrap();
    assert_eq!(missing[0].module, "a");
    assert!(!is_free(&cache, "a"), "a spare compiler is being started");
}

#[test]
fn evicted_bindings_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), DEFAULT_SIZE).unwrap();
    let spares = SpareCompilers::new(cache.clone());
    for module in ["a", "b"] {
        spares.note_use(&published(&cache, module));
    }
    cache.discard(Bucket::Bindings, "b");
    assert_eq!(spares.prune_to(1).unwrap()[0].module, "a");
    cache.discard(Bucket::Bindings, "a");
    assert_eq!(spares.prune_to(1), None, "there are no bindings");
}
