//! [`Frame`]: the declarations of its passes.

use std::ops::Range;
use std::sync::Arc;

use crate::access::Access;
use crate::flags::Layout;
use crate::range::SubRange;
use crate::resource::{Resource, ResourceIndex};
use crate::topology::{Capabilities, FamilyIndex, QueueIndex};

mod copy;
mod declared;
mod names;
mod timeline;

pub use declared::UndeclaredAccess;
pub use names::PreviousNames;
pub use timeline::{TimelineUse, TimelineUseKind, UserTimeline};

/// Index of a pass in [`Frame::passes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassIndex(pub u32);

/// One access of one range of one resource by one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Use {
    /// The accessed resource.
    pub resource: ResourceIndex,
    /// The part of it.
    pub range: SubRange,
    /// The access.
    pub access: Access,
    /// Whether the old contents of the range are not needed, because the pass overwrites all of it.
    pub discard: bool,
}

impl Use {
    /// A use of a whole resource that keeps its contents.
    pub fn whole(resource: ResourceIndex, access: Access) -> Self {
        Self {
            resource,
            range: SubRange::Whole,
            access,
            discard: false,
        }
    }
}

/// A resource that another stream will use next: see [`States::give`](crate::states::States::give).
///
/// After all its uses in the frame, its owner releases it to the other stream's family, in
/// one submission that follows all of these uses. With a single family, or for
/// concurrent resources, nothing is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Give {
    /// The resource.
    pub resource: ResourceIndex,
    /// The queue family that will use it.
    pub family: FamilyIndex,
    /// The layout in which an image is released to that family; ignored for buffers.
    pub layout: Layout,
}

/// Preferred queues of a pass, among those that have its required capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preference {
    /// The first queue that can run it (usually the graphics queue).
    #[default]
    Main,
    /// A queue other than the main one, with the required capabilities and as few others as
    /// possible: async compute, or a transfer queue. Falls back to the main queue.
    Async,
}

/// Required and preferred queues of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueRequest {
    /// Capabilities that the queue must have.
    pub required: Capabilities,
    /// Preference among the queues that have them.
    pub preference: Preference,
    /// Exactly this queue, if the topology has it and it can run the pass.
    pub fixed: Option<QueueIndex>,
}

/// Executor of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PassKind {
    /// A queue of the device.
    #[default]
    Device,
    /// A callback on the CPU between device passes; it waits and signals like a queue.
    Host,
}

/// Declaration of one pass.
///
/// Its uses and its explicit order are slices of the frame's arrays, so that a frame has few
/// allocations, which the next frame can reuse.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PassDecl {
    /// Its name in errors, plans and debug labels.
    pub name: Arc<str>,
    /// The device or the host.
    pub kind: PassKind,
    /// Its required and preferred queues.
    pub queue: QueueRequest,
    /// Whether it has effects beyond its declared writes; such passes are never culled.
    pub side_effect: bool,
    /// Whether it prepares the frame, like an upload. Such a pass precedes all others with conflicting
    /// accesses, unless it is declared to follow them, and is ignored when order is
    /// inferred from a single writer.
    pub prologue: bool,
    /// Estimated device time in microseconds, for the choice of idle queues; 0 if unknown.
    pub cost_us: u32,
    /// Its part of [`Frame::uses`].
    pub uses: Range<u32>,
    /// Its part of [`Frame::after`].
    pub after: Range<u32>,
}

/// Everything the passes of one frame declare, in declaration order.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The resources that uses refer to, each once.
    pub resources: Vec<Resource>,
    /// The passes.
    pub passes: Vec<PassDecl>,
    /// The uses of all passes, pass by pass.
    pub uses: Vec<Use>,
    /// The passes that each pass follows by explicit order, pass by pass.
    pub after: Vec<PassIndex>,
    /// The resources that are given to other streams after their last use in the frame.
    pub gives: Vec<Give>,
    /// Whether to cull passes whose results no pass needs: those that write only transient resources which
    /// no executed pass reads. [`Plan::culled`](crate::plan::Plan::culled) lists them. Off by default.
    pub cull: bool,
    /// Timelines of users.
    pub timelines: Vec<UserTimeline>,
    /// Values that passes wait for and signal.
    pub timeline_uses: Vec<TimelineUse>,
    /// Cache of names; not a part of the declarations. See [`Frame::pass_name`].
    pub names: PreviousNames,
}

impl PassDecl {
    /// Range of its uses in [`Frame::uses`].
    #[inline]
    pub(crate) fn use_range(&self) -> Range<usize> {
        self.uses.start as usize..self.uses.end as usize
    }
}

impl Frame {
    /// Clears the declarations. Keeps the memory, and the names for the next frame.
    pub fn clear(&mut self) {
        self.names.keep(&mut self.passes, &mut self.resources);
        self.uses.clear();
        self.after.clear();
        self.gives.clear();
        self.timelines.clear();
        self.timeline_uses.clear();
    }

    /// Adds a resource.
    #[inline]
    pub fn add_resource(&mut self, resource: Resource) -> ResourceIndex {
        self.resources.push(resource);
        ResourceIndex(self.resources.len() as u32 - 1)
    }

    /// Adds a device pass with its uses and explicit predecessors.
    ///
    /// ```
    /// use quadrille_sync::access::Access;
    /// use quadrille_sync::frame::{Frame, QueueRequest, Use};
    /// use quadrille_sync::resource::{Resource, ResourceId};
    /// use quadrille_sync::topology::Capabilities;
    /// let mut frame = Frame::default();
    /// let cells = frame.add_resource(Resource::buffer(ResourceId(0), "cells", 1024));
    /// let request = QueueRequest { required: Capabilities::COMPUTE, ..Default::default() };
    /// let fill = frame.add_pass("fill", request, &[Use::whole(cells, Access::StorageWriteCompute)], &[]);
    /// assert_eq!(frame.pass(fill).name.as_ref(), "fill");
    /// ```
    pub fn add_pass(
        &mut self,
        name: impl Into<Arc<str>>,
        queue: QueueRequest,
        uses: &[Use],
        after: &[PassIndex],
    ) -> PassIndex {
        let first_use = self.uses.len() as u32;
        let first_after = self.after.len() as u32;
        self.uses.extend_from_slice(uses);
        self.after.extend_from_slice(after);
        self.passes.push(PassDecl {
            name: name.into(),
            kind: PassKind::Device,
            queue,
            side_effect: false,
            prologue: false,
            cost_us: 0,
            uses: first_use..self.uses.len() as u32,
            after: first_after..self.after.len() as u32,
        });
        PassIndex(self.passes.len() as u32 - 1)
    }

    /// Returns a reference to a name for the next pass to add. If the pass at this index
    /// had the same name before the frame was cleared, its reference is reused: changing two reference
    /// counts would cost more than everything else of a small pass.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use quadrille_sync::frame::{Frame, QueueRequest};
    /// let fill: Arc<str> = "fill".into();
    /// let mut frame = Frame::default();
    /// for _ in 0..3 {
    ///     frame.clear();
    ///     let name = frame.pass_name(&fill);
    ///     frame.add_pass(name, QueueRequest::default(), &[], &[]);
    ///     assert_eq!(Arc::strong_count(&fill), 2);
    /// }
    /// ```
    #[inline]
    pub fn pass_name(&mut self, name: &Arc<str>) -> Arc<str> {
        self.names.of_pass(self.passes.len(), name)
    }

    /// Returns a reference to a name for the next resource, like [`pass_name`](Self::pass_name).
    #[inline]
    pub fn resource_name(&mut self, name: &Arc<str>) -> Arc<str> {
        self.names.of_resource(self.resources.len(), name)
    }

    /// The pass at an index.
    #[inline]
    pub fn pass(&self, pass: PassIndex) -> &PassDecl {
        &self.passes[pass.0 as usize]
    }

    /// The uses of a pass.
    #[inline]
    pub fn uses_of(&self, pass: PassIndex) -> &[Use] {
        &self.uses[self.pass(pass).use_range()]
    }

    /// The explicit predecessors of a pass.
    #[inline]
    pub fn after_of(&self, pass: PassIndex) -> &[PassIndex] {
        let Range { start, end } = self.pass(pass).after.clone();
        &self.after[start as usize..end as usize]
    }

    /// The resource at an index.
    #[inline]
    pub fn resource(&self, resource: ResourceIndex) -> &Resource {
        &self.resources[resource.0 as usize]
    }

    /// All pass indices in declaration order.
    pub fn pass_indices(&self) -> impl Iterator<Item = PassIndex> + use<> {
        (0..self.passes.len() as u32).map(PassIndex)
    }
}
