//! A whole app: passes on two queues, data for shaders, window and headless runs, settings.
//!
//! # Two queues
//!
//! ```no_run
//! use bevy_app::{App, AppExit};
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//!
//! /// Names the buffer for passes: a resource that dereferences to it.
//! #[derive(Resource, Deref)]
//! struct Waves(GpuBuffer);
//!
//! #[derive(Resource)]
//! struct Pipelines {
//!     wave: ComputePipeline,
//!     draw: GraphicsPipeline,
//! }
//!
//! fn main() -> AppExit {
//!     App::new()
//!         .add_plugins(QuadrillePlugins)
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(Render, (wave.on_queue(QueuePreference::Async), draw.after(wave)))
//!         .run()
//! }
//!
//! /// Resources of the device; runs again after a lost device.
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
//!     commands.insert_resource(Waves(gpu.create_buffer(&BufferDesc::storage("waves", 256 * 4))?));
//!     let shader = GpuShader::wgsl("waves.wgsl", SHADER)?;
//!     commands.insert_resource(Pipelines {
//!         wave: gpu.compute_pipeline(&ComputePipelineDesc::of("wave", &shader).entry("wave"))?,
//!         draw: gpu.graphics_pipeline(&GraphicsPipelineDesc::of("draw", &shader))?,
//!     });
//!     Ok(())
//! }
//!
//! /// A pass on async compute, where the device has it.
//! fn wave(
//!     mut recorder: Recorder,
//!     waves: StorageWrite<Waves>,
//!     pipelines: Res<Pipelines>,
//!     mut frame: Local<u32>,
//! ) {
//!     *frame += 1;
//!     recorder.compute(&pipelines.wave).bind("heights", &waves).push(&*frame).dispatch([4, 1, 1]);
//! }
//!
//! /// A pass that reads what the other wrote and draws to the window.
//! fn draw(
//!     mut recorder: Recorder,
//!     waves: StorageRead<Waves>,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     pipelines: Res<Pipelines>,
//! ) {
//!     let mut rendering = recorder.render(window.clear([0.0, 0.0, 0.0, 1.0]));
//!     rendering.pipeline(&pipelines.draw).bind("bars", &waves).draw(0..256 * 6, 0..1);
//! }
//!
//! const SHADER: &str = "
//!     @group(0) @binding(0) var<storage, read_write> heights: array<f32>;
//!     @group(0) @binding(1) var<storage, read> bars: array<f32>;
//!     var<immediate> frame: u32;
//!
//!     @compute @workgroup_size(64)
//!     fn wave(@builtin(global_invocation_id) id: vec3u) {
//!         heights[id.x] = sin(f32(id.x) * 0.1 + f32(frame) * 0.05) * 0.5;
//!     }
//!
//!     @vertex
//!     fn vertex_main(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
//!         let bar = index / 6u;
//!         let corner = array(vec2f(0, 0), vec2f(1, 0), vec2f(0, 1), vec2f(0, 1), vec2f(1, 0), vec2f(1, 1))[index % 6u];
//!         let x = (f32(bar) + corner.x) / 128.0 - 1.0;
//!         return vec4f(x, corner.y * bars[bar], 0.0, 1.0);
//!     }
//!
//!     @fragment
//!     fn fragment_main() -> @location(0) vec4f {
//!         return vec4f(0.1, 0.7, 0.5, 1.0);
//!     }";
//! ```
//!
//! The compute pass runs on the async compute queue. The graphics queue waits for its timeline semaphore, in its
//! shader stages only. The buffer is released by one queue family and acquired by the other, and goes back for the next
//! frame without an extra submission. On a device with one queue a barrier does all of that. `--plan FILE` on any example
//! prints it with reasons.
//!
//! The buffer has two bindings because a variable of WGSL has one access: `wave` writes through the first, and `draw`,
//! which declares that it reads, reads through the second.
//!
//! Passes without `on_queue` begin on the main queue. Where the device has others, passes are measured now and then, and
//! a pass whose move makes the frame at least 2 % shorter moves to another queue; it comes back if frames do not get
//! shorter. `Renderer::report` says which passes moved and why. `QueuePreference::Main` keeps a pass where it is,
//! `Settings::auto_queues` (or `QUADRILLE_AUTO_QUEUES=0`) all of them.
//!
//! Sharing modes are automatic as well: an image or a buffer that queue families use in turn has one owner at a time, and
//! becomes concurrent where plans say that frames get shorter, or need less between passes. An image is owned again if
//! measured frames take longer. `with_sharing` and `Settings::sharing` set a mode.
//!
//! Errors of `setup`, such as a mistake in the shader, which is shown in its line with a caret, are one message and exit
//! code 1; `App::set_error_handler` changes that.
//!
//! # Data that shaders read
//!
//! A struct that derives `ShaderType` is laid out as WGSL does it. `quadrille::glam` is the glam of bevy.
//!
//! ```no_run
//! use bevy_ecs::prelude::*;
//! use quadrille::glam::{Mat4, UVec3, Vec3};
//! use quadrille::prelude::*;
//!
//! /// `struct Light { clip_from_world: mat4x4f, position: vec3f, color: vec3f }` in the shader.
//! #[derive(ShaderType)]
//! struct Light {
//!     clip_from_world: Mat4,
//!     position: Vec3,
//!     color: Vec3,
//! }
//!
//! #[derive(Resource)]
//! struct Sun(GpuBuffer);
//!
//! fn shine(mut uploads: ResMut<Uploads>, sun: Res<Sun>) {
//!     let light = Light { clip_from_world: Mat4::IDENTITY, position: Vec3::Y, color: Vec3::ONE };
//!     uploads.write(&sun.0, 0, &light);
//! }
//!
//! #[derive(Resource)]
//! struct Shade(ComputePipeline);
//!
//! fn shade(mut recorder: Recorder, shade: Res<Shade>) {
//!     let light = Light { clip_from_world: Mat4::IDENTITY, position: Vec3::Y, color: Vec3::ONE };
//!     recorder.compute(&shade.0).push(&light).dispatch(UVec3::new(8, 8, 1));
//! }
//! ```
//!
//! # Window, or none
//!
//! Without a display a program is headless: frames go to an image until the program is ended, and the log says how to
//! save one.
//!
//! ```no_run
//! use bevy_app::{PluginGroup, PluginGroupBuilder};
//! use bevy_ecs::prelude::*;
//! use bevy_window::{PresentMode, PrimaryWindow, Window, WindowPlugin};
//! use quadrille::ecs::save_to_disk;
//! use quadrille::prelude::*;
//!
//! fn in_a_window() -> PluginGroupBuilder {
//!     let window = Window {
//!         title: "waves".into(),
//!         resolution: (1600, 900).into(),
//!         present_mode: PresentMode::AutoNoVsync,
//!         ..Window::default()
//!     };
//!     QuadrillePlugins.set(WindowPlugin { primary_window: Some(window), ..WindowPlugin::default() })
//! }
//!
//! /// With a display too: frames without pause, into an image of this size.
//! fn headless() -> PluginGroupBuilder {
//!     QuadrillePlugins::headless(1600, 900)
//! }
//!
//! /// A window can be changed at any time.
//! fn wait_for_the_display(mut window: Single<&mut Window, With<PrimaryWindow>>) {
//!     window.present_mode = PresentMode::Fifo;
//! }
//!
//! /// Saves the frame, with a window or without.
//! fn screenshot(mut commands: Commands) {
//!     commands.spawn(Readback::primary_window()).observe(save_to_disk("frame.png"));
//! }
//! ```
//!
//! `bevy_window = "0.20"` is the package of `Window`. A present mode that the display does not have falls back to FIFO;
//! [`PresentSettings`](crate::ecs::PresentSettings), a component of the window, has the rest: formats, number of
//! images, frames in flight.
//!
//! # Manifest
//!
//! ```toml
//! [profile.dev]
//! debug = "line-tables-only"   # back traces have lines, debuggers no variables
//!
//! [profile.dev.package."*"]
//! debug = false                # smaller programs, shorter links
//!
//! [profile.release]
//! codegen-units = 1            # systems are compiled into the app: frames of many systems run quicker
//! ```
//!
//! | feature of `quadrille` | gives | default |
//! | --- | --- | --- |
//! | `window` | windows through bevy_winit (X11 and Wayland); without it all is headless | yes |
//! | `hot_reload` | `ShaderReloadPlugin`: pipelines follow the files of their shaders | yes |
//! | `textures` | `TexturePlugin` and `LoadTexture`: image assets on the device, with mip levels | yes |
