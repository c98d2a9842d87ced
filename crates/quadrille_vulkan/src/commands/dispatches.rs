//! Dispatches.

use quadrille_sync::access::Access;
use quadrille_sync::resource::ResourceId;

use super::declared::{Part, Reader, Role};
use super::{Command, CommandList};
use crate::resources::buffer::GpuBuffer;

/// Bytes of a `VkDispatchIndirectCommand`.
const DISPATCH_BYTES: u64 = 12;

/// Dispatches except the direct one, which is a variant of [`Command`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dispatch {
    Indirect { buffer: ResourceId, offset: u64 },
}

impl CommandList {
    /// Dispatches a grid of workgroups.
    #[inline]
    pub fn dispatch(&mut self, groups: [u32; 3]) {
        self.add(Command::Dispatch { groups });
    }

    /// Dispatches workgroups with arguments from a buffer (`VkDispatchIndirectCommand`).
    pub fn dispatch_indirect(&mut self, buffer: &GpuBuffer, offset: u64) {
        let buffer = buffer.id();
        self.add_dispatch(Dispatch::Indirect { buffer, offset });
    }

    fn add_dispatch(&mut self, dispatch: Dispatch) {
        let dispatches = &mut self.side_mut().dispatches;
        dispatches.push(dispatch);
        let dispatch = dispatches.len() as u32 - 1;
        self.add(Command::DispatchFrom { dispatch });
    }
}

impl Reader<'_> {
    pub(super) fn dispatch(&mut self, dispatch: Dispatch) {
        self.compute_bindings();
        match dispatch {
            Dispatch::Indirect { buffer, offset } => {
                let part = Part::Bytes(offset, DISPATCH_BYTES);
                let role = Role::Words("the arguments of a dispatch");
                self.check(buffer, part, Access::IndirectRead, role);
            }
        }
    }
}
