//! Cache of names from cleared declarations.
//!
//! A frame mostly has the same passes and resources as the previous one. Names are `Arc<str>`, and for a
//! small pass, changing their atomic counters is most of the cost of its declaration. So cleared
//! declarations leave their references here, and the next declarations reuse them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::PassDecl;
use crate::resource::Resource;

/// The names that passes and resources had before a [`Frame`](super::Frame) was cleared, by index.
/// Not a part of the declarations: all values compare equal, and clones are empty.
#[derive(Debug, Default)]
pub struct PreviousNames {
    passes: Vec<Option<Arc<str>>>,
    resources: Vec<Option<Arc<str>>>,
}

impl PreviousNames {
    /// Takes the names of cleared declarations.
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

/// Returns the kept reference if it is to the same name, else a new one.
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
