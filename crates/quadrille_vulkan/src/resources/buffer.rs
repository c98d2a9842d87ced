//! Buffers.

mod create;
mod desc;

pub(crate) use create::check;
pub use desc::{BufferDesc, BufferUsage};

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use ash::vk::{self, Handle as _};
use quadrille_sync::resource::{Resource, ResourceId, ResourceKind, Sharing as Mode};

use crate::device::Device;
use crate::device::backing::{Backing, Block, Resident};
use crate::device::memory::{Mapped, Memory};
use crate::device::retire::Retired;
use crate::error::Error;
use crate::lock;
use crate::resources::object::Object;
use crate::shader::ValueLayout;

/// A buffer. Clones are the same buffer; when the last one is dropped, the buffer is retired: it
/// is destroyed once no queue can still use it.
// The id is also stored beside the pointer: recording needs only the id, without a pointer chase.
#[derive(Clone)]
pub struct GpuBuffer(Arc<BufferInner>, ResourceId);

struct BufferInner {
    object: Object,
    desc: BufferDesc,
    mapped: Option<Mutex<Mapped>>,
    /// Whether the host has written contents. Read between frames only, so relaxed access suffices.
    is_host_written: AtomicBool,
    /// Memory layout of the value at offset 0, if known.
    layout: Mutex<Option<ValueLayout>>,
}

impl GpuBuffer {
    /// Creates a buffer.
    pub(crate) fn new(device: &Arc<Device>, desc: &BufferDesc) -> Result<Self, Error> {
        check(device, desc)?;
        let sharing = desc.sharing.or(device.sharing);
        let desc = &BufferDesc {
            sharing,
            ..desc.clone()
        };
        if desc.transient && desc.memory == Memory::Device {
            let needs = Some(create::requirements(device, desc)?);
            return Ok(Self::assemble(device, desc, None, needs));
        }
        let made = create::create_in(device, desc, sharing.mode(), None)?;
        Ok(Self::assemble(device, desc, Some(made), None))
    }

    /// Makes a buffer of a Vulkan buffer and memory that others share.
    pub(crate) fn adopt(
        device: &Arc<Device>,
        desc: &BufferDesc,
        raw: vk::Buffer,
        backing: Backing,
    ) -> Self {
        Self::assemble(device, desc, Some((raw, backing)), None)
    }

    fn assemble(
        device: &Arc<Device>,
        desc: &BufferDesc,
        made: Option<(vk::Buffer, Backing)>,
        needs: Option<vk::MemoryRequirements>,
    ) -> Self {
        let (raw, backing) = made.unwrap_or_default();
        let atom = device.limits.non_coherent_atom_size;
        // On unified memory, device memory may be mapped too; [`Memory::Device`] is documented as inaccessible to the
        // CPU.
        let memory = backing.own().filter(|_| desc.memory != Memory::Device);
        let mapped = memory.and_then(|memory| Mapped::new(memory, desc.bytes, atom));
        let object = Object::new(device, &desc.name, desc.sharing, needs);
        object.set_raw(raw.as_raw());
        *object.backing() = backing;
        let id = object.id;
        let inner = BufferInner {
            object,
            desc: desc.clone(),
            mapped: mapped.map(Mutex::new),
            is_host_written: AtomicBool::new(false),
            layout: Mutex::default(),
        };
        Self(Arc::new(inner), id)
    }

    /// Binds the buffer to `placement`, or to memory of its own. If its memory changes, the Vulkan buffer is recreated
    /// without contents and the old one is retired.
    pub(crate) fn bind_memory(&self, placement: Option<(&Arc<Block>, u64)>) -> Result<(), Error> {
        let Self(buffer, _) = self;
        let object = &buffer.object;
        let mut backing = object.backing();
        if backing.is_at(placement) {
            return Ok(());
        }
        let (raw, new) = create::create_in(&object.device, &buffer.desc, object.mode(), placement)?;
        let old = std::mem::replace(&mut *backing, new);
        let old_raw = self.replace(raw);
        self.retire(old_raw, old);
        if let Some((block, _)) = placement {
            let resident: Weak<dyn Resident> = Arc::downgrade(buffer) as _;
            block.note(resident);
        }
        Ok(())
    }

    /// Unbinds the buffer, if its memory is in this block.
    fn unbind(&self, block: &Arc<Block>) {
        let mut backing = self.object().backing();
        if backing.offset_in(block).is_some() {
            let old = std::mem::take(&mut *backing);
            let old_raw = self.replace(vk::Buffer::null());
            self.retire(old_raw, old);
        }
    }

    /// Replaces the Vulkan buffer, and returns the old one.
    fn replace(&self, raw: vk::Buffer) -> vk::Buffer {
        vk::Buffer::from_raw(self.object().replace(raw.as_raw()))
    }

    /// Hands a replaced object to the device for destruction.
    fn retire(&self, raw: vk::Buffer, backing: Backing) {
        if !backing.is_unbound() {
            let id = None;
            self.object().retire(Retired::Buffer { id, raw, backing });
        }
    }

    /// Replaces the Vulkan buffer by one of another sharing mode, without contents. Returns the old one under a new
    /// id; a transient buffer is only unbound, and recreated when a frame uses it.
    pub(crate) fn change_sharing(&self, mode: Mode) -> Result<Option<Self>, Error> {
        let BufferInner { object, desc, .. } = &*self.0;
        let mut backing = object.backing();
        let (raw, new) = match object.needs {
            Some(_) => Default::default(),
            None => create::create_in(&object.device, desc, mode, None)?,
        };
        let old = std::mem::replace(&mut *backing, new);
        let (old_raw, old_mode) = (self.replace(raw), object.mode());
        object.set_mode(mode);
        if object.needs.is_some() {
            self.retire(old_raw, old);
            return Ok(None);
        }
        let desc = BufferDesc {
            name: format!("{}_before", desc.name),
            ..desc.clone()
        };
        let old = Self::assemble(&object.device, &desc, Some((old_raw, old)), None);
        old.object().set_mode(old_mode);
        Ok(Some(old))
    }

    /// Returns the part that buffers and images have in common.
    pub(crate) fn object(&self) -> &Object {
        &self.0.object
    }

    /// Its id, which is the same in all frames.
    #[inline]
    pub fn id(&self) -> ResourceId {
        self.1
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.object().name
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.desc.bytes
    }

    /// The description it was created from.
    pub fn desc(&self) -> &BufferDesc {
        &self.0.desc
    }

    /// Returns its declaration for the solver.
    pub fn declare(&self) -> Resource {
        self.declare_as(Arc::clone(&self.object().name))
    }

    /// [`GpuBuffer::declare`] with an existing reference to the name.
    pub(crate) fn declare_as(&self, name: Arc<str>) -> Resource {
        let desc = &self.0.desc;
        let kind = ResourceKind::Buffer { bytes: desc.bytes };
        self.object().declare(name, kind, desc.transient)
    }

    /// Writes bytes from the CPU, to memory of [`Memory::Upload`] or [`Memory::Readback`].
    ///
    /// The writes are visible to frames submitted later. Writing bytes that a frame in flight reads is a
    /// data race on the device; keep a buffer per frame in flight.
    ///
    /// # Errors
    /// The buffer is in device memory, or the range is outside it.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), Error> {
        let mut mapped = self.mapped(offset, data.len() as u64)?;
        // SAFETY: `mapped` has checked the range.
        unsafe { mapped.write(&self.object().device.raw, offset, data) }.map_err(Error::vulkan(
            &self.object().device,
            self.name(),
            "vkFlushMappedMemoryRanges",
        ))?;
        self.0.is_host_written.store(true, Ordering::Relaxed);
        self.set_layout(None);
        Ok(())
    }

    /// Sets the memory layout of the value at offset 0, which is compared with the types of shaders that bind the
    /// buffer; `None` if unknown, as for raw bytes.
    pub fn set_layout(&self, layout: Option<ValueLayout>) {
        let mut known = lock(&self.0.layout);
        if *known != layout {
            *known = layout;
            // Invalidates cached calls that use the buffer, so that they are checked again.
            self.object().generation.change();
        }
    }

    /// Memory layout of the value at offset 0, if known.
    pub fn layout(&self) -> Option<ValueLayout> {
        *lock(&self.0.layout)
    }

    /// Whether [`GpuBuffer::write`] was called, so that the buffer has contents which no pass wrote
    /// ([`States::import`](quadrille_sync::states::States::import)).
    #[inline]
    pub fn is_host_written(&self) -> bool {
        self.0.is_host_written.load(Ordering::Relaxed)
    }

    /// Reads bytes on the CPU, from memory of [`Memory::Upload`] or [`Memory::Readback`].
    ///
    /// Device writes are visible once their submission is complete, if a pass declared a host read.
    ///
    /// # Errors
    /// As for [`GpuBuffer::write`].
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        let mut mapped = self.mapped(offset, data.len() as u64)?;
        // SAFETY: `mapped` has checked the range.
        unsafe { mapped.read(&self.object().device.raw, offset, data) }.map_err(Error::vulkan(
            &self.object().device,
            self.name(),
            "vkInvalidateMappedMemoryRanges",
        ))
    }

    /// The raw handle, for your own Vulkan calls; null for a transient buffer that no frame has
    /// used. The handle of a transient buffer, or one of
    /// [`Sharing::Auto`](crate::resources::Sharing::Auto), may change from frame to frame.
    pub fn raw(&self) -> vk::Buffer {
        vk::Buffer::from_raw(self.object().raw())
    }

    /// Number that changes whenever the Vulkan buffer is replaced.
    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        self.object().generation.get()
    }

    /// Locks the mapped memory, and checks that it contains this range.
    fn mapped(&self, offset: u64, length: u64) -> Result<std::sync::MutexGuard<'_, Mapped>, Error> {
        let name = || self.name().to_owned();
        let mapped = self
            .0
            .mapped
            .as_ref()
            .ok_or_else(|| Error::NotMapped { name: name() })?;
        let mapped = lock(mapped);
        let bytes = mapped.bytes();
        match offset.checked_add(length) {
            Some(end) if end <= bytes => Ok(mapped),
            _ => Err(Error::OutOfBounds {
                name: name(),
                offset,
                length,
                bytes,
            }),
        }
    }
}

impl Drop for BufferInner {
    fn drop(&mut self) {
        self.object.retire(Retired::Buffer {
            id: Some(self.object.id),
            raw: vk::Buffer::from_raw(self.object.raw()),
            backing: std::mem::take(&mut *self.object.backing()),
        });
    }
}

impl Resident for BufferInner {
    fn unbind(self: Arc<Self>, block: &Arc<Block>) {
        let id = self.object.id;
        GpuBuffer(self, id).unbind(block);
    }
}

impl PartialEq for GpuBuffer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GpuBuffer {}

impl std::hash::Hash for GpuBuffer {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.1.hash(state);
    }
}

impl std::fmt::Debug for GpuBuffer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "GpuBuffer({}, {} bytes)",
            self.name(),
            self.bytes()
        )
    }
}
