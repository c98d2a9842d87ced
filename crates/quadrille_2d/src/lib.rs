//! bevy's 2D components drawn by Quadrille: `Sprite`, `Mesh2d`, `Text2d` under `Camera2d`.
//!
//! People who know bevy keep their components; [`Quadrille2dPlugin`] takes the place of bevy's
//! 2D renderer. This crate uses only what any user of `quadrille` can use.
//!
//! # Model
//!
//! ```text
//! PostUpdate   bevy: transforms, visibility, text layout     here: cameras (sizes, projections)
//! Declare      prepare_images, prepare_meshes                uploads within a budget
//!              queue_2d        what cameras see -> instances in order, cut into draws
//! passes       draw_2d         one pass of the plan per camera
//! ```
//! Almost everything drawn is an instance of a mesh with an image: a sprite is a quad, a glyph is
//! a quad. So there is one shader, one instance buffer, and one draw for neighbours in the order
//! that share mesh and image: 100,000 sprites with one image are one draw. Nodes with round
//! corners, lines of gizmos (`quadrille_content`) and chunks of tilemaps are quads too, with a shader and an instance
//! buffer each.
//!
//! # Rooms
//!
//! Folders by stage, each importing only earlier ones (`tests/rooms.rs`): `instances`, `components`,
//! `tilemaps`, `meshes`, `fonts`, `scene`, `pipelines`, `queue`, `ui`, `passes`, `plugin`.
//!
//! # Decisions
//!
//! - **One list.** Sprites, meshes and text are sorted together by z (see [`Phase2d`]). There is
//!   no depth buffer: sorting is needed for transparency anyway.
//! - **Culling is bevy's**, on the CPU: what the device should cull has to be sent to it first,
//!   which costs more (README, "How fast").
//! - **A chunk of a tilemap is one quad** whose pixels look their tiles up, so that its tiles are
//!   sent when they change, and are no work for the CPU otherwise.
//! - **A draw per image**, not a table of images: bindings are push descriptors, which every
//!   device has, and sprites that matter in number share an atlas.
//! - **Nodes have one sample per pixel**, as in bevy: they are drawn behind the resolve of what their
//!   camera sees, which has four unless its `Msaa` says otherwise (`passes/msaa.rs`).
//! - **Cameras draw to their target directly.** There is no intermediate image to tone map; a
//!   camera that should go through a pass of yours draws to an image of yours
//!   ([`ManualTextureViews`]).
//!
//! # Deliberately absent
//!
//! No picking, no materials with shaders of their own.

mod components;
mod fonts;
pub mod guide;
mod instances;
mod meshes;
mod passes;
mod pipelines;
mod plugin;
mod queue;
mod scene;
mod tilemaps;
#[cfg(feature = "ui")]
mod ui;

pub use components::material::{AlphaMode2d, ColorMaterial, MeshMaterial2d};
pub use components::tilemap::{TileData, TileOrientation, TilemapChunk, TilemapChunkTileData};
pub use fonts::loader::CheckedFontError;
pub use instances::node::Nodes2d;
pub use meshes::{Indices2d, Vertices2d};
pub use passes::draw::{ColorTargets2d, DrawParams2d, draw_2d};
pub use passes::msaa::{MsaaTargets2d, ResolvedLayers2d};
pub use pipelines::Pipelines2d;
pub use plugin::{Prepare2dSystems, Quadrille2dPlugin};
pub use quadrille::ecs::{CheckedImageError, ImageLimits};
pub use quadrille_content::{
    CameraTargets, CameraViews, DeviceImages, ManualTextureViews, Msaa, UploadBudget,
};
pub use scene::geometry::Geometry2d;
pub use scene::phase::{Instances2d, Phase2d, Textures2d};
pub use tilemaps::chunk::Chunks2d;
pub use tilemaps::tiles::Tiles2d;

/// Prelude of 2D programs: bevy's content crates, and this one.
pub mod prelude {
    pub use crate::{
        AlphaMode2d, ColorMaterial, ManualTextureViews, MeshMaterial2d, Msaa, Quadrille2dPlugin,
        TileData, TilemapChunk, TilemapChunkTileData, UploadBudget,
    };
    pub use bevy_asset::prelude::*;
    pub use bevy_camera::prelude::*;
    pub use bevy_camera::visibility::RenderLayers;
    pub use bevy_camera::{RenderTarget, ScalingMode, Viewport};
    pub use bevy_color::prelude::*;
    #[cfg(feature = "gizmos")]
    pub use bevy_gizmos::GizmoPlugin;
    #[cfg(feature = "gizmos")]
    pub use bevy_gizmos::prelude::*;
    pub use bevy_image::prelude::*;
    pub use bevy_mesh::prelude::*;
    pub use bevy_shape::prelude::*;
    pub use bevy_sprite::prelude::*;
    pub use bevy_sprite::{Anchor, SpriteAlphaMode, Text2dShadow};
    pub use bevy_text::prelude::*;
    pub use bevy_text::{TextBackgroundColor, TextBounds};
    pub use bevy_transform::prelude::*;
    #[cfg(feature = "ui")]
    pub use bevy_ui::prelude::*;
}

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
