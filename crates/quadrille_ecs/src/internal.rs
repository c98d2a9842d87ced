//! The renderer's own passes: uploads, readbacks, screenshots.

use std::sync::Arc;

use quadrille_sync::{Access, PassKind, QueueRequest};
use quadrille_vulkan::{CommandList, Handle};

/// A pass that no system records.
pub(crate) struct InternalPass {
    pub(crate) name: Arc<str>,
    pub(crate) kind: PassKind,
    pub(crate) queue: QueueRequest,
    /// Before all other passes; else after all that share its resources.
    pub(crate) prologue: bool,
    /// Each resource with its access, and whether its old contents are not needed.
    pub(crate) uses: Vec<(Handle, Access, bool)>,
    /// Staging buffers: the host wrote them before submission, which needs no barrier, and
    /// nobody else touches them.
    pub(crate) undeclared: Vec<Handle>,
    pub(crate) list: CommandList,
}
