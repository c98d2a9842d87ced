//! Textures as bevy resources, each from one image asset.

use std::any::TypeId;

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets, Handle, LoadState};
use bevy_ecs::message::MessageCursor;
use bevy_ecs::prelude::*;
use bevy_ecs::system::Command;
use bevy_image::Image as ImageAsset;
use quadrille_vulkan::Error;
use quadrille_vulkan::resources::{GpuImage, Handle as GpuHandle, ImageDesc};

use super::describe::{describe, upload};
use crate::data::upload::Uploads;
use crate::declare::registry::{Awaited, short_name};
use crate::error::RenderError;
use crate::frame::drive;
use crate::gpu_device::GpuDevice;

/// A texture from an image asset: a command that inserts the bevy resource naming it once the asset is loaded, and
/// updates it when the asset changes. The app needs a [`TexturePlugin`](super::TexturePlugin).
///
/// Passes that declare the resource are skipped until it exists. The handle may be that of a file
/// or of an image created in code (`Assets<Image>::add`). Load errors go to the
/// [`RenderErrorHandler`](crate::RenderErrorHandler); a failed reload keeps the texture.
///
/// Images are in sRGB unless the file specifies otherwise. Load linear data such as a normal map with
/// `load_builder().with_settings(|it: &mut ImageLoaderSettings| it.is_srgb = false)`.
///
/// ```
/// # use bevy_asset::AssetServer;
/// # use bevy_derive::Deref;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::*;
/// # use quadrille_vulkan::pipeline::GraphicsPipeline;
/// # use quadrille_vulkan::resources::{GpuImage, Sampler};
/// #[derive(Resource, Deref)]
/// struct Bricks(GpuImage);
/// # #[derive(Resource)] struct Wall { pipeline: GraphicsPipeline, sampler: Sampler }
///
/// fn setup(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.queue(LoadTexture::new(Bricks, assets.load("bricks.png")).mips());
/// }
///
/// fn draw(
///     mut recorder: Recorder,
///     bricks: Sampled<Bricks>,
///     window: ColorTarget<PrimaryWindowImage>,
///     wall: Res<Wall>,
/// ) {
///     let mut rendering = recorder.render(window.clear([0.0; 4]));
///     rendering.pipeline(&wall.pipeline).bind("bricks", &bricks).sampler("smooth_sampler", &wall.sampler);
///     rendering.draw(0..6, 0..1);
/// }
/// ```
pub struct LoadTexture(Texture);

/// Inserts the resource that names the image.
type Insert = dyn Fn(&mut World, GpuImage) + Send + Sync;

/// One tracked image asset.
struct Texture {
    /// Type and name of the resource that names the texture.
    resource: TypeId,
    name: &'static str,
    insert: Box<Insert>,
    asset: Handle<ImageAsset>,
    mips: bool,
    state: State,
}

enum State {
    /// The asset is not loaded yet.
    Pending,
    Made(GpuImage),
    /// The failure was reported; a changed asset is tried again.
    Failed,
}

impl LoadTexture {
    /// Creates a texture from an asset and the constructor of the resource that names it: `Bricks` for `struct
    /// Bricks(GpuImage)`.
    pub fn new<R: Resource>(resource: fn(GpuImage) -> R, asset: Handle<ImageAsset>) -> Self {
        Self(Texture {
            resource: TypeId::of::<R>(),
            name: short_name::<R>(),
            insert: Box::new(move |world, image| world.insert_resource(resource(image))),
            asset,
            mips: false,
            state: State::Pending,
        })
    }

    /// Adds all mip levels down to one texel. Levels in the file are used; if it has only one,
    /// the device generates the others: see [`Uploads::generate_mips`].
    pub fn mips(mut self) -> Self {
        self.0.mips = true;
        self
    }
}

impl Command for LoadTexture {
    type Out = Result<(), RenderError>;

    fn apply(self, world: &mut World) -> Result<(), RenderError> {
        let Self(texture) = self;
        Awaited::of(world, texture.resource).set();
        let Some(mut all) = world.get_resource_mut::<Textures>() else {
            return Err(RenderError::Texture {
                texture: texture.name,
                problem: "nobody loads images; add `TexturePlugin::default()` to the app"
                    .to_owned(),
            });
        };
        all.0.retain(|known| known.resource != texture.resource);
        all.0.push(texture);
        Ok(())
    }
}

/// All tracked image assets.
#[derive(Resource, Default)]
pub(super) struct Textures(Vec<Texture>);

/// Creates textures of loaded assets, and recreates those of changed assets. Runs before the frame.
pub(super) fn follow(world: &mut World, mut cursor: Local<MessageCursor<AssetEvent<ImageAsset>>>) {
    let Some(gpu) = world.get_resource::<GpuDevice>().cloned() else {
        return;
    };
    let events = world.resource::<Messages<AssetEvent<ImageAsset>>>();
    let changed: Vec<AssetId<ImageAsset>> = cursor
        .read(events)
        .filter_map(|event| match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(id),
            _ => None,
        })
        .collect();
    let errors: Vec<RenderError> = world.resource_scope(|world, mut all: Mut<Textures>| {
        let problems = all.0.iter_mut().filter_map(|texture| {
            let problem = texture.follow(world, &gpu, &changed).err()?;
            texture.state = State::Failed;
            Some(problem.into_error(texture.name))
        });
        problems.collect()
    });
    drive::handle(world, &errors);
}

/// Reason why a texture cannot be created.
enum Problem {
    /// An error of the asset.
    Asset(String),
    /// An error of the device.
    Device(Error),
}

impl Problem {
    fn into_error(self, texture: &'static str) -> RenderError {
        match self {
            Self::Device(error @ Error::DeviceLost { .. }) => RenderError::Resource(error),
            Self::Device(error) => RenderError::Texture {
                texture,
                problem: error.to_string(),
            },
            Self::Asset(problem) => RenderError::Texture { texture, problem },
        }
    }
}

impl Texture {
    /// Creates or recreates the texture if its asset is new or changed.
    fn follow(
        &mut self,
        world: &mut World,
        gpu: &GpuDevice,
        changed: &[AssetId<ImageAsset>],
    ) -> Result<(), Problem> {
        let id = self.asset.id();
        let is_due = match &self.state {
            State::Pending => true,
            State::Made(image) => !GpuHandle::Image(image.clone()).is_of(gpu),
            State::Failed => false,
        };
        if !is_due && !changed.contains(&id) {
            return Ok(());
        }
        world.resource_scope(|world, assets: Mut<Assets<ImageAsset>>| {
            match (assets.get(id), &self.state) {
                (Some(asset), _) => self.make(world, gpu, asset),
                (None, State::Pending) => find_failure(world, id),
                (None, _) => Ok(()),
            }
        })
    }

    fn make(
        &mut self,
        world: &mut World,
        gpu: &GpuDevice,
        asset: &ImageAsset,
    ) -> Result<(), Problem> {
        let (desc, generate) = self.describe(gpu, asset)?;
        let image = match &self.state {
            State::Made(image)
                if *image.desc() == desc && GpuHandle::Image(image.clone()).is_of(gpu) =>
            {
                image.clone()
            }
            _ => {
                let image = gpu.create_image(&desc).map_err(Problem::Device)?;
                (self.insert)(world, image.clone());
                image
            }
        };
        let mut uploads = world.resource_mut::<Uploads>();
        upload(&mut uploads, &image, asset);
        if generate {
            uploads.generate_mips(&image);
        }
        self.state = State::Made(image);
        Ok(())
    }

    /// Returns the description of the image, and whether to generate mip levels.
    fn describe(&self, gpu: &GpuDevice, asset: &ImageAsset) -> Result<(ImageDesc, bool), Problem> {
        let desc = describe(asset, self.name).map_err(Problem::Asset)?;
        let [width, height, _] = desc.extent;
        let levels = width.max(height).checked_ilog2().unwrap_or(0) + 1;
        if !self.mips || desc.mip_levels > 1 || levels == 1 {
            return Ok((desc, false));
        }
        if desc.extent[2] > 1 {
            return Err(Problem::Asset(
                "mip levels of 3D images are not made; have them in the file, or leave out `.mips()`"
                    .to_owned(),
            ));
        }
        if !gpu.can_scale(desc.format) {
            return Err(Problem::Asset(format!(
                "the device cannot make mip levels of {:?}; have them in the file, or leave out \
                 `.mips()`",
                asset.texture_descriptor.format
            )));
        }
        Ok((desc.with_mips(levels), true))
    }
}

/// Returns an error if an asset that does not exist has failed to load.
fn find_failure(world: &World, id: AssetId<ImageAsset>) -> Result<(), Problem> {
    let server = world.resource::<AssetServer>();
    let Some(LoadState::Failed(error)) = server.get_load_state(id) else {
        return Ok(());
    };
    Err(Problem::Asset(error.to_string()))
}
