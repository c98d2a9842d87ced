//! Rows of instance buffers, as vertex shaders read them.

pub(crate) mod mesh_instance;
pub(crate) mod node;
