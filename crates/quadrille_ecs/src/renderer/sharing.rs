//! Changes of the sharing mode of resources ([`Sharing::Auto`]): a Vulkan object's mode is fixed, so a new
//! object replaces the old one and its contents are copied.
//!
//! [`Choices`](super::choices::Choices) decides after a frame was submitted. `Frames::change_sharing` replaces
//! the Vulkan objects before the passes of the next frame record.
//!
//! [`Sharing::Auto`]: quadrille_vulkan::resources::Sharing::Auto

use quadrille_sync::access::Access;
use quadrille_sync::frame::Preference;
use quadrille_sync::resource::{Resource, Sharing as Mode};
use quadrille_sync::states::States;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::resources::{Handle, ImageRegion};
use quadrille_vulkan::submit::{Frames, SharingChanged};

use crate::data::internal::{InternalPass, InternalUse, copy_needs};

/// Changes sharing modes of resources while frames are rendered.
#[derive(Default)]
pub(crate) struct SharingChanges {
    /// Changes to make before the next frame.
    wanted: Vec<(Handle, Mode)>,
    /// Old and new handle for each copy of contents in the next frame.
    moving: Vec<[Handle; 2]>,
}

impl SharingChanges {
    /// Requests a sharing mode of a resource from the next frame on.
    pub(crate) fn want(&mut self, handle: Handle, mode: Mode) {
        self.wanted.push((handle, mode));
    }

    /// Replaces the objects whose sharing mode changes, and returns whether there were any. `keep`
    /// receives the resources whose mode cannot change.
    pub(crate) fn change(
        &mut self,
        frames: &Frames,
        states: &mut States,
        mut keep: impl FnMut(&Resource),
    ) -> bool {
        let mut has_changed = false;
        for (handle, mode) in self.wanted.drain(..) {
            let changed = frames.change_sharing(&handle, mode, states);
            match changed {
                Ok(SharingChanged::Empty) => has_changed = true,
                Ok(SharingChanged::Moved(old)) => {
                    has_changed = true;
                    self.moving.push([old, handle]);
                }
                Ok(SharingChanged::Refused) => keep(&handle.declare()),
                Err(error) => {
                    tracing::warn!("{} stays shared as it is: {error}", handle.name());
                    keep(&handle.declare());
                }
            }
        }
        has_changed
    }

    /// The pass that copies contents from old to new objects; `None` without copies.
    pub(crate) fn pass(&self) -> Option<InternalPass> {
        if self.moving.is_empty() {
            return None;
        }
        let mut list = CommandList::default();
        let mut uses = Vec::new();
        let mut required = Capabilities::TRANSFER;
        for [from, to] in &self.moving {
            match (from, to) {
                (Handle::Buffer(from), Handle::Buffer(to)) => {
                    list.copy_buffer(from, 0, to, 0, from.bytes());
                }
                (Handle::Image(from), Handle::Image(to)) => {
                    for mip in 0..from.desc().mip_levels {
                        let (one, other) = (ImageRegion::mip(from, mip), ImageRegion::mip(to, mip));
                        list.copy_image(from, one, to, other);
                    }
                    required |= copy_needs(from, None);
                }
                _ => unreachable!("a resource and its replacement are of one kind"),
            }
            uses.push(InternalUse::of(from.clone(), Access::TransferRead));
            uses.push(InternalUse::of(to.clone(), Access::TransferWrite).discarding());
        }
        let queue = (required, Preference::Main);
        let pass = InternalPass::prologue("change sharing", queue, uses, list);
        Some(pass)
    }

    /// Notes that the frame with the copies was submitted.
    pub(crate) fn submitted(&mut self) {
        self.moving.clear();
    }
}
