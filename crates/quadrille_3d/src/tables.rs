//! Device tables, and vertex conversion.

pub(crate) mod brdf_luts;
pub(crate) mod dfg;
pub(crate) mod mesh_vertex;
pub(crate) mod table;
pub(crate) mod textures;
