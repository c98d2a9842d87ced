//! TODO-HEAD data

pub(crate) mod internal;
pub(crate) mod png;
pub(crate) mod readback;
pub(crate) mod upload;
