//! Materials with a shader of their own, by bevy's names: [`Material2d`] of meshes, [`SpriteMaterial`] of sprites and
//! `UiMaterial` of nodes.

mod key;
mod mesh;
mod plugin;
mod sprite;
#[cfg(feature = "ui")]
mod ui;

#[cfg(feature = "ui")]
pub use key::UiMaterialKey;
pub use key::{Material2dKey, Material2dPipeline};
pub use mesh::{Material2d, Material2dPlugin};
pub use sprite::{MaterialExtension2d, SpriteMaterial, SpriteMaterialPlugin};
#[cfg(feature = "ui")]
pub use ui::{MaterialNode, UiMaterial, UiMaterialPlugin};
