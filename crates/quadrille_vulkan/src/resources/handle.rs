//! [`Handle`] of a buffer or an image, and the tables that find resources by id or index.

use std::sync::Arc;

use ash::vk;
use quadrille_sync::frame::Frame;
use quadrille_sync::resource::{Resource, ResourceId, ResourceIndex};

use crate::device::Device;
use crate::device::backing::Block;
use crate::device::gpu::Gpu;
use crate::device::ids::Ids;
use crate::error::CommandError;
use crate::error::Error;
use crate::resources::buffer::GpuBuffer;
use crate::resources::format;
use crate::resources::image::GpuImage;
use crate::resources::object::Object;
use crate::resources::texels::Texels;

/// A buffer or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A buffer.
    Buffer(GpuBuffer),
    /// An image.
    Image(GpuImage),
}

impl Handle {
    /// Its id, which is the same in all frames.
    pub fn id(&self) -> ResourceId {
        match self {
            Self::Buffer(buffer) => buffer.id(),
            Self::Image(image) => image.id(),
        }
    }

    /// Returns the part that buffers and images have in common.
    pub(crate) fn object(&self) -> &Object {
        match self {
            Self::Buffer(buffer) => buffer.object(),
            Self::Image(image) => image.object(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.object().name
    }

    /// Whether the resource was created from this device.
    pub fn is_of(&self, gpu: &Gpu) -> bool {
        self.is_made_from(&gpu.0)
    }

    /// Whether the resource was created from this device.
    pub(crate) fn is_made_from(&self, device: &Device) -> bool {
        std::ptr::eq(&*self.object().device, device)
    }

    /// Number that changes whenever the Vulkan object is replaced. 0 for images of swapchains, which change every
    /// frame.
    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        match self {
            Self::Buffer(buffer) => buffer.generation(),
            Self::Image(image) => image.generation(),
        }
    }

    /// Whether its device was replaced by another: [`Gpu::give_up`]. One relaxed load as long as no device was.
    #[inline]
    pub fn is_given_up(&self) -> bool {
        Device::are_some_given_up() && self.is_of_given_up()
    }

    #[cold]
    fn is_of_given_up(&self) -> bool {
        self.object().device.is_given_up()
    }

    /// Binds the resource to `placement`, or to memory of its own.
    pub(crate) fn bind_memory(&self, placement: Option<(&Arc<Block>, u64)>) -> Result<(), Error> {
        match self {
            Self::Buffer(buffer) => buffer.bind_memory(placement),
            Self::Image(image) => image.bind_memory(placement),
        }
    }

    /// Returns its declaration for the solver.
    pub fn declare(&self) -> Resource {
        match self {
            Self::Buffer(buffer) => buffer.declare(),
            Self::Image(image) => image.declare(),
        }
    }

    /// Adds its declaration to a frame. Cheaper than [`Handle::declare`] for frames that are cleared and reused, since
    /// they keep its name.
    pub fn declare_in(&self, frame: &mut Frame) -> ResourceIndex {
        let name = frame.resource_name(&self.object().name);
        let resource = match self {
            Self::Buffer(buffer) => buffer.declare_as(name),
            Self::Image(image) => image.declare_as(name),
        };
        frame.add_resource(resource)
    }
}

impl From<GpuBuffer> for Handle {
    fn from(buffer: GpuBuffer) -> Self {
        Self::Buffer(buffer)
    }
}

impl From<GpuImage> for Handle {
    fn from(image: GpuImage) -> Self {
        Self::Image(image)
    }
}

/// Map from resource ids to indices of a frame. Entries include the properties that bindings need, so that encoding
/// a binding reads one cache line. Reused between frames.
#[derive(Default)]
pub(crate) struct IdTable {
    /// Entries by id.
    entries: Vec<Entry>,
    /// Number of resources that passes declare.
    declared: usize,
    /// Resources that no pass declares.
    others: Vec<ResourceId>,
    /// The last version given to an entry.
    versions: u32,
}

/// Properties of a resource that bindings need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Index in the frame; [`ABSENT`] if the resource is not in the frame.
    index: u32,
    /// Usage bits of its kind of resource.
    pub usage: u32,
    /// The buffer; null for images.
    pub buffer: vk::Buffer,
    /// Bytes of a buffer.
    pub bytes: u64,
    /// Whether the memory layout of a buffer's value is known.
    pub has_layout: bool,
    /// The view of a whole image for shaders; null for buffers, and for images whose shader view does not have all
    /// aspects.
    pub view: vk::ImageView,
    /// The kind of `view`.
    pub view_kind: vk::ImageViewType,
    /// Texel properties for shaders.
    pub texels: Texels,
    /// The generation of the Vulkan object, which changes with all its views when, for instance, a transient resource
    /// moves. 0 for images of swapchains.
    generation: u32,
    /// Number that changes whenever the id gets another resource or Vulkan object.
    version: u32,
}

/// [`Entry::index`] of resources that are not in the frame.
const ABSENT: u32 = u32::MAX;

impl Entry {
    const NONE: Self = Self {
        index: ABSENT,
        usage: 0,
        buffer: vk::Buffer::null(),
        bytes: 0,
        has_layout: false,
        view: vk::ImageView::null(),
        view_kind: vk::ImageViewType::TYPE_2D,
        texels: Texels::NONE,
        generation: 0,
        version: 0,
    };

    fn new(index: u32, handle: &Handle) -> Self {
        match handle {
            Handle::Buffer(buffer) => Self {
                index,
                usage: buffer.desc().usage.bits(),
                buffer: buffer.raw(),
                bytes: buffer.bytes(),
                has_layout: buffer.layout().is_some(),
                generation: buffer.generation(),
                ..Self::NONE
            },
            Handle::Image(image) => {
                let format = image.format();
                let is_seen_whole = format::aspects(format) == format::sampled_aspects(format);
                Self {
                    index,
                    usage: image.desc().usage.bits(),
                    view: if is_seen_whole {
                        image.whole_view()
                    } else {
                        vk::ImageView::null()
                    },
                    view_kind: image.default_view_kind(),
                    texels: Texels::of(image),
                    generation: image.generation(),
                    ..Self::NONE
                }
            }
        }
    }

    /// Index in the frame.
    pub(crate) fn index(&self) -> ResourceIndex {
        ResourceIndex(self.index)
    }

    /// Whether it is the acquired image of a swapchain, which changes from frame to frame.
    fn is_of_swapchain(&self) -> bool {
        self.generation == 0 && self.buffer == vk::Buffer::null()
    }

    /// Whether the resource has the same Vulkan objects as before, at any index of the frame. The image of a
    /// swapchain counts as unchanged (cached calls never include passes that use one).
    fn is_unchanged_from(&self, before: &Self) -> bool {
        let at_its_place = Self {
            index: before.index,
            version: before.version,
            ..*self
        };
        let is_passing = self.is_of_swapchain() && before.is_of_swapchain();
        let of = |it: &Self| (it.usage, it.view_kind, it.texels);
        at_its_place == *before || is_passing && of(self) == of(before)
    }
}

impl IdTable {
    /// Sets the resources of a frame, the first `declared` of which passes declare. Returns whether any of those, or
    /// its index, changed.
    ///
    /// # Errors
    /// The first resource that belongs to another device; none is stored then.
    pub(crate) fn fill<'h>(
        &mut self,
        device: &Device,
        handles: &'h [Handle],
        declared: usize,
    ) -> Result<bool, &'h Handle> {
        for id in self.others.drain(..) {
            self.entries[id.0 as usize].index = ABSENT;
        }
        let mut all = (0u32..).zip(&handles[..declared]);
        let are_same = declared == self.declared && all.all(|it| self.is_same(device, it));
        let known = if are_same { declared } else { 0 };
        let new = &handles[known..];
        if let Some(foreign) = new.iter().find(|handle| !handle.is_made_from(device)) {
            return Err(foreign);
        }
        if !are_same {
            self.declared = declared;
            self.entries.iter_mut().for_each(|it| it.index = ABSENT);
        }
        for (index, handle) in (known as u32..).zip(new) {
            self.put(index, handle);
            if index as usize >= declared {
                self.others.push(handle.id());
            }
        }
        Ok(!are_same)
    }

    /// Whether a resource and its index are unchanged.
    fn is_same(&mut self, device: &Device, (index, handle): (u32, &Handle)) -> bool {
        let before = self.entries.get_mut(handle.id().0 as usize);
        let Some(before) = before.filter(|before| before.index == index) else {
            return false;
        };
        // Fast path: the same object.
        let generation = handle.generation();
        if generation != 0 && generation == before.generation {
            return true;
        }
        let new = Entry::new(index, handle);
        if !new.is_unchanged_from(before) || !handle.is_made_from(device) {
            return false;
        }
        if before.view != new.view {
            // The acquired image of a swapchain differs from frame to frame.
            let version = before.version;
            *before = Entry { version, ..new };
        }
        true
    }

    /// Stores the entry of a resource.
    fn put(&mut self, index: u32, handle: &Handle) {
        let (id, new) = (handle.id().0 as usize, Entry::new(index, handle));
        if self.entries.len() <= id {
            self.entries.resize(id + 1, Entry::NONE);
        }
        let before = &mut self.entries[id];
        let mut version = before.version;
        if !new.is_unchanged_from(before) {
            self.versions += 1;
            version = self.versions;
        }
        *before = Entry { version, ..new };
    }
}

/// The resources of a frame, by id and by index.
#[derive(Clone, Copy)]
pub(crate) struct FrameResources<'a> {
    /// The table, filled from `handles`.
    pub ids: &'a IdTable,
    /// Handles by index.
    pub handles: &'a [Handle],
    /// Names of resources that are not in the frame.
    pub names: &'a Ids,
}

impl<'a> FrameResources<'a> {
    fn find(&self, id: ResourceId) -> Result<(ResourceIndex, &'a Handle), CommandError> {
        let index = self
            .ids
            .entries
            .get(id.0 as usize)
            .map_or(ABSENT, |it| it.index);
        let handle = self
            .handles
            .get(index as usize)
            .ok_or_else(|| self.not_declared(id))?;
        Ok((ResourceIndex(index), handle))
    }

    /// Returns the error of a pass that uses a resource without declaring it.
    #[cold]
    pub(crate) fn not_declared(&self, id: ResourceId) -> CommandError {
        CommandError::NotDeclared {
            name: self.names.name(id),
        }
    }

    /// Returns the entry of a buffer for a binding.
    pub(crate) fn buffer_entry(&self, id: ResourceId) -> Result<&'a Entry, CommandError> {
        match self.entry(id).filter(|it| it.buffer != vk::Buffer::null()) {
            Some(entry) => Ok(entry),
            None => Err(self.buffer(id).err().unwrap_or(self.not_declared(id))),
        }
    }

    /// Returns the entry of an image for a binding, if shaders use its whole view.
    pub(crate) fn image_entry(&self, id: ResourceId) -> Option<&'a Entry> {
        self.entry(id).filter(|it| it.view != vk::ImageView::null())
    }

    /// Returns the entry of a resource of the frame. Stale entries of earlier frames are skipped.
    fn entry(&self, id: ResourceId) -> Option<&'a Entry> {
        let entry = self.ids.entries.get(id.0 as usize);
        entry.filter(|entry| entry.index != ABSENT)
    }

    /// Returns the version of a resource and its index, if it is declared.
    pub(crate) fn version(&self, id: ResourceId) -> Option<(u32, ResourceIndex)> {
        let entry = self.ids.entries.get(id.0 as usize)?;
        let version = (entry.version, entry.index());
        self.is_declared(entry.index()).then_some(version)
    }

    /// Whether some pass declares the resource.
    pub(crate) fn is_declared(&self, index: ResourceIndex) -> bool {
        (index.0 as usize) < self.ids.declared
    }

    /// Whether the resource is the acquired image of a swapchain.
    pub(crate) fn is_of_swapchain(&self, index: ResourceIndex) -> bool {
        matches!(self.handle(index), Handle::Image(image) if image.is_swapchain())
    }

    /// The resource of an entry, for its name.
    pub(crate) fn handle(&self, index: ResourceIndex) -> &'a Handle {
        &self.handles[index.0 as usize]
    }

    /// The index of a resource.
    pub(crate) fn index(&self, id: ResourceId) -> Result<ResourceIndex, CommandError> {
        self.find(id).map(|(index, _)| index)
    }

    /// A buffer by id.
    pub(crate) fn buffer(&self, id: ResourceId) -> Result<&'a GpuBuffer, CommandError> {
        match self.find(id)?.1 {
            Handle::Buffer(buffer) => Ok(buffer),
            Handle::Image(image) => Err(wrong(image.name(), "buffer")),
        }
    }

    /// Finds an image by id; an error for a swapchain's image that is not acquired.
    pub(crate) fn image(
        &self,
        id: ResourceId,
    ) -> Result<(ResourceIndex, &'a GpuImage), CommandError> {
        let (index, handle) = self.find(id)?;
        match handle {
            Handle::Buffer(buffer) => Err(wrong(buffer.name(), "image")),
            Handle::Image(image) if image.raw() == vk::Image::null() => {
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
