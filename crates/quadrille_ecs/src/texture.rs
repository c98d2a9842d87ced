//! Textures: bevy's image assets as device images.
//!
//! Programs use [`LoadTexture`]. Its parts are public for content crates, which track all image assets of an app.

mod checks;
mod describe;
mod files;
mod format;
mod gamma;
mod ktx2;
mod load;
mod loader;
mod plugin;

pub use checks::EmbeddedImages;
pub use describe::{TexturePart, describe as describe_texture, parts as texture_parts};
pub use files::{AssetFileRules, AssetFolder, checked_asset_source};
pub use load::LoadTexture;
pub use loader::{CheckedImageError, ImageLimits};
pub use plugin::TexturePlugin;
