//! Swapchains: acquisition of images, and recreation when the window changes.
//!
//! A swapchain is recreated when the window's size or a setting changes, or when Vulkan reports
//! it as out of date or suboptimal; at most once for each acquisition, and never while an image is
//! acquired. Old ones are kept until completion of their presents is proven (`retired`).

mod chain;
mod display;
mod modes;
mod recycle;
mod retired;
mod settings;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use quadrille_sync::states::TimelinePoint;

use crate::device::Device;
use crate::device::gpu::Gpu;
use crate::device::time_limit::TimeLimit;
use crate::device::timeline::nanoseconds;
use crate::error::SurfaceError;
use crate::present::surface::Surface;
use crate::resources::image::{GpuImage, ImageDesc, ImageUsage};

pub use chain::CompositeAlpha;
pub(crate) use chain::{Chain, Proof};
use modes::Modes;
pub(crate) use recycle::Pool;
pub(crate) use retired::{TIMEOUT, wait_for_fences};
pub use settings::{PresentCompletion, SurfaceFormat, SwapchainSettings};

/// Outcome of an acquisition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Acquired {
    /// [`Swapchain::image`] is an acquired image.
    Image,
    /// No image; skip the window in this frame.
    Skip(SkipReason),
}

/// Reason why no image was acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The window has no area, for instance because it is minimized.
    ZeroExtent,
    /// The window is larger than any image of the device.
    TooLarge,
    /// No image became free in time.
    Timeout,
    /// No image is free, with a timeout of zero.
    NotReady,
    /// The swapchain was out of date again right after its recreation.
    OutOfDate,
    /// Too many old swapchains are still in use to create another.
    Backlog,
}

/// The image that is acquired.
pub(crate) struct AcquiredImage {
    pub index: u32,
    /// Signalled when the image may be used; `None` once a submission waits for it.
    pub wait: Option<vk::Semaphore>,
}

/// The swapchain of a window.
///
/// [`Swapchain::image`] is the same [`GpuImage`] as long as the format is unchanged. It is an alias of the
/// acquired image, so passes declare and record it like any other.
pub struct Swapchain {
    pub(crate) device: Arc<Device>,
    settings: SwapchainSettings,
    /// The format and color space, which pipelines and passes depend on.
    format: SurfaceFormat,
    image: GpuImage,
    /// The chain in use; `None` if the window has no area, or if creation failed.
    pub(crate) chain: Option<Chain>,
    /// Replaced chains that may still be in use by the presentation engine.
    pub(crate) old: Vec<Chain>,
    pub(crate) acquired: Option<AcquiredImage>,
    /// Semaphores and fences.
    pub(crate) pool: Pool,
    /// Whether presents have fences.
    pub(crate) fences: bool,
    /// The last submissions that drew to the window, up to the number of frames in flight.
    in_flight: VecDeque<TimelinePoint>,
    /// The queue that presented last.
    pub(crate) present_queue: usize,
    wanted: [u32; 2],
    /// Number of chains created so far.
    made: u64,
    /// Whether the chain has to be recreated before the next acquisition.
    pub(crate) outdated: bool,
    pub(crate) surface_lost: bool,
    /// Dropped last.
    surface: Surface,
}

impl Swapchain {
    /// Creates a swapchain for a surface. `extent` is the window's size in pixels, for window systems that
    /// let the program choose the extent. `name` is the name of its image.
    ///
    /// # Errors
    /// The surface offers none of the formats, or is lost.
    pub fn new(
        gpu: &Gpu,
        surface: Surface,
        settings: &SwapchainSettings,
        extent: [u32; 2],
        name: &str,
    ) -> Result<Self, SurfaceError> {
        let device = Arc::clone(&gpu.0);
        let support = surface.support()?;
        let format = chain::choose_format(&support.formats, &settings.formats)?;
        let usage = usage(&support.capabilities);
        let desc = image_desc(name, extent, format, usage);
        let fences = device.present_fences && settings.completion == PresentCompletion::Automatic;
        let mut swapchain = Self {
            image: GpuImage::of_swapchain(&device, &desc),
            settings: settings.clone(),
            format,
            chain: None,
            old: Vec::new(),
            acquired: None,
            pool: Pool::default(),
            fences,
            in_flight: VecDeque::new(),
            present_queue: 0,
            wanted: extent,
            made: 0,
            outdated: true,
            surface_lost: false,
            surface,
            device,
        };
        swapchain.renew()?;
        Ok(swapchain)
    }

    /// The image handle, an alias of the acquired image.
    pub fn image(&self) -> &GpuImage {
        &self.image
    }

    /// Width and height in pixels; zeros while the window has no area.
    pub fn extent(&self) -> [u32; 2] {
        self.chain.as_ref().map_or([0, 0], |chain| chain.extent)
    }

    /// The format and color space.
    pub fn format(&self) -> SurfaceFormat {
        self.format
    }

    /// The present mode in use.
    pub fn present_mode(&self) -> vk::PresentModeKHR {
        self.chain
            .as_ref()
            .map_or(vk::PresentModeKHR::FIFO, |chain| chain.modes.current())
    }

    /// Composite alpha modes of the window; `None` while there is no chain.
    pub fn composite_alpha(&self) -> Option<CompositeAlpha> {
        self.chain.as_ref().map(|chain| chain.alpha)
    }

    /// The present modes that the current chain can change to without recreation; empty if the
    /// device does not support that.
    pub fn compatible_present_modes(&self) -> &[vk::PresentModeKHR] {
        let chain = self.chain.as_ref();
        chain.map_or(&[], |chain| chain.modes.compatible())
    }

    /// The number of images of the chain.
    pub fn image_count(&self) -> usize {
        self.chain.as_ref().map_or(0, |chain| chain.images.len())
    }

    /// The number of replaced chains that are not destroyed yet.
    pub fn retired_count(&self) -> usize {
        self.old.len()
    }

    /// The number of chains created so far, including the current one.
    pub fn chains_made(&self) -> u64 {
        self.made
    }

    /// The number of binary semaphores of the current chain: at most its images + frames in flight + 2.
    ///
    /// Semaphores of replaced chains' presents are counted separately: without present fences, only the
    /// first present of the current chain (or a wait for the queue) proves that they may be reused.
    pub fn semaphore_count(&self) -> usize {
        self.busy_semaphore_count() + self.pool.spare_semaphore_count()
    }

    /// The number of binary semaphores of replaced chains, one for each present whose completion is not proven: at most
    /// images + frames in flight for each chain.
    pub fn retired_semaphore_count(&self) -> usize {
        self.old.iter().map(|chain| chain.history.len()).sum()
    }

    /// The semaphores of the current chain that are in use.
    fn busy_semaphore_count(&self) -> usize {
        let presents = self.chain.as_ref().map_or(0, |chain| chain.history.len());
        let acquired = self.acquired.as_ref();
        let held = acquired.is_some_and(|acquired| acquired.wait.is_some());
        presents + usize::from(held) + self.pool.busy_semaphore_count()
    }

    /// Maximum number of semaphores of the current chain.
    fn most_semaphores(&self) -> usize {
        self.image_count() + self.device.frames_in_flight as usize + 2
    }

    /// Whether fences prove completion of presents, and not the history alone.
    pub fn has_present_fences(&self) -> bool {
        self.fences
    }

    /// Sets the window's size. The chain is recreated now, or after the next present if an image is acquired.
    ///
    /// # Errors
    /// The surface is lost and could not be recreated, or memory allocation failed.
    pub fn resize(&mut self, extent: [u32; 2]) -> Result<(), SurfaceError> {
        if self.wanted == extent {
            return Ok(());
        }
        self.wanted = extent;
        self.outdated = true;
        match self.acquired {
            Some(_) => Ok(()),
            None => self.renew_surface_too().map(|_| ()),
        }
    }

    /// Changes all settings except [`SwapchainSettings::completion`], from the next acquisition on. With another
    /// format, [`Swapchain::image`] is another image. A present mode that is compatible with the current one
    /// changes with the next present; for any other the chain is recreated.
    ///
    /// # Errors
    /// The surface offers none of the formats; then nothing changes.
    pub fn set(&mut self, settings: &SwapchainSettings) -> Result<(), SurfaceError> {
        if self.settings == *settings || self.acquired.is_some() {
            return Ok(());
        }
        if self.settings.formats != settings.formats {
            let support = self.surface.support()?;
            let format = chain::choose_format(&support.formats, &settings.formats)?;
            if self.format != format {
                let desc = self.image.desc();
                let desc = image_desc(&desc.name, self.wanted, format, desc.usage);
                self.image = GpuImage::of_swapchain(&self.device, &desc);
                self.format = format;
                self.outdated = true;
            }
        }
        let wanted = &settings.present_modes;
        if self.settings.present_modes != *wanted
            && let Some(chain) = &mut self.chain
        {
            self.outdated |= !chain.modes.change(wanted);
        }
        self.outdated |= self.settings.image_count != settings.image_count
            || self.settings.composite_alpha != settings.composite_alpha;
        self.settings = settings.clone();
        Ok(())
    }

    /// Acquires an image, and waits for at most `timeout`. An image that is still acquired, from an
    /// abandoned frame, is used first.
    ///
    /// # Errors
    /// The surface is lost and could not be recreated, the device is lost, or memory allocation failed.
    pub fn acquire(&mut self, timeout: Duration) -> Result<Acquired, SurfaceError> {
        if self.acquired.is_some() {
            return Ok(Acquired::Image);
        }
        let start = Instant::now();
        let has_room = self.pace(timeout)?;
        self.recycle();
        if !has_room {
            return Ok(Acquired::Skip(SkipReason::Timeout));
        }
        // At most two attempts: a chain that is out of date is recreated once. If the new one is out of date too, the
        // window is still changing, and the frame skips it.
        for _ in 0..2 {
            if let Some(reason) = self.renew_surface_too()? {
                return Ok(Acquired::Skip(reason));
            }
            match self.try_acquire(timeout.saturating_sub(start.elapsed())) {
                Ok(index) => return Ok(self.take(index)),
                Err(vk::Result::TIMEOUT) => return Ok(Acquired::Skip(SkipReason::Timeout)),
                Err(vk::Result::NOT_READY) => return Ok(Acquired::Skip(SkipReason::NotReady)),
                Err(
                    vk::Result::ERROR_OUT_OF_DATE_KHR
                    | vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
                ) => self.outdated = true,
                Err(vk::Result::ERROR_SURFACE_LOST_KHR) => self.surface_lost = true,
                Err(result) => {
                    return Err(SurfaceError::vulkan(&self.device, "vkAcquireNextImageKHR")(
                        result,
                    ));
                }
            }
        }
        Ok(Acquired::Skip(SkipReason::OutOfDate))
    }

    /// Waits until the numbers of this window's frames in flight and used semaphores are below their limits; `false`
    /// after `timeout`.
    fn pace(&mut self, timeout: Duration) -> Result<bool, SurfaceError> {
        let most = match self.settings.frames_in_flight {
            0 => self.device.frames_in_flight,
            frames => frames.min(self.device.frames_in_flight),
        };
        while self.in_flight.len() >= most as usize {
            if !self.wait_oldest(timeout)? {
                return Ok(false);
            }
        }
        self.recycle();
        // An acquisition and a present need one semaphore each.
        while self.busy_semaphore_count() + 2 > self.most_semaphores() && !self.in_flight.is_empty()
        {
            if !self.wait_oldest(timeout)? {
                return Ok(false);
            }
            self.recycle();
        }
        if self.settings.pace_by_display {
            self.wait_seen(most as usize, timeout)?;
        }
        Ok(true)
    }

    /// Waits for the oldest frame in flight; `false` after `timeout`.
    fn wait_oldest(&mut self, timeout: Duration) -> Result<bool, SurfaceError> {
        let Some(point) = self.in_flight.front() else {
            return Ok(true);
        };
        if let Some(timeline) = self.device.timelines.get(usize::from(point.queue.0)) {
            let mut limit = TimeLimit::new(timeout);
            let waited = timeline.wait(&self.device, point.value, &mut limit);
            // Read all timelines, so that their known values are consistent.
            match waited.and_then(|()| self.device.timelines.reached(&self.device)) {
                Ok(_) => {}
                Err(vk::Result::TIMEOUT) => return Ok(false),
                Err(result) => {
                    return Err(SurfaceError::vulkan(&self.device, "vkWaitSemaphores")(
                        result,
                    ));
                }
            }
        }
        self.in_flight.pop_front();
        Ok(true)
    }

    /// Acquires an image of the chain. A failed acquisition leaves its semaphore untouched.
    fn try_acquire(&mut self, timeout: Duration) -> Result<u32, vk::Result> {
        let (Some(chain), Some(functions)) = (&self.chain, &self.device.extensions.swapchain)
        else {
            return Err(vk::Result::ERROR_OUT_OF_DATE_KHR);
        };
        let semaphore = self.pool.semaphore(&self.device)?;
        let timeout = nanoseconds(timeout);
        // SAFETY: the semaphore is not signalled and nothing waits for it; the chain is in use.
        let result = unsafe {
            functions.acquire_next_image(chain.raw, timeout, semaphore, vk::Fence::null())
        };
        match self.device.note("vkAcquireNextImageKHR", result) {
            Ok((index, suboptimal)) if (index as usize) < chain.images.len() => {
                self.outdated |= suboptimal;
                self.acquired = Some(AcquiredImage {
                    index,
                    wait: Some(semaphore),
                });
                Ok(index)
            }
            // Some drivers return success without writing the index.
            Ok(_) => {
                self.give_up_signalled(semaphore);
                Err(vk::Result::ERROR_OUT_OF_DATE_KHR)
            }
            Err(result) => {
                self.pool.give_back(semaphore);
                Err(result)
            }
        }
    }

    /// Records the submission that waits for the acquisition.
    pub(crate) fn note_waited(&mut self, point: TimelinePoint) {
        let Some(acquired) = &mut self.acquired else {
            return;
        };
        self.in_flight.push_back(point);
        if let Some(semaphore) = acquired.wait.take() {
            self.pool.give_back_after(semaphore, point);
        }
        if let Some(chain) = &mut self.chain {
            let proof = Proof::Point(point);
            chain.history.reacquired(acquired.index, proof);
        }
    }

    /// Leaks all objects of the window, and the window itself.
    pub(crate) fn leak(&mut self) {
        self.surface.leak();
        self.device.last.hold();
    }

    fn take(&mut self, index: u32) -> Acquired {
        if let Some(chain) = &self.chain {
            let at = index as usize;
            self.image
                .set_acquired(chain.images[at], chain.views[at], chain.extent);
        }
        Acquired::Image
    }

    /// Recreates the chain if necessary, and the surface too if its loss is detected meanwhile.
    fn renew_surface_too(&mut self) -> Result<Option<SkipReason>, SurfaceError> {
        let was_lost = self.surface_lost;
        match self.renew() {
            Err(SurfaceError::Lost) if !was_lost => self.renew(),
            other => other,
        }
    }

    /// Recreates surface and chain if necessary. Returns the reason if there is no chain.
    fn renew(&mut self) -> Result<Option<SkipReason>, SurfaceError> {
        if self.surface_lost {
            if !self.destroy_chains() {
                return Err(SurfaceError::Lost);
            }
            self.surface.recreate().map_err(|error| match error {
                SurfaceError::DeviceLost { .. } => error,
                _ => SurfaceError::Lost,
            })?;
            self.surface_lost = false;
            self.outdated = true;
        }
        if !self.outdated && self.chain.is_some() {
            return Ok(None);
        }
        self.replace_chain().inspect_err(|error| {
            // The next attempt recreates the surface.
            self.surface_lost |= matches!(error, SurfaceError::Lost);
        })
    }

    fn replace_chain(&mut self) -> Result<Option<SkipReason>, SurfaceError> {
        // Query the size last, since it may change at any time.
        let available = self.surface.present_modes()?;
        let modes = Modes::choose(&available, &self.settings.present_modes, |mode| {
            self.surface.compatible_modes(mode)
        })?;
        let support = self.surface.support()?;
        let most = self.device.most_drawn();
        let extent = chain::choose_extent(&support.capabilities, self.wanted, most);
        let (no_image, no_view) = (vk::Image::null(), vk::ImageView::null());
        self.image.set_acquired(no_image, no_view, extent);
        if extent.contains(&0) {
            // No chain can be created for a window without area; the old one is kept until the window has an area.
            return Ok(Some(SkipReason::ZeroExtent));
        }
        if extent[0] > most[0] || extent[1] > most[1] {
            return Ok(Some(SkipReason::TooLarge));
        }
        if !self.make_room() {
            return Ok(Some(SkipReason::Backlog));
        }
        let request = chain::Request {
            surface: self.surface.raw,
            format: self.format,
            usage: self.image.desc().usage,
            extent,
            alpha: self.settings.composite_alpha,
            modes: &modes,
            image_count: self.settings.image_count,
        };
        let old = self
            .chain
            .as_ref()
            .map_or(vk::SwapchainKHR::null(), |chain| chain.raw);
        let mut made = Chain::new(&self.device, &request, &support, old);
        // Passing a chain as the old one retires it, even if creation fails.
        let retired = self.chain.take();
        if matches!(made, Err(SurfaceError::Vulkan { .. })) {
            self.put_aside(retired);
            if self.destroy_old() {
                // Drivers limit the number of chains, including retired ones: destroy those and retry.
                made = Chain::new(&self.device, &request, &support, vk::SwapchainKHR::null());
            }
        } else {
            self.put_aside(retired);
        }
        self.chain = Some(made?);
        self.made += 1;
        self.outdated = false;
        Ok(None)
    }
}

impl std::fmt::Debug for Swapchain {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, [width, height]) = (self.image.name(), self.extent());
        let format = self.format.format;
        write!(formatter, "Swapchain({name}, {format:?}, {width}x{height})")
    }
}

/// Returns the usage of the images: color attachment, and copies if the surface supports them.
fn usage(capabilities: &vk::SurfaceCapabilitiesKHR) -> ImageUsage {
    let copies = ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let supported = ImageUsage::from_bits_truncate(capabilities.supported_usage_flags.as_raw());
    ImageUsage::COLOR_ATTACHMENT | (copies & supported)
}

/// Description of the swapchain's image handle.
fn image_desc(name: &str, extent: [u32; 2], format: SurfaceFormat, usage: ImageUsage) -> ImageDesc {
    ImageDesc {
        extent: [extent[0].max(1), extent[1].max(1), 1],
        ..ImageDesc::new(name, [1, 1], format.format, usage)
    }
}
