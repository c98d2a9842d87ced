//! Null: recorded commands are swallowed, so that what a program itself costs can be measured.
//!
//! Command buffers stay empty, but they begin, end and are submitted, and semaphores are signalled:
//! frames follow one another as always, and nothing is computed.

use std::ffi::CStr;

use ash::vk;

/// Whether a command is one that is recorded.
pub(crate) fn is_swallowed(name: &CStr) -> bool {
    name.to_bytes().starts_with(b"vkCmd")
}

/// Returns the function that stands for each such command.
pub(crate) fn swallow() -> vk::PFN_vkVoidFunction {
    Some(nothing)
}

/// Takes no notice of its arguments. All recorded commands return nothing, and it is the caller who
/// takes arguments off the stack (everywhere but on 32-bit Windows), so one function stands for
/// all.
unsafe extern "system" fn nothing() {}

#[cfg(test)]
mod tests;
