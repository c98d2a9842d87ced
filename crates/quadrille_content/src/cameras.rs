//! Cameras: projections, render targets, MSAA, and warnings about unsupported fields.

pub(crate) mod msaa;
pub(crate) mod projection;
pub(crate) mod target;
pub(crate) mod unsupported_fields;
pub(crate) mod visible_entities;

pub use msaa::Msaa;
pub use projection::{InvalidCameras, limited_scale};
pub use target::{ManualTextureViews, TargetImages};
pub use visible_entities::unique_visible_entities;
