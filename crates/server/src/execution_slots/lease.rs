//! The slot of one execution, which it gives back while it waits for an answer.

use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};

use super::{Busy, Client, Kind, Slot, Slots};

/// The slot of one execution. Dropping it ends the execution.
#[derive(Debug)]
pub struct SlotLease {
    slots: Arc<Slots>,
    client: Client,
    state: Mutex<State>,
    /// Ensures that the execution takes one slot, even if several of its questions are answered at once.
    turn: tokio::sync::Mutex<()>,
}

/// Exactly one of them is set.
#[derive(Debug, Default)]
struct State {
    slot: Option<Slot>,
    paused: Option<Counted>,
}

/// Counts an execution as paused.
#[derive(Debug)]
struct Counted {
    slots: Arc<Slots>,
    client: Client,
}

impl Counted {
    fn new(slots: Arc<Slots>, client: Client) -> Self {
        slots.state().count(&client, |count| count.paused += 1);
        Counted { slots, client }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.slots.state().count(&self.client, |count| count.paused -= 1);
        // Another execution may start now.
        self.slots.admit();
        self.slots.left.notify_waiters();
    }
}

/// An execution that waits for an answer, without a slot.
///
/// Dropping it, as a cancelled call does, queues the execution for a slot in the background: it continues in the
/// meantime, and counts as started.
#[derive(Debug)]
pub(crate) struct Paused(Option<Arc<SlotLease>>);

impl Slots {
    /// Takes a slot for an execution of `client`, at once or in turn; calls `on_wait` if it has to wait.
    ///
    /// # Errors
    /// If there is no room to wait, or none for this client.
    pub async fn take(
        self: &Arc<Self>,
        client: &Client,
        on_wait: impl FnOnce(),
    ) -> Result<Arc<SlotLease>, Busy> {
        let slot = self.slot(client, Kind::Starts, on_wait).await?;
        Ok(SlotLease::new(self.clone(), client.clone(), slot))
    }
}

impl SlotLease {
    fn new(slots: Arc<Slots>, client: Client, slot: Slot) -> Arc<Self> {
        let state = Mutex::new(State { slot: Some(slot), paused: None });
        Arc::new(SlotLease { slots, client, state, turn: tokio::sync::Mutex::default() })
    }

    /// Gives the slot back until [`Paused::resume`].
    pub(crate) fn pause(self: &Arc<Self>) -> Paused {
        let slot = {
            let mut state = self.state();
            if state.slot.is_some() {
                state.paused = Some(Counted::new(self.slots.clone(), self.client.clone()));
            }
            state.slot.take()
        };
        // The next execution takes it, which needs the lock on the slots.
        drop(slot);
        Paused(Some(self.clone()))
    }

    async fn take(&self) {
        let _turn = self.turn.lock().await;
        if self.state().slot.is_none()
            && let Ok(slot) = self.slots.slot(&self.client, Kind::Resumes, || ()).await
        {
            self.hold(slot);
        }
    }

    fn hold(&self, slot: Slot) {
        let mut state = self.state();
        let (spare, paused) = match state.slot {
            Some(_) => (Some(slot), None),
            None => {
                state.slot = Some(slot);
                (None, state.paused.take())
            }
        };
        drop(state);
        drop((spare, paused));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Paused {
    /// Takes a slot again, in turn with all other clients.
    pub(crate) async fn resume(mut self) {
        if let Some(lease) = &self.0 {
            lease.take().await;
        }
        self.0 = None;
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        let Some(lease) = self.0.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (slots, client) = (lease.slots.clone(), lease.client.clone());
        // An execution that has ended in the meantime needs no slot.
        let lease: Weak<SlotLease> = Arc::downgrade(&lease);
        runtime.spawn(async move {
            let slot = slots.slot(&client, Kind::Resumes, || ()).await;
            if let (Ok(slot), Some(lease)) = (slot, lease.upgrade()) {
                lease.hold(slot);
            }
        });
    }
}
