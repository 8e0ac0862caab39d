use super::*;
use crate::cache::{Bucket, Cache, DEFAULT_SIZE};

/// A spare compiler that is no process.
#[derive(Debug, PartialEq)]
struct Fake {
    libraries: Vec<Library>,
    is_usable: bool,
}

impl Spare for Fake {
    fn is_for(&self, libraries: &[Library]) -> bool {
        self.libraries == libraries
    }

    fn is_usable(&mut self) -> bool {
        self.is_usable
    }
}

/// Bindings of two modules, `a` and `b`, in a cache.
fn bindings(cache: &Cache) -> [Vec<Library>; 2] {
    ["a", "b"].map(|module| {
        let entry = cache.publish(Bucket::Bindings, module, cache.temporary().unwrap()).unwrap();
        vec![Library::new(module, entry)]
    })
}

fn cache(folder: &tempfile::TempDir) -> Cache {
    Cache::open(folder.path(), DEFAULT_SIZE).unwrap()
}

fn fake(libraries: &[Library]) -> Fake {
    Fake { libraries: libraries.to_vec(), is_usable: true }
}

/// Starts what is missing; returns the modules of what there is then, and the number of removed ones.
fn refill(pool: &mut Pool<Fake>, limit: usize) -> (Vec<String>, usize) {
    let mut ended = 0;
    for _ in 0..100 {
        let (removed, missing) = pool.prune(limit);
        ended += removed.len();
        let Some(libraries) = missing else {
            return (pool.spares.iter().map(modules).collect(), ended);
        };
        assert_eq!(pool.add(fake(&libraries)), None);
    }
    panic!("there is always another one missing")
}

fn modules(spare: &Fake) -> String {
    spare.libraries.iter().map(|library| library.module.as_str()).collect()
}

fn all(modules: &[&str], ended: usize) -> (Vec<String>, usize) {
    (modules.iter().map(ToString::to_string).collect(), ended)
}

#[test]
fn there_are_compilers_for_the_latest_bindings_and_for_none_if_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = bindings(&cache(&folder));
    let mut pool = Pool::default();
    assert_eq!(refill(&mut pool, 2), all(&[], 0), "before the first snippet");
    pool.note_use(&a);
    assert_eq!(refill(&mut pool, 2), all(&["a", ""], 0));
    pool.note_use(&b);
    assert_eq!(refill(&mut pool, 2), all(&["a", "b"], 1));
    pool.note_use(&[]);
    assert_eq!(refill(&mut pool, 2), all(&["b", ""], 1));
    pool.note_use(&b);
    assert_eq!(refill(&mut pool, 2), all(&["b", ""], 0), "no second one for the same bindings");
    assert_eq!(refill(&mut pool, 3), all(&["b", "", "a"], 0));
}

#[test]
fn the_limit_holds() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = bindings(&cache(&folder));
    let mut pool = Pool::default();
    pool.note_use(&a);
    pool.note_use(&b);
    assert_eq!(refill(&mut pool, 2), all(&["b", "a"], 0));
    assert_eq!(refill(&mut pool, 1), all(&["b"], 1));
    assert_eq!(refill(&mut pool, 0), all(&[], 1));
}

#[test]
fn an_unusable_compiler_is_replaced() {
    let mut pool = Pool::default();
    pool.note_use(&[]);
    assert_eq!(refill(&mut pool, 2), all(&[""], 0));
    pool.spares[0].is_usable = false;
    assert_eq!(refill(&mut pool, 2), all(&[""], 1));
    assert!(pool.spares[0].is_usable);
}

#[test]
fn a_closed_pool_accepts_no_compiler() {
    let mut pool = Pool { is_closed: true, ..Pool::default() };
    pool.note_use(&[]);
    assert_eq!(pool.prune(2), (Vec::new(), None));
    assert_eq!(pool.add(fake(&[])), Some(fake(&[])));
}

#[test]
fn the_remembered_bindings_have_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(&folder);
    let mut pool: Pool<Fake> = Pool::default();
    for number in 0..SETS * 2 {
        let name = format!("module{number}");
        let entry = cache.publish(Bucket::Bindings, &name, cache.temporary().unwrap()).unwrap();
        pool.note_use(&[Library::new(&name, entry)]);
    }
    assert_eq!(pool.sets.len(), SETS);
    assert_eq!(pool.sets[0][0].module, format!("module{}", SETS * 2 - 1));
}
