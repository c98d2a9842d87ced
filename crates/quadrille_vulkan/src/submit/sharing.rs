//! How queue families share resources, and changing it while frames go on.
//!
//! Vulkan fixes the sharing mode of a buffer or an image when it is made. So to change it another
//! object takes over, under the same id, while what was there goes on under an id of its own until
//! its contents have been copied. To the solver these are two resources, so that all that is owed
//! to the old one, acquires that were foreseen included, comes as for any other.

use quadrille_sync::{Sharing as Mode, States};

use crate::device::memory::Memory;
use crate::error::Error;
use crate::instance::sharing::Sharing;
use crate::resources::handle::Handle;
use crate::submit::frames::Frames;

/// Outcome of [`Frames::change_sharing`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharingChanged {
    /// Changed, without contents to move.
    Empty,
    /// Changed. The old contents are in this resource, to be copied by the next frame.
    Moved(Handle),
    /// Not changed: it cannot, or not now.
    Refused,
}

impl Handle {
    /// Whether it is left to frames how families share it ([`Sharing::Auto`]), and it is a
    /// resource that can change at all.
    pub fn has_open_sharing(&self) -> bool {
        match self {
            Self::Buffer(buffer) => {
                let desc = buffer.desc();
                desc.sharing == Sharing::Auto && desc.memory == Memory::Device
            }
            Self::Image(image) => image.desc().sharing == Sharing::Auto && !image.is_swapchain(),
        }
    }

    /// Whether its contents can be copied to another of its description.
    fn can_be_copied(&self) -> bool {
        match self {
            Self::Buffer(_) => true,
            Self::Image(image) => image.can_be_copied(),
        }
    }

    /// Has another object take over, of another sharing mode; the old one, unless it was made for
    /// again for each frame.
    fn trade(&self, mode: Mode) -> Result<Option<Self>, Error> {
        Ok(match self {
            Self::Buffer(buffer) => buffer.trade(mode)?.map(Self::Buffer),
            Self::Image(image) => image.trade(mode)?.map(Self::Image),
        })
    }
}

impl Frames {
    /// Recreates a resource of [`Sharing::Auto`] with another sharing mode. To be called between
    /// frames: the next one declares it as it is then, and copies into it what it had, before all
    /// else.
    ///
    /// # Errors
    /// No memory is left. The resource is what it was.
    pub fn change_sharing(
        &self,
        handle: &Handle,
        mode: Mode,
        states: &mut States,
    ) -> Result<SharingChanged, Error> {
        let id = handle.id();
        let has_contents = handle.object().needs.is_none() && states.ever_written(id);
        if !handle.is_made_from(&self.device)
            || !handle.has_open_sharing()
            || has_contents && !handle.can_be_copied()
            || !self.can_change_sharing()
        {
            return Ok(SharingChanged::Refused);
        }
        match handle.trade(mode)? {
            Some(old) if has_contents => {
                states.rename(id, old.id());
                Ok(SharingChanged::Moved(old))
            }
            Some(old) => {
                // Frames may use it still, which is known by its id.
                states.rename(id, old.id());
                Ok(SharingChanged::Empty)
            }
            None => {
                states.remove(id);
                Ok(SharingChanged::Empty)
            }
        }
    }

    /// Whether resources may change how they are shared now: not while there are streams beside the
    /// main loop.
    pub fn can_change_sharing(&self) -> bool {
        !self.device.streams.are_there()
    }
}
