//! Data from the CPU for buffers and images, and back; resources with a history.

pub(crate) mod history;
pub(crate) mod internal;
pub(crate) mod png;
pub(crate) mod readback;
pub(crate) mod upload;
