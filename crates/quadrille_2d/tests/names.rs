//! No name of our preludes is also in bevy's preludes: programs glob-import all of them.
//!
//! A name that two preludes give to different items cannot be imported here, so a collision does not compile.
//! `bevy_shader`, whose prelude has a `Shader`, needs a newer compiler and is not included.

// The compiler only warns about an item that is imported in several ways.
#![deny(ambiguous_glob_imports)]

use std::collections::BTreeSet;

#[allow(
    unused_imports,
    reason = "most of bevy's names are not ours, and none is used"
)]
mod all {
    pub(crate) use bevy_app::prelude::*;
    pub(crate) use bevy_asset::prelude::*;
    pub(crate) use bevy_camera::prelude::*;
    pub(crate) use bevy_color::prelude::*;
    pub(crate) use bevy_ecs::prelude::*;
    #[cfg(feature = "gizmos")]
    pub(crate) use bevy_gizmos::prelude::*;
    pub(crate) use bevy_image::prelude::*;
    pub(crate) use bevy_input::prelude::*;
    pub(crate) use bevy_log::prelude::*;
    pub(crate) use bevy_math::prelude::*;
    pub(crate) use bevy_mesh::prelude::*;
    pub(crate) use bevy_reflect::prelude::*;
    pub(crate) use bevy_shape::prelude::*;
    pub(crate) use bevy_sprite::prelude::*;
    pub(crate) use bevy_text::prelude::*;
    pub(crate) use bevy_time::prelude::*;
    pub(crate) use bevy_transform::prelude::*;
    #[cfg(feature = "ui")]
    pub(crate) use bevy_ui::prelude::*;
    pub(crate) use bevy_window::prelude::*;
    pub(crate) use quadrille::prelude::*;
    pub(crate) use quadrille_2d::prelude::*;
}

macro_rules! names {
    ($($name:ident),* $(,)?) => {
        #[allow(unused_imports, reason = "that they can be imported is the test")]
        use all::{$($name),*};
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

names!(
    BufferDesc,
    BufferUsage,
    ColorTarget,
    ComputePipeline,
    ComputePipelineDesc,
    DepthRead,
    DepthTarget,
    GpuBuffer,
    GpuDevice,
    GpuImage,
    GpuShader,
    GraphicsPipeline,
    GraphicsPipelineDesc,
    ImageDesc,
    ImageUsage,
    IndexRead,
    IndirectRead,
    LoadTexture,
    PrimaryWindowImage,
    QuadrillePlugin,
    QuadrillePlugins,
    QueuePreference,
    Readback,
    ReadbackComplete,
    Recorder,
    Render,
    RenderStartup,
    RenderSystems,
    Renderer,
    Sampled,
    Sampler,
    SamplerDesc,
    StorageRead,
    StorageReadWrite,
    StorageWrite,
    TexturePlugin,
    TransferRead,
    TransferWrite,
    Uniform,
    Uploads,
    VertexRead,
    WindowImage,
    WindowImageOf,
    WindowSized,
    AlphaMode2d,
    ColorMaterial,
    ManualTextureViews,
    Material2d,
    Material2dPlugin,
    MaterialExtension2d,
    MeshMaterial2d,
    Msaa,
    Quadrille2dPlugin,
    Shader,
    ShaderRef,
    SpriteMaterial,
    SpriteMaterialPlugin,
    TileData,
    TilemapChunk,
    TilemapChunkTileData,
    UploadBudget
);

/// The names between a phrase of a prelude's source and the end of its list, wherever that is.
fn listed(source: &'static str, from: &'static str) -> impl Iterator<Item = &'static str> {
    let lists = source.split(from).skip(1);
    let names = lists.flat_map(|list| {
        let (list, _) = list.split_once('}').expect("the list ends");
        list.split(',').map(str::trim)
    });
    names.filter(|name| !name.is_empty() && !name.ends_with(" as _"))
}

#[test]
fn prelude_names_do_not_collide() {
    let (_, ours) = include_str!("../../quadrille/src/lib.rs")
        .split_once("pub mod prelude {")
        .expect("there is a prelude");
    let (_, of_2d) = include_str!("../src/lib.rs")
        .split_once("pub mod prelude {")
        .expect("there is a prelude");
    let listed = listed(ours, "pub use quadrille_ecs::{")
        .chain(listed(ours, "pub use quadrille_vulkan::pipeline::{"))
        .chain(listed(ours, "pub use quadrille_vulkan::resources::{"))
        .chain(["GpuShader"])
        .chain(listed(of_2d, "pub use crate::{"))
        .chain(listed(of_2d, "pub use quadrille_content::shaders::{"))
        .chain(listed(of_2d, "pub use quadrille_content::cameras::{"))
        .chain(["UploadBudget"]);
    let (listed, known): (BTreeSet<_>, BTreeSet<_>) =
        (listed.collect(), NAMES.iter().copied().collect());
    assert_eq!(listed, known);
}
