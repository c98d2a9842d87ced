//! bevy's 2D components drawn by Quadrille: `Sprite`, `Mesh2d`, `Text2d` under `Camera2d`.
//!
//! [`Quadrille2dPlugin`] replaces bevy's 2D renderer; apps keep bevy's components. The crate is built on the public
//! API of `quadrille` alone.
//!
//! # Model
//!
//! ```text
//! PostUpdate   bevy: transforms, visibility, text layout     here: cameras (sizes, projections)
//! Declare      prepare_images, prepare_meshes                uploads within a budget
//!              queue_2d        visible entities -> retained instances, sorted and batched by index
//!              queue_ui        nodes -> boxes and quads, if any node has changed
//! passes       draw_2d         one pass in the plan per camera
//! ```
//! Sprites, glyphs and meshes are instances of a mesh with an image; the mesh of sprites and glyphs is a quad. They
//! share a shader, an instance buffer and a list of indices in drawing order. Neighbours in that order with the same
//! mesh and image are batched: 100,000 sprites with one image are one draw. Rounded UI nodes, gizmo lines
//! (`quadrille_content`) and tilemap chunks are quads too, each kind with its own shader and instance buffer.
//!
//! # Rooms
//!
//! Folders by stage, each importing only earlier ones (`tests/rooms.rs`): `instances`, `components`,
//! `tilemaps`, `meshes`, `fonts`, `scene`, `pipelines`, `queue`, `ui`, `passes`, `plugin`, `material`.
//!
//! # Decisions
//!
//! - **One list.** Sprites, meshes and text are sorted together by z (see [`Phase2d`]). There is
//!   no depth buffer: sorting is needed for transparency anyway.
//! - **Instances are retained.** The rows of an entity stay in the instance buffer, and are rebuilt only if its
//!   components, images or materials have changed. Change ticks of visible entities are compared in parallel; changes
//!   that bypass bevy's change detection are missed. [`Phase2d::work`] counts rebuilt and moved items.
//! - **The drawing order is a list of indices** of rows: sorting moves no instances, and an order is kept while keys
//!   and visible entities stay the same.
//! - **Nodes are rebuilt together**, and only in frames in which a component or asset of any node has changed.
//! - **Culling is bevy's**, on the CPU: GPU culling would have to upload all instances first,
//!   which costs more (README, "How fast").
//! - **Materials with a shader of their own** are sorted and batched with everything else. Their uniforms are rows of a
//!   table, and their images are bindings, so a batch ends where images change. Changed uniforms only upload rows. Buffers,
//!   storage textures and other kinds of textures are declared by the pass of each camera that draws with them.
//! - **A tilemap chunk is one quad** whose fragments look up their tile. Tiles are uploaded when they change and
//!   cost no CPU time otherwise.
//! - **A draw per image**, no bindless array: push descriptors, which every device has, are enough, since numerous
//!   sprites usually share an atlas.
//! - **UI nodes are not multisampled**, as in bevy: they are drawn after the resolve of their camera, which has four
//!   samples per pixel unless its `Msaa` says otherwise (`passes/msaa.rs`).
//! - **Cameras draw to their target directly**, without an intermediate image or tone mapping. For post-processing, let
//!   the camera draw to an image of your own ([`ManualTextureViews`](content::cameras::ManualTextureViews)).
//!
//! # Deliberately absent
//!
//! Picking; vertex shaders of `UiMaterial` and `ExtendedMaterial2d`.

mod components;
mod constants;
mod fonts;
pub mod guide;
mod instances;
mod material;
mod meshes;
mod passes;
mod pipelines;
mod plugin;
mod queue;
mod scene;
mod tilemaps;
#[cfg(feature = "ui")]
mod ui;

pub use bevy_mesh::MeshVertexBufferLayoutRef;
pub use components::material::{AlphaMode2d, ColorMaterial, MeshMaterial2d};
pub use components::tilemap::{TileData, TileOrientation, TilemapChunk, TilemapChunkTileData};
pub use fonts::loader::CheckedFontError;
pub use material::{
    Material2d, Material2dKey, Material2dPipeline, Material2dPlugin, MaterialExtension2d,
    SpriteMaterial, SpriteMaterialPlugin,
};
#[cfg(feature = "ui")]
pub use material::{MaterialNode, UiMaterial, UiMaterialKey, UiMaterialPlugin};
pub use plugin::{Prepare2dSystems, Quadrille2dPlugin};
pub use quadrille_content as content;
pub use quadrille_content::materials::{
    FragmentState, RenderPipelineDescriptor, SpecializedMeshPipelineError, VertexState,
};
pub use scene::phase::{Phase2d, QueueWork};

/// Systems of 2D, for ordering with `before` and `after`.
pub mod systems {
    pub use crate::passes::draw::draw_2d;
}

/// Images and buffers of 2D, for passes that declare them.
pub mod resources {
    pub use crate::instances::node::Nodes2d;
    pub use crate::meshes::{Indices2d, MeshAttributes2d, Vertices2d};
    pub use crate::passes::msaa::{MsaaTargets2d, ResolvedLayers2d};
    pub use crate::scene::materials::{
        MaterialBuffers2d, MaterialGlobals2d, MaterialImages2d, MaterialRows2d, MaterialViews2d,
        WrittenMaterialBuffers2d, WrittenMaterialImages2d,
    };
    pub use crate::scene::phase::{InstanceOrder2d, Instances2d, Textures2d};
    pub use crate::tilemaps::chunk::Chunks2d;
    pub use crate::tilemaps::tiles::Tiles2d;
}

/// Prelude of 2D programs: bevy's content crates, and this one.
pub mod prelude {
    #[cfg(feature = "ui")]
    pub use crate::material::{MaterialNode, UiMaterial, UiMaterialPlugin};
    pub use crate::{
        AlphaMode2d, ColorMaterial, Material2d, Material2dPlugin, MaterialExtension2d,
        MeshMaterial2d, Quadrille2dPlugin, SpriteMaterial, SpriteMaterialPlugin, TileData,
        TilemapChunk, TilemapChunkTileData,
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
    pub use bevy_reflect::TypePath;
    pub use bevy_shape::prelude::*;
    pub use bevy_sprite::prelude::*;
    pub use bevy_sprite::{Anchor, SpriteAlphaMode, Text2dShadow};
    pub use bevy_text::prelude::*;
    pub use bevy_text::{TextBackgroundColor, TextBounds};
    pub use bevy_transform::prelude::*;
    #[cfg(feature = "ui")]
    pub use bevy_ui::prelude::*;
    pub use quadrille::material::{AsBindGroup, ShaderBuffer};
    pub use quadrille_content::cameras::{ManualTextureViews, Msaa};
    pub use quadrille_content::images::UploadBudget;
    pub use quadrille_content::shaders::{Shader, ShaderRef};
}

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
