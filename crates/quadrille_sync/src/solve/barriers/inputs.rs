//! Immutable inputs of the walk through a frame.

use crate::frame::Frame;
use crate::resource::{ResourceIndex, Sharing};
use crate::solve::state::{Maps, is_away};
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// The read-only inputs of the walk.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) topology: &'a Topology,
    /// The frame has 3D images: mip levels with several slices.
    pub(crate) has_slices: bool,
    /// There is more than one queue family, so ownership is tracked.
    pub(crate) has_families: bool,
    /// A range may need an ownership transfer: there are several families, or an external owner.
    pub(crate) may_move: bool,
}

impl<'a> Inputs<'a> {
    /// The inputs of a frame whose resources have these states.
    pub(crate) fn new(frame: &'a Frame, topology: &'a Topology, maps: &Maps) -> Self {
        let has_families = topology.family_count() > 1;
        Self {
            frame,
            topology,
            has_slices: frame.resources.iter().any(|it| it.kind.depth() > 1),
            has_families,
            may_move: has_families || maps.iter().any(is_away),
        }
    }

    /// The first queue of a family that can be planned for.
    pub(crate) fn queue_of(&self, family: FamilyIndex) -> Option<QueueIndex> {
        self.topology.indices().find(|queue| {
            let queue = self.topology.queue(*queue);
            queue.family == family && !queue.is_foreign()
        })
    }

    /// Whether ownership of a resource is tracked: it is exclusive, and there are several families.
    pub(crate) fn is_owned(&self, resource: ResourceIndex) -> bool {
        self.has_families && self.frame.resource(resource).sharing == Sharing::Exclusive
    }

    /// Whether a resource is given to another stream or an external owner at the end of the frame.
    pub(crate) fn is_given(&self, resource: ResourceIndex) -> bool {
        let mut gives = self.frame.gives.iter();
        gives.any(|give| give.resource == resource)
    }
}
