//! The public face of the device.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use ash::vk;
use quadrille_sync::Topology;
use raw_window_handle::RawDisplayHandle;

use crate::device::{Device, DeviceInfo};
use crate::error::{Error, SetupError, ShaderError};
use crate::instance::environment;
use crate::instance::settings::Settings;
use crate::pipeline::{
    ComputePipeline, ComputePipelineDesc, GraphicsPipeline, GraphicsPipelineDesc,
};
use crate::resources::buffer::{BufferDesc, GpuBuffer};
use crate::resources::handle::Handle;
use crate::resources::image::{GpuImage, ImageDesc};
use crate::resources::sampler::{Sampler, SamplerDesc};
use crate::resources::table::{ImageTable, ImageTableDesc};
use crate::shader::reload::{Reloaded, Reloads};
use crate::submit::frames::Frames;
use crate::submit::ring::{Consumer, Producer, Ring};
use crate::submit::stream::StreamDesc;

/// A device, ready to make resources and run frames. Clones are the same device.
///
/// Whatever is made from a device keeps it alive, so things may be dropped in any order.
///
/// ```no_run
/// use quadrille_vulkan::{BufferDesc, Gpu, Settings};
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// println!("{} with the queues {}", gpu.info().name, gpu.topology());
/// let cells = gpu.create_buffer(&BufferDesc::storage("cells", 1024))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Gpu(pub(crate) Arc<Device>);

impl Gpu {
    /// Chooses and sets up a device. `display` names the window system, whose instance extensions
    /// are then enabled; without it those of all are that the system has.
    ///
    /// # Errors
    /// What is missing, by name, and where the loader or a driver is, the packages to install.
    pub fn new(settings: &Settings, display: Option<RawDisplayHandle>) -> Result<Self, SetupError> {
        Device::new(&environment::overrule(settings)?, display).map(Self)
    }

    /// Makes another device in place of this one, which is lost: of the same instance, chosen anew.
    /// What was made from the old one has to be made again.
    ///
    /// # Errors
    /// As for [`Gpu::new`].
    pub fn rebuild(&self, settings: &Settings) -> Result<Self, SetupError> {
        let settings = environment::overrule(settings)?;
        Device::on(Arc::clone(&self.0.instance), &settings).map(Self)
    }

    /// Marks what was made from this device: another takes its place
    /// ([`Handle::is_given_up`]).
    pub fn give_up(&self) {
        self.0.give_up();
    }

    /// Tells later whether the device still exists: it does as long as anything made from it.
    pub fn downgrade(&self) -> WeakGpu {
        WeakGpu(Arc::downgrade(&self.0))
    }

    /// The queues that frames are planned for.
    pub fn topology(&self) -> &Topology {
        &self.0.topology
    }

    /// What is known about the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// The limits of the device (section "Limits").
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.0.limits
    }

    /// Whether shaders can sample images of a format, compressed ones for instance, which many
    /// devices have some of.
    pub fn can_sample(&self, format: vk::Format) -> bool {
        crate::resources::image::can_sample(&self.0, format)
    }

    /// Whether images of a format can be scaled with a linear filter (section "Image Copies With
    /// Scaling"), as mip levels are made: not compressed ones, nor, on some devices, those of 32 bits
    /// a channel.
    pub fn can_scale(&self, format: vk::Format) -> bool {
        crate::resources::image::can_scale(&self.0, format)
    }

    /// How many frames the CPU may be ahead of the device.
    pub fn frames_in_flight(&self) -> u32 {
        self.0.frames_in_flight
    }

    /// Whether passes that wish for no queue may move: [`Settings::auto_queues`].
    pub fn has_auto_queues(&self) -> bool {
        self.0.auto_queues
    }

    /// How often a queue was waited for to become idle, for want of a better way: when a window
    /// whose presents have no fences closes, or has too many old swapchains.
    pub fn idle_waits(&self) -> u64 {
        self.0.idle_waits()
    }

    /// Whether a call has said that the device is lost.
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }

    /// Makes a buffer. Its contents are undefined.
    ///
    /// # Errors
    /// The description is not one that the device can make, or no memory is left.
    pub fn create_buffer(&self, desc: &BufferDesc) -> Result<GpuBuffer, Error> {
        GpuBuffer::new(&self.0, desc)
    }

    /// Makes an image. Its contents are undefined.
    ///
    /// # Errors
    /// As for [`Gpu::create_buffer`].
    pub fn create_image(&self, desc: &ImageDesc) -> Result<GpuImage, Error> {
        GpuImage::new(&self.0, desc)
    }

    /// Makes a sampler.
    ///
    /// # Errors
    /// The description is not one that the device can make, or the device has as many samplers as
    /// it can have.
    pub fn create_sampler(&self, desc: &SamplerDesc) -> Result<Sampler, Error> {
        Sampler::new(&self.0, desc)
    }

    /// Makes a table of images, of which shaders choose one by its index.
    ///
    /// # Errors
    /// The description is not one that the device can make, or no memory is left.
    pub fn image_table(&self, desc: &ImageTableDesc) -> Result<ImageTable, Error> {
        ImageTable::new(&self.0, desc)
    }

    /// Checks a compute pipeline's interface and starts compiling it in the background.
    ///
    /// # Errors
    /// No such entry point, or an interface that the device cannot serve. What the driver says is
    /// told by [`ComputePipeline::wait`].
    pub fn compute_pipeline(
        &self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<ComputePipeline, ShaderError> {
        ComputePipeline::new(&self.0, desc)
    }

    /// Checks a graphics pipeline's interface. It is compiled when it meets attachments, or
    /// beforehand by [`GraphicsPipeline::prepare`].
    ///
    /// # Errors
    /// As for [`Gpu::compute_pipeline`].
    pub fn graphics_pipeline(
        &self,
        desc: &GraphicsPipelineDesc<'_>,
    ) -> Result<GraphicsPipeline, ShaderError> {
        GraphicsPipeline::new(&self.0, desc)
    }

    /// Loads the file of shaders again, and builds the pipelines made from it anew, in the
    /// background; whether there are any. A file is named as [`Gpu::shader_files`] does.
    ///
    /// Pipelines change with the next [`Gpu::take_reloads`] after they are built, and keep what
    /// they run if anything is wrong: if the file cannot be read, is no shader, touches what passes
    /// do not serve (bindings, push constants, vertex buffers, workgroups), or is refused by the
    /// driver. What frames on their way run is destroyed after them.
    ///
    /// ```no_run
    /// use quadrille_vulkan::{ComputePipelineDesc, Gpu, Settings, GpuShader};
    /// let gpu = Gpu::new(&Settings::headless("example"), None)?;
    /// let shader = GpuShader::load("shaders/fill.wgsl")?;
    /// let fill = gpu.compute_pipeline(&ComputePipelineDesc::of("fill", &shader))?;
    /// // Somebody edits the file.
    /// for file in gpu.shader_files() {
    ///     gpu.reload_shader(&file);
    /// }
    /// // Between later frames:
    /// for reloaded in gpu.take_reloads() {
    ///     eprintln!("{reloaded}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reload_shader(&self, file: &Path) -> bool {
        Reloads::load(&self.0, file)
    }

    /// Has the pipelines change that are built anew, and tells what came of each file that was
    /// loaded again. Call it between frames; it costs nothing if there is nothing to tell.
    pub fn take_reloads(&self) -> Vec<Reloaded> {
        self.0.reloads.take()
    }

    /// The files that the shaders of pipelines come from, in full.
    pub fn shader_files(&self) -> Vec<PathBuf> {
        self.0.reloads.files().1
    }

    /// Another number whenever [`Gpu::shader_files`] may have changed, or the device.
    pub fn shader_files_version(&self) -> u64 {
        self.0.reloads.version()
    }

    /// The main loop's frames, with all queues. Another can be had once they are dropped.
    ///
    /// # Errors
    /// [`Error::FramesTaken`] while there is one.
    pub fn frames(&self) -> Result<Frames, Error> {
        if self.0.frames_taken.swap(true, Ordering::AcqRel) {
            return Err(Error::FramesTaken);
        }
        Ok(Frames::new(&self.0))
    }

    /// A stream beside the main loop: another owner of frames, for another thread. It has a queue
    /// to itself if there is one that the main loop has not used, so make it early.
    ///
    /// Begin with [`Frames::states`], plan for [`Frames::topology`], and call
    /// [`Frames::exchange`] before planning.
    ///
    /// ```no_run
    /// use quadrille_vulkan::{Gpu, Settings, StreamDesc};
    /// let gpu = Gpu::new(&Settings::headless("example"), None)?;
    /// let mut simulation = gpu.stream(&StreamDesc::compute("simulation"))?;
    /// let states = simulation.states();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No queue suits, or there are too many streams and rings.
    pub fn stream(&self, desc: &StreamDesc) -> Result<Frames, Error> {
        Frames::stream(&self.0, desc)
    }

    /// A ring of slots that one stream writes turn by turn and another reads: see
    /// [`ring`](crate::Producer).
    ///
    /// # Errors
    /// Fewer than two slots, the same one twice, or exclusive ones on a device with several queue
    /// families, all of which may read them at a time.
    pub fn ring(&self, name: &str, slots: Vec<Handle>) -> Result<(Producer, Consumer), Error> {
        Ring::open(&self.0, name, slots)
    }

    /// Leaves a thread that submits to a stream to the device: the end of the main loop's
    /// [`Frames`] asks streams to stop ([`Frames::is_stopping`]) and waits for it, two seconds at
    /// most.
    pub fn keep_thread(&self, thread: std::thread::JoinHandle<()>) {
        self.0.streams.add_thread(thread);
    }

    /// Writes compiled pipelines to disk now; it is also done when the device is destroyed.
    pub fn save_pipeline_cache(&self) {
        self.0.pipeline_cache.save(&self.0.raw);
    }
}

/// A device that may be gone: see [`Gpu::downgrade`].
#[derive(Clone)]
pub struct WeakGpu(Weak<Device>);

impl WeakGpu {
    /// Whether the device exists.
    pub fn exists(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl PartialEq for Gpu {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Gpu {}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Gpu({}, {})", self.info().name, self.topology())
    }
}
