//! Buffers, images, samplers, query sets and tables.

pub(crate) mod buffer;
pub(crate) mod compatible;
pub(crate) mod descriptor;
pub(crate) mod format;
pub(crate) mod generation;
pub(crate) mod handle;
pub(crate) mod image;
pub(crate) mod object;
pub(crate) mod query;
pub(crate) mod region;
pub(crate) mod sampler;
pub(crate) mod table;
pub(crate) mod texels;
pub(crate) mod timeline_semaphore;
pub(crate) mod usage;
pub(crate) mod view;
