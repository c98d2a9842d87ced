//! Data of a frame: rows, keys, buffers, lists. No systems.

pub(crate) mod buffers;
pub(crate) mod camera_history;
pub(crate) mod cull_view;
pub(crate) mod decals;
pub(crate) mod effect_cameras;
pub(crate) mod formats;
pub(crate) mod frame;
pub(crate) mod keys;
pub(crate) mod lists;
pub(crate) mod prepass;
pub(crate) mod rows;
pub(crate) mod visibility_range;
