//! Creation of resources and pipelines: public methods of [`Gpu`].

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
    /// Whether shaders can sample images of a format. Support of compressed formats differs between devices.
    pub fn can_sample(&self, format: vk::Format) -> bool {
        crate::resources::image::can_sample(&self.0, format)
    }

    /// Whether images of a format can be color attachments of shaders with floating-point outputs. False for
    /// integer formats.
    pub fn can_draw_to(&self, format: vk::Format) -> bool {
        crate::resources::image::can_draw_to(&self.0, format)
    }

    /// Whether images of a format support blending (`COLOR_ATTACHMENT_BLEND`). Many devices do not blend formats with
    /// 32 bits per channel.
    pub fn can_blend(&self, format: vk::Format) -> bool {
        crate::resources::image::can_blend(&self.0, format)
    }

    /// Whether images of a format can be blitted with a linear filter (section "Image Copies With Scaling"), as mip
    /// generation needs. False for compressed formats and, on some devices, for formats with 32 bits per channel.
    pub fn can_scale(&self, format: vk::Format) -> bool {
        crate::resources::image::can_scale(&self.0, format)
    }

    /// Whether every queue can copy this region of an image (`minImageTransferGranularity`, section "Queue Family
    /// Properties"). Transfer queues may need aligned regions, or whole levels. False for a region outside the image.
    ///
    /// ```no_run
    /// # use quadrille_vulkan::device::Gpu;
    /// # use quadrille_vulkan::resources::{GpuImage, ImageRegion};
    /// # fn example(gpu: &Gpu, bricks: &GpuImage) {
    /// assert!(gpu.copies_anywhere(bricks, &ImageRegion::whole(bricks)));
    /// # }
    /// ```
    pub fn copies_anywhere(&self, image: &GpuImage, part: &ImageRegion) -> bool {
        let mut queues = self.0.queues.iter();
        part.is_within(image) && queues.all(|queue| part.is_aligned(image, queue.granularity))
    }

    /// Creates a buffer with undefined contents.
    ///
    /// # Errors
    /// The description is invalid or not supported by the device, or memory allocation failed.
    pub fn create_buffer(&self, desc: &BufferDesc) -> Result<GpuBuffer, Error> {
        GpuBuffer::new(&self.0, desc)
    }

    /// Creates an image with undefined contents.
    ///
    /// # Errors
    /// As for [`Gpu::create_buffer`].
    pub fn create_image(&self, desc: &ImageDesc) -> Result<GpuImage, Error> {
        GpuImage::new(&self.0, desc)
    }

    /// Creates a sampler.
    ///
    /// # Errors
    /// The description is invalid or not supported by the device, or the device's limit of samplers
    /// (`maxSamplerAllocationCount`) is reached.
    pub fn create_sampler(&self, desc: &SamplerDesc) -> Result<Sampler, Error> {
        Sampler::new(&self.0, desc)
    }

    /// Creates a set of queries with undefined results.
    ///
    /// # Errors
    /// The device lacks the feature of their kind, their count is 0, or memory allocation failed.
    pub fn query_set(&self, desc: &QuerySetDesc) -> Result<QuerySet, Error> {
        QuerySet::new(&self.0, desc)
    }

    /// Creates a table of images, which shaders access by index.
    ///
    /// # Errors
    /// The description is invalid or not supported by the device, or memory allocation failed.
    pub fn image_table(&self, desc: &ImageTableDesc) -> Result<ImageTable, Error> {
        ImageTable::new(self, desc)
    }

    /// Creates a table of storage buffers, which shaders access by index.
    ///
    /// # Errors
    /// The description is invalid or not supported by the device, or memory allocation failed.
    pub fn buffer_table(&self, desc: &BufferTableDesc) -> Result<BufferTable, Error> {
        BufferTable::new(self, desc)
    }

    /// Checks a compute pipeline's interface and starts compiling it in the background.
    ///
    /// # Errors
    /// The entry point does not exist, or the device does not support its interface. Errors of the driver are
    /// returned by [`ComputePipeline::wait`].
    pub fn compute_pipeline(
        &self,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<ComputePipeline, ShaderError> {
        ComputePipeline::new(&self.0, desc)
    }

    /// Checks a graphics pipeline's interface. It is compiled at its first use with given attachment formats, or
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

    /// Reloads a shader file and rebuilds its pipelines in the background. Returns whether any pipeline uses the
    /// file, whose path must be one of [`Gpu::shader_files`].
    ///
    /// Pipelines switch to the new code in the next [`Gpu::take_reloads`] after they are built. They keep the old
    /// code if the file cannot be read, does not compile, or has another interface (bindings, push constants,
    /// vertex buffers, workgroup sizes). The old code is destroyed after the frames in flight that use it.
    ///
    /// ```no_run
    /// use quadrille_vulkan::device::Gpu;
    /// use quadrille_vulkan::instance::Settings;
    /// use quadrille_vulkan::pipeline::ComputePipelineDesc;
    /// use quadrille_vulkan::shader::GpuShader;
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

    /// Switches pipelines to their rebuilt code, and returns the outcome for each reloaded file. Call it between
    /// frames; it is free if no file was reloaded.
    pub fn take_reloads(&self) -> Vec<Reloaded> {
        self.0.reloads.take()
    }

    /// Returns the absolute paths of the shader files of all pipelines.
    pub fn shader_files(&self) -> Vec<PathBuf> {
        self.0.reloads.files().1
    }

    /// Version number that changes whenever [`Gpu::shader_files`] or the device may have changed.
    pub fn shader_files_version(&self) -> u64 {
        self.0.reloads.version()
    }

    /// Creates the [`Frames`] of the main loop, with all queues. Only one exists at a time.
    ///
    /// # Errors
    /// [`Error::FramesTaken`] until the previous one is dropped.
    pub fn frames(&self) -> Result<Frames, Error> {
        if self.0.frames_taken.swap(true, Ordering::AcqRel) {
            return Err(Error::FramesTaken);
        }
        Ok(Frames::new(&self.0))
    }

    /// Creates a stream: frames of another thread, independent of the main loop. It has exclusive use of a queue if
    /// the main loop has not used that queue yet, so create it early.
    ///
    /// Begin with [`Frames::states`], plan for [`Frames::topology`], and call
    /// [`Frames::exchange`] before planning.
    ///
    /// ```no_run
    /// use quadrille_vulkan::device::{Gpu, StreamDesc};
    /// use quadrille_vulkan::instance::Settings;
    /// let gpu = Gpu::new(&Settings::headless("example"), None)?;
    /// let mut simulation = gpu.stream(&StreamDesc::compute("simulation"))?;
    /// let states = simulation.states();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No queue has the capabilities, or there are too many streams and rings.
    pub fn stream(&self, desc: &StreamDesc) -> Result<Frames, Error> {
        Frames::stream(&self.0, desc)
    }

    /// Creates a ring of slots that one stream writes in order and another reads: see [`Producer`].
    ///
    /// # Errors
    /// There are fewer than two slots, or one is given twice, or one is exclusive on a device with several queue
    /// families (any of them may read a slot).
    pub fn ring(&self, name: &str, slots: Vec<Handle>) -> Result<(Producer, Consumer), Error> {
        Ring::open(&self.0, name, slots)
    }

    /// Hands the thread of a stream to the device. Dropping the main loop's [`Frames`] signals streams to stop
    /// ([`Frames::is_stopping`]), and waits for the thread for two seconds at most.
    pub fn keep_thread(&self, thread: std::thread::JoinHandle<()>) {
        self.0.streams.add_thread(thread);
    }

    /// Writes compiled pipelines to disk now; it is also done when the device is destroyed.
    pub fn save_pipeline_cache(&self) {
        self.0.pipeline_cache.save(&self.0.raw);
    }
}
