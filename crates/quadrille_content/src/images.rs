//! Image assets on the device: uploaded within a budget, replaced when they change, and a
//! placeholder for what is not there.

use std::collections::VecDeque;

use bevy_asset::{
    AssetEvent, AssetId, AssetLoadFailedEvent, AssetServer, Assets, RenderAssetUsages,
};
use bevy_ecs::prelude::*;
use bevy_image::{Image as ImageAsset, ImageSampler, ImageSamplerDescriptor};
use bevy_math::Vec2;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::ecs::{describe_texture, texture_bytes, upload_texture};
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};

use crate::samplers::Samplers;

/// How many bytes of images are uploaded in one frame. One image that is larger is uploaded in a
/// frame of its own.
#[derive(Resource, Clone, Copy, Debug)]
pub struct UploadBudget {
    /// Bytes per frame.
    pub bytes: usize,
}

impl Default for UploadBudget {
    /// 32 MiB: two images of 2048 x 2048 pixels.
    fn default() -> Self {
        Self { bytes: 32 << 20 }
    }
}

/// The sampler of images that name none.
#[derive(Resource, Clone, Debug)]
pub(crate) struct DefaultSampler(pub(crate) ImageSamplerDescriptor);

/// The image assets that are on the device.
#[derive(Resource, Default)]
pub struct DeviceImages {
    known: HashMap<AssetId<ImageAsset>, Known>,
    /// Those that could not be loaded or made.
    failed: HashSet<AssetId<ImageAsset>>,
    /// Those to be uploaded, in the order in which they came.
    waiting: VecDeque<AssetId<ImageAsset>>,
    /// Those whose texels only the device has: they were dropped after the upload.
    released: HashSet<AssetId<ImageAsset>>,
    samplers: Samplers,
    placeholders: Option<[Known; 2]>,
    changes: u64,
}

#[derive(Clone, Debug)]
struct Known {
    image: GpuImage,
    sampler: u32,
    /// The number of changes after its last upload.
    version: u64,
}

/// What is drawn for an image asset.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The image on the device.
    pub image: &'a GpuImage,
    /// Place in the [`Samplers`].
    pub sampler: u32,
    /// It stands for an image that is not there.
    pub is_placeholder: bool,
}

/// The size of the placeholder for a sprite whose size is not known.
pub const PLACEHOLDER_SIZE: Vec2 = Vec2::splat(64.0);

impl DeviceImages {
    /// The image of an asset, once it is on the device: for passes of your own.
    pub fn image(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<&GpuImage> {
        self.known.get(&id.into()).map(|known| &known.image)
    }

    /// A number that is another one after each upload of an image; none while it is not on the device.
    pub fn version(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<u64> {
        self.known.get(&id.into()).map(|known| known.version)
    }

    /// A number that is another one after any image came, became another one, or went.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// How many images wait for their upload.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What is drawn for an asset; none before the first frame.
    pub fn shown(&self, id: AssetId<ImageAsset>) -> Option<Shown<'_>> {
        let known = self.known.get(&id);
        let [loading, failed] = self.placeholders.as_ref()?;
        let placeholder = if self.failed.contains(&id) {
            failed
        } else {
            loading
        };
        let shown = known.unwrap_or(placeholder);
        Some(Shown {
            image: &shown.image,
            sampler: shown.sampler,
            is_placeholder: known.is_none(),
        })
    }

    /// The samplers that images name.
    pub fn samplers(&self) -> &Samplers {
        &self.samplers
    }

    /// Forgets what is on the device: all assets are uploaded again. The order is that of their
    /// ids, not that of a table. Those whose texels only the device had are loaded again.
    pub(crate) fn begin_anew(&mut self, assets: &Assets<ImageAsset>, server: &AssetServer) {
        let released = std::mem::take(&mut self.released);
        *self = Self {
            changes: self.changes + 1,
            ..Self::default()
        };
        let mut ids: Vec<_> = assets.ids().collect();
        ids.sort_unstable();
        for id in ids {
            match (released.contains(&id), server.get_path(id)) {
                (false, _) => self.waiting.push_back(id),
                (true, Some(path)) => server.reload(path.without_label()),
                (true, None) => self.fail(
                    id,
                    server,
                    "its texels went with a lost device, and no file has them; give it \
                     `RenderAssetUsages::MAIN_WORLD` as well",
                ),
            }
        }
    }

    fn enqueue(&mut self, id: AssetId<ImageAsset>) {
        if !self.waiting.contains(&id) {
            self.waiting.push_back(id);
        }
    }

    fn forget(&mut self, id: AssetId<ImageAsset>) {
        self.known.remove(&id);
        self.changes += 1;
        self.failed.remove(&id);
        self.released.remove(&id);
        self.waiting.retain(|&waiting| waiting != id);
    }

    /// Gives up on an image: the placeholder shows it.
    fn fail(&mut self, id: AssetId<ImageAsset>, server: &AssetServer, reason: &str) {
        let path = server.get_path(id).map(|path| path.to_string());
        let name = path.unwrap_or_else(|| format!("{id:?}"));
        tracing::error!("the image {name} cannot be drawn: {reason}");
        self.known.remove(&id);
        self.changes += 1;
        self.failed.insert(id);
    }

    /// Makes an image ready for its upload, or says why it cannot be.
    fn take(
        &mut self,
        gpu: &GpuDevice,
        id: AssetId<ImageAsset>,
        asset: &ImageAsset,
        default: &DefaultSampler,
    ) -> Result<GpuImage, String> {
        let label = asset.texture_descriptor.label.unwrap_or("image");
        let desc = describe_texture(asset, label)?;
        let sampler = match &asset.sampler {
            ImageSampler::Default => &default.0,
            ImageSampler::Descriptor(descriptor) => descriptor,
        };
        let sampler = self
            .samplers
            .index(gpu, sampler)
            .map_err(|e| e.to_string())?;
        let old = self
            .known
            .get(&id)
            .filter(|known| *known.image.desc() == desc);
        let image = match old {
            Some(known) => known.image.clone(),
            None => gpu.create_image(&desc).map_err(|e| e.to_string())?,
        };
        self.changes += 1;
        let known = Known {
            image: image.clone(),
            sampler,
            version: self.changes,
        };
        self.known.insert(id, known);
        self.failed.remove(&id);
        Ok(image)
    }

    /// Drops the texels of an image that only the renderer wants.
    fn release(&mut self, assets: &mut Assets<ImageAsset>, id: AssetId<ImageAsset>) {
        if let Some(asset) = assets.get_mut_untracked(id)
            && asset.asset_usage == RenderAssetUsages::RENDER_WORLD
            && asset.data.take().is_some()
        {
            self.released.insert(id);
        }
    }
}

/// What happened to image assets since the last frame.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct ImageEvents<'w, 's> {
    changed: MessageReader<'w, 's, AssetEvent<ImageAsset>>,
    failed: MessageReader<'w, 's, AssetLoadFailedEvent<ImageAsset>>,
}

/// Follows the image assets, and uploads what is new within the budget.
pub(crate) fn prepare_images(
    mut events: ImageEvents,
    mut images: ResMut<DeviceImages>,
    mut assets: ResMut<Assets<ImageAsset>>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
    server: Res<AssetServer>,
    settings: (Res<UploadBudget>, Res<DefaultSampler>),
) -> Result {
    let (budget, default_sampler) = settings;
    if images.placeholders.is_none() {
        images.placeholders = Some(placeholders(&gpu, &mut images.samplers, &mut uploads)?);
    }
    for event in events.changed.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => images.enqueue(id),
            AssetEvent::Removed { id } => images.forget(id),
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    for event in events.failed.read() {
        // The asset server has logged the path and the reason. What a failed reload would have
        // replaced stays on screen.
        if !images.known.contains_key(&event.id) {
            images.failed.insert(event.id);
        }
    }
    let mut spent = 0;
    while let Some(&id) = images.waiting.front() {
        let Some(asset) = assets.get(id) else {
            images.waiting.pop_front();
            continue;
        };
        let bytes = usize::try_from(texture_bytes(asset)).unwrap_or(usize::MAX);
        if spent > 0 && bytes > budget.bytes.saturating_sub(spent) {
            break;
        }
        images.waiting.pop_front();
        if !asset.asset_usage.contains(RenderAssetUsages::RENDER_WORLD) {
            continue;
        }
        match images.take(&gpu, id, asset, &default_sampler) {
            Ok(image) => {
                upload_texture(&mut uploads, &image, asset);
                spent = spent.saturating_add(bytes);
                images.release(&mut assets, id);
            }
            Err(reason) => images.fail(id, &server, &reason),
        }
    }
    Ok(())
}

/// A grey chequerboard for what is still loading, and a loud one for what failed.
fn placeholders(
    gpu: &GpuDevice,
    samplers: &mut Samplers,
    uploads: &mut Uploads,
) -> Result<[Known; 2], quadrille::vulkan::Error> {
    let sampler = samplers.index(gpu, &ImageSamplerDescriptor::nearest())?;
    let mut make = |name, colors: [[u8; 4]; 2]| {
        let desc = ImageDesc::sampled(name, [8, 8], quadrille::prelude::Format::R8G8B8A8_SRGB);
        let image = gpu.create_image(&desc)?;
        let texels: Vec<u8> = (0..64)
            .flat_map(|at: usize| colors[(at / 2 + at / 16) % 2])
            .collect();
        uploads.write_image(&image, &texels);
        Ok(Known {
            image,
            sampler,
            version: 0,
        })
    };
    Ok([
        make(
            "placeholder of a loading image",
            [[110, 110, 110, 160], [140, 140, 140, 160]],
        )?,
        make(
            "placeholder of a failed image",
            [[255, 0, 255, 255], [20, 20, 20, 255]],
        )?,
    ])
}
