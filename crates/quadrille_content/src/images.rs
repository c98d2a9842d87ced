//! Image assets on the device: uploaded within a budget, replaced on change, with placeholders for missing
//! images.

mod partial_upload;
mod pending;
mod prepare;
pub(crate) mod samplers;

use std::collections::VecDeque;

use bevy_asset::{AssetId, AssetServer, Assets, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_image::{Image as ImageAsset, ImageSampler, ImageSamplerDescriptor};
use bevy_math::Vec2;
use bevy_platform::collections::{HashMap, HashSet};
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};

use crate::warnings::asset_label;
use partial_upload::{BudgetLeft, PartialUpload, next_first_mip, step_desc};
use pending::PendingImages;

pub(crate) use prepare::prepare_images;
pub use samplers::Samplers;

/// Upload budget per frame for images that are new, or changed in size or format. Larger images are streamed over
/// several frames by rows, mipmapped ones from the smallest levels. Until an image is resident, its previous
/// contents or a placeholder are drawn.
///
/// Exempt from the budget, and uploaded in the frame of their change: images that keep their size and format, images
/// without texels, and images of [`DeviceImages::upload_immediately`], such as glyph atlases.
#[derive(Resource, Clone, Copy, Debug, Reflect)]
#[reflect(Resource, Clone, Debug, Default)]
pub struct UploadBudget {
    /// Bytes per frame.
    pub bytes: usize,
}

impl Default for UploadBudget {
    /// 16 MiB: an image of 2048 x 2048 pixels, about 2 ms of copying on the CPU.
    fn default() -> Self {
        Self { bytes: 16 << 20 }
    }
}

/// Sampler of images with `ImageSampler::Default`.
#[derive(Resource, Clone, Debug)]
pub(crate) struct DefaultSampler(pub(crate) ImageSamplerDescriptor);

/// Device images of image assets.
#[derive(Resource, Default)]
pub struct DeviceImages {
    uploaded: HashMap<AssetId<ImageAsset>, UploadedImage>,
    /// Images that could not be loaded or created.
    failed: HashSet<AssetId<ImageAsset>>,
    /// Images whose small mip levels are resident while the large ones are still uploaded.
    low_mips: HashMap<AssetId<ImageAsset>, UploadedImage>,
    pending: PendingImages,
    /// Images whose texels were dropped from the asset after the upload.
    released: HashSet<AssetId<ImageAsset>>,
    /// Released images for which a lost change was reported.
    change_reported: HashSet<AssetId<ImageAsset>>,
    /// Images that are uploaded outside the budget.
    immediate: HashSet<AssetId<ImageAsset>>,
    samplers: Samplers,
    placeholders: Option<[UploadedImage; 2]>,
    changes: u64,
    /// Images of the last changes, oldest first.
    recent_changes: VecDeque<AssetId<ImageAsset>>,
}

/// Length of the change log; more changes than usual between two lookups.
const MAX_RECENT_CHANGES: usize = 4096;

#[derive(Clone, Debug)]
struct UploadedImage {
    image: GpuImage,
    sampler: u32,
    /// Value of `changes` after its last upload.
    version: u64,
}

/// Image to sample for an image asset.
#[derive(Clone, Copy)]
pub struct ImageOrPlaceholder<'a> {
    /// Device image.
    pub image: &'a GpuImage,
    /// Index in the [`Samplers`].
    pub sampler: u32,
    /// Whether the image is a placeholder.
    pub is_placeholder: bool,
}

/// Size of a sprite with a placeholder image and without a `custom_size`.
pub const PLACEHOLDER_SIZE: Vec2 = Vec2::splat(64.0);

impl UploadedImage {
    fn get_or_placeholder(&self, is_placeholder: bool) -> ImageOrPlaceholder<'_> {
        ImageOrPlaceholder {
            image: &self.image,
            sampler: self.sampler,
            is_placeholder,
        }
    }
}

impl DeviceImages {
    /// Returns the image of an asset once it is completely uploaded, for passes of your own.
    pub fn image(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<&GpuImage> {
        self.uploaded
            .get(&id.into())
            .map(|uploaded| &uploaded.image)
    }

    /// Returns the resident image of an asset: the complete image, or a smaller image of its resident mip levels during
    /// streaming.
    pub fn resident(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<ImageOrPlaceholder<'_>> {
        let id = id.into();
        let uploaded = self.uploaded.get(&id).or_else(|| self.low_mips.get(&id))?;
        Some(uploaded.get_or_placeholder(false))
    }

    /// Returns a version that changes with each upload of an image; `None` while it is not resident.
    pub fn version(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<u64> {
        self.uploaded
            .get(&id.into())
            .map(|uploaded| uploaded.version)
    }

    /// Returns a counter that changes whenever any image is added, changed or removed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the images that were added, changed or removed since a value of [`DeviceImages::changes`]; `None` if it
    /// is older than the change log, so that any image may have changed.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_content::images::DeviceImages;
    /// fn follow(images: Res<DeviceImages>, mut before: Local<u64>) {
    ///     match images.changed_since(*before) {
    ///         Some(changed) => println!("{} images are to be looked up", changed.count()),
    ///         None => println!("all images are"),
    ///     }
    ///     *before = images.changes();
    /// }
    /// ```
    pub fn changed_since(
        &self,
        changes: u64,
    ) -> Option<impl Iterator<Item = AssetId<ImageAsset>> + '_> {
        let missed = self.changes.saturating_sub(changes);
        let recent_changes = self
            .recent_changes
            .len()
            .checked_sub(usize::try_from(missed).ok()?)?;
        Some(self.recent_changes.range(recent_changes..).copied())
    }

    /// Number of images with a pending or partial upload.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Exempts an image from the [`UploadBudget`] while the asset exists: it is completely uploaded in the frame of
    /// each change. Use it for images without a sensible placeholder, like glyph atlases and the image of
    /// `Handle::default()`. Call it before [`ContentSystems::Images`](crate::ContentSystems::Images).
    ///
    /// ```
    /// # use bevy_asset::Handle;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_image::Image;
    /// # use quadrille_content::images::DeviceImages;
    /// #[derive(Resource)]
    /// struct Icons(Handle<Image>);
    ///
    /// fn hurry(mut images: ResMut<DeviceImages>, icons: Res<Icons>) {
    ///     images.upload_immediately(&icons.0);
    /// }
    /// ```
    pub fn upload_immediately(&mut self, id: impl Into<AssetId<ImageAsset>>) {
        let id = id.into();
        if self.immediate.insert(id) && self.pending.contains(id) {
            self.pending.mark_changed(id);
        }
    }

    /// Returns the image to sample for an asset, or its placeholder; `None` before the first frame.
    pub fn get_or_placeholder(&self, id: AssetId<ImageAsset>) -> Option<ImageOrPlaceholder<'_>> {
        let uploaded = self.uploaded.get(&id);
        let [loading, failed] = self.placeholders.as_ref()?;
        let placeholder = if self.failed.contains(&id) {
            failed
        } else {
            loading
        };
        Some(
            uploaded
                .unwrap_or(placeholder)
                .get_or_placeholder(uploaded.is_none()),
        )
    }

    /// Samplers of all images.
    pub fn samplers(&self) -> &Samplers {
        &self.samplers
    }

    /// Marks all images for re-upload after a lost device, in the order of their ids for determinism. Released images
    /// are reloaded from their files.
    pub(crate) fn mark_all_dirty(&mut self, assets: &Assets<ImageAsset>, server: &AssetServer) {
        *self = Self {
            changes: self.changes + 1,
            released: std::mem::take(&mut self.released),
            immediate: std::mem::take(&mut self.immediate),
            ..Self::default()
        };
        let mut ids: Vec<_> = assets.ids().collect();
        ids.sort_unstable();
        for id in ids {
            match (self.released.contains(&id), server.get_path(id)) {
                (false, _) => self.pending.mark_changed(id),
                (true, Some(path)) => server.reload(path.without_label()),
                (true, None) => self.fail(id, server, TEXELS_LOST),
            }
        }
    }

    /// Removes an image. A queued upload is skipped later, when its asset is not found.
    fn remove(&mut self, id: AssetId<ImageAsset>) {
        self.uploaded.remove(&id);
        self.low_mips.remove(&id);
        self.record_change(id);
        self.failed.remove(&id);
        self.released.remove(&id);
        self.change_reported.remove(&id);
        self.immediate.remove(&id);
        self.pending.in_progress.remove(&id);
    }

    /// Logs a change.
    fn record_change(&mut self, id: AssetId<ImageAsset>) {
        self.changes += 1;
        if self.recent_changes.len() == MAX_RECENT_CHANGES {
            self.recent_changes.pop_front();
        }
        self.recent_changes.push_back(id);
    }

    /// Marks an image as failed, so that its placeholder is drawn.
    fn fail(&mut self, id: AssetId<ImageAsset>, server: &AssetServer, reason: &str) {
        tracing::error!("{} cannot be drawn: {reason}", asset_label(id, server));
        self.uploaded.remove(&id);
        self.low_mips.remove(&id);
        self.record_change(id);
        self.failed.insert(id);
    }

    /// Whether an image is exempt from the budget: by [`Self::upload_immediately`], or because it updates an image in
    /// use, which must not be drawn half-updated.
    fn is_immediate_upload(
        &self,
        id: AssetId<ImageAsset>,
        asset: &ImageAsset,
        desc: &ImageDesc,
    ) -> bool {
        let uploaded = self.uploaded.get(&id);
        asset.data.is_none()
            || id == AssetId::default()
            || self.immediate.contains(&id)
            || uploaded.is_some_and(|uploaded| uploaded.image.desc() == desc)
    }

    /// Handles a changed image without texels (released, or created without): keeps the device image and updates its
    /// sampler. Returns whether the device has its texels.
    ///
    /// # Errors
    /// The texels were lost with a device.
    fn keep_texels(
        &mut self,
        (id, asset): (AssetId<ImageAsset>, &ImageAsset),
        (gpu, server): (&GpuDevice, &AssetServer),
        default: &DefaultSampler,
        desc: &ImageDesc,
    ) -> Result<bool, String> {
        let is_released = self.released.contains(&id);
        let Some(uploaded) = self.uploaded.get(&id) else {
            return match (is_released, self.failed.contains(&id)) {
                (true, false) => Err(TEXELS_LOST.to_owned()),
                (is_released, _) => Ok(is_released),
            };
        };
        let is_same = uploaded.image.desc() == desc;
        if is_released && self.change_reported.insert(id) {
            tracing::error!(
                "{} was changed after its texels were moved to the device, so the change is lost; \
                 add `RenderAssetUsages::MAIN_WORLD`, or insert a complete image",
                asset_label(id, server)
            );
        }
        if is_same {
            let sampler = self.sampler(asset, gpu, default)?;
            self.record_change(id);
            let version = self.changes;
            if let Some(uploaded) = self.uploaded.get_mut(&id) {
                uploaded.sampler = sampler;
                uploaded.version = version;
            }
        }
        Ok(is_released || is_same)
    }

    /// Returns the sampler index of an image.
    fn sampler(
        &mut self,
        asset: &ImageAsset,
        gpu: &GpuDevice,
        default: &DefaultSampler,
    ) -> Result<u32, String> {
        let sampler = match &asset.sampler {
            ImageSampler::Default => &default.0,
            ImageSampler::Descriptor(descriptor) => descriptor,
        };
        let sampler = self.samplers.index(gpu, sampler);
        sampler.map_err(|e| e.to_string())
    }

    /// Uploads an image within the budget left, or completely if there is none. Returns the uploaded bytes; a partial
    /// upload stays queued.
    ///
    /// # Errors
    /// The reason the image cannot be created.
    fn continue_upload(
        &mut self,
        (id, asset): (AssetId<ImageAsset>, &ImageAsset),
        (gpu, uploads): (&GpuDevice, &mut Uploads),
        default: &DefaultSampler,
        (desc, budget_left): (&ImageDesc, Option<BudgetLeft>),
    ) -> Result<usize, String> {
        self.released.remove(&id);
        self.change_reported.remove(&id);
        let in_progress = self.pending.in_progress.remove(&id);
        let matches =
            |in_progress: &PartialUpload| budget_left.is_some() && in_progress.matches(asset, desc);
        let mut partial_upload = match in_progress.filter(matches) {
            Some(in_progress) => in_progress,
            None => self.begin((id, asset), gpu, default, (desc, budget_left.is_none()))?,
        };
        let all = BudgetLeft {
            left: usize::MAX,
            is_first: true,
        };
        let bytes = partial_upload.upload(asset, uploads, budget_left.unwrap_or(all));
        if partial_upload.is_done() {
            self.end(id, partial_upload);
        } else {
            self.pending.in_progress.insert(id, partial_upload);
        }
        Ok(bytes)
    }

    /// Begins the upload of an image, or of its next mip levels.
    fn begin(
        &mut self,
        (id, asset): (AssetId<ImageAsset>, &ImageAsset),
        gpu: &GpuDevice,
        default: &DefaultSampler,
        (desc, is_immediate): (&ImageDesc, bool),
    ) -> Result<PartialUpload, String> {
        let sampler = self.sampler(asset, gpu, default)?;
        let old = self.uploaded.get(&id).map(|uploaded| &uploaded.image);
        if let Some(old) = old.filter(|old| is_immediate && old.desc() == desc) {
            return Ok(PartialUpload::new((asset, desc), old.clone(), sampler, 0));
        }
        let first_mip = match (old, self.low_mips.get(&id)) {
            _ if is_immediate => 0,
            (Some(_), _) => 0,
            (None, None) => next_first_mip(desc, None),
            (None, Some(low_mips)) => {
                let shown = desc
                    .mip_levels
                    .saturating_sub(low_mips.image.desc().mip_levels);
                next_first_mip(desc, Some(shown))
            }
        };
        let step = step_desc(desc, first_mip);
        let image = gpu.create_image(&step).map_err(|e| e.to_string())?;
        Ok(PartialUpload::new((asset, desc), image, sampler, first_mip))
    }

    /// Completes an upload, or a streaming step of one.
    fn end(&mut self, id: AssetId<ImageAsset>, partial_upload: PartialUpload) {
        self.record_change(id);
        let uploaded = UploadedImage {
            image: partial_upload.image,
            sampler: partial_upload.sampler,
            version: self.changes,
        };
        if partial_upload.first_mip > 0 {
            self.low_mips.insert(id, uploaded);
            self.pending.requeue(id);
            return;
        }
        self.uploaded.insert(id, uploaded);
        self.low_mips.remove(&id);
        self.failed.remove(&id);
        self.pending.end(id);
        if partial_upload.is_stale {
            self.pending.mark_changed(id);
        }
    }

    /// Drops the texels of an image without `RenderAssetUsages::MAIN_WORLD`.
    fn release(&mut self, assets: &mut Assets<ImageAsset>, id: AssetId<ImageAsset>) {
        if let Some(asset) = assets.get_mut_untracked(id)
            && asset.asset_usage == RenderAssetUsages::RENDER_WORLD
            && asset.data.take().is_some()
        {
            self.released.insert(id);
        }
    }
}

/// Error of a released image after a lost device.
const TEXELS_LOST: &str = "its texels are gone after a lost device, and it has no file to reload; add \
                    `RenderAssetUsages::MAIN_WORLD` as well";
