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
//!         .add_plugins(QuadrillePlugins)
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
//! 3. **Device resources are made in [`RenderStartup`](prelude::RenderStartup)**, which
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
//! 5. **`on_queue(QueuePreference::Async)`** wants async compute or a transfer queue. The plan adds
//!    what that takes: semaphore waits and ownership transfers, or nothing on a device with one
//!    queue. A pass without a preference begins on the main queue and moves to another one where measured
//!    times say that frames get shorter ([`QueuePreference::Auto`](prelude::QueuePreference::Auto)).
//!    Images and buffers that queue families use in turn become concurrent where that makes frames shorter
//!    ([`Sharing::Auto`](vulkan::resources::Sharing::Auto)); a description says otherwise by `with_sharing`.
//! 6. **Resources of one frame are `transient()`.** Images and buffers whose description says so
//!    are written by each frame before it reads them, and those that are never needed at once
//!    share memory; the plan orders their uses of it:
//!    `gpu.create_image(&ImageDesc::color_target("glow", [480, 270], format).transient())`.
//!    A pass that writes them alone does not run in frames where no pass that runs reads them: its system
//!    does, its commands do not. `warm_up.always_run()` keeps a pass that does more than it declares.
//!    Plans (`--plan`) and reports ([`Renderer::report`](prelude::Renderer::report), key `culled`) list the culled passes
//!    with the reason: what each wrote, and the culled passes that alone would have read it.
//! 7. **An image of the window's size** is `WindowSized`: `commands.queue(WindowSized::new(Glow, desc))`
//!    inserts `Glow(GpuImage)`, and again whenever the window has another size, before passes run.
//!    `.scaled(0.5)` is half as wide and high; `WindowSized::history::<Scene>(desc)` is one with a past
//!    ([`History`](ecs::History)), which is zero before the first frame and after each new size.
//! 8. **Textures** come from bevy's `AssetServer`, with `TexturePlugin` in
//!    the app: `commands.queue(LoadTexture::new(Bricks, assets.load("bricks.png")).mips())` inserts
//!    `Bricks(GpuImage)` once the PNG or KTX2 file is loaded, and follows the asset when it changes; passes that
//!    declare it are left out until then. Images made in code (`Assets<Image>::add`) go the same way.
//!    `uploads.generate_mips(&image)` makes the mip levels of any image.
//! 9. **Mip levels, layers and slices** are declared apart: `glow.mip(2)`, `maps.layer(light)` of a
//!    declared image is the part that a shader, an attachment or a copy accesses
//!    ([`DeclaredView`](ecs::DeclaredView) makes a mip chain, one pass for each level), and passes
//!    that write other `fog.slices(0..4)` of a 3D image need no order.
//! 10. **Shaders follow their files** with `ShaderReloadPlugin`: those of `GpuShader::load(path)`, and
//!     of `GpuShader::wgsl(name, include_str!(path))?.with_file(path)`. A broken file is a line in the
//!     log, and the pipeline stays what it was.
//! 11. **Shaders import from each other** and have constants that pipelines set: [`guide::shaders`].
//! 12. **Tables** hold images or storage buffers of which shaders choose one by its index: [`guide::tables`].
//! 13. **The device draws what it finds**: `draw_indirect_count` reads from a buffer how often it draws, and
//!     `@builtin(draw_index)` says in the shader which draw it is; both buffers are `IndirectRead`.
//! 14. **All fixed state of Vulkan** is in [`PipelineState`](vulkan::pipeline::PipelineState): blend and mask of each
//!     attachment, stencil, depth bias and clamp, wire frames, alpha to coverage. `depth.clear_depth(1.0)
//!     .clear_stencil(0)` begins with both aspects; `keep_stencil()` keeps the contents. A missing device feature is
//!     an error when the pipeline is made, which names the feature.
//!
//! 15. **Queries** count results of draws, and `when` has the device decide which draws run: see
//!     [below](#queries-and-conditions).
//! 16. **Names bind too**: `bind("heights", &waves)` finds the shader's variable, and a wrong name is an error
//!     that names the nearest one: [`guide::binding`].
//! 17. **Vulkan stays open**: extensions and features of one's own, Vulkan commands in passes, devices that
//!     the program made: [`guide::vulkan`].
//!
//! Clip space is WebGPU's, with y up and depth from 0 to 1, whatever language a shader is written in.
//! Images and windows begin at their top left corner.
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
//!     rendering.pipeline(&wall.0).bind("bricks", &bricks).sampler("smooth_sampler", &wall.1).draw(0..3, 0..1);
//! }
//!
//! fn main() -> AppExit {
//!     App::new()
//!         .add_plugins((QuadrillePlugins, TexturePlugin::default()))
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(Render, draw)
//!         .run()
//! }
//! ```
//!
//! # Queries and conditions
//!
//! A [`QuerySet`](vulkan::resources::QuerySet) counts samples that are visible, or what shaders did (pipeline
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
//! use quadrille::ecs::{ConditionRead, QueryWrite};
//! use quadrille::prelude::*;
//! use quadrille::vulkan::resources::{QuerySet, QuerySetDesc};
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
//! /// Finds out which boxes are visible: one query for each.
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
//! /// Draws the contents of the visible boxes.
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
//! A frame uses each query once. `unless` draws where `when` with the same value does not, such as a
//! stand-in. What a device lacks (precise counts, statistics, `VK_EXT_conditional_rendering`) is an error that
//! names the feature.
//!
//! # Limits
//!
//! - **Shaders only read the members of tables.** What they write, storage images and storage buffers, is bound
//!   one by one in group 0; a member is written by the pass that declares it by itself.
//! - **Shaders that read attachments of their own rendering are SPIR-V** ([`ColorLocalRead`](ecs::ColorLocalRead)):
//!   WGSL has no input attachments. In WGSL the next pass reads with `Sampled` what one pass draws.
//! - **Streams have no queries.** A query set is used by passes of the main loop; the values that passes of a
//!   stream declare ([`AnyAccess`](ecs::AnyAccess)) are none that `query` takes.
//!
//! # Stability
//!
//! Structs that describe (`BufferDesc`, `ImageDesc`, `SamplerDesc`, `ComputePipelineDesc`, `GraphicsPipelineDesc`,
//! `QuerySetDesc`, tables' descriptions, `PipelineState`, `Settings`, `PresentSettings` and plugins) are plain: their
//! fields are set in place. They get fields in minor versions, so programs take the other ones from `Default` or from a
//! constructor, `ImageDesc { mip_levels: 4, ..ImageDesc::color_target("bloom", size, format) }`, and write no pattern
//! without `..`. Values that name one thing of Vulkan (`VertexAttribute`, `DepthState`) stay as they are. Errors and what
//! else only Quadrille makes are `#[non_exhaustive]` where they can grow.
//!
//! # The crates
//!
//! This crate only gathers: the front end is [`ecs`], the backend [`vulkan`], the solver [`sync`].

pub mod guide;

pub use quadrille_ecs as ecs;
#[cfg(feature = "textures")]
pub use quadrille_ecs::material;
pub use quadrille_ecs::{bindings, bytemuck, encase, glam, rows};
pub use quadrille_sync as sync;
pub use quadrille_vulkan as vulkan;

/// Items of first programs: plugins, schedules, passes and their parameters, buffers, images, shaders, pipelines and
/// data transfers.
///
/// Everything else has one path: [`ecs`] has what belongs to bevy (parameters of passes, components,
/// events, errors), [`vulkan`] what belongs to the device (formats, descriptors, state of pipelines,
/// settings). Common words such as `View`, `Format` or `Settings` are not here, so that a glob import leaves them to
/// the program.
pub mod prelude {
    #[cfg(feature = "hot_reload")]
    pub use quadrille_ecs::ShaderReloadPlugin;
    pub use quadrille_ecs::bindings::PassBindings;
    pub use quadrille_ecs::encase::ShaderType;
    pub use quadrille_ecs::{
        AddWindowImage as _, AlwaysRunExt as _, ColorAttachment as _, ColorTarget,
        DepthAttachment as _, DepthRead, DepthTarget, GpuDevice, IndexRead, IndirectRead,
        OnQueue as _, PrimaryWindowImage, QuadrillePlugin, QuadrillePlugins, QueuePreference,
        Readback, ReadbackComplete, Recorder, Render, RenderStartup, RenderSystems,
        RenderTargets as _, Renderer, Sampled, StorageRead, StorageReadWrite, StorageWrite,
        TransferRead, TransferWrite, Uniform, Uploads, VertexRead, WindowImage, WindowImageOf,
        WindowSized,
    };
    #[cfg(feature = "textures")]
    pub use quadrille_ecs::{LoadTexture, TexturePlugin};
    pub use quadrille_vulkan::pipeline::{
        ComputePipeline, ComputePipelineDesc, GraphicsPipeline, GraphicsPipelineDesc,
    };
    pub use quadrille_vulkan::resources::{
        BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageUsage, Sampler, SamplerDesc,
    };
    pub use quadrille_vulkan::shader::GpuShader;
}
