//! No name of our preludes is one of bevy's: programs take all of them with a star.
//!
//! A name that two preludes give to two things cannot be imported from here, so a collision does not
//! compile. `bevy_shader`, whose prelude has a `Shader`, wants a newer compiler, and is not here.

// The compiler only warns where the two come by several ways.
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
    AccessKind,
    AccessList,
    AlwaysRun,
    AnyAccess,
    AssetFileRules,
    Blend,
    BufferDesc,
    BufferTable,
    BufferTableDesc,
    BufferUsage,
    ColorLocalRead,
    ColorTarget,
    ComputePipeline,
    ComputePipelineDesc,
    ConditionRead,
    Cull,
    Current,
    Declared,
    DeclaredView,
    DepthLocalRead,
    DepthRead,
    DepthState,
    DepthTarget,
    DeviceRebuilt,
    Extension,
    Format,
    FrameStart,
    GpuBuffer,
    GpuDevice,
    GpuImage,
    GpuShader,
    GraphicsPipeline,
    GraphicsPipelineDesc,
    History,
    Host,
    HostRead,
    HostReadWrite,
    HostWrite,
    ImageDesc,
    ImageLimits,
    ImageTable,
    ImageTableDesc,
    ImageUsage,
    IndexRead,
    IndexType,
    IndirectRead,
    LoadTexture,
    Memory,
    NewHistory,
    PipelineState,
    PresentSettings,
    Previous,
    PrimaryWindowImage,
    PrimitiveTopology,
    QuadrillePlugin,
    QuadrillePlugins,
    QuerySet,
    QuerySetDesc,
    QueryWrite,
    QueuePreference,
    Readback,
    ReadbackComplete,
    ReadbackFailed,
    RecordOn,
    Recorder,
    Render,
    RenderDiagnosticsPlugin,
    RenderErrorHandler,
    RenderErrorPolicy,
    RenderStartup,
    RenderSystems,
    Renderer,
    Sampled,
    Sampler,
    SamplerDesc,
    Settings,
    ShaderModule,
    Sharing,
    Statistics,
    StorageRead,
    StorageReadWrite,
    StorageWrite,
    SwapchainState,
    Table,
    TableIndex,
    TexturePlugin,
    TimelineSemaphore,
    TransferRead,
    TransferWrite,
    Uniform,
    Uploads,
    VertexAttribute,
    VertexLayout,
    VertexRead,
    View,
    WindowImage,
    WindowImageOf,
    WindowSized,
    declared,
    declared_window,
    encode_png,
    save_to_disk,
    stage,
    AlphaMode2d,
    ColorMaterial,
    ManualTextureViews,
    MeshMaterial2d,
    Msaa,
    Quadrille2dPlugin,
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
    let of_2d = include_str!("../src/lib.rs");
    let listed = listed(ours, "pub use quadrille_ecs::{").chain(listed(of_2d, "pub use crate::{"));
    let (listed, known): (BTreeSet<_>, BTreeSet<_>) =
        (listed.collect(), NAMES.iter().copied().collect());
    assert_eq!(listed, known);
}
