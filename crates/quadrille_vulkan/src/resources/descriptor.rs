//! Data of descriptors.

use ash::vk;

/// Data of a descriptor. The variants have the same size, which is the stride of the templates of
/// pipeline layouts.
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
