//! A buffer or an image, and how ids and indices find them.

use quadrille_sync::{Resource, ResourceId, ResourceIndex};

use crate::buffer::Buffer;
use crate::commands::CommandError;
use crate::image::Image;

/// A buffer or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A buffer.
    Buffer(Buffer),
    /// An image.
    Image(Image),
}

impl Handle {
    /// Its identity over frames.
    pub fn id(&self) -> ResourceId {
        match self {
            Self::Buffer(buffer) => buffer.id(),
            Self::Image(image) => image.id(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Buffer(buffer) => buffer.name(),
            Self::Image(image) => image.name(),
        }
    }

    /// What the solver has to know of it.
    pub fn declare(&self) -> Resource {
        match self {
            Self::Buffer(buffer) => buffer.declare(),
            Self::Image(image) => image.declare(),
        }
    }
}

impl From<Buffer> for Handle {
    fn from(buffer: Buffer) -> Self {
        Self::Buffer(buffer)
    }
}

impl From<Image> for Handle {
    fn from(image: Image) -> Self {
        Self::Image(image)
    }
}

/// From resource ids to indices of a frame; its memory is used again.
#[derive(Default)]
pub(crate) struct IdTable(Vec<u32>);

/// What [`IdTable`] holds for ids that are not of the frame.
const ABSENT: u32 = u32::MAX;

impl IdTable {
    /// Takes in the resources of a frame.
    pub(crate) fn fill(&mut self, handles: &[Handle]) {
        self.0.fill(ABSENT);
        for (index, handle) in (0u32..).zip(handles) {
            let id = handle.id().0 as usize;
            if self.0.len() <= id {
                self.0.resize(id + 1, ABSENT);
            }
            self.0[id] = index;
        }
    }
}

/// The resources of a frame, by id and by index.
#[derive(Clone, Copy)]
pub(crate) struct FrameResources<'a> {
    /// The table, filled from `handles`.
    pub ids: &'a IdTable,
    /// By index.
    pub handles: &'a [Handle],
}

impl<'a> FrameResources<'a> {
    fn find(&self, id: ResourceId) -> Result<(ResourceIndex, &'a Handle), CommandError> {
        let index = self.ids.0.get(id.0 as usize).copied().unwrap_or(ABSENT);
        let handle = self
            .handles
            .get(index as usize)
            .ok_or(CommandError::NotOfFrame { id })?;
        Ok((ResourceIndex(index), handle))
    }

    /// A buffer by id.
    pub(crate) fn buffer(&self, id: ResourceId) -> Result<&'a Buffer, CommandError> {
        match self.find(id)?.1 {
            Handle::Buffer(buffer) => Ok(buffer),
            Handle::Image(image) => Err(wrong(image.name(), "buffer")),
        }
    }

    /// An image by id, which a swapchain has acquired if it is of one.
    pub(crate) fn image(&self, id: ResourceId) -> Result<(ResourceIndex, &'a Image), CommandError> {
        let (index, handle) = self.find(id)?;
        match handle {
            Handle::Buffer(buffer) => Err(wrong(buffer.name(), "image")),
            Handle::Image(image) if image.raw() == ash::vk::Image::default() => {
                Err(CommandError::NotAcquired {
                    name: image.name().to_owned(),
                })
            }
            Handle::Image(image) => Ok((index, image)),
        }
    }
}

fn wrong(name: &str, wanted: &'static str) -> CommandError {
    CommandError::WrongResource {
        name: name.to_owned(),
        wanted,
    }
}
