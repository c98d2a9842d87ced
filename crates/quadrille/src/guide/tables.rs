//! Tables: many images, of which a shader chooses one by its index.
//!
//! An [`ImageTable`](crate::prelude::ImageTable) is bound as a whole, and each invocation chooses an image by
//! its index. `insert`, `replace` and `remove` come at any time: frames on their way find what the table
//! had when they began. An entry without an image shows a magenta checker, and so does an image
//! without contents.
//!
//! A pass declares the table with one parameter, [`Table`](crate::prelude::Table). Images that were written once
//! cost the frame nothing, however many there are. What the frame writes, an upload or a pass, is ordered
//! before the passes that read the table, on whichever queues they run. An image that passes on several
//! queue families read this way is best made with [`Sharing::Concurrent`](crate::prelude::Sharing): one that
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
