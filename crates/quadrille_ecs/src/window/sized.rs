//! Images that are resized with a window.

use std::any::TypeId;
use std::marker::PhantomData;

use bevy_ecs::prelude::*;
use bevy_ecs::system::Command;
use bevy_window::{PrimaryWindow, Window};
use quadrille_vulkan::Error;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{GpuImage, ImageDesc};

use super::HeadlessWindow;
use crate::data::history::{Current, History, NewHistory};
use crate::declare::registry::Awaited;
use crate::declare::window_image::WindowImageOf;
use crate::gpu_device::GpuDevice;

/// An image of a window's size: a command that inserts the bevy resource naming it, and recreates the image whenever
/// the window's size changes.
///
/// The renderer recreates the image after it has acquired the window's image and before passes run, so both have equal
/// sizes in every frame. The contents of the new image are undefined; the two images of [`WindowSized::history`] are
/// zeroed. While a window has no area, the last image is kept. Until the window first has an area, there is no image,
/// and passes that declare it are skipped.
///
/// ```
/// # use bevy_derive::Deref;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::*;
/// # use quadrille_vulkan::Format;
/// # use quadrille_vulkan::resources::{GpuImage, ImageDesc};
/// /// Half as wide and high as the window.
/// #[derive(Resource, Deref)]
/// struct Glow(GpuImage);
///
/// fn setup(mut commands: Commands) {
///     // The size in the description is ignored.
///     let desc = ImageDesc::color_target("glow", [1, 1], Format::R16G16B16A16_SFLOAT);
///     commands.queue(WindowSized::new(Glow, desc.transient()).scaled(0.5));
/// }
/// ```
pub struct WindowSized<M: Component = PrimaryWindow> {
    follower: Follower,
    window: PhantomData<fn() -> M>,
}

/// Creates an image of a size, and inserts the resource that names it.
type Renew = dyn Fn(&mut World, &Gpu, [u32; 2]) -> Result<(), Error> + Send + Sync;

/// An image that follows the size of a window.
struct Follower {
    /// The resource that names the image.
    resource: TypeId,
    renew: Box<Renew>,
    /// Factor of the window's width and height.
    scale: f32,
    /// Returns the window's current size, if it has an area.
    extent: fn(&World) -> Option<[u32; 2]>,
    /// The size of the current image.
    made: Option<[u32; 2]>,
}

impl WindowSized {
    /// Creates an image of the primary window's size from the constructor of the resource that names it: `Glow` for
    /// `struct Glow(GpuImage)`. Width and height of the description are ignored.
    pub fn new<R: Resource>(resource: fn(GpuImage) -> R, desc: ImageDesc) -> Self {
        Self::following(TypeId::of::<R>(), move |world, gpu, size| {
            let image = gpu.create_image(&sized(&desc, size))?;
            world.insert_resource(resource(image));
            Ok(())
        })
    }

    /// Creates the two images of a [`History`] in the primary window's size; see [`NewHistory::image`]. When the size
    /// changes, both are zeroed.
    pub fn history<H: History<Handle = GpuImage>>(desc: ImageDesc) -> Self {
        Self::following(TypeId::of::<Current<H>>(), move |world, gpu, size| {
            NewHistory::<H>::image(gpu, &sized(&desc, size))?.apply(world);
            Ok(())
        })
    }

    fn following(
        resource: TypeId,
        renew: impl Fn(&mut World, &Gpu, [u32; 2]) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            follower: Follower {
                resource,
                renew: Box::new(renew),
                scale: 1.0,
                extent: shown::<PrimaryWindow>,
                made: None,
            },
            window: PhantomData,
        }
    }
}

impl<M: Component> WindowSized<M> {
    /// Uses the size of the window whose entity has `N`
    /// ([`AddWindowImage`](crate::AddWindowImage) registers the marker).
    pub fn of<N: Component>(self) -> WindowSized<N> {
        WindowSized {
            follower: Follower {
                extent: shown::<N>,
                ..self.follower
            },
            window: PhantomData,
        }
    }

    /// Scales width and height by this factor, rounded up; at least one texel.
    pub fn scaled(mut self, scale: f32) -> Self {
        self.follower.scale = scale;
        self
    }
}

impl<M: Component> Command for WindowSized<M> {
    type Out = Result<(), Error>;

    fn apply(self, world: &mut World) -> Result<(), Error> {
        let mut follower = self.follower;
        // Before the first frame no window has an image, but the requested size is known.
        let extent = (follower.extent)(world).or_else(|| asked_for::<M>(world));
        if let Some(gpu) = world.get_resource::<GpuDevice>().cloned() {
            follower.follow(world, &gpu, extent)?;
        }
        Awaited::of(world, follower.resource).set();
        let mut all = world.get_resource_or_init::<WindowSizedImages>();
        all.0.retain(|known| known.resource != follower.resource);
        all.0.push(follower);
        Ok(())
    }
}

impl Follower {
    /// Recreates the image if the window's size has changed.
    fn follow(
        &mut self,
        world: &mut World,
        gpu: &Gpu,
        extent: Option<[u32; 2]>,
    ) -> Result<(), Error> {
        let Some(extent) = extent else {
            return Ok(());
        };
        // NaN results in one texel.
        let size = extent.map(|length| ((length as f32 * self.scale).ceil() as u32).max(1));
        if self.made == Some(size) {
            return Ok(());
        }
        (self.renew)(world, gpu, size)?;
        self.made = Some(size);
        Ok(())
    }
}

/// All images of window size.
#[derive(Resource, Default)]
pub(crate) struct WindowSizedImages(Vec<Follower>);

impl WindowSizedImages {
    /// Recreates the images whose window's size has changed.
    pub(crate) fn follow(world: &mut World, gpu: &Gpu) -> Result<(), Error> {
        if !world.contains_resource::<Self>() {
            return Ok(());
        }
        world.resource_scope(|world, mut all: Mut<Self>| {
            let mut followers = all.0.iter_mut();
            followers.try_for_each(|follower| {
                let extent = (follower.extent)(world);
                follower.follow(world, gpu, extent)
            })
        })
    }
}

/// Size of the window's image in this frame.
fn shown<M: Component>(world: &World) -> Option<[u32; 2]> {
    let image = world.get_resource::<WindowImageOf<M>>()?;
    let [width, height, _] = image.extent();
    Some([width, height])
}

/// Size of a window as requested by the program.
fn asked_for<M: Component>(world: &mut World) -> Option<[u32; 2]> {
    let window = world
        .query_filtered::<&Window, With<M>>()
        .iter(world)
        .next();
    let size = match window {
        Some(window) => [window.physical_width(), window.physical_height()],
        None if TypeId::of::<M>() == TypeId::of::<PrimaryWindow>() => {
            world.get_resource::<HeadlessWindow>()?.extent
        }
        None => return None,
    };
    (!size.contains(&0)).then_some(size)
}

fn sized(desc: &ImageDesc, [width, height]: [u32; 2]) -> ImageDesc {
    ImageDesc {
        extent: [width, height, 1],
        ..desc.clone()
    }
}
