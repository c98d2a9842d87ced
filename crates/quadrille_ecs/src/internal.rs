//! The renderer's own passes: uploads, readbacks, screenshots.

use std::sync::Arc;

use quadrille_sync::{Access, PassKind, QueueRequest, SubRange};
use quadrille_vulkan::{CommandList, Handle};

/// A pass that no system records.
pub(crate) struct InternalPass {
    pub(crate) name: Arc<str>,
    pub(crate) kind: PassKind,
    pub(crate) queue: QueueRequest,
    /// Before all other passes; else after all that share its resources.
    pub(crate) prologue: bool,
    pub(crate) uses: Vec<InternalUse>,
    /// Staging buffers: the host wrote them before submission, which needs no barrier, and
    /// nobody else touches them.
    pub(crate) undeclared: Vec<Handle>,
    pub(crate) list: CommandList,
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
