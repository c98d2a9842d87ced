//! Copies of frames.
//!
//! A cache of frames copies each frame over an older one, which is mostly equal. `clone_from` reuses the
//! memory, and keeps equal names without changing their reference counts. (A derived `clone_from` would
//! drop and clone all names.)

use std::sync::Arc;

use super::{Frame, PassDecl};
use crate::resource::Resource;

impl Clone for Frame {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            resources,
            passes,
            uses,
            after,
            gives,
            cull,
            timelines,
            timeline_uses,
            names: _,
        } = source;
        self.resources.clone_from(resources);
        self.passes.clone_from(passes);
        self.uses.clone_from(uses);
        self.after.clone_from(after);
        self.gives.clone_from(gives);
        self.cull = *cull;
        self.timelines.clone_from(timelines);
        self.timeline_uses.clone_from(timeline_uses);
    }
}

impl Clone for PassDecl {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            uses: self.uses.clone(),
            after: self.after.clone(),
            ..*self
        }
    }

    fn clone_from(&mut self, source: &Self) {
        if Arc::ptr_eq(&self.name, &source.name) {
            let Self {
                name: _,
                kind,
                queue,
                side_effect,
                prologue,
                cost_us,
                uses,
                after,
            } = source;
            (self.kind, self.queue, self.cost_us) = (*kind, *queue, *cost_us);
            (self.side_effect, self.prologue) = (*side_effect, *prologue);
            (self.uses, self.after) = (uses.clone(), after.clone());
        } else {
            *self = source.clone();
        }
    }
}

impl Clone for Resource {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            ..*self
        }
    }

    fn clone_from(&mut self, source: &Self) {
        if Arc::ptr_eq(&self.name, &source.name) {
            let Self {
                id,
                name: _,
                kind,
                sharing,
                lifetime,
                memory,
            } = source;
            (self.id, self.kind, self.sharing) = (*id, *kind, *sharing);
            (self.lifetime, self.memory) = (*lifetime, *memory);
        } else {
            *self = source.clone();
        }
    }
}

#[cfg(test)]
mod tests;
