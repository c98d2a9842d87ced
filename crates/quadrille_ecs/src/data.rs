//! Uploads, readbacks, and resources with a history.

pub(crate) mod history;
pub(crate) mod internal;
pub(crate) mod png;
pub(crate) mod readback;
pub(crate) mod upload;
