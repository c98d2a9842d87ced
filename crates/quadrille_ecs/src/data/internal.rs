//! The renderer's own passes: uploads, readbacks, screenshots.

use std::sync::Arc;

use quadrille_sync::{
    Access, Aspects, Capabilities, PassKind, Preference, QueueRequest, ResourceKind, SubRange,
};
use quadrille_vulkan::{CommandList, GpuImage, Handle, ImageRegion};

/// A pass that no system records.
pub(crate) struct InternalPass {
    pub(crate) name: Arc<str>,
    pub(crate) kind: PassKind,
    pub(crate) queue: QueueRequest,
    /// Before all other passes; else after all that share its resources.
    pub(crate) prologue: bool,
    pub(crate) uses: Vec<InternalUse>,
    /// Staging buffers: the host wrote them before submission, which needs no barrier, and
    /// no other pass touches them.
    pub(crate) undeclared: Vec<Handle>,
    pub(crate) list: CommandList,
}

impl InternalPass {
    /// A pass of commands, before all other passes.
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
            list,
        }
    }
}

/// One resource that such a pass touches.
#[derive(Clone)]
pub(crate) struct InternalUse {
    pub(crate) handle: Handle,
    pub(crate) range: SubRange,
    pub(crate) access: Access,
    /// The old contents are not needed.
    pub(crate) discard: bool,
}

impl InternalUse {
    /// All of a resource.
    pub(crate) fn of(handle: Handle, access: Access) -> Self {
        Self {
            handle,
            range: SubRange::Whole,
            access,
            discard: false,
        }
    }

    /// The same where the old contents are not needed.
    pub(crate) fn discarding(self) -> Self {
        Self {
            discard: true,
            ..self
        }
    }
}

/// Capabilities that a queue needs to copy an image, or a part of it: graphics queues copy
/// everything (sections "Copying Data Between Images" and "Copying Data Between Buffers and
/// Images"); transfer-only queues may have a granularity that not every part is a multiple of,
/// which compute queues have not (section "Queue Family Properties").
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
