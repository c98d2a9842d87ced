//! Vulkan beside Quadrille's wrappers: extensions, commands, semaphores and devices of one's own.
//!
//! # Extensions and commands
//!
//! [`Settings::extensions`](crate::vulkan::instance::Settings::extensions) lists the extensions that a program asks for.
//! A required one that is missing is an error that names the device and what it lacks; an optional one is tested
//! for with [`Gpu::is_enabled`](crate::vulkan::device::Gpu::is_enabled). Commands that use it are recorded in passes, by
//! [`draw_raw`](crate::ecs::Rendering::draw_raw) in a rendering and by [`raw`](crate::ecs::Recorder::raw)
//! elsewhere. The parameters of the pass declare what the commands touch, so they have the right barriers,
//! semaphores and layouts around them, as all commands have. That they touch nothing else is a promise, and
//! the calls are `unsafe` for it.
//!
//! This draws three parts of a buffer with one command of `VK_EXT_multi_draw`, on which Quadrille has no opinion:
//!
//! ```no_run
//! use bevy_app::{App, AppExit, PluginGroup as _};
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//! use quadrille::vulkan::Format;
//! use quadrille::vulkan::instance::{Extension, Settings};
//! use quadrille::vulkan::pipeline::VertexLayout;
//! use quadrille::vulkan::ash::ext;
//! use quadrille::vulkan::vk;
//!
//! #[derive(Resource, Deref)]
//! struct Corners(GpuBuffer);
//!
//! #[derive(Resource)]
//! struct Tools {
//!     paint: GraphicsPipeline,
//!     multi_draw: ext::multi_draw::Device,
//! }
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
//!     let shader = GpuShader::wgsl(
//!         "paint.wgsl",
//!         "@vertex fn corner(@location(0) at: vec2f) -> @builtin(position) vec4f {
//!              return vec4f(at, 0.0, 1.0);
//!          }
//!          @fragment fn paint() -> @location(0) vec4f { return vec4f(1.0); }",
//!     )?;
//!     let mut desc = GraphicsPipelineDesc::of("paint", &shader);
//!     desc.vertex_buffers = vec![VertexLayout::packed(0, &[Format::R32G32_SFLOAT])];
//!     let usage = BufferUsage::VERTEX | BufferUsage::TRANSFER_DST;
//!     let corners = gpu.create_buffer(&BufferDesc::new("corners", 9 * 8, usage))?;
//!     uploads.write_buffer(&corners, 0, &[0; 72]);
//!     commands.insert_resource(Corners(corners));
//!     commands.insert_resource(Tools {
//!         paint: gpu.graphics_pipeline(&desc)?,
//!         // Functions of extensions are loaded from instance and device.
//!         multi_draw: ext::multi_draw::Device::new(gpu.instance(), gpu.device()),
//!     });
//!     Ok(())
//! }
//!
//! // The upload of the corners comes before, visible to vertices, for that is what they are declared as.
//! fn draw(
//!     mut recorder: Recorder,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     corners: VertexRead<Corners>,
//!     tools: Res<Tools>,
//! ) {
//!     let multi_draw = tools.multi_draw.fp().cmd_draw_multi_ext;
//!     let draws = [0, 3, 6].map(|first_vertex| vk::MultiDrawInfoEXT { first_vertex, vertex_count: 3 });
//!     let mut rendering = recorder.render(window.clear([0.0; 4]));
//!     rendering.pipeline(&tools.paint).vertices(0, &corners, 0);
//!     let stride = size_of::<vk::MultiDrawInfoEXT>() as u32;
//!     // SAFETY: the extension is required, so it is there; the commands read the declared vertices, and
//!     // change no state.
//!     unsafe {
//!         rendering.draw_raw(Box::new(move |_, buffer| {
//!             multi_draw(buffer, draws.len() as u32, draws.as_ptr(), 1, 0, stride);
//!         }));
//!     }
//! }
//!
//! fn main() -> AppExit {
//!     let features = vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(true);
//!     let multi_draw = Extension::required().device(ext::multi_draw::NAME).features(features);
//!     let settings = Settings { extensions: vec![multi_draw], ..Settings::default() };
//!     App::new()
//!         .add_plugins(QuadrillePlugins.set(QuadrillePlugin { settings, ..QuadrillePlugin::default() }))
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(Render, draw)
//!         .run()
//! }
//! ```
//!
//! Outside of a rendering a pass says what its queue must be able to do. [`GpuBuffer::raw`] and [`GpuImage::raw`]
//! are the handles of what it declares, images in the layout of the declared access:
//!
//! ```
//! # use bevy_derive::Deref;
//! # use bevy_ecs::prelude::*;
//! # use quadrille::prelude::*;
//! use quadrille::sync::topology::Capabilities;
//! # #[derive(Resource, Deref)] struct Old(GpuBuffer);
//! # #[derive(Resource, Deref)] struct New(GpuBuffer);
//! use quadrille::vulkan::vk;
//!
//! fn copy(mut recorder: Recorder, old: TransferRead<Old>, new: TransferWrite<New>) {
//!     let (from, to, bytes) = (old.raw(), new.raw(), old.bytes().min(new.bytes()));
//!     // SAFETY: the pass declares both, as what a copy reads and writes.
//!     unsafe {
//!         recorder.raw(
//!             Capabilities::TRANSFER,
//!             Box::new(move |device, buffer| {
//!                 let regions = [vk::BufferCopy2::default().size(bytes)];
//!                 let copy = vk::CopyBufferInfo2::default();
//!                 let copy = copy.src_buffer(from).dst_buffer(to).regions(&regions);
//!                 device.cmd_copy_buffer2(buffer, &copy);
//!             }),
//!         );
//!     }
//! }
//! # let _ = copy;
//! ```
//!
//! A program creates objects of its own from [`Gpu::device`](crate::vulkan::device::Gpu::device), and destroys them
//! after the frames that use them. Submissions of one's own go to a queue while it is locked:
//! [`Gpu::with_queue`](crate::vulkan::device::Gpu::with_queue).
//!
//! # Timeline semaphores that the program signals
//!
//! A pass waits for a value of a [`TimelineSemaphore`](crate::vulkan::resources::TimelineSemaphore) with
//! [`Recorder::wait_for`](crate::ecs::Recorder::wait_for), and signals one with
//! [`Recorder::signal`](crate::ecs::Recorder::signal). Other holders of the semaphore signal it as well: the
//! host, here a thread that stands for a compute library, a queue of the program's
//! ([`Gpu::with_queue`](crate::vulkan::device::Gpu::with_queue)), or a library that takes its handle
//! ([`raw`](crate::vulkan::resources::TimelineSemaphore::raw)) or gives its own
//! ([`Gpu::import_timeline_semaphore`](crate::vulkan::device::Gpu::import_timeline_semaphore)).
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use bevy_app::{App, AppExit};
//! use bevy_derive::Deref;
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::*;
//! use quadrille::vulkan::resources::TimelineSemaphore;
//!
//! #[derive(Resource, Deref)]
//! struct Requests(GpuBuffer);
//!
//! #[derive(Resource, Deref)]
//! struct Answers(GpuBuffer);
//!
//! #[derive(Resource)]
//! struct Tools {
//!     ask: ComputePipeline,
//!     show: GraphicsPipeline,
//! }
//!
//! /// The library answers frame `n` between the values 3 n + 1 and 3 n + 2.
//! #[derive(Resource)]
//! struct Library {
//!     turns: TimelineSemaphore,
//!     frame: u64,
//! }
//!
//! fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
//!     let turns = gpu.timeline_semaphore("library", 0)?;
//!     commands.insert_resource(Library { turns: turns.clone(), frame: 0 });
//!     std::thread::spawn(move || {
//!         for frame in 0.. {
//!             // Ends when the app goes on without frames, or has lost its device.
//!             let asked = turns.wait(3 * frame + 1, Duration::from_secs(5));
//!             if !asked.is_ok_and(|asked| asked) || turns.signal(3 * frame + 2).is_err() {
//!                 return;
//!             }
//!         }
//!     });
//!     Ok(())
//! }
//!
//! /// When this is done, the library may read the requests.
//! fn ask(
//!     mut recorder: Recorder,
//!     requests: StorageWrite<Requests>,
//!     library: Res<Library>,
//!     tools: Res<Tools>,
//! ) {
//!     recorder.compute(&tools.ask).bind("requests", &requests).dispatch([64, 1, 1]);
//!     recorder.signal(&library.turns, 3 * library.frame + 1);
//! }
//!
//! /// When the library is done, this begins; and when this is done, the library may write answers again.
//! fn show(
//!     mut recorder: Recorder,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     answers: StorageRead<Answers>,
//!     library: Res<Library>,
//!     tools: Res<Tools>,
//! ) {
//!     recorder.wait_for(&library.turns, 3 * library.frame + 2);
//!     recorder.signal(&library.turns, 3 * library.frame + 3);
//!     let mut rendering = recorder.render(window.clear([0.0; 4]));
//!     rendering.pipeline(&tools.show).bind("answers", &answers).draw(0..3, 0..1);
//! }
//!
//! /// A frame that failed has not signalled, so its values are used again.
//! fn count(mut library: ResMut<Library>, renderer: Res<Renderer>, mut before: Local<u64>) {
//!     let submitted = renderer.submitted_frames();
//!     library.frame += submitted - *before;
//!     *before = submitted;
//! }
//!
//! fn main() -> AppExit {
//!     App::new()
//!         .add_plugins(QuadrillePlugins)
//!         .add_systems(RenderStartup, setup)
//!         .add_systems(bevy_app::Update, count.run_if(resource_exists::<Library>))
//!         .add_systems(Render, (ask, show.after(ask)))
//!         .run()
//! }
//! ```
//!
//! The pass that waits begins a submission, the pass that signals ends one, and passes between are in neither's way;
//! `--plan` prints the values. Of two passes of one frame the one that signals the lower value comes first, on
//! whatever queue. A wait that this makes impossible is an error of the frame with both passes; a signal that does not
//! come within [`DeviceInfo::timeout`](crate::vulkan::device::DeviceInfo::timeout) goes to the error handler with the value
//! reached. A wait holds up all that is submitted to its queue later, so a signal that it waits for comes from the host,
//! from another queue, or from what was submitted before. The example `turns` is a program.
//!
//! A signal makes what was written before it available, and a wait makes it visible, so resources of the two sides need
//! no barriers for each other. They keep the layout and the queue family that the frame left them in: buffers and images
//! that a queue of another family touches are made with `Sharing::Concurrent`.
//!
//! # Devices that the program made
//!
//! Where something else has a say in how instance and device are made, as OpenXR has, the program makes them, and
//! [`Gpu::import`](crate::vulkan::device::Gpu::import) takes them.
//! [`Gpu::with_device_info`](crate::vulkan::device::Gpu::with_device_info) gives the `VkDeviceCreateInfo` that Quadrille
//! would use, to be made larger or passed on. What is not enabled and needed is one error that names all of it.
//! An app draws with such a device if its plugins are given it (in a window: `own_device`, an example of `quadrille_ecs`):
//!
//! ```no_run
//! use bevy_app::{App, AppExit, PluginGroup as _};
//! use quadrille::prelude::*;
//! use quadrille::vulkan::device::Gpu;
//!
//! fn run(gpu: Gpu) -> AppExit {
//!     let renderer = QuadrillePlugin { gpu: Some(gpu), ..QuadrillePlugin::default() };
//!     let plugins = QuadrillePlugins::headless(1280, 720).set(renderer);
//!     App::new().add_plugins(plugins).run()
//! }
//! ```
//!
//! Quadrille destroys neither the device nor its instance. It drops the `keep` that was given with them when it
//! makes no more calls to either. Quadrille does not replace a lost device, since only the program can do that:
//! the app ends with an error that says so.
//!
//! [`GpuBuffer::raw`]: crate::vulkan::resources::GpuBuffer::raw
//! [`GpuImage::raw`]: crate::vulkan::resources::GpuImage::raw
//!
//! # Buffers and images that others share
//!
//! Memory leaves the process as a file descriptor ([`GpuImage::export`](crate::vulkan::resources::GpuImage::export)) and is imported
//! by another one, or by another API such as CUDA ([`Gpu::import_image`](crate::vulkan::device::Gpu::import_image)); images that a
//! library makes from the same device are wrapped ([`Gpu::wrap_image`](crate::vulkan::device::Gpu::wrap_image)). Between frames
//! they belong to somebody else: [`Exchanges`](crate::ecs::Exchanges) states which frame acquires and releases them, in
//! what layout, and at which value of a timeline. The plan has the transfers. `examples/shared.rs` is a whole program,
//! `examples/compositor.rs` one with images of a library, as OpenXR's.
//!
//! ```no_run
//! # use std::os::unix::net::UnixStream;
//! # use bevy_derive::Deref;
//! # use bevy_ecs::prelude::*;
//! use quadrille::ecs::{Exchanges, ExternalOwner};
//! use quadrille::prelude::*;
//! use quadrille::sync::flags::Layout;
//! use quadrille::vulkan::Format;
//! use quadrille::vulkan::resources::{MemoryHandle, PeerSide, PeerTimeline};
//!
//! # #[derive(Resource, Deref)] struct Picture(GpuImage);
//! # #[derive(Resource)] struct Peer { turns: PeerTimeline, frame: u64 }
//! fn share(gpu: &GpuDevice, socket: UnixStream) -> Result<(GpuImage, PeerTimeline)> {
//!     let desc = ImageDesc::color_target("picture", [640, 360], Format::R8G8B8A8_UNORM);
//!     let picture = gpu.create_exportable_image(&desc, MemoryHandle::OpaqueFd)?;
//!     picture.export()?.send(&socket)?;
//!     Ok((picture, gpu.peer_timeline("turns", socket, PeerSide::First)?))
//! }
//!
//! /// The other process signals 2 n before frame n, and waits for 2 n + 1.
//! fn exchange(picture: Res<Picture>, peer: Res<Peer>, mut exchanges: ResMut<Exchanges>) {
//!     let (turns, owner) = (peer.turns.semaphore(), ExternalOwner::External);
//!     if peer.frame > 0 {
//!         exchanges.acquire(picture.0.clone(), owner, Layout::General).at(turns, 2 * peer.frame);
//!     }
//!     exchanges.release(picture.0.clone(), owner, Layout::General).at(turns, 2 * peer.frame + 1);
//! }
//! # let _ = (share, exchange);
//! ```
//!
//! Kinds of handles, and what is exported and imported by them. Descriptors are those of Linux and Android; the device has
//! to have the extension of a kind, and an error names the one that it lacks.
//!
//! | handle | buffer | image | timeline semaphore | binary semaphore |
//! | --- | --- | --- | --- | --- |
//! | opaque descriptor: same device and driver | export, import | export, import | export, import | export, import |
//! | dma-buf: other devices and drivers too | export, import | export, import: one layer of one mip level, with its DRM format modifier | | |
//! | sync file | | | | export, import: one signal and one wait each |
//! | address of host memory | import | | | |
//! | handle of an object of this device | import | import | export, import | export, import |
//!
//! | | export | import |
//! | --- | --- | --- |
//! | buffer | [`create_exportable_buffer`] | [`import_buffer`], [`import_host_buffer`], [`wrap_buffer`] |
//! | image | [`create_exportable_image`] | [`import_image`], [`wrap_image`] |
//! | timeline semaphore | [`create_exportable_timeline_semaphore`], [`raw`] | [`import_timeline_semaphore_fd`], [`import_timeline_semaphore`] |
//! | binary semaphore | [`create_exportable_binary_semaphore`], [`exportable_semaphore`] (sync files) | [`import_binary_semaphore_fd`], [`import_binary_semaphore`], [`import_sync_fd`] |
//!
//! Images of several planes and other Y'CbCr formats are neither exported nor imported: samplers have no conversion. Each plane is
//! shared as an image of its own, and a shader converts. Prefer timelines to binary semaphores: these cannot tell what the
//! other side has done, so the program has to ([`BinarySemaphore`](crate::vulkan::resources::BinarySemaphore), with a
//! program), and [`Exchange::with`](crate::ecs::Exchange::with) is their [`Exchange::at`](crate::ecs::Exchange::at).
//! [`PeerTimeline`](crate::vulkan::resources::PeerTimeline) also works where the device shares no semaphores, and outlives
//! the end of the other side.
//!
//! [`create_exportable_buffer`]: crate::vulkan::device::Gpu::create_exportable_buffer
//! [`import_buffer`]: crate::vulkan::device::Gpu::import_buffer
//! [`import_host_buffer`]: crate::vulkan::device::Gpu::import_host_buffer
//! [`wrap_buffer`]: crate::vulkan::device::Gpu::wrap_buffer
//! [`create_exportable_image`]: crate::vulkan::device::Gpu::create_exportable_image
//! [`import_image`]: crate::vulkan::device::Gpu::import_image
//! [`wrap_image`]: crate::vulkan::device::Gpu::wrap_image
//! [`create_exportable_timeline_semaphore`]: crate::vulkan::device::Gpu::create_exportable_timeline_semaphore
//! [`raw`]: crate::vulkan::resources::TimelineSemaphore::raw
//! [`import_timeline_semaphore_fd`]: crate::vulkan::device::Gpu::import_timeline_semaphore_fd
//! [`import_timeline_semaphore`]: crate::vulkan::device::Gpu::import_timeline_semaphore
//! [`create_exportable_binary_semaphore`]: crate::vulkan::device::Gpu::create_exportable_binary_semaphore
//! [`exportable_semaphore`]: crate::vulkan::device::Gpu::exportable_semaphore
//! [`import_binary_semaphore_fd`]: crate::vulkan::device::Gpu::import_binary_semaphore_fd
//! [`import_binary_semaphore`]: crate::vulkan::device::Gpu::import_binary_semaphore
//! [`import_sync_fd`]: crate::vulkan::device::Gpu::import_sync_fd
