//! Materials with a shader of their own, for 2D and 3D: rows in one buffer, and shaders that read them.

pub(crate) mod layout;
pub(crate) mod rows;
pub(crate) mod shader;
