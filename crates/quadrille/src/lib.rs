//! A Vulkan renderer for bevy apps in which every render pass is an ECS system and nobody writes
//! a barrier.
//!
//! # A first program
//!
//! ```no_run
//! use bevy_app::{App, AppExit};
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//!
//! #[derive(Resource)]
//! struct Triangle(GraphicsPipeline);
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
//!     let shader = GpuShader::wgsl(
//!         "triangle.wgsl",
//!         "@vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
//!              let x = f32(i) - 1.0;
//!              return vec4f(x * 0.8, f32(i & 1u) * 1.6 - 0.8, 0.0, 1.0);
//!          }
//!          @fragment fn fragment_main() -> @location(0) vec4f {
//!              return vec4f(1.0, 0.6, 0.2, 1.0);
//!          }",
//!     )?;
//!     let desc = GraphicsPipelineDesc::of("triangle", &shader);
//!     commands.insert_resource(Triangle(gpu.graphics_pipeline(&desc)?));
//!     Ok(())
//! }
//!
//! // A pass: a system that takes a recorder and says what it touches.
//! fn draw(mut recorder: Recorder, window: ColorTarget<PrimaryWindowImage>, pass: Res<Triangle>) {
//!     recorder.render(window.clear([0.02, 0.02, 0.03, 1.0])).pipeline(&pass.0).draw(0..3, 0..1);
//! }
//!
//! fn main() -> AppExit {
//!     App::new()
//!         .add_plugins(QuadrillePlugins::default())
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(Render, draw)
//!         .run()
//! }
//! ```
//!
//! # How it works
//!
//! 1. **A pass is a system** in the [`Render`](prelude::Render) schedule that takes a
//!    [`Recorder`](prelude::Recorder). `run_if`, sets, `Query` and `Res` work as in any system.
//! 2. **Parameters declare.** `StorageRead<Cells>`, `ColorTarget<PrimaryWindowImage>`: a bevy
//!    resource that dereferences to a [`GpuBuffer`](prelude::GpuBuffer) or an [`GpuImage`](prelude::GpuImage)
//!    names it.
//! 3. **What belongs to the device is made in [`RenderStartup`](prelude::RenderStartup)**, which
//!    comes after `Startup`, and again if the device was lost and there is another.
//!    [`Uploads`](prelude::Uploads) fill buffers and images, [`Readback`](prelude::Readback) brings
//!    their contents back. A system in [`RenderSystems::Declare`](prelude::RenderSystems::Declare)
//!    creates what a single frame needs; its commands are applied before passes run. A pass that can do without takes `Option<StorageRead<Cells>>`, and is given
//!    `None`; one that is to be left out takes `If<StorageRead<Cells>>`.
//!    A struct that shaders read derives [`ShaderType`](prelude::ShaderType), whose vectors and matrices
//!    are [`glam`]'s: `.push(&params)` and `uploads.write(&buffer, 0, &params)` lay it out as WGSL does,
//!    and `params.size()` is how large its buffer is. A push of another size than the shader's is an error,
//!    and so is one whose members begin elsewhere (`[f32; 3]` is no `vec3f`), and a buffer that is shorter than the shader's type. Bytes of one's own making are pushed
//!    with `push_bytes`; [`bytemuck`] makes them, of structs with
//!    `#[derive(Pod)] #[bytemuck(crate = "quadrille::bytemuck")]`.
//! 4. **`after` is GPU order.** Where one pass writes what others read, the order is inferred.
//!    Two writers without order are an error that says how to fix it.
//! 5. **`on_queue(QueueWish::Async)`** wants async compute or a transfer queue. The plan adds
//!    what that takes: semaphore waits and ownership transfers, or nothing on a device with one
//!    queue. A pass without a wish begins on the main queue and moves to another one where measured
//!    times say that frames get shorter ([`QueueWish::Auto`](prelude::QueueWish::Auto)).
//!    Images and buffers that queue families use in turn become concurrent where that makes frames shorter
//!    ([`Sharing::Auto`](prelude::Sharing::Auto)); a description says otherwise by `with_sharing`.
//! 6. **What lives for one frame is `transient()`.** Images and buffers whose description says so
//!    are written by each frame before it reads them, and those that are never needed at once
//!    share memory; the plan orders their uses of it:
//!    `gpu.create_image(&ImageDesc::color_target("glow", [480, 270], format).transient())`.
//! 7. **An image of the window's size** is `WindowSized`: `commands.queue(WindowSized::new(Glow, desc))`
//!    inserts `Glow(GpuImage)`, and again whenever the window has another size, before passes run.
//!    `.scaled(0.5)` is half as wide and high; `WindowSized::history::<Scene>(desc)` is one with a past
//!    ([`History`](prelude::History)), which is zero before the first frame and after each new size.
//! 8. **Textures** come from bevy's `AssetServer`, with `TexturePlugin` in
//!    the app: `commands.queue(LoadTexture::new(Bricks, assets.load("bricks.png")).mips())` inserts
//!    `Bricks(GpuImage)` once the PNG or KTX2 file is loaded, and follows the asset when it changes; passes that
//!    declare it are left out until then. Images made in code (`Assets<Image>::add`) go the same way.
//!    `uploads.generate_mips(&image)` makes the mip levels of any image.
//! 9. **Mip levels, layers and slices** are declared apart: `glow.mip(2)`, `maps.layer(light)` of a
//!    declared image is what a shader, an attachment or a copy sees of it
//!    ([`DeclaredView`](prelude::DeclaredView) makes a mip chain, one pass for each level), and passes
//!    that write other `fog.slices(0..4)` of a 3D image need no order.
//! 10. **Shaders follow their files** with `ShaderReloadPlugin`: those of `GpuShader::load(path)`, and
//!     of `GpuShader::wgsl(name, include_str!(path))?.with_file(path)`. What is broken is a line in the
//!     log, and the pipeline stays what it was.
//! 11. **Shaders import from each other**: [Shaders of several files](#shaders-of-several-files).
//! 12. **Tables** hold images of which shaders choose one by its index: see [below](#tables).
//! 13. **The device draws what it finds**: `draw_indirect_count` reads from a buffer how often it draws, and
//!     `@builtin(draw_index)` says in the shader which draw it is; both buffers are `IndirectRead`.
//! 14. **All fixed state of Vulkan** is in [`PipelineState`](prelude::PipelineState): blend and mask of each
//!     attachment, stencil, depth bias and clamp, wire frames, alpha to coverage. `depth.clear_depth(1.0)
//!     .clear_stencil(0)` begins with both aspects; `keep_stencil()` keeps what is there. What a device lacks is
//!     an error when the pipeline is made, which names the feature.
//!
//! 15. **Queries** count what draws come to, and `when` has the device decide what is drawn: see
//!     [below](#queries-and-conditions).
//! 16. **Names bind too**: `bind("heights", &waves)`, `sampler("linear", &sampler)` and `table("textures",
//!     &textures)` find the shader's variable by its name. `ComputePipelineDesc::of("waves", &shader)
//!     .binds("heights")` has the name checked when the pipeline is made; the error names the nearest one.
//!
//! Clip space is WebGPU's, with y up and depth from 0 to 1, whatever language a shader is written in.
//! Images and windows begin at their top left corner.
//!
//! # Shaders of several files
//!
//! WGSL imports names of other files and of modules that crates publish, as bevy's shaders do (WESL), and has
//! `override` constants that a pipeline sets:
//!
//! ```
//! # use bevy_app::App;
//! # use bevy_ecs::prelude::*;
//! # use quadrille::prelude::*;
//! // A crate publishes a module under its name:
//! fn publish(_app: &mut App) -> Result {
//!     let source = "override OCTAVES: u32 = 4u; fn ripple(at: f32) -> f32 { return sin(at * f32(OCTAVES)); }";
//!     Ok(ShaderModule::new("waves::noise", source).publish()?)
//! }
//!
//! // Everybody imports from it:
//! const LAKE: &str = "
//!     import waves::noise::ripple;
//!     override SIZE: u32;
//!     @group(0) @binding(0) var<storage, read_write> heights: array<f32>;
//!     @compute @workgroup_size(SIZE)
//!     fn main(@builtin(global_invocation_id) id: vec3u) { heights[id.x] = ripple(f32(id.x)); }";
//!
//! fn setup(gpu: Res<GpuDevice>) -> Result {
//!     let shader = GpuShader::wgsl("lake.wgsl", LAKE)?;
//!     let desc = ComputePipelineDesc::of("lake", &shader)
//!         .constant("SIZE", 256_u32)
//!         .constant("noise::OCTAVES", 8_u32);
//!     let lake = gpu.compute_pipeline(&desc)?;
//! #   drop(lake);
//!     Ok(())
//! }
//! # let mut app = App::new();
//! # publish(&mut app).unwrap();
//! # GpuShader::wgsl("lake.wgsl", LAKE).unwrap();
//! ```
//!
//! In files, `super::` is the folder: `import super::noise::{ripple, Wave as Swell};` takes two names of
//! `noise.wgsl` beside the file that imports, `import super::super::lib::tint;` makes `tint::mix_in` known, of
//! `lib/tint.wgsl` in the folder above. A module is part of a shader once, however many import it; its names,
//! also those of its variables and constants, are its own, and its entry points are not the shader's.
//!
//! Errors show file, line and column of the source in which they are. What is missing, is misspelt or imports
//! itself in a circle is one line that says so. Pipelines follow the files of imports, those of published
//! modules too if [`with_file`](prelude::ShaderModule::with_file) names them.
//!
//! # Textures
//!
//! ```no_run
//! use bevy_app::{App, AppExit};
//! use bevy_asset::AssetServer;
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//! use quadrille::vulkan::vk::SamplerAddressMode;
//!
//! #[derive(Resource, Deref)]
//! struct Bricks(GpuImage);
//!
//! #[derive(Resource)]
//! struct Wall(GraphicsPipeline, Sampler);
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>, assets: Res<AssetServer>) -> Result {
//!     // Of the folder `assets`, with mip levels that the device makes.
//!     commands.queue(LoadTexture::new(Bricks, assets.load("bricks.png")).mips());
//!     let shader = GpuShader::wgsl(
//!         "wall.wgsl",
//!         "@group(0) @binding(0) var bricks: texture_2d<f32>;
//!          @group(0) @binding(1) var smooth_sampler: sampler;
//!          @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
//!              return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
//!          }
//!          @fragment fn fragment_main(@builtin(position) at: vec4f) -> @location(0) vec4f {
//!              return textureSample(bricks, smooth_sampler, at.xy / 64.0);
//!          }",
//!     )?;
//!     let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc::of("wall", &shader))?;
//!     let address = SamplerAddressMode::REPEAT;
//!     let sampler = SamplerDesc { address, ..SamplerDesc::linear() };
//!     let sampler = gpu.create_sampler(&sampler)?;
//!     commands.insert_resource(Wall(pipeline, sampler));
//!     Ok(())
//! }
//!
//! // Runs from the frame on in which the bricks are there.
//! fn draw(
//!     mut recorder: Recorder,
//!     bricks: Sampled<Bricks>,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     wall: Res<Wall>,
//! ) {
//!     let mut rendering = recorder.render(window.clear([0.0; 4]));
//!     rendering.pipeline(&wall.0).bind(0, &bricks).sampler(1, &wall.1).draw(0..3, 0..1);
//! }
//!
//! fn main() -> AppExit {
//!     App::new()
//!         .add_plugins((QuadrillePlugins::default(), TexturePlugin::default()))
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(Render, draw)
//!         .run()
//! }
//! ```
//!
//! # Tables
//!
//! An [`ImageTable`](prelude::ImageTable) is bound as a whole, and each invocation chooses an image by
//! its index. `insert`, `replace` and `remove` come at any time: frames on their way find what the table
//! had when they began. An entry without an image shows a magenta checker, and so does an image
//! without contents.
//!
//! A pass declares the table with one parameter, [`Table`](prelude::Table). Images that were written once
//! cost the frame nothing, however many there are. What the frame writes, an upload or a pass, is ordered
//! before the passes that read the table, on whichever queues they run. An image that passes on several
//! queue families read this way is best made with [`Sharing::Concurrent`](prelude::Sharing): one that
//! they own in turn has to be handed over in each frame.
//!
//! In the shader the table is a group of its own, from 1 to 3: samplers at binding 0, images at binding 1.
//! That an index is below the table's capacity is for the shader to see to.
//!
//! ```no_run
//! use bevy_app::{App, AppExit};
//! use bevy_derive::{Deref, DerefMut};
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//!
//! #[derive(Resource, Deref, DerefMut)]
//! struct Textures(ImageTable);
//!
//! #[derive(Resource)]
//! struct Tiles {
//!     pipeline: GraphicsPipeline,
//!     /// Which image is drawn.
//!     index: TableIndex,
//! }
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
//!     let sampler = gpu.create_sampler(&SamplerDesc::linear())?;
//!     let desc = ImageTableDesc::d2("textures", 1000).with_sampler(&sampler);
//!     let mut textures = gpu.image_table(&desc)?;
//!     let stone = ImageDesc::sampled("stone", [2, 2], Format::R8G8B8A8_SRGB);
//!     let stone = gpu.create_image(&stone.with_sharing(Sharing::Concurrent))?;
//!     uploads.write_image(&stone, &[128; 16]);
//!     let index = textures.insert(&stone)?;
//!     commands.insert_resource(Textures(textures));
//!     let shader = GpuShader::wgsl(
//!         "tiles.wgsl",
//!         "enable wgpu_binding_array; // what WGSL's translator calls arrays of images
//!          @group(1) @binding(0) var smooth_sampler: sampler;
//!          @group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;
//!          var<immediate> index: u32;
//!          @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
//!              return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
//!          }
//!          @fragment fn fragment_main(@builtin(position) at: vec4f) -> @location(0) vec4f {
//!              return textureSample(textures[index], smooth_sampler, at.xy / 64.0);
//!          }",
//!     )?;
//!     let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc::of("tiles", &shader))?;
//!     commands.insert_resource(Tiles { pipeline, index });
//!     Ok(())
//! }
//!
//! fn draw(
//!     mut recorder: Recorder,
//!     textures: Table<Textures>,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     tiles: Res<Tiles>,
//! ) {
//!     let mut rendering = recorder.render(window.clear([0.0; 4]));
//!     rendering.pipeline(&tiles.pipeline).table(1, &textures).push(&tiles.index.0).draw(0..3, 0..1);
//! }
//!
//! fn main() -> AppExit {
//!     App::new()
//!         .add_plugins(QuadrillePlugins::default())
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(Render, draw)
//!         .run()
//! }
//! ```
//!
//! # Queries and conditions
//!
//! A [`QuerySet`](prelude::QuerySet) counts samples that are visible, or what shaders did (pipeline
//! statistics). A pass uses its queries around draws, and the results are in the set's buffer when the pass is
//! done. So every other access of the set is one of a buffer: a shader reads `StorageRead<Visible>`, a copy
//! `TransferRead<Visible>`, a [`Readback`](prelude::Readback) `&visible`, and
//! [`when`](ecs::Rendering::when) takes `ConditionRead<Visible>` or any other buffer with
//! [`BufferUsage::CONDITION`](prelude::BufferUsage): the device draws if the number there is not 0, and the CPU
//! never knows. Order, barriers and other queues follow from the declarations, as always.
//!
//! ```
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//!
//! #[derive(Resource, Deref)]
//! struct Visible(QuerySet);
//! # #[derive(Resource, Deref)] struct Depth(GpuImage);
//! # #[derive(Resource)] struct Scene { boxes: GraphicsPipeline, statues: GraphicsPipeline }
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
//!     commands.insert_resource(Visible(gpu.query_set(&QuerySetDesc::occlusion("visible", 64))?));
//!     Ok(())
//! }
//!
//! /// Finds out which boxes are seen: one query for each.
//! fn test(
//!     mut recorder: Recorder,
//!     depth: DepthRead<Depth>,
//!     visible: QueryWrite<Visible>,
//!     scene: Res<Scene>,
//! ) {
//!     let mut rendering = recorder.render(depth.keep_depth());
//!     rendering.pipeline(&scene.boxes);
//!     for at in 0..64 {
//!         rendering.query(&visible, at, |rendering| {
//!             rendering.draw(0..36, at..at + 1);
//!         });
//!     }
//! }
//!
//! /// Draws what is in the boxes that are seen.
//! fn draw(
//!     mut recorder: Recorder,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     visible: ConditionRead<Visible>,
//!     scene: Res<Scene>,
//! ) {
//!     let mut rendering = recorder.render(window.clear([0.0; 4]));
//!     rendering.pipeline(&scene.statues);
//!     for at in 0..64 {
//!         rendering.when(&visible, visible.result_offset(at), |rendering| {
//!             rendering.draw(0..90_000, at..at + 1);
//!         });
//!     }
//! }
//! ```
//!
//! A frame uses each query once. What a device lacks (precise counts, statistics, `VK_EXT_conditional_rendering`)
//! is an error that names the feature.
//!
//! # The crates
//!
//! This crate only gathers: the front end is [`ecs`], the backend [`vulkan`], the solver [`sync`].

pub use quadrille_ecs as ecs;
pub use quadrille_ecs::{bytemuck, encase, glam};
pub use quadrille_sync as sync;
pub use quadrille_vulkan as vulkan;

/// What most programs need.
pub mod prelude {
    #[cfg(feature = "hot_reload")]
    pub use quadrille_ecs::ShaderReloadPlugin;
    pub use quadrille_ecs::encase::ShaderType;
    pub use quadrille_ecs::{
        AccessKind, AccessList, AddWindowImage as _, AnyAccess, Blend, BufferDesc, BufferUsage,
        ColorAttachment as _, ColorTarget, ComputePipeline, ComputePipelineDesc, ConditionRead,
        Cull, Current, Declared, DeclaredView, DepthAttachment as _, DepthRead, DepthState,
        DepthTarget, DeviceRebuilt, Extension, Format, FrameStart, GpuBuffer, GpuDevice, GpuImage,
        GpuShader, GraphicsPipeline, GraphicsPipelineDesc, History, Host, HostRead, HostReadWrite,
        HostWrite, ImageDesc, ImageTable, ImageTableDesc, ImageUsage, IndexRead, IndexType,
        IndirectRead, Memory, NewHistory, OnQueue as _, PipelineState, PresentSettings, Previous,
        PrimaryWindowImage, PrimitiveTopology, QuadrillePlugin, QuadrillePlugins, QuerySet,
        QuerySetDesc, QueryWrite, QueueWish, Readback, ReadbackComplete, ReadbackFailed, RecordOn,
        Recorder, Render, RenderDiagnosticsPlugin, RenderErrorHandler, RenderErrorPolicy,
        RenderStartup, RenderSystems, RenderTargets as _, Renderer, Sampled, Sampler, SamplerDesc,
        Settings, ShaderModule, Sharing, Statistics, StorageRead, StorageReadWrite, StorageWrite,
        SwapchainState, Table, TableIndex, TransferRead, TransferWrite, Uniform, Uploads,
        VertexAttribute, VertexLayout, VertexRead, View, WindowImage, WindowImageOf, WindowSized,
        declared, declared_window, encode_png, save_to_disk, stage,
    };
    #[cfg(feature = "textures")]
    pub use quadrille_ecs::{ImageLimits, LoadTexture, TexturePlugin};
}

/// The programs in the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
