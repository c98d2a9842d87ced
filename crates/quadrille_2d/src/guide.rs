//! Custom passes: from a game of sprites to an effect on two queues.
//!
//! # 1. A game that draws to the window
//!
//! A camera, sprites and text suffice; `examples/breakout/` is a complete game. All of it is drawn by one pass,
//! [`draw_2d`](crate::systems::draw_2d).
//!
//! ```
//! use bevy_ecs::prelude::*;
//! use bevy_math::Vec2;
//! use quadrille_2d::prelude::*;
//!
//! fn setup(mut commands: Commands) {
//!     commands.spawn(Camera2d);
//!     commands.spawn(Sprite::from_color(Color::WHITE, Vec2::new(64.0, 9.0)));
//! }
//! ```
//!
//! # 2. An additional pass
//!
//! A pass is a system that takes a [`Recorder`](quadrille::prelude::Recorder). Its other parameters declare its
//! accesses: here it draws to the window. `draw_2d` does so too, and two passes that write one image need an order.
//! Without `.after(draw_2d)` the first frame fails with an error that names both passes and this fix. Device resources
//! are created in [`RenderStartup`](quadrille::prelude::RenderStartup), which runs again after a lost device.
//!
//! ```
//! use bevy_app::App;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//! use quadrille::vulkan::pipeline::Blend;
//! use quadrille_2d::systems::draw_2d;
//!
//! #[derive(Resource)]
//! struct Vignette(GraphicsPipeline);
//!
//! fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
//!     let shader = GpuShader::wgsl(
//!         "vignette.wgsl",
//!         "struct Corner { @builtin(position) position: vec4f, @location(0) place: vec2f }
//!          @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> Corner {
//!              let place = vec2f(f32((i << 1u) & 2u), f32(i & 2u)) * 2.0 - 1.0;
//!              return Corner(vec4f(place, 0.0, 1.0), place);
//!          }
//!          @fragment fn fragment_main(corner: Corner) -> @location(0) vec4f {
//!              return vec4f(0.0, 0.0, 0.0, 0.4 * dot(corner.place, corner.place));
//!          }",
//!     )?;
//!     let desc = GraphicsPipelineDesc {
//!         blend: Blend::Alpha,
//!         ..GraphicsPipelineDesc::of("vignette", &shader)
//!     };
//!     commands.insert_resource(Vignette(gpu.graphics_pipeline(&desc)?));
//!     Ok(())
//! }
//!
//! fn vignette(
//!     mut recorder: Recorder,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     pass: Res<Vignette>,
//! ) {
//!     recorder.render(window.keep()).pipeline(&pass.0).draw(0..3, 0..1);
//! }
//!
//! fn add(app: &mut App) {
//!     app.add_systems(RenderStartup, make);
//!     app.add_systems(Render, vignette.after(draw_2d));
//! }
//! ```
//!
//! # 3. Post-processing
//!
//! A pass cannot sample its own render target. So the camera draws to an image of the app, and your pass samples that
//! image and draws to the window. The image is in a bevy resource, whose type passes use, and in
//! [`ManualTextureViews`](quadrille_content::cameras::ManualTextureViews), whose handle cameras use. The order
//! is inferred here, because one camera without nodes draws to the image and none to the window; in other cases write
//! `.after(draw_2d)`.
//!
//! ```
//! use bevy_camera::ManualTextureViewHandle;
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//! use quadrille::vulkan::Format;
//! use quadrille_2d::content::cameras::ManualTextureViews;
//! use quadrille_2d::prelude::{Camera2d, RenderTarget};
//!
//! #[derive(Resource, Deref)]
//! struct Scene(GpuImage);
//!
//! #[derive(Resource)]
//! struct Develop(GraphicsPipeline, Sampler);
//!
//! fn make(mut commands: Commands, gpu: Res<GpuDevice>, mut targets: ResMut<ManualTextureViews>) -> Result {
//!     let desc = ImageDesc::color_target("scene", [960, 540], Format::R16G16B16A16_SFLOAT);
//!     let scene = gpu.create_image(&desc)?;
//!     targets.insert(ManualTextureViewHandle(0), scene.clone());
//!     commands.insert_resource(Scene(scene));
//!     Ok(())
//! }
//!
//! fn setup(mut commands: Commands) {
//!     commands.spawn((Camera2d, RenderTarget::TextureView(ManualTextureViewHandle(0))));
//! }
//!
//! fn develop(
//!     mut recorder: Recorder,
//!     scene: Sampled<Scene>,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     pass: Res<Develop>,
//! ) {
//!     recorder
//!         .render(window.discard())
//!         .pipeline(&pass.0)
//!         .bind("scene", &scene)
//!         .sampler("linear", &pass.1)
//!         .draw(0..3, 0..1);
//! }
//!
//! fn add(app: &mut bevy_app::App) {
//!     app.add_systems(bevy_app::Startup, setup)
//!         .add_systems(RenderStartup, make)
//!         .add_systems(Render, develop);
//! }
//! ```
//!
//! The image keeps its size here; `examples/post_process.rs` makes another one when the window is resized.
//!
//! # 4. An effect on two queues
//!
//! Sparks are moved by a compute pass and drawn by a graphics pass. `.on_queue(QueuePreference::Async)` prefers an
//! async compute queue, if the device has one. The plan then adds semaphores between the passes, and queue family
//! ownership transfers between different families. On a device with one queue the same program gets a barrier instead.
//! Run `examples/swarm`, a version with 50,000 enemies, with `--plan plan.txt` to see the plan.
//!
//! ```
//! use bevy_app::App;
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//! use quadrille_2d::systems::draw_2d;
//!
//! #[derive(Resource, Deref)]
//! struct Sparks(GpuBuffer);
//!
//! # #[derive(Resource, Deref)]
//! # struct Scene(GpuImage);
//! #[derive(Resource)]
//! struct Pipelines {
//!     advance: ComputePipeline,
//!     draw: GraphicsPipeline,
//! }
//!
//! const SPARKS: u32 = 4096;
//!
//! fn advance(mut recorder: Recorder, sparks: StorageReadWrite<Sparks>, pipelines: Res<Pipelines>) {
//!     recorder
//!         .compute(&pipelines.advance)
//!         .bind("sparks", &sparks)
//!         .dispatch_invocations([SPARKS, 1, 1]);
//! }
//!
//! fn draw_sparks(
//!     mut recorder: Recorder,
//!     scene: ColorTarget<Scene>,
//!     sparks: StorageRead<Sparks>,
//!     pipelines: Res<Pipelines>,
//! ) {
//!     recorder
//!         .render(scene.keep())
//!         .pipeline(&pipelines.draw)
//!         .bind("sparks", &sparks)
//!         .draw(0..3, 0..SPARKS);
//! }
//!
//! fn add(app: &mut App) {
//!     app.add_systems(
//!         Render,
//!         (
//!             advance.on_queue(QueuePreference::Async),
//!             draw_sparks.after(advance).after(draw_2d),
//!         ),
//!     );
//! }
//! ```
//!
//! # 5. A material of your own
//!
//! The appearance of a mesh, a sprite or a node can be a fragment shader of yours with its parameters: see
//! [`Material2d`](crate::Material2d), [`MaterialExtension2d`](crate::MaterialExtension2d) for sprites and `UiMaterial`
//! for nodes. Ten lines and a shader file suffice, without a pass of your own (`quadrille_3d::guide::own_material` compares
//! all kinds):
//!
//! ```
//! use bevy_app::App;
//! use bevy_ecs::prelude::*;
//! use quadrille_2d::prelude::*;
//!
//! #[derive(Asset, TypePath, AsBindGroup, Clone)]
//! struct Water {
//!     #[uniform(0)]
//!     level: f32,
//!     #[texture(1)]
//!     #[sampler(2)]
//!     ripples: Handle<Image>,
//! }
//!
//! impl Material2d for Water {
//!     fn fragment_shader() -> ShaderRef {
//!         "shaders/water.wgsl".into()
//!     }
//!
//!     fn alpha_mode(&self) -> AlphaMode2d {
//!         AlphaMode2d::Blend
//!     }
//! }
//!
//! fn rise(mut waters: ResMut<Assets<Water>>) {
//!     for (_, water) in waters.iter_mut() {
//!         water.level += 0.01;
//!     }
//! }
//!
//! fn add(app: &mut App) {
//!     app.add_plugins(Material2dPlugin::<Water>::default());
//!     app.add_systems(bevy_app::Update, rise);
//! }
//! ```
//!
//! ```wgsl
//! import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;
//!
//! @group(2) @binding(0) var<uniform> level: f32;
//! @group(2) @binding(1) var ripples: texture_2d<f32>;
//! @group(2) @binding(2) var ripples_sampler: sampler;
//!
//! @fragment
//! fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
//!     let color = textureSample(ripples, ripples_sampler, mesh.uv);
//!     return select(vec4f(0.0), color, 1.0 - mesh.uv.y < level);
//! }
//! ```
//!
//! # 6. Disabling and replacing passes
//!
//! `run_if` skips a pass in a frame; orderings through it still apply. To replace a built-in pass such as `draw_2d`,
//! insert bevy's `Disabled` on its entity (with `Pass` and the name `draw_2d`), and add your own. Passes get their entities
//! when `Render` first runs, so a system in `Update` finds them, one in `Startup` does not.
//!
//! ```
//! use bevy_ecs::entity_disabling::Disabled;
//! use bevy_ecs::prelude::*;
//! use quadrille::ecs::Pass;
//!
//! fn replace_draw_2d(mut commands: Commands, passes: Query<(Entity, &Name), With<Pass>>) {
//!     for (pass, name) in &passes {
//!         if name.as_str() == "draw_2d" {
//!             commands.entity(pass).insert(Disabled);
//!         }
//!     }
//! }
//! ```
