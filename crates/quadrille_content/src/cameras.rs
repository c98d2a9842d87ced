//! Cameras: projections, render targets, samples, and fields that nothing here reads.

pub(crate) mod msaa;
pub(crate) mod projection;
pub(crate) mod target;
pub(crate) mod unsupported_fields;
pub(crate) mod visible_entities;
