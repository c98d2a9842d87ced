//! Values laid out as shaders have them.

use encase::ShaderType;
use encase::internal::WriteInto;
use quadrille_vulkan::CommandList;

/// Pushes a value, with zeros as padding.
pub(crate) fn push<T: ShaderType + WriteInto>(list: &mut CommandList, value: &T) {
    let bytes = value.size().get() as usize;
    let mut few = [0; CommandList::MAX_PUSH_CONSTANTS];
    match few.get_mut(..bytes) {
        Some(few) => {
            write(value, few);
            list.push_constants(few);
        }
        // Refused with its size when the pass is translated.
        None => list.push_constants(&vec![0; bytes]),
    }
}

/// Writes a value into zeros, which are as many as it has bytes.
pub(crate) fn write<T: ShaderType + WriteInto + ?Sized>(value: &T, zeros: &mut [u8]) {
    let written = encase::StorageBuffer::new(zeros).write(value);
    debug_assert!(written.is_ok(), "a value has as many bytes as it says");
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
