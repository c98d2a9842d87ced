//! Changes of the sharing mode of resources between frames.
//!
//! Vulkan fixes the sharing mode of a buffer or an image at creation. To change it, a new object replaces the old one
//! under the same id, and the old one gets a new id until its contents are copied. To the solver these are two
//! resources. So the old one is synchronized like any other, even where an ownership acquire was predicted for it.

use quadrille_sync::resource::Sharing as Mode;
use quadrille_sync::states::States;

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
    /// Changed. The next frame has to copy the old contents from this resource.
    Moved(Handle),
    /// Not changed: impossible for this resource, or at this time.
    Refused,
}

impl Handle {
    /// Whether its sharing mode is automatic ([`Sharing::Auto`]) and can change.
    pub fn has_open_sharing(&self) -> bool {
        match self {
            Self::Buffer(buffer) => {
                let desc = buffer.desc();
                desc.sharing == Sharing::Auto && desc.memory == Memory::Device
            }
            Self::Image(image) => image.desc().sharing == Sharing::Auto && !image.is_swapchain(),
        }
    }

    /// Whether its contents can be copied to another resource of the same description.
    fn can_be_copied(&self) -> bool {
        match self {
            Self::Buffer(_) => true,
            Self::Image(image) => image.can_be_copied(),
        }
    }

    /// Replaces the Vulkan object by one of another sharing mode. Returns the old one; `None` for transient resources.
    fn change_sharing(&self, mode: Mode) -> Result<Option<Self>, Error> {
        Ok(match self {
            Self::Buffer(buffer) => buffer.change_sharing(mode)?.map(Self::Buffer),
            Self::Image(image) => image.change_sharing(mode)?.map(Self::Image),
        })
    }
}

impl Frames {
    /// Recreates a resource of [`Sharing::Auto`] with another sharing mode. Call it between
    /// frames: the next frame declares the new object, and copies the old contents before any other pass.
    ///
    /// # Errors
    /// Memory allocation failed. The resource is unchanged.
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
        match handle.change_sharing(mode)? {
            Some(old) if has_contents => {
                states.rename(id, old.id());
                Ok(SharingChanged::Moved(old))
            }
            Some(old) => {
                // Frames in flight may use the old object: move its states to the new id.
                states.rename(id, old.id());
                Ok(SharingChanged::Empty)
            }
            None => {
                states.remove(id);
                Ok(SharingChanged::Empty)
            }
        }
    }

    /// Whether sharing modes may change now: not while streams exist besides the main loop.
    pub fn can_change_sharing(&self) -> bool {
        !self.device.streams.are_there()
    }
}
