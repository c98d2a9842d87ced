//! Image assets on the device: uploaded within a budget, replaced when they change, and a
//! placeholder for what is not there.

mod arriving;
mod prepare;
mod waiting;

use std::collections::VecDeque;

use bevy_asset::{AssetId, AssetServer, Assets, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_image::{Image as ImageAsset, ImageSampler, ImageSamplerDescriptor};
use bevy_math::Vec2;
use bevy_platform::collections::{HashMap, HashSet};
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};

use crate::complaint::asset_label;
use crate::samplers::Samplers;
use arriving::{Arriving, Room, next_first_mip, step_desc};
use waiting::Waiting;

pub(crate) use prepare::prepare_images;

/// How many bytes of images that are new, or of another size or format than before, are uploaded in one frame.
/// A larger image arrives over several frames, row by row; of one with mip levels the small ones come first.
/// Until all of an image is there, its old texels are shown, or a placeholder if it has none.
///
/// Outside the budget, in the frame in which they come or change: images that change in the same size and
/// format, images without texels, and images that [`DeviceImages::upload_at_once`] names, as it does glyphs.
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
    known: HashMap<AssetId<ImageAsset>, Known>,
    /// Those that could not be loaded or made.
    failed: HashSet<AssetId<ImageAsset>>,
    /// Those whose small mip levels are on the device while the large ones are on their way.
    small: HashMap<AssetId<ImageAsset>, Known>,
    waiting: Waiting,
    /// Images whose texels only the device has, or had: they were dropped after the upload.
    released: HashSet<AssetId<ImageAsset>>,
    /// Images whose lost change after release was reported.
    touched: HashSet<AssetId<ImageAsset>>,
    /// Images that no placeholder can replace.
    at_once: HashSet<AssetId<ImageAsset>>,
    samplers: Samplers,
    placeholders: Option<[Known; 2]>,
    changes: u64,
    /// Those of the last changes.
    recent: VecDeque<AssetId<ImageAsset>>,
}

/// How many changes are known one by one: more than come between two frames in which images are looked up.
const RECENT: usize = 4096;

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

impl Known {
    fn shown(&self, is_placeholder: bool) -> Shown<'_> {
        Shown {
            image: &self.image,
            sampler: self.sampler,
            is_placeholder,
        }
    }
}

impl DeviceImages {
    /// The image of an asset, once all of it is on the device: for passes of your own.
    pub fn image(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<&GpuImage> {
        self.known.get(&id.into()).map(|known| &known.image)
    }

    /// What is on the device of an asset: all of it, or its smaller mip levels as an image of their own while
    /// the others are on their way.
    pub fn so_far(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<Shown<'_>> {
        let id = id.into();
        let known = self.known.get(&id).or_else(|| self.small.get(&id))?;
        Some(known.shown(false))
    }

    /// A number that is another one after each upload of an image; none while it is not on the device.
    pub fn version(&self, id: impl Into<AssetId<ImageAsset>>) -> Option<u64> {
        self.known.get(&id.into()).map(|known| known.version)
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
        let recent = self
            .recent
            .len()
            .checked_sub(usize::try_from(missed).ok()?)?;
        Some(self.recent.range(recent..).copied())
    }

    /// How many images wait for their upload, or for the rest of it.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
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
    ///     images.upload_at_once(&icons.0);
    /// }
    /// ```
    pub fn upload_at_once(&mut self, id: impl Into<AssetId<ImageAsset>>) {
        let id = id.into();
        if self.at_once.insert(id) && self.waiting.has(id) {
            self.waiting.put(id);
        }
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
        Some(known.unwrap_or(placeholder).shown(known.is_none()))
    }

    /// The samplers that images name.
    pub fn samplers(&self) -> &Samplers {
        &self.samplers
    }

    /// Forgets what is on the device: all assets are uploaded again. The order is that of their
    /// ids, not that of a table. Those whose texels only the device had are loaded again.
    pub(crate) fn begin_anew(&mut self, assets: &Assets<ImageAsset>, server: &AssetServer) {
        *self = Self {
            changes: self.changes + 1,
            released: std::mem::take(&mut self.released),
            at_once: std::mem::take(&mut self.at_once),
            ..Self::default()
        };
        let mut ids: Vec<_> = assets.ids().collect();
        ids.sort_unstable();
        for id in ids {
            match (self.released.contains(&id), server.get_path(id)) {
                (false, _) => self.waiting.put(id),
                (true, Some(path)) => server.reload(path.without_label()),
                (true, None) => self.fail(id, server, GONE),
            }
        }
    }

    /// An image that waits is found to be gone when its turn comes.
    fn forget(&mut self, id: AssetId<ImageAsset>) {
        self.known.remove(&id);
        self.small.remove(&id);
        self.note(id);
        self.failed.remove(&id);
        self.released.remove(&id);
        self.touched.remove(&id);
        self.at_once.remove(&id);
        self.waiting.begun.remove(&id);
    }

    /// Counts a change.
    fn note(&mut self, id: AssetId<ImageAsset>) {
        self.changes += 1;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(id);
    }

    /// Gives up on an image: the placeholder shows it.
    fn fail(&mut self, id: AssetId<ImageAsset>, server: &AssetServer, reason: &str) {
        tracing::error!("{} cannot be drawn: {reason}", asset_label(id, server));
        self.known.remove(&id);
        self.small.remove(&id);
        self.note(id);
        self.failed.insert(id);
    }

    /// Whether an image is uploaded in this frame, whatever the budget: no placeholder can stand for it, or it
    /// replaces what is on screen, of which no frame may see a part.
    fn comes_at_once(&self, id: AssetId<ImageAsset>, asset: &ImageAsset, desc: &ImageDesc) -> bool {
        let known = self.known.get(&id);
        asset.data.is_none()
            || id == AssetId::default()
            || self.at_once.contains(&id)
            || known.is_some_and(|known| known.image.desc() == desc)
    }

    /// Keeps the texels of an image that changed and has none: in the asset they are no more, or never were.
    /// Its sampler is the new one. Tells whether the device has texels for it.
    ///
    /// # Errors
    /// The texels were on a device that is lost.
    fn keep(
        &mut self,
        (id, asset): (AssetId<ImageAsset>, &ImageAsset),
        (gpu, server): (&GpuDevice, &AssetServer),
        default: &DefaultSampler,
        desc: &ImageDesc,
    ) -> Result<bool, String> {
        let is_released = self.released.contains(&id);
        let Some(known) = self.known.get(&id) else {
            return match (is_released, self.failed.contains(&id)) {
                (true, false) => Err(GONE.to_owned()),
                (is_released, _) => Ok(is_released),
            };
        };
        let is_same = known.image.desc() == desc;
        if is_released && self.touched.insert(id) {
            tracing::error!(
                "{} was changed after its texels went to the device, so they stay as they were; \
                 give it `RenderAssetUsages::MAIN_WORLD` as well, or insert a whole image in its place",
                asset_label(id, server)
            );
        }
        if is_same {
            let sampler = self.sampler(asset, gpu, default)?;
            self.note(id);
            let version = self.changes;
            if let Some(known) = self.known.get_mut(&id) {
                known.sampler = sampler;
                known.version = version;
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
    fn go_on(
        &mut self,
        (id, asset): (AssetId<ImageAsset>, &ImageAsset),
        (gpu, uploads): (&GpuDevice, &mut Uploads),
        default: &DefaultSampler,
        (desc, room): (&ImageDesc, Option<Room>),
    ) -> Result<usize, String> {
        self.released.remove(&id);
        self.touched.remove(&id);
        let begun = self.waiting.begun.remove(&id);
        let is_of = |begun: &Arriving| room.is_some() && begun.is_of(asset, desc);
        let mut arriving = match begun.filter(is_of) {
            Some(begun) => begun,
            None => self.begin((id, asset), gpu, default, (desc, room.is_none()))?,
        };
        let all = Room {
            left: usize::MAX,
            is_first: true,
        };
        let bytes = arriving.upload(asset, uploads, room.unwrap_or(all));
        if arriving.is_done() {
            self.end(id, arriving);
        } else {
            self.waiting.begun.insert(id, arriving);
        }
        Ok(bytes)
    }

    /// Begins an image, or the next step of one.
    fn begin(
        &mut self,
        (id, asset): (AssetId<ImageAsset>, &ImageAsset),
        gpu: &GpuDevice,
        default: &DefaultSampler,
        (desc, is_at_once): (&ImageDesc, bool),
    ) -> Result<Arriving, String> {
        let sampler = self.sampler(asset, gpu, default)?;
        let old = self.known.get(&id).map(|known| &known.image);
        if let Some(old) = old.filter(|old| is_at_once && old.desc() == desc) {
            return Ok(Arriving::new((asset, desc), old.clone(), sampler, 0));
        }
        let first_mip = match (old, self.small.get(&id)) {
            _ if is_at_once => 0,
            (Some(_), _) => 0,
            (None, None) => next_first_mip(desc, None),
            (None, Some(small)) => {
                let shown = desc
                    .mip_levels
                    .saturating_sub(small.image.desc().mip_levels);
                next_first_mip(desc, Some(shown))
            }
        };
        let step = step_desc(desc, first_mip);
        let image = gpu.create_image(&step).map_err(|e| e.to_string())?;
        Ok(Arriving::new((asset, desc), image, sampler, first_mip))
    }

    /// All of an image, or of a step of it, is there.
    fn end(&mut self, id: AssetId<ImageAsset>, arrived: Arriving) {
        self.note(id);
        let known = Known {
            image: arrived.image,
            sampler: arrived.sampler,
            version: self.changes,
        };
        if arrived.first_mip > 0 {
            self.small.insert(id, known);
            self.waiting.end_step(id);
            return;
        }
        self.known.insert(id, known);
        self.small.remove(&id);
        self.failed.remove(&id);
        self.waiting.end(id);
        if arrived.is_stale {
            self.waiting.put(id);
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
const GONE: &str = "its texels went with a lost device, and no file has them; give it \
                    `RenderAssetUsages::MAIN_WORLD` as well";
