//! Tables: many images or storage buffers, of which a shader chooses one by its index.
//!
//! An [`ImageTable`](crate::vulkan::resources::ImageTable) is bound as a whole, and each invocation chooses an image by
//! its index. `insert`, `replace` and `remove` come at any time: frames on their way find what the table
//! had when they began. An entry without an image shows a magenta checker, and so does an image
//! without contents. A [`BufferTable`](crate::vulkan::resources::BufferTable) is the same of storage buffers, where what is
//! missing is zero.
//!
//! A pass declares the table with one parameter, [`Table`](crate::ecs::Table). Members that were written once
//! cost the frame nothing, however many there are. What the frame writes, an upload or a pass, is ordered
//! before the passes that read the table, on whichever queues they run. A member that passes on several
//! queue families read this way is best made with [`Sharing::Concurrent`](crate::vulkan::resources::Sharing): one that
//! they own in turn has to be handed over in each frame.
//!
//! In the shader the table is a group of its own, from 1 to 3: samplers at binding 0, images at binding 1, or
//! buffers at binding 0.
//! That an index is below the table's capacity is for the shader to see to.
//!
//! ```no_run
//! use bevy_app::{App, AppExit};
//! use bevy_derive::{Deref, DerefMut};
//! use bevy_ecs::prelude::*;
//! use quadrille::ecs::Table;
//! use quadrille::prelude::*;
//! use quadrille::vulkan::Format;
//! use quadrille::vulkan::resources::{ImageTable, ImageTableDesc, Sharing, TableIndex};
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
//!     rendering.pipeline(&tiles.pipeline).table("textures", &textures).push(&tiles.index.0).draw(0..3, 0..1);
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
//! # Buffers
//!
//! Here each instance draws the ground of a tile, whose heights are a buffer of the tile's own. Tiles may have
//! different sizes, and come and go as images do. Shaders only read them (`var<storage, read>`); what writes one
//! is an upload, or a pass that declares it by itself, on any queue.
//!
//! ```no_run
//! use bevy_app::{App, AppExit};
//! use bevy_derive::{Deref, DerefMut};
//! use bevy_ecs::prelude::*;
//! use quadrille::ecs::Table;
//! use quadrille::prelude::*;
//! use quadrille::vulkan::pipeline::PrimitiveTopology;
//! use quadrille::vulkan::resources::{BufferTable, BufferTableDesc};
//!
//! #[derive(Resource, Deref, DerefMut)]
//! struct Tiles(BufferTable);
//!
//! #[derive(Resource)]
//! struct Ground(GraphicsPipeline);
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
//!     let mut tiles = gpu.buffer_table(&BufferTableDesc::new("tiles", 1000))?;
//!     for tile in 0..4 {
//!         let heights: Vec<f32> = (0..64).map(|at| (at * (tile + 1)) as f32 / 256.0).collect();
//!         let buffer = gpu.create_buffer(&BufferDesc::storage(format!("tile {tile}"), 64 * 4))?;
//!         uploads.write(&buffer, 0, &heights);
//!         tiles.insert(&buffer)?;
//!     }
//!     commands.insert_resource(Tiles(tiles));
//!     let shader = GpuShader::wgsl(
//!         "ground.wgsl",
//!         "enable wgpu_binding_array; // what WGSL's translator calls arrays of buffers
//!          struct Tile { heights: array<f32> }
//!          @group(1) @binding(0) var<storage, read> tiles: binding_array<Tile>;
//!          @vertex fn vertex_main(
//!              @builtin(vertex_index) i: u32, @builtin(instance_index) tile: u32,
//!          ) -> @builtin(position) vec4f {
//!              let at = vec2f(f32(tile) + f32(i / 2u) / 32.0, tiles[tile].heights[i / 2u] * f32(i % 2u));
//!              return vec4f(at.x / 2.0 - 1.0, 1.0 - at.y, 0.0, 1.0);
//!          }
//!          @fragment fn fragment_main() -> @location(0) vec4f { return vec4f(0.2, 0.5, 0.1, 1.0); }",
//!     )?;
//!     let mut desc = GraphicsPipelineDesc::of("ground", &shader);
//!     desc.topology = PrimitiveTopology::TriangleStrip;
//!     commands.insert_resource(Ground(gpu.graphics_pipeline(&desc)?));
//!     Ok(())
//! }
//!
//! fn draw(
//!     mut recorder: Recorder,
//!     tiles: Table<Tiles>,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     ground: Res<Ground>,
//! ) {
//!     let mut rendering = recorder.render(window.clear([0.0; 4]));
//!     rendering.pipeline(&ground.0).table("tiles", &tiles).draw(0..64, 0..tiles.len() as u32);
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
