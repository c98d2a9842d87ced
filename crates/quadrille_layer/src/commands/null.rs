//! Null mode: drops recorded commands, to measure the CPU cost of a program alone.
//!
//! Command buffers are empty, but they begin, end and are submitted, and semaphores are signalled. So frames are paced
//! as usual, but nothing is computed.

use std::ffi::CStr;

use ash::vk;

/// Whether a command is one that is recorded.
pub(crate) fn is_swallowed(name: &CStr) -> bool {
    name.to_bytes().starts_with(b"vkCmd")
}

/// Returns the function that replaces each such command.
pub(crate) fn swallow() -> vk::PFN_vkVoidFunction {
    Some(nothing)
}

/// Ignores its arguments. All recorded commands return nothing, and the caller cleans up the stack (in all ABIs except
/// on 32-bit Windows), so one function can replace all.
unsafe extern "system" fn nothing() {}

#[cfg(test)]
mod tests;
