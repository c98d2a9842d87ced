//! Uploads, readbacks, resources with a history, and resources that others share.

pub(crate) mod exchange;
pub(crate) mod history;
pub(crate) mod internal;
pub(crate) mod png;
pub(crate) mod readback;
pub(crate) mod upload;
