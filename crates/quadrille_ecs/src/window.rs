//! Windows: surfaces, swapchains, and the image that passes draw to.

#![expect(
    unsafe_code,
    reason = "that a window outlives its surface is known here alone"
)]

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_window::{PresentMode, PrimaryWindow, RawHandleWrapper, Window, WindowDestroyed};
use quadrille_vulkan::{
    Acquired, Format, Gpu, Image, ImageDesc, ImageUsage, Surface, SurfaceError, Swapchain,
    SwapchainSettings, vk::PresentModeKHR,
};

use crate::error::RenderError;
use crate::renderer::Renderer;

/// The image that the primary window shows: draw to it with
/// `ColorTarget<PrimaryWindowImage>`.
///
/// Without windows it is an ordinary image of the size given to
/// [`QuadrillePlugins::headless`](crate::QuadrillePlugins::headless). While the window has no
/// image (it is minimised, say) the resource does not exist, and passes that declare it are left
/// out.
#[derive(Resource, Deref, Clone, Debug)]
pub struct PrimaryWindowImage(Image);

/// The size in pixels of the image that stands for the window where there is none.
#[derive(Resource, Clone, Copy, Debug)]
pub struct HeadlessWindow {
    /// Width and height in pixels; at least 1.
    pub extent: [u32; 2],
}

/// The presentation of one window.
pub(crate) struct WindowTarget {
    pub(crate) entity: Entity,
    /// `None` once the surface is lost: the window has gone without telling.
    swapchain: Option<Swapchain>,
    acquired: bool,
}

impl WindowTarget {
    /// Acquires an image, if the window has one to give. A window that fails, fails alone.
    fn acquire(&mut self, window: &Window) -> Result<(), SurfaceError> {
        self.acquired = false;
        let Some(swapchain) = &mut self.swapchain else {
            return Ok(());
        };
        match acquire(swapchain, window) {
            Ok(Acquired::Image) => self.acquired = true,
            Ok(Acquired::Skip(reason)) => {
                tracing::trace!("no image for the window {}: {reason:?}", self.entity);
            }
            Err(error @ SurfaceError::DeviceLost { .. }) => return Err(error),
            Err(error) => {
                tracing::warn!("the window {} is drawn no more: {error}", self.entity);
                self.swapchain = None;
            }
        }
        Ok(())
    }

    /// The acquired image.
    pub(crate) fn image(&self) -> Option<&Image> {
        self.swapchain
            .as_ref()
            .filter(|_| self.acquired)
            .map(Swapchain::image)
    }

    /// The swapchain, to present its image.
    pub(crate) fn swapchain(&mut self) -> Option<&mut Swapchain> {
        self.swapchain.as_mut()
    }

    /// The image was presented.
    pub(crate) fn presented(&mut self) {
        self.acquired = false;
    }
}

fn acquire(swapchain: &mut Swapchain, window: &Window) -> Result<Acquired, SurfaceError> {
    swapchain.set_present_mode(present_mode(window.present_mode));
    swapchain.resize([window.physical_width(), window.physical_height()])?;
    swapchain.acquire(ACQUIRE_TIMEOUT)
}

/// Despawns windows that were destroyed from outside, by a killed display connection for
/// instance, so that the app ends with its last window as it does when one is closed.
pub(crate) fn despawn_destroyed(
    mut commands: Commands,
    mut destroyed: MessageReader<WindowDestroyed>,
) {
    for &WindowDestroyed { window } in destroyed.read() {
        commands.entity(window).try_despawn();
    }
}

/// The image for headless runs.
const HEADLESS_FORMAT: Format = Format::B8G8R8A8_SRGB;

/// Makes windows ready for the frame: surfaces for new ones, sizes for resized ones, an image for
/// each that has one to give. Passes then find [`PrimaryWindowImage`], or are left out.
///
/// Images are acquired before passes record, since an acquire may find that the window has
/// another size, or no image at all, which passes have to know.
pub(crate) fn prepare(world: &mut World, renderer: &mut Renderer) -> Result<(), RenderError> {
    if let Some(&HeadlessWindow { extent }) = world.get_resource() {
        return prepare_headless(world, &renderer.gpu, extent);
    }
    close(world, renderer);
    open(world, renderer)?;
    for target in &mut renderer.windows {
        if let Some(window) = world.get::<Window>(target.entity) {
            target.acquire(window)?;
        }
    }
    let image = renderer.windows.iter().find_map(WindowTarget::image);
    match image.cloned() {
        Some(image) => world.insert_resource(PrimaryWindowImage(image)),
        None => {
            world.remove_resource::<PrimaryWindowImage>();
        }
    }
    Ok(())
}

/// How long to wait for an image before a frame goes on without the window.
const ACQUIRE_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(250);

fn prepare_headless(world: &mut World, gpu: &Gpu, extent: [u32; 2]) -> Result<(), RenderError> {
    if world.contains_resource::<PrimaryWindowImage>() {
        return Ok(());
    }
    let [width, height] = extent;
    let usage = ImageUsage::COLOR_ATTACHMENT | ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let desc = ImageDesc::new("window", width, height, HEADLESS_FORMAT, usage);
    let image = gpu.create_image(&desc)?;
    world.insert_resource(PrimaryWindowImage(image));
    Ok(())
}

/// Forgets the targets of windows that are closed.
fn close(world: &World, renderer: &mut Renderer) {
    renderer
        .windows
        .retain(|target| world.get::<RawHandleWrapper>(target.entity).is_some());
}

/// Makes targets for windows that are new.
fn open(world: &mut World, renderer: &mut Renderer) -> Result<(), RenderError> {
    let mut windows =
        world.query_filtered::<(Entity, &RawHandleWrapper, &Window), With<PrimaryWindow>>();
    for (entity, handle, window) in windows.iter(world) {
        if renderer
            .windows
            .iter()
            .any(|target| target.entity == entity)
        {
            continue;
        }
        let keep = Box::new(handle.clone());
        let (display, raw) = (handle.get_display_handle(), handle.get_window_handle());
        // SAFETY: bevy's wrapper holds the handles of a window that lives as long as a clone of
        // the wrapper does, and the surface keeps one.
        let surface = unsafe { Surface::new(&renderer.gpu, display, raw, keep) }?;
        let settings = SwapchainSettings {
            present_mode: present_mode(window.present_mode),
            ..SwapchainSettings::default()
        };
        let extent = [window.physical_width(), window.physical_height()];
        let swapchain = Swapchain::new(&renderer.gpu, surface, &settings, extent, &window.title)?;
        renderer.windows.push(WindowTarget {
            entity,
            swapchain: Some(swapchain),
            acquired: false,
        });
    }
    Ok(())
}

/// The backend's word for a window's present mode.
fn present_mode(mode: PresentMode) -> PresentModeKHR {
    match mode {
        PresentMode::AutoVsync | PresentMode::Fifo => PresentModeKHR::FIFO,
        PresentMode::FifoRelaxed => PresentModeKHR::FIFO_RELAXED,
        PresentMode::AutoNoVsync | PresentMode::Mailbox => PresentModeKHR::MAILBOX,
        PresentMode::Immediate => PresentModeKHR::IMMEDIATE,
    }
}
