//! Image assets on the device: uploaded within a budget, replaced when they change, and a
//! placeholder for what is not there.

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

use crate::images::samplers::Samplers;
use crate::warnings::asset_label;
use partial_upload::{BudgetLeft, PartialUpload, next_first_mip, step_desc};
use pending::PendingImages;

pub(crate) use prepare::prepare_images;

/// How many bytes of images that are new, or of another size or format than before, are uploaded in one frame.
/// A larger image arrives over several frames, row by row; of one with mip levels the small ones come first.
/// Until all of an image is there, its old texels are shown, or a placeholder if it has none.
///
/// Outside the budget, in the frame in which they come or change: images that change in the same size and
/// format, images without texels, and images that [`DeviceImages::upload_immediately`] names, as it does glyphs.
#[derive(Resource, Clone, Copy, Debug, Reflect)]
#[reflect(Resource, Clone, Debug, Default)]
pub struct UploadBudget {
    /// Bytes per frame.
    pub bytes: usize,
}

impl Default for UploadBudget {
    /// 16 MiB: an image of 2048 x 2048 pixels, which the CPU copies in some 2 ms.
    fn default() -> Self {
        Self { bytes: 16 << 20 }
    }
}

/// The sampler of images that name none.
#[derive(Resource, Clone, Debug)]
pub(crate) struct DefaultSampler(pub(crate) ImageSamplerDescriptor);

/// The image assets that are on the device.
#[derive(Resource, Default)]
pub struct DeviceImages {
    uploaded: HashMap<AssetId<ImageAsset>, UploadedImage>,
    /// Images that could not be loaded or created.
    failed: HashSet<AssetId<ImageAsset>>,
    /// Images whose small mip levels are resident while the large ones are still uploaded.
    low_mips: HashMap<AssetId<ImageAsset>, UploadedImage>,
    pending: PendingImages,
    /// Images whose texels only the device has, or had: they were dropped after the upload.
    released: HashSet<AssetId<ImageAsset>>,
    /// Images whose lost change after release was reported.
    change_reported: HashSet<AssetId<ImageAsset>>,
    /// Images that no placeholder can replace.
    immediate: HashSet<AssetId<ImageAsset>>,
    samplers: Samplers,
    placeholders: Option<[UploadedImage; 2]>,
    changes: u64,
    /// Images of the last changes.
    recent_changes: VecDeque<AssetId<ImageAsset>>,
}

/// How many changes are known one by one: more than come between two frames in which images are looked up.
const MAX_RECENT_CHANGES: usize = 4096;

#[derive(Clone, Debug)]
struct UploadedImage {
    image: GpuImage,
    sampler: u32,
    /// The number of changes after its last upload.
    version: u64,
}

/// Image to sample for an image asset.
#[derive(Clone, Copy)]
pub struct ImageOrPlaceholder<'a> {
    /// The image on the device.
    pub image: &'a GpuImage,
    /// Index in the [`Samplers`].
    pub sampler: u32,
    /// Whether the image is a placeholder.
    pub is_placeholder: bool,
}

/// The size of the placeholder for a sprite whose size is not known.
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
    /// The image of an asset, once all of it is on the device: for passes of your own.
    pub fn image(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<&GpuImage> {
        self.uploaded
            .get(&id.into())
            .map(|uploaded| &uploaded.image)
    }

    /// Returns the resident image of an asset: all of it, or its smaller mip levels as an image of their
    /// own while the others are uploaded.
    pub fn resident(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<ImageOrPlaceholder<'_>> {
        let id = id.into();
        let uploaded = self.uploaded.get(&id).or_else(|| self.low_mips.get(&id))?;
        Some(uploaded.get_or_placeholder(false))
    }

    /// A number that is another one after each upload of an image; none while it is not on the device.
    pub fn version(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<u64> {
        self.uploaded
            .get(&id.into())
            .map(|uploaded| uploaded.version)
    }

    /// A number that is another one after any image came, became another one, or went.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The images that came, became other ones or went since [`DeviceImages::changes`] was this number; none if it
    /// was so long ago that any may have.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_content::DeviceImages;
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

    /// How many images wait for their upload, or for the rest of it.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Has an image uploaded in the frame in which it comes or changes, whole and outside the
    /// [`UploadBudget`], as long as the asset exists: for images that no placeholder can stand for. To be
    /// called before [`ContentSystems::Images`](crate::ContentSystems::Images). Glyph atlases and the image
    /// behind `Handle::default()` are uploaded so.
    ///
    /// ```
    /// # use bevy_asset::Handle;
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_image::Image;
    /// # use quadrille_content::DeviceImages;
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

    /// Returns the image to sample for an asset; none before the first frame.
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

    /// The samplers that images name.
    pub fn samplers(&self) -> &Samplers {
        &self.samplers
    }

    /// Forgets what is on the device: all assets are uploaded again. The order is that of their
    /// ids, not that of a table. Those whose texels only the device had are loaded again.
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

    /// An image that waits is found to be gone when its turn comes.
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

    /// Counts a change.
    fn record_change(&mut self, id: AssetId<ImageAsset>) {
        self.changes += 1;
        if self.recent_changes.len() == MAX_RECENT_CHANGES {
            self.recent_changes.pop_front();
        }
        self.recent_changes.push_back(id);
    }

    /// Gives up on an image: the placeholder shows it.
    fn fail(&mut self, id: AssetId<ImageAsset>, server: &AssetServer, reason: &str) {
        tracing::error!("{} cannot be drawn: {reason}", asset_label(id, server));
        self.uploaded.remove(&id);
        self.low_mips.remove(&id);
        self.record_change(id);
        self.failed.insert(id);
    }

    /// Whether an image is uploaded in this frame, whatever the budget: no placeholder can stand for it, or it
    /// replaces what is on screen, of which no frame may see a part.
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

    /// Keeps the texels of an image that changed and has none: in the asset they are no more, or never were.
    /// Its sampler is the new one. Tells whether the device has texels for it.
    ///
    /// # Errors
    /// The texels were on a device that is lost.
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
                "{} was changed after its texels went to the device, so they stay as they were; \
                 give it `RenderAssetUsages::MAIN_WORLD` as well, or insert a whole image in its place",
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

    /// Index of the sampler that an image names.
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

    /// Uploads what there is room for of an image, or all of it where that is none. Returns how many bytes that
    /// was; the image waits on if something of it is left.
    ///
    /// # Errors
    /// Why it cannot be on the device.
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

    /// Begins an image, or the next step of one.
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

    /// All of an image, or of a step of it, is there.
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

/// Reason why an image is not drawn whose texels were released.
const TEXELS_LOST: &str = "its texels went with a lost device, and no file has them; give it \
                    `RenderAssetUsages::MAIN_WORLD` as well";
