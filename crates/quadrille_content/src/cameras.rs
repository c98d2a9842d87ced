//! Cameras: projections, render targets, MSAA, and warnings about unsupported fields.

pub(crate) mod msaa;
pub(crate) mod projection;
pub(crate) mod target;
pub(crate) mod unsupported_fields;
pub(crate) mod visible_entities;
