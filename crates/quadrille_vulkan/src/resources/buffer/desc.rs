//! Descriptions of buffers.

use bitflags::bitflags;

use crate::device::memory::Memory;
use crate::instance::sharing::Sharing;

bitflags! {
    /// Allowed uses of a buffer; the bits of `VkBufferUsageFlagBits`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct BufferUsage: u32 {
        /// Source of copies.
        const TRANSFER_SRC = 0x1;
        /// Target of copies, fills and updates.
        const TRANSFER_DST = 0x2;
        /// Uniform data of shaders.
        const UNIFORM = 0x10;
        /// Storage data of shaders.
        const STORAGE = 0x20;
        /// Indices of draws.
        const INDEX = 0x40;
        /// Vertices of draws.
        const VERTEX = 0x80;
        /// Arguments of indirect draws and dispatches.
        const INDIRECT = 0x100;
        /// Predicate of conditional rendering (`VK_EXT_conditional_rendering`).
        const CONDITION = 0x200;
    }
}

/// Description of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferDesc {
    /// Name in errors, plans and debuggers.
    pub name: String,
    /// Size in bytes; at least 1.
    pub bytes: u64,
    /// Allowed uses.
    pub usage: BufferUsage,
    /// The kind of memory.
    pub memory: Memory,
    /// Sharing between queue families. [`Settings::sharing`] applies if this is [`Sharing::Auto`].
    ///
    /// [`Settings::sharing`]: crate::instance::Settings::sharing
    pub sharing: Sharing,
    /// Whether the contents live for one frame only. Transient resources in device memory with disjoint lifetimes share
    /// memory: see [`Frames::place_transients`](crate::submit::Frames::place_transients).
    pub transient: bool,
}

impl BufferDesc {
    /// Describes a buffer in device memory with these uses.
    pub fn new(name: impl Into<String>, bytes: u64, usage: BufferUsage) -> Self {
        Self {
            name: name.into(),
            bytes,
            usage,
            memory: Memory::Device,
            sharing: Sharing::Auto,
            transient: false,
        }
    }

    /// Describes a storage buffer in device memory that can be copied to and from.
    ///
    /// ```
    /// use quadrille_vulkan::resources::{BufferDesc, BufferUsage};
    /// let cells = BufferDesc::storage("cells", 1024);
    /// assert!(cells.usage.contains(BufferUsage::STORAGE | BufferUsage::TRANSFER_SRC));
    /// ```
    pub fn storage(name: impl Into<String>, bytes: u64) -> Self {
        Self::new(name, bytes, BufferUsage::STORAGE | COPIES)
    }

    /// Describes a uniform buffer that the CPU ([`GpuBuffer::write`](super::GpuBuffer::write)) or copies write.
    pub fn uniform(name: impl Into<String>, bytes: u64) -> Self {
        let usage = BufferUsage::UNIFORM | BufferUsage::TRANSFER_DST;
        Self::new(name, bytes, usage).in_memory(Memory::Upload)
    }

    /// Describes a vertex buffer in device memory.
    pub fn vertex(name: impl Into<String>, bytes: u64) -> Self {
        Self::new(name, bytes, BufferUsage::VERTEX | COPIES)
    }

    /// Describes an index buffer in device memory.
    pub fn index(name: impl Into<String>, bytes: u64) -> Self {
        Self::new(name, bytes, BufferUsage::INDEX | COPIES)
    }

    /// Describes a buffer that the CPU writes and copies read.
    pub fn upload(name: impl Into<String>, bytes: u64) -> Self {
        Self::new(name, bytes, BufferUsage::TRANSFER_SRC).in_memory(Memory::Upload)
    }

    /// Describes a buffer that copies write and the CPU reads.
    pub fn readback(name: impl Into<String>, bytes: u64) -> Self {
        Self::new(name, bytes, BufferUsage::TRANSFER_DST).in_memory(Memory::Readback)
    }

    /// Sets the kind of memory.
    pub fn in_memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Sets the sharing between queue families.
    pub fn with_sharing(mut self, sharing: Sharing) -> Self {
        self.sharing = sharing;
        self
    }

    /// Makes it transient: each frame writes it before reading it, and other resources may use its memory outside its
    /// lifetime.
    pub fn transient(mut self) -> Self {
        self.transient = true;
        self
    }

    /// Adds usages.
    pub fn with_usage(mut self, usage: BufferUsage) -> Self {
        self.usage |= usage;
        self
    }
}

/// Source and destination of copies.
const COPIES: BufferUsage = BufferUsage::TRANSFER_SRC.union(BufferUsage::TRANSFER_DST);
