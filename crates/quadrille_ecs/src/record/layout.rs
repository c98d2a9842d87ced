//! Values in the memory layout of shaders.

use encase::ShaderType;
use encase::internal::{BufferMut, WriteInto, Writer};
use encase::private::{ArrayMetadata, MatrixMetadata, StructMetadata};
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::shader::ValueLayout;

use crate::declare::registry::short_name;
use crate::error::RecordError;
use crate::record::bound::Reflected;
use crate::record::recording::SubRecording;

/// A value in WGSL's memory layout, for push constants and uploads: a number, a vector or matrix of
/// [`glam`](crate::glam), an array or a `Vec` of these, or a struct that derives
/// [`ShaderType`](crate::encase::ShaderType).
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no layout that shaders know",
    label = "a number, a vector or matrix of glam, an array of such, or a struct that derives `ShaderType` is expected here",
    note = "`#[derive(ShaderType)]` lays a struct out as WGSL does; bytes of your own making go to `push_bytes` or `write_buffer`"
)]
pub trait ShaderValue: ShaderType<ExtraMetadata: Members> + WriteInto {}

impl<T: ShaderType<ExtraMetadata: Members> + WriteInto + ?Sized> ShaderValue for T {}

/// Byte offsets of the members of a type.
pub trait Members {
    /// Returns the byte offset of each member; `[0]` for a type that is not a struct.
    fn offsets(&self) -> &[u64];

    /// Returns the bytes between elements, for an array.
    fn stride(&self) -> Option<u64> {
        None
    }
}

impl Members for ArrayMetadata {
    fn offsets(&self) -> &[u64] {
        &[0]
    }

    fn stride(&self) -> Option<u64> {
        Some(self.stride.get())
    }
}

impl<const N: usize> Members for StructMetadata<N> {
    fn offsets(&self) -> &[u64] {
        &self.offsets
    }
}

macro_rules! implement_members {
    ($($metadata:ty),*) => {$(
        impl Members for $metadata {
            fn offsets(&self) -> &[u64] {
                &[0]
            }
        }
    )*};
}

implement_members!((), MatrixMetadata);

/// Records push constants, with zeros as padding.
pub(crate) fn push<T: ShaderValue>(
    recording: &mut SubRecording,
    pipeline: &impl Reflected,
    value: &T,
) {
    let metadata = T::METADATA;
    if let Some(error) = contradiction::<T>(pipeline, metadata.extra.offsets()) {
        return recording.fail(error);
    }
    let bytes = value.size().get() as usize;
    let list = &mut recording.list;
    let mut few = [0; CommandList::MAX_PUSH_CONSTANTS];
    match few.get_mut(..bytes) {
        Some(few) => {
            write(value, few);
            list.push_constants(few);
        }
        // Encoding reports the wrong size.
        None => list.push_constants(&vec![0; bytes]),
    }
}

/// Compares the member offsets of a value with the shader's. Encoding compares the sizes.
fn contradiction<T>(pipeline: &impl Reflected, given: &[u64]) -> Option<RecordError> {
    let mut layouts = pipeline.push_layouts().iter();
    let wanted = layouts.find(|layout| layout.contradicts(given))?;
    let shader = wanted
        .members()
        .map(|(name, offset)| format!("`{name}` at {offset}"));
    Some(RecordError::OtherLayout {
        pipeline: pipeline.name().into(),
        value: short_name::<T>(),
        given: list(given.iter().map(u64::to_string)),
        shader: list(shader),
    })
}

/// Joins items to a list in a sentence.
fn list(things: impl Iterator<Item = String>) -> Box<str> {
    things.collect::<Vec<_>>().join(", ").into()
}

/// Writes a value into zeros of its size, and returns where its parts begin; `None` if it has no parts, such as an
/// empty `Vec`.
pub(crate) fn write_noting<T: ShaderValue + ?Sized>(
    value: &T,
    zeros: &mut [u8],
) -> Option<ValueLayout> {
    let mut noted = Noted { zeros, starts: 0 };
    let written = Writer::new(value, &mut noted, 0).map(|mut to| value.write_into(&mut to));
    debug_assert!(written.is_ok(), "a value has as many bytes as it says");
    let starts = noted.starts;
    let stride = T::METADATA.extra.stride();
    // Only the first element of an array is compared, so the length of the array does not matter.
    let bytes = stride.unwrap_or(noted.zeros.len() as u64);
    let first = u64::MAX.checked_shr(64_u32.saturating_sub(bytes.div_ceil(4) as u32));
    (starts != 0).then(|| ValueLayout {
        name: short_name::<T>(),
        starts: starts & first.unwrap_or(0),
        bytes,
        stride,
    })
}

/// Buffer that notes the offsets of writes.
struct Noted<'a> {
    zeros: &'a mut [u8],
    /// One bit for each of the first 64 words of 4 bytes in which a write began.
    starts: u64,
}

impl Noted<'_> {
    fn note(&mut self, offset: usize) {
        self.starts |= 1_u64.checked_shl((offset / 4) as u32).unwrap_or(0);
    }
}

impl BufferMut for Noted<'_> {
    fn capacity(&self) -> usize {
        self.zeros.len()
    }

    fn write<const N: usize>(&mut self, offset: usize, value: &[u8; N]) {
        self.note(offset);
        self.zeros.write(offset, value);
    }

    fn write_slice(&mut self, offset: usize, value: &[u8]) {
        self.note(offset);
        self.zeros.write_slice(offset, value);
    }
}

/// Writes a value into zeros of its size.
pub(crate) fn write<T: ShaderValue + ?Sized>(value: &T, zeros: &mut [u8]) {
    let written = encase::StorageBuffer::new(zeros).write(value);
    debug_assert!(written.is_ok(), "a value has as many bytes as it says");
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
