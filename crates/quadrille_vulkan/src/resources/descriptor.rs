//! What descriptors are made from.

use ash::vk;

/// What a descriptor is made from. The variants have the same size, which is the stride of the
/// templates of pipeline layouts.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Info {
    pub buffer: vk::DescriptorBufferInfo,
    pub image: vk::DescriptorImageInfo,
}

impl Info {
    /// Nothing.
    pub(crate) const NULL: Self = Self {
        buffer: vk::DescriptorBufferInfo {
            buffer: vk::Buffer::null(),
            offset: 0,
            range: 0,
        },
    };
}
