//! Data of a frame: views, batches, instances and their buffers.

pub(crate) mod drawn_images;
pub(crate) mod geometry;
pub(crate) mod items;
pub(crate) mod material_pipeline;
pub(crate) mod material_view;
pub(crate) mod materials;
pub(crate) mod node_layers;
#[cfg_attr(not(feature = "ui"), expect(dead_code, reason = "only UI has nodes"))]
pub(crate) mod node_phase;
pub(crate) mod phase;
pub(crate) mod phase_item;
