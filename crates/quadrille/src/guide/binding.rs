//! Binding: which resource a variable of a shader gets.
//!
//! A pass declares its resources as parameters, and binds each to a variable of `@group(0)`: by its number,
//! or by its name, whichever the shader says better. A table is bound to a group of its own, by the group or
//! by the name of its array. Nothing has to be described beforehand: the shader is read.
//!
//! ```no_run
//! use bevy_app::{App, AppExit};
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::glam::Vec2;
//! use quadrille::prelude::*;
//!
//! #[derive(Resource, Deref)]
//! struct Waves(GpuBuffer);
//!
//! #[derive(Resource)]
//! struct Swell(ComputePipeline);
//!
//! /// Laid out as the shader's struct, whatever its members are.
//! #[derive(ShaderType)]
//! struct Wind {
//!     direction: Vec2,
//!     strength: f32,
//! }
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
//!     let shader = GpuShader::wgsl(
//!         "swell.wgsl",
//!         "struct Wind { direction: vec2f, strength: f32 }
//!          var<immediate> wind: Wind;
//!          @group(0) @binding(0) var<storage, read_write> heights: array<f32>;
//!          @compute @workgroup_size(64)
//!          fn main(@builtin(global_invocation_id) id: vec3u) {
//!              heights[id.x] += wind.strength * wind.direction.x;
//!          }",
//!     )?;
//!     // The names that passes use are checked here, if the pipeline is given; else when a pass binds.
//!     let desc = ComputePipelineDesc::of("swell", &shader).binds("heights");
//!     commands.insert_resource(Swell(gpu.compute_pipeline(&desc)?));
//!     commands.insert_resource(Waves(gpu.create_buffer(&BufferDesc::storage("waves", 4096))?));
//!     Ok(())
//! }
//!
//! fn swell(mut recorder: Recorder, waves: StorageReadWrite<Waves>, swell: Res<Swell>) {
//!     let wind = Wind { direction: Vec2::X, strength: 0.1 };
//!     let mut compute = recorder.compute(&swell.0);
//!     compute.bind("heights", &waves).push(&wind).dispatch([16, 1, 1]);
//! }
//!
//! fn main() -> AppExit {
//!     App::new()
//!         .add_plugins(QuadrillePlugins)
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(Render, swell)
//!         .run()
//! }
//! ```
//!
//! A name that no shader of the pipeline has is an error that names the nearest one: ``the pipeline `swell`
//! has no variable `heigths` to bind to; did you mean `heights`?`` A resource that the pass declares otherwise
//! than the shader uses it, of another kind, or laid out otherwise is an error too, which says what to change.
//!
//! Samplers are bound by `sampler("linear", &sampler)`, tables by `table("textures", &textures)` or by their
//! group: [`tables`](crate::guide::tables).
//!
//! # Many resources at once
//!
//! Parameters that several passes share are one struct, which derives
//! [`PassBindings`](crate::bindings::PassBindings) beside `SystemParam`: each field with `#[bind]` is bound by its
//! own name, by another one, `#[bind("heights")]`, or by a number, `#[bind(3)]`. `bind_all` binds them, and
//! `add_uses` names their accesses where a system records several passes, one for each camera, say. Two fields
//! with one binding do not compile; the other mistakes are the errors above.
//!
//! ```
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use bevy_ecs::system::SystemParam;
//! use quadrille::prelude::*;
//! # use quadrille::ecs::PassUse;
//! #
//! # #[derive(Resource, Deref)] struct Heights(GpuBuffer);
//! # #[derive(Resource, Deref)] struct Speeds(GpuBuffer);
//! # #[derive(Resource, Deref)] struct Smooth(Sampler);
//! # #[derive(Resource, Deref)] struct Ground(GpuImage);
//! # #[derive(Resource)] struct Swell(ComputePipeline);
//!
//! #[derive(SystemParam, PassBindings)]
//! struct Water<'w> {
//!     #[bind]
//!     heights: StorageReadWrite<'w, Heights>,
//!     #[bind]
//!     speeds: StorageRead<'w, Speeds>,
//!     #[bind]
//!     ground: Sampled<'w, Ground>,
//!     // `Smooth` dereferences to a `Sampler`.
//!     #[bind("ground_sampler")]
//!     sampler: Res<'w, Smooth>,
//!     // No attribute: nothing is bound.
//!     pipeline: Res<'w, Swell>,
//! }
//!
//! fn swell(mut recorder: Recorder, water: Water) {
//!     recorder.compute(&water.pipeline.0).bind_all(&water).dispatch([16, 1, 1]);
//! }
//!
//! /// The same as two passes of the plan.
//! fn swell_twice(mut recorder: Recorder, water: Water, mut uses: Local<Vec<PassUse>>) {
//!     for _ in 0..2 {
//!         uses.clear();
//!         water.add_uses(&mut uses);
//!         let mut pass = recorder.pass("swell", &uses);
//!         pass.compute(&water.pipeline.0).bind_all(&water).dispatch([16, 1, 1]);
//!     }
//! }
//! # bevy_ecs::system::assert_is_system(swell);
//! # bevy_ecs::system::assert_is_system(swell_twice);
//! ```
