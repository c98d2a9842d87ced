//! Image assets on the device: uploaded within a budget, replaced when they change, and a
//! placeholder for what is not there.

mod arriving;

use std::collections::VecDeque;

use bevy_asset::{
    AssetEvent, AssetId, AssetLoadFailedEvent, AssetServer, Assets, RenderAssetUsages,
};
use bevy_ecs::prelude::*;
use bevy_image::{Image as ImageAsset, ImageSampler, ImageSamplerDescriptor};
use bevy_math::Vec2;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::ecs::describe_texture;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};

use crate::samplers::Samplers;
use arriving::{Arriving, Room, next_first_mip, step_desc};

/// How many bytes of images are uploaded in one frame. A larger image arrives over several frames, row by
/// row; of one with mip levels the small ones come first. An image that changes, in the same size and format,
/// is uploaded in one frame, however large it is.
#[derive(Resource, Clone, Copy, Debug)]
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
    /// Those whose texels only the device has: they were dropped after the upload.
    released: HashSet<AssetId<ImageAsset>>,
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

/// Images to be uploaded.
#[derive(Default)]
struct Waiting {
    /// In the order in which they came; of what arrives in steps, the next step comes after the others.
    order: VecDeque<AssetId<ImageAsset>>,
    /// The same, to be looked up.
    listed: HashSet<AssetId<ImageAsset>>,
    /// Those of which a part is on the device.
    begun: HashMap<AssetId<ImageAsset>, Arriving>,
}

impl Waiting {
    /// An image has come or changed.
    fn put(&mut self, id: AssetId<ImageAsset>) {
        // If each change restarted the upload, an image that changes in every frame would never be complete.
        if let Some(begun) = self.begun.get_mut(&id) {
            begun.is_stale = true;
        }
        if self.listed.insert(id) {
            self.order.push_back(id);
        }
    }

    /// Nothing of the first image is left to do.
    fn end_first(&mut self) {
        if let Some(id) = self.order.pop_front() {
            self.listed.remove(&id);
            self.begun.remove(&id);
        }
    }

    /// A step of the first image is done; all others come before the next.
    fn end_step(&mut self) {
        if let Some(id) = self.order.pop_front() {
            self.begun.remove(&id);
            self.order.push_back(id);
        }
    }
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
        self.waiting.order.len()
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
        let released = std::mem::take(&mut self.released);
        *self = Self {
            changes: self.changes + 1,
            ..Self::default()
        };
        let mut ids: Vec<_> = assets.ids().collect();
        ids.sort_unstable();
        for id in ids {
            match (released.contains(&id), server.get_path(id)) {
                (false, _) => self.waiting.put(id),
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

    /// An image that waits is found to be gone when its turn comes.
    fn forget(&mut self, id: AssetId<ImageAsset>) {
        self.known.remove(&id);
        self.small.remove(&id);
        self.note(id);
        self.failed.remove(&id);
        self.released.remove(&id);
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
        let path = server.get_path(id).map(|path| path.to_string());
        let name = path.unwrap_or_else(|| format!("{id:?}"));
        tracing::error!("the image {name} cannot be drawn: {reason}");
        self.known.remove(&id);
        self.small.remove(&id);
        self.note(id);
        self.failed.insert(id);
    }

    /// Uploads what there is room for of the image that waits first. Returns how many bytes that was; the
    /// image waits on if something of it is left.
    ///
    /// # Errors
    /// Why it cannot be on the device.
    fn go_on(
        &mut self,
        (id, asset): (AssetId<ImageAsset>, &ImageAsset),
        (gpu, uploads): (&GpuDevice, &mut Uploads),
        default: &DefaultSampler,
        room: Room,
    ) -> Result<usize, String> {
        let label = asset.texture_descriptor.label.unwrap_or("image");
        let desc = describe_texture(asset, label)?;
        let begun = self.waiting.begun.remove(&id);
        let mut arriving = match begun.filter(|begun| begun.is_of(asset, &desc)) {
            Some(begun) => begun,
            None => self.begin((id, asset), gpu, default, &desc)?,
        };
        let bytes = arriving.upload(asset, uploads, room);
        if arriving.is_done() {
            self.end(id, arriving);
        } else if !arriving.is_at_once {
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
        desc: &ImageDesc,
    ) -> Result<Arriving, String> {
        let sampler = match &asset.sampler {
            ImageSampler::Default => &default.0,
            ImageSampler::Descriptor(descriptor) => descriptor,
        };
        let sampler = self.samplers.index(gpu, sampler);
        let sampler = sampler.map_err(|e| e.to_string())?;
        let old = self.known.get(&id).map(|known| &known.image);
        if let Some(old) = old.filter(|old| old.desc() == desc) {
            let mut arriving = Arriving::new((asset, desc), old.clone(), sampler, 0);
            arriving.is_at_once = true;
            return Ok(arriving);
        }
        let first_mip = match (old, self.small.get(&id)) {
            _ if asset.data.is_none() => 0,
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
            self.waiting.end_step();
            return;
        }
        self.known.insert(id, known);
        self.small.remove(&id);
        self.failed.remove(&id);
        self.waiting.end_first();
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
            AssetEvent::Added { id } | AssetEvent::Modified { id } => images.waiting.put(id),
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
    while let Some(&id) = images.waiting.order.front() {
        let asset = assets.get(id);
        let wanted = |it: &&ImageAsset| it.asset_usage.contains(RenderAssetUsages::RENDER_WORLD);
        let Some(asset) = asset.filter(wanted) else {
            images.waiting.end_first();
            continue;
        };
        let room = Room {
            left: budget.bytes.saturating_sub(spent),
            is_first: spent == 0,
        };
        let to = (&*gpu, &mut *uploads);
        match images.go_on((id, asset), to, &default_sampler, room) {
            Ok(0) => break,
            Ok(bytes) => {
                spent += bytes;
                if !images.waiting.listed.contains(&id) {
                    images.release(&mut assets, id);
                }
            }
            Err(reason) => {
                images.waiting.end_first();
                images.fail(id, &server, &reason);
            }
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
