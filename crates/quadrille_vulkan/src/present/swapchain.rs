//! Swapchains: acquiring images, and following the window.
//!
//! A swapchain is replaced when the window's size or a setting changes, or when Vulkan says that
//! it is out of date or suboptimal; at most once for each acquisition, and never while an image is
//! acquired. Old ones wait until they are proven done with (`retired`).

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
use quadrille_sync::TimelinePoint;

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
    /// [`Swapchain::image`] stands for an image now.
    Image,
    /// There is none; the window is left out of this frame.
    Skip(SkipReason),
}

/// Why there is no image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The window has no area: it is minimised.
    ZeroExtent,
    /// The window is larger than any image of the device.
    TooLarge,
    /// No image became free in time.
    Timeout,
    /// No image is free.
    NotReady,
    /// The swapchain went out of date again right after it was replaced.
    OutOfDate,
    /// Too many old swapchains are not given back yet to make another.
    Backlog,
}

/// The image that is acquired.
pub(crate) struct AcquiredImage {
    pub index: u32,
    /// Signalled when the image may be used; taken by the submission that waits for it.
    pub wait: Option<vk::Semaphore>,
}

/// The images of a window.
///
/// [`Swapchain::image`] is one [`GpuImage`] for as long as the format stays. It stands for whichever
/// image was acquired last, so passes declare and record it like any other.
pub struct Swapchain {
    pub(crate) device: Arc<Device>,
    settings: SwapchainSettings,
    /// The format and colour space, which pipelines and passes rely on.
    format: SurfaceFormat,
    image: GpuImage,
    /// The chain in use; none if the window has no area, or if creation failed.
    pub(crate) chain: Option<Chain>,
    /// Chains that may still be shown.
    pub(crate) old: Vec<Chain>,
    pub(crate) acquired: Option<AcquiredImage>,
    /// Semaphores and fences.
    pub(crate) pool: Pool,
    /// Presents have fences.
    pub(crate) fences: bool,
    /// The last submissions that drew to the window, as many as may be on their way.
    in_flight: VecDeque<TimelinePoint>,
    /// The queue that presented last.
    pub(crate) present_queue: usize,
    wanted: [u32; 2],
    /// Chains made so far.
    made: u64,
    /// The chain has to be replaced before the next acquisition.
    pub(crate) outdated: bool,
    pub(crate) surface_lost: bool,
    /// Dropped last.
    surface: Surface,
}

impl Swapchain {
    /// A swapchain for a surface. `extent` is the window's size in pixels, for window systems that
    /// leave the choice to the program. `name` is that of its image.
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

    /// The image that stands for whichever was acquired.
    pub fn image(&self) -> &GpuImage {
        &self.image
    }

    /// Width and height in pixels; zeros while the window has no area.
    pub fn extent(&self) -> [u32; 2] {
        self.chain.as_ref().map_or([0, 0], |chain| chain.extent)
    }

    /// The format and colour space.
    pub fn format(&self) -> SurfaceFormat {
        self.format
    }

    /// The present mode in use.
    pub fn present_mode(&self) -> vk::PresentModeKHR {
        self.chain
            .as_ref()
            .map_or(vk::PresentModeKHR::FIFO, |chain| chain.modes.current())
    }

    /// How the window is blended with what is behind it; none while there is no chain.
    pub fn composite_alpha(&self) -> Option<CompositeAlpha> {
        self.chain.as_ref().map(|chain| chain.alpha)
    }

    /// The present modes that the chain in use can change to without being replaced; none if the
    /// device does not offer that.
    pub fn compatible_present_modes(&self) -> &[vk::PresentModeKHR] {
        let chain = self.chain.as_ref();
        chain.map_or(&[], |chain| chain.modes.compatible())
    }

    /// How many images the chain has.
    pub fn image_count(&self) -> usize {
        self.chain.as_ref().map_or(0, |chain| chain.images.len())
    }

    /// How many older chains are not given back yet.
    pub fn retired_count(&self) -> usize {
        self.old.len()
    }

    /// How many chains were made so far, the one in use included.
    pub fn chains_made(&self) -> u64 {
        self.made
    }

    /// How many binary semaphores exist for the swapchain in use: never more than its images, the
    /// frames in flight and 2.
    ///
    /// Semaphores of presents of older swapchains are counted apart: without present fences, only the
    /// first present of the swapchain in use proves them free, short of waiting for the queue.
    pub fn semaphore_count(&self) -> usize {
        self.busy_semaphore_count() + self.pool.spare_semaphore_count()
    }

    /// How many binary semaphores wait with older swapchains, one for each of their presents that
    /// is not proven done: never more than images and frames in flight for each swapchain.
    pub fn retired_semaphore_count(&self) -> usize {
        self.old.iter().map(|chain| chain.history.len()).sum()
    }

    /// The semaphores of the swapchain in use that are not spare.
    fn busy_semaphore_count(&self) -> usize {
        let presents = self.chain.as_ref().map_or(0, |chain| chain.history.len());
        let acquired = self.acquired.as_ref();
        let held = acquired.is_some_and(|acquired| acquired.wait.is_some());
        presents + usize::from(held) + self.pool.busy_semaphore_count()
    }

    /// The most that there may be for the swapchain in use.
    fn most_semaphores(&self) -> usize {
        self.image_count() + self.device.frames_in_flight as usize + 2
    }

    /// Whether presents are proven done by fences, not by the history alone.
    pub fn has_present_fences(&self) -> bool {
        self.fences
    }

    /// Follows the window's size. The chain is replaced now, or after the next present if an
    /// image is acquired.
    ///
    /// # Errors
    /// The surface is lost and could not be made again, or no memory is left.
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

    /// Takes over other settings (all but the proof) from the next acquisition on. With another
    /// format, [`Swapchain::image`] is another image. A present mode that is compatible with the one
    /// in use changes with the next present; for another the chain is replaced.
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

    /// Acquires an image, waiting for at most `timeout`. An image that is acquired already, from a
    /// frame that was abandoned, is used first.
    ///
    /// # Errors
    /// The surface is lost and could not be made again, the device is lost, or no memory is left.
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
        // Twice at most: a chain that is out of date is replaced once. If the new one is out of
        // date too, the window is still changing and the frame goes on without it.
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

    /// Waits until few enough frames of this window are on their way, and few enough semaphores
    /// with them; `false` if that takes longer than `timeout`.
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
        // An acquisition and a present take one each.
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

    /// Waits for the oldest frame on its way; `false` if that takes longer than `timeout`.
    fn wait_oldest(&mut self, timeout: Duration) -> Result<bool, SurfaceError> {
        let Some(point) = self.in_flight.front() else {
            return Ok(true);
        };
        if let Some(timeline) = self.device.timelines.get(usize::from(point.queue.0)) {
            let mut limit = TimeLimit::new(timeout);
            let waited = timeline.wait(&self.device, point.value, &mut limit);
            // The other timelines too, so that what is known of all of them fits together.
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
            // Drivers have been seen to succeed with an index that they never wrote.
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

    /// Notes the submission that waits for the acquisition.
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

    /// Gives everything up: nothing of the window is destroyed, and what it was made of stays.
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

    /// Replaces the chain if it has to be, and the surface too if it turns out to be lost meanwhile.
    fn renew_surface_too(&mut self) -> Result<Option<SkipReason>, SurfaceError> {
        let was_lost = self.surface_lost;
        match self.renew() {
            Err(SurfaceError::Lost) if !was_lost => self.renew(),
            other => other,
        }
    }

    /// Replaces surface and chain if they have to be; says why there is none.
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
        // The size comes last, since it is what may change at any time.
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
            // Nothing can be made for a window without area; the old chain stays until it has one.
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
                // Drivers have a limit of chains; those that wait to be proven done count.
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

/// Returns the usage of the images: drawn to always, copied where the surface allows.
fn usage(capabilities: &vk::SurfaceCapabilitiesKHR) -> ImageUsage {
    let copies = ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let supported = ImageUsage::from_bits_truncate(capabilities.supported_usage_flags.as_raw());
    ImageUsage::COLOR_ATTACHMENT | (copies & supported)
}

/// The image that stands for the acquired one.
fn image_desc(name: &str, extent: [u32; 2], format: SurfaceFormat, usage: ImageUsage) -> ImageDesc {
    ImageDesc {
        extent: [extent[0].max(1), extent[1].max(1), 1],
        ..ImageDesc::new(name, [1, 1], format.format, usage)
    }
}
