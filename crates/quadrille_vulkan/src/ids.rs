//! Resource ids: dense, and handed out again once the solver has forgotten the old resource.

use std::sync::Mutex;

use quadrille_sync::ResourceId;

use crate::lock;

/// The ids of a device.
#[derive(Default)]
pub(crate) struct Ids(Mutex<State>);

#[derive(Default)]
struct State {
    next: u32,
    free: Vec<u32>,
}

impl Ids {
    /// An id that no living resource has.
    pub(crate) fn take(&self) -> ResourceId {
        let mut state = lock(&self.0);
        let id = state.free.pop().unwrap_or_else(|| {
            state.next += 1;
            state.next - 1
        });
        ResourceId(id)
    }

    /// Gives an id back. Its resource is destroyed and removed from the states.
    pub(crate) fn give_back(&self, id: ResourceId) {
        lock(&self.0).free.push(id.0);
    }
}
