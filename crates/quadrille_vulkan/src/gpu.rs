//! Creation of resources, pipelines and lists for users.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use ash::vk;

use crate::device::gpu::Gpu;
use crate::device::reload::{Reloaded, Reloads};
use crate::device::stream::StreamDesc;
use crate::error::{Error, ShaderError};
use crate::pipeline::{
    ComputePipeline, ComputePipelineDesc, GraphicsPipeline, GraphicsPipelineDesc,
};
use crate::resources::buffer::{BufferDesc, GpuBuffer};
use crate::resources::handle::Handle;
use crate::resources::image::{GpuImage, ImageDesc};
use crate::resources::query::{QuerySet, QuerySetDesc};
use crate::resources::region::ImageRegion;
use crate::resources::sampler::{Sampler, SamplerDesc};
use crate::resources::table::{BufferTable, BufferTableDesc, ImageTable, ImageTableDesc};
use crate::submit::frames::Frames;
use crate::submit::ring::{Consumer, Producer, Ring};

impl Gpu {
    /// Whether shaders can sample images of a format, compressed ones for instance, which many
    /// devices have some of.
    pub fn can_sample(&self, format: vk::Format) -> bool {
        crate::resources::image::can_sample(&self.0, format)
    }

    /// Whether passes can draw colours to images of a format: shaders that write floating point numbers, which is
    /// not for formats of integers.
    pub fn can_draw_to(&self, format: vk::Format) -> bool {
        crate::resources::image::can_draw_to(&self.0, format)
    }

    /// Whether images of a format can be scaled with a linear filter (section "Image Copies With
    /// Scaling"), as mip levels are made: not compressed ones, nor, on some devices, those of 32 bits
    /// a channel.
    pub fn can_scale(&self, format: vk::Format) -> bool {
        crate::resources::image::can_scale(&self.0, format)
    }

    /// Whether every queue can copy a part of an image (`minImageTransferGranularity`, section "Queue Family
    /// Properties"): those for copies alone may take only multiples of something, or whole levels. No queue copies
    /// a part that the image lacks.
    ///
    /// ```no_run
    /// # use quadrille_vulkan::{Gpu, GpuImage, ImageRegion};
    /// # fn example(gpu: &Gpu, bricks: &GpuImage) {
    /// assert!(gpu.copies_anywhere(bricks, &ImageRegion::whole(bricks)));
    /// # }
    /// ```
    pub fn copies_anywhere(&self, image: &GpuImage, part: &ImageRegion) -> bool {
        let mut queues = self.0.queues.iter();
        part.is_within(image) && queues.all(|queue| part.is_aligned(image, queue.granularity))
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

    /// Makes a set of queries. Their results are undefined.
    ///
    /// # Errors
    /// The device lacks the feature of their kind, there are none, or no memory is left.
    pub fn query_set(&self, desc: &QuerySetDesc) -> Result<QuerySet, Error> {
        QuerySet::new(&self.0, desc)
    }

    /// Makes a table of images, of which shaders choose one by its index.
    ///
    /// # Errors
    /// The description is not one that the device can make, or no memory is left.
    pub fn image_table(&self, desc: &ImageTableDesc) -> Result<ImageTable, Error> {
        ImageTable::new(self, desc)
    }

    /// Makes a table of storage buffers, of which shaders choose one by its index.
    ///
    /// # Errors
    /// The description is not one that the device can make, or no memory is left.
    pub fn buffer_table(&self, desc: &BufferTableDesc) -> Result<BufferTable, Error> {
        BufferTable::new(self, desc)
    }

    /// Checks a compute pipeline's interface and starts compiling it in the background.
    ///
    /// # Errors
    /// No such entry point, or an interface that the device cannot serve. What the driver says is
    /// returned by [`ComputePipeline::wait`].
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

    /// Loads the file of shaders again, and builds the pipelines made from it again, in the
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

    /// Puts rebuilt pipelines in the place of former ones, and returns the outcome of each file that was
    /// loaded again. Call it between frames; it costs nothing if no file was.
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
    /// [`Frames`] signals streams to stop ([`Frames::is_stopping`]) and waits for it, two seconds at
    /// most.
    pub fn keep_thread(&self, thread: std::thread::JoinHandle<()>) {
        self.0.streams.add_thread(thread);
    }

    /// Writes compiled pipelines to disk now; it is also done when the device is destroyed.
    pub fn save_pipeline_cache(&self) {
        self.0.pipeline_cache.save(&self.0.raw);
    }
}
