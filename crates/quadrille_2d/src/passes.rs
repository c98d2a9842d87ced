//! Passes, and the multisampled images that they draw to.

pub(crate) mod draw;
pub(crate) mod msaa;
