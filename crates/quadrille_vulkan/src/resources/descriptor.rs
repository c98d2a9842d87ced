//! Contents of descriptors.

use ash::vk;

/// Contents of a descriptor. Its size is the stride of the update templates of pipeline layouts.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Info {
    pub buffer: vk::DescriptorBufferInfo,
    pub image: vk::DescriptorImageInfo,
}

impl Info {
    /// Null descriptor.
    pub(crate) const NULL: Self = Self {
        buffer: vk::DescriptorBufferInfo {
            buffer: vk::Buffer::null(),
            offset: 0,
            range: 0,
        },
    };
}
