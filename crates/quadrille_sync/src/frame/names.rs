//! Names that outlive the declarations they were in.
//!
//! A frame that is declared again mostly has the passes and resources of the one before. Names are
//! counted references with atomic counters. For a small pass, counting is most of the cost of
//! declaring. So cleared declarations leave their references here, and the declarations that
//! replace them take these over.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::PassDecl;
use crate::resource::Resource;

/// The names that passes and resources had before a [`Frame`](super::Frame) was cleared, by place.
/// They are no part of what is declared, so all are equal, and copies have none.
#[derive(Debug, Default)]
pub struct PreviousNames {
    passes: Vec<Option<Arc<str>>>,
    resources: Vec<Option<Arc<str>>>,
}

impl PreviousNames {
    /// Keeps the names of declarations that go.
    pub(super) fn keep(&mut self, passes: &mut Vec<PassDecl>, resources: &mut Vec<Resource>) {
        self.passes.clear();
        let passes = passes.drain(..).map(|pass| Some(pass.name));
        self.passes.extend(passes);
        self.resources.clear();
        let resources = resources.drain(..).map(|resource| Some(resource.name));
        self.resources.extend(resources);
    }

    /// A reference to the name of a pass.
    #[inline]
    pub(super) fn of_pass(&mut self, at: usize, name: &Arc<str>) -> Arc<str> {
        take(&mut self.passes, at, name)
    }

    /// A reference to the name of a resource.
    #[inline]
    pub(super) fn of_resource(&mut self, at: usize, name: &Arc<str>) -> Arc<str> {
        take(&mut self.resources, at, name)
    }
}

/// The reference that was kept, if it is one to this name, else another one.
#[inline]
fn take(kept: &mut [Option<Arc<str>>], at: usize, name: &Arc<str>) -> Arc<str> {
    let kept = kept.get_mut(at);
    let same = kept.and_then(|kept| kept.take_if(|kept| Arc::ptr_eq(kept, name)));
    same.unwrap_or_else(|| Arc::clone(name))
}

impl PartialEq for PreviousNames {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PreviousNames {}

impl Hash for PreviousNames {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(test)]
mod tests;
