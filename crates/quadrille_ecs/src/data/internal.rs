//! The renderer's own passes: uploads, readbacks, screenshots.

use std::sync::Arc;

use quadrille_sync::access::Access;
use quadrille_sync::flags::{Aspects, Layout};
use quadrille_sync::frame::{PassKind, Preference, QueueRequest, TimelineUseKind};
use quadrille_sync::range::SubRange;
use quadrille_sync::resource::ResourceKind;
use quadrille_sync::topology::{Capabilities, FamilyIndex};
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::resources::{GpuImage, Handle, ImageRegion, TimelineSemaphore};

/// A pass without a pass system.
pub(crate) struct InternalPass {
    pub(crate) name: Arc<str>,
    pub(crate) kind: PassKind,
    pub(crate) queue: QueueRequest,
    /// Whether the pass runs before all other passes; otherwise it runs after all that share its resources.
    pub(crate) prologue: bool,
    pub(crate) uses: Vec<InternalUse>,
    /// Staging buffers. They need no declaration: submission makes host writes visible without a barrier, and no other
    /// pass accesses them.
    pub(crate) undeclared: Vec<Handle>,
    /// Values of users' timelines that it waits for or signals.
    pub(crate) timeline_uses: Vec<(TimelineSemaphore, TimelineUseKind, u64)>,
    /// The owner outside of the device that its resources are released to, and their layout.
    pub(crate) gives: Option<(FamilyIndex, Layout)>,
    pub(crate) list: CommandList,
}

impl InternalPass {
    /// Creates a pass of commands that runs before all other passes.
    pub(crate) fn prologue(
        name: impl Into<Arc<str>>,
        (required, preference): (Capabilities, Preference),
        uses: Vec<InternalUse>,
        list: CommandList,
    ) -> Self {
        Self {
            name: name.into(),
            kind: PassKind::Device,
            queue: QueueRequest {
                required,
                preference,
                fixed: None,
            },
            prologue: true,
            uses,
            undeclared: Vec::new(),
            timeline_uses: Vec::new(),
            gives: None,
            list,
        }
    }
}

/// Access of one resource by such a pass.
#[derive(Clone)]
pub(crate) struct InternalUse {
    pub(crate) handle: Handle,
    pub(crate) range: SubRange,
    pub(crate) access: Access,
    /// Whether the old contents may be discarded.
    pub(crate) discard: bool,
}

impl InternalUse {
    /// Creates an access of a whole resource.
    pub(crate) fn of(handle: Handle, access: Access) -> Self {
        Self {
            handle,
            range: SubRange::Whole,
            access,
            discard: false,
        }
    }

    /// Allows the old contents to be discarded.
    pub(crate) fn discarding(self) -> Self {
        Self {
            discard: true,
            ..self
        }
    }
}

/// Capabilities that a queue needs to copy an image or a region of it. Graphics queues copy everything (sections
/// "Copying Data Between Images" and "Copying Data Between Buffers and Images"). A transfer-only queue may have an
/// image transfer granularity that the region violates; compute queues have none (section "Queue Family Properties").
pub(crate) fn copy_needs(image: &GpuImage, part: Option<&ImageRegion>) -> Capabilities {
    let is_color = matches!(
        image.declare().kind,
        ResourceKind::Image { aspects, .. } if aspects == Aspects::COLOR
    );
    let is_whole = |part: &ImageRegion| {
        let level = ImageRegion::mip(image, part.mip);
        (part.offset, part.extent) == (level.offset, level.extent)
    };
    if !is_color || image.desc().samples != 1 {
        Capabilities::TRANSFER | Capabilities::GRAPHICS
    } else if part.is_none_or(is_whole) {
        Capabilities::TRANSFER
    } else {
        Capabilities::TRANSFER | Capabilities::COMPUTE
    }
}
