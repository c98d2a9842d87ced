//! Swapchains: acquiring images, and following the window.
//!
//! A swapchain is replaced when the window's size or the present mode changes, or when Vulkan
//! says that it is out of date or suboptimal; at most once for each acquisition, and never while
//! an image is acquired. Old ones wait until they are proven done with (`present`).

mod chain;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use quadrille_sync::TimelinePoint;

use crate::device::Device;
use crate::error::SurfaceError;
use crate::gpu::Gpu;
use crate::image::{Image, ImageDesc, ImageUsage};
use crate::surface::Surface;
use crate::timeline::nanoseconds;

pub(crate) use chain::{Chain, Proof};

/// How a swapchain presents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwapchainSettings {
    /// How presents meet the display's refresh; falls back to FIFO, which every device has.
    pub present_mode: vk::PresentModeKHR,
    /// Formats in order of preference.
    pub formats: Vec<vk::Format>,
    /// How many images to ask for; 0 for one more than the least.
    pub image_count: u32,
}

impl Default for SwapchainSettings {
    /// FIFO, sRGB with 8 bits, one image more than the least.
    fn default() -> Self {
        Self {
            present_mode: vk::PresentModeKHR::FIFO,
            formats: vec![
                vk::Format::B8G8R8A8_SRGB,
                vk::Format::R8G8B8A8_SRGB,
                vk::Format::A8B8G8R8_SRGB_PACK32,
                vk::Format::B8G8R8A8_UNORM,
                vk::Format::R8G8B8A8_UNORM,
            ],
            image_count: 0,
        }
    }
}

/// What came of an acquisition.
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
    /// No image became free in time.
    Timeout,
    /// No image is free.
    NotReady,
    /// The swapchain went out of date again right after it was replaced.
    OutOfDate,
}

/// The image that is acquired.
pub(crate) struct AcquiredImage {
    pub index: u32,
    /// Signalled when the image may be used; taken by the submission that waits for it.
    pub wait: Option<vk::Semaphore>,
}

/// The images of a window.
///
/// [`Swapchain::image`] is one [`Image`] for the swapchain's whole life. It stands for whichever
/// image was acquired last, so passes declare and record it like any other.
pub struct Swapchain {
    pub(crate) device: Arc<Device>,
    settings: SwapchainSettings,
    /// The format and colour space, fixed so that pipelines and passes can rely on them.
    format: vk::SurfaceFormatKHR,
    image: Image,
    /// The chain in use; none if the window has no area, or if creation failed.
    pub(crate) chain: Option<Chain>,
    /// Chains that may still be shown.
    pub(crate) old: Vec<Chain>,
    pub(crate) acquired: Option<AcquiredImage>,
    /// Semaphores that nobody uses.
    pub(crate) free_semaphores: Vec<vk::Semaphore>,
    /// Fences that nobody uses, not signalled.
    pub(crate) free_fences: Vec<vk::Fence>,
    /// Semaphores of acquisitions, with the submission that waits for each.
    pub(crate) waited: VecDeque<(vk::Semaphore, TimelinePoint)>,
    /// Signalled semaphores that nobody will wait for.
    pub(crate) spoiled: Vec<vk::Semaphore>,
    /// The queue that presented last.
    pub(crate) present_queue: usize,
    wanted: [u32; 2],
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
        let desc = ImageDesc {
            extent: [extent[0].max(1), extent[1].max(1), 1],
            ..ImageDesc::new(name, 1, 1, format.format, usage(&support.capabilities))
        };
        let mut swapchain = Self {
            image: Image::of_swapchain(&device, &desc),
            settings: settings.clone(),
            format,
            chain: None,
            old: Vec::new(),
            acquired: None,
            free_semaphores: Vec::new(),
            free_fences: Vec::new(),
            waited: VecDeque::new(),
            spoiled: Vec::new(),
            present_queue: 0,
            wanted: extent,
            outdated: true,
            surface_lost: false,
            surface,
            device,
        };
        swapchain.renew()?;
        Ok(swapchain)
    }

    /// The image that stands for whichever was acquired.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Width and height in pixels; zeros while the window has no area.
    pub fn extent(&self) -> [u32; 2] {
        self.chain.as_ref().map_or([0, 0], |chain| chain.extent)
    }

    /// The format.
    pub fn format(&self) -> vk::Format {
        self.format.format
    }

    /// The present mode in use.
    pub fn present_mode(&self) -> vk::PresentModeKHR {
        self.chain
            .as_ref()
            .map_or(vk::PresentModeKHR::FIFO, |chain| chain.present_mode)
    }

    /// How many images the chain has.
    pub fn image_count(&self) -> usize {
        self.chain.as_ref().map_or(0, |chain| chain.images.len())
    }

    /// Follows the window's size. The chain is replaced now, or after the next present if an
    /// image is acquired.
    ///
    /// # Errors
    /// The surface is lost, or no memory is left.
    pub fn resize(&mut self, extent: [u32; 2]) -> Result<(), SurfaceError> {
        if self.wanted == extent {
            return Ok(());
        }
        self.wanted = extent;
        self.outdated = true;
        match self.acquired {
            Some(_) => Ok(()),
            None => self.renew().map(|_| ()),
        }
    }

    /// Changes the present mode, from the next acquisition on.
    pub fn set_present_mode(&mut self, mode: vk::PresentModeKHR) {
        if self.settings.present_mode != mode {
            self.settings.present_mode = mode;
            self.outdated = true;
        }
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
        self.recycle();
        // Twice at most: a chain that is out of date is replaced once. If the new one is out of
        // date too, the window is still changing and the frame goes on without it.
        for _ in 0..2 {
            if !self.renew()? {
                return Ok(Acquired::Skip(SkipReason::ZeroExtent));
            }
            match self.try_acquire(timeout) {
                Ok(index) => return Ok(self.take(index)),
                Err(vk::Result::TIMEOUT) => return Ok(Acquired::Skip(SkipReason::Timeout)),
                Err(vk::Result::NOT_READY) => return Ok(Acquired::Skip(SkipReason::NotReady)),
                Err(
                    vk::Result::ERROR_OUT_OF_DATE_KHR
                    | vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
                ) => self.outdated = true,
                Err(vk::Result::ERROR_SURFACE_LOST_KHR) => self.surface_lost = true,
                Err(result) => return Err(SurfaceError::vulkan("vkAcquireNextImageKHR")(result)),
            }
        }
        Ok(Acquired::Skip(SkipReason::OutOfDate))
    }

    /// Acquires an image of the chain. A failed acquisition leaves its semaphore untouched.
    fn try_acquire(&mut self, timeout: Duration) -> Result<u32, vk::Result> {
        let (Some(chain), Some(functions)) = (&self.chain, &self.device.swapchain) else {
            return Err(vk::Result::ERROR_OUT_OF_DATE_KHR);
        };
        let semaphore = match self.free_semaphores.pop() {
            Some(semaphore) => semaphore,
            None => create_semaphore(&self.device)?,
        };
        let timeout = nanoseconds(timeout);
        // SAFETY: the semaphore is not signalled and nothing waits for it; the chain is in use.
        let result = unsafe {
            functions.acquire_next_image(chain.raw, timeout, semaphore, vk::Fence::null())
        };
        match self.device.note(result) {
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
                self.spoiled.push(semaphore);
                Err(vk::Result::ERROR_OUT_OF_DATE_KHR)
            }
            Err(result) => {
                self.free_semaphores.push(semaphore);
                Err(result)
            }
        }
    }

    /// Gives everything up: nothing is destroyed, and what it was made of stays.
    pub(crate) fn leak(&mut self) {
        self.surface.leak();
        std::mem::forget(Arc::clone(&self.device));
    }

    fn take(&mut self, index: u32) -> Acquired {
        if let Some(chain) = &self.chain {
            let at = index as usize;
            self.image
                .set_acquired(chain.images[at], chain.views[at], chain.extent);
        }
        Acquired::Image
    }

    /// Replaces surface and chain if they have to be; `false` if the window has no area.
    fn renew(&mut self) -> Result<bool, SurfaceError> {
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
            return Ok(true);
        }
        match self.replace_chain() {
            Ok(has_area) => Ok(has_area),
            Err(SurfaceError::Lost) => {
                // The next attempt makes the surface anew.
                self.surface_lost = true;
                Err(SurfaceError::Lost)
            }
            Err(error) => Err(error),
        }
    }

    fn replace_chain(&mut self) -> Result<bool, SurfaceError> {
        let support = self.surface.support()?;
        let extent = chain::choose_extent(&support.capabilities, self.wanted);
        self.image
            .set_acquired(vk::Image::null(), vk::ImageView::null(), extent);
        if extent.contains(&0) {
            // Nothing can be made for a window without area; the old chain stays until it has one.
            return Ok(false);
        }
        let request = chain::Request {
            surface: self.surface.raw,
            format: self.format,
            usage: self.image.desc().usage,
            extent,
            present_mode: self.settings.present_mode,
            image_count: self.settings.image_count,
        };
        let old = self
            .chain
            .as_ref()
            .map_or(vk::SwapchainKHR::null(), |chain| chain.raw);
        let made = Chain::new(&self.device, &request, &support, old);
        // Passing a chain as the old one retires it, even if creation fails.
        self.put_aside();
        let made = match made {
            Err(SurfaceError::Vulkan { .. }) if !self.old.is_empty() => {
                // Drivers have a limit of chains; those that wait to be proven done count.
                self.destroy_old();
                Chain::new(&self.device, &request, &support, vk::SwapchainKHR::null())
            }
            made => made,
        };
        self.chain = Some(made?);
        self.outdated = false;
        Ok(true)
    }
}

impl std::fmt::Debug for Swapchain {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, [width, height]) = (self.image.name(), self.extent());
        write!(
            formatter,
            "Swapchain({name}, {:?}, {width}x{height})",
            self.format()
        )
    }
}

/// What the images can be used for: drawn to always, copied where the surface allows.
fn usage(capabilities: &vk::SurfaceCapabilitiesKHR) -> ImageUsage {
    let copies = ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let supported = ImageUsage::from_bits_truncate(capabilities.supported_usage_flags.as_raw());
    ImageUsage::COLOR_ATTACHMENT | (copies & supported)
}

/// A binary semaphore.
pub(crate) fn create_semaphore(device: &Device) -> Result<vk::Semaphore, vk::Result> {
    // SAFETY: the description is the default one.
    unsafe {
        device
            .raw
            .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
    }
}
