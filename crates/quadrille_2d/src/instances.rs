//! Layouts of instance buffers.

pub(crate) mod mesh_instance;
pub(crate) mod node;
