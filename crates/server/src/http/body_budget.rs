//! Limits the bytes of requests that are held, in all and for one holder: a body that arrives slowly is held for a minute.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::holder::Holder;

/// Maximum size of a request, in bytes (4 MiB): snippets are far smaller.
pub const BODY_LIMIT: usize = 4 << 20;

/// Limits in bytes: 32 of the longest requests in all (128 MiB), 16 of one holder.
pub(crate) const IN_ALL: usize = 32 * BODY_LIMIT;
pub(super) const OF_HOLDER: usize = IN_ALL / 2;

/// The bytes that are held, by holder.
#[derive(Debug, Clone, Default)]
pub(super) struct BodyBudget(Arc<Mutex<HashMap<Holder, usize>>>);

/// The bytes of one request. Dropping it frees them.
#[derive(Debug)]
pub(super) struct HeldBody {
    budget: BodyBudget,
    holder: Holder,
    bytes: usize,
}

impl BodyBudget {
    pub(super) fn begin(&self, holder: Holder) -> HeldBody {
        HeldBody { budget: self.clone(), holder, bytes: 0 }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.0.lock()
    }
}

impl HeldBody {
    /// Counts more bytes; `false` if there is no room for them.
    pub(super) fn add(&mut self, bytes: usize) -> bool {
        let mut held = self.budget.held();
        let in_all: usize = held.values().sum();
        let of_holder = held.get(&self.holder).copied().unwrap_or_default();
        let has_room = in_all + bytes <= IN_ALL && of_holder + bytes <= OF_HOLDER;
        if has_room {
            held.insert(self.holder.clone(), of_holder + bytes);
            self.bytes += bytes;
        }
        has_room
    }
}

impl Drop for HeldBody {
    fn drop(&mut self) {
        let mut held = self.budget.held();
        let left = held.get(&self.holder).map_or(0, |all| all - self.bytes);
        match left {
            0 => drop(held.remove(&self.holder)),
            left => drop(held.insert(self.holder.clone(), left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(name: &str) -> Holder {
        Holder::Subject(name.to_owned())
    }

    #[test]
    fn one_holder_leaves_half_to_the_others() {
        let budget = BodyBudget::default();
        let mut many: Vec<_> = (0..500).map(|_| budget.begin(holder("a"))).collect();
        let held = many.iter_mut().map(|body| body.add(BODY_LIMIT - 1)).filter(|is_held| *is_held).count();
        assert_eq!(held, OF_HOLDER / (BODY_LIMIT - 1));
        let mut other = budget.begin(holder("b"));
        assert!(other.add(OF_HOLDER) && !other.add(1), "its share is whole");
        assert!(!budget.begin(holder("c")).add(BODY_LIMIT), "all is held");
        drop((many, other));
        assert!(budget.held().is_empty());
    }
}
