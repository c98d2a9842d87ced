//! The pass `draw_2d` and its multisampled targets.

pub(crate) mod draw;
pub(crate) mod msaa;
