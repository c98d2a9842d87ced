//! Materials with a shader of their own, by bevy's names: [`Material2d`] of meshes, [`SpriteMaterial`] of sprites and
//! `UiMaterial` of nodes.

mod mesh;
mod plugin;
mod sprite;
#[cfg(feature = "ui")]
mod ui;

pub use mesh::{Material2d, Material2dPlugin};
pub use sprite::{MaterialExtension2d, SpriteMaterial, SpriteMaterialPlugin};
#[cfg(feature = "ui")]
pub use ui::{MaterialNode, UiMaterial, UiMaterialPlugin};
