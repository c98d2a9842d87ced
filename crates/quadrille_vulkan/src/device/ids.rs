//! Resource ids: dense, and reused once the old resource is removed from the solver's states.

use std::sync::Mutex;

use quadrille_sync::resource::ResourceId;

use crate::lock;

/// The ids of a device.
#[derive(Default)]
pub(crate) struct Ids(Mutex<State>);

#[derive(Default)]
struct State {
    /// By id: the name of the resource that has it, or had it last.
    names: Vec<Box<str>>,
    free: Vec<u32>,
}

impl Ids {
    /// Takes an unused id for a resource of this name.
    pub(crate) fn take(&self, name: &str) -> ResourceId {
        let mut state = lock(&self.0);
        let id = match state.free.pop() {
            Some(id) => {
                state.names[id as usize] = name.into();
                id
            }
            None => {
                state.names.push(name.into());
                state.names.len() as u32 - 1
            }
        };
        ResourceId(id)
    }

    /// Returns the label of a resource, or of the last that had the id if it is destroyed: for errors.
    pub(crate) fn name(&self, id: ResourceId) -> String {
        let state = lock(&self.0);
        let name = state.names.get(id.0 as usize);
        name.map_or_else(|| format!("resource {}", id.0), |name| name.to_string())
    }

    /// Gives an id back. Its resource is destroyed and removed from the states.
    pub(crate) fn give_back(&self, id: ResourceId) {
        lock(&self.0).free.push(id.0);
    }
}
