//! The interface of the Vulkan loader, commands of the next layer, and structure chains.

pub(crate) mod chain;
pub(crate) mod loader;
pub(crate) mod tables;
