//! Images that retained items sample.

use bevy_asset::{AssetId, Assets};
use bevy_image::Image as ImageAsset;
use bevy_math::Vec2;
use bevy_platform::collections::HashMap;
use quadrille_content::images::DeviceImages;

use crate::scene::phase::{Phase2d, Texture, Textures2d};

/// Properties of an image that determine instances.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ImageInfo {
    /// Size in pixels; `None` until loaded.
    pub(crate) size: Option<Vec2>,
    /// Whether its placeholder is drawn.
    pub(crate) is_placeholder: bool,
    /// Whether it can be drawn: not before the first frame, and no array or 3D image.
    pub(crate) is_drawn: bool,
}

impl ImageInfo {
    /// Looks up an image.
    pub(crate) fn of(
        id: AssetId<ImageAsset>,
        images: &DeviceImages,
        assets: &Assets<ImageAsset>,
    ) -> Self {
        let shown = images.get_or_placeholder(id);
        Self {
            size: assets.get(id).map(ImageAsset::size_f32),
            is_placeholder: shown.is_some_and(|shown| shown.is_placeholder),
            is_drawn: shown.is_some_and(|shown| {
                let desc = shown.image.desc();
                desc.extent[2] == 1 && desc.array_layers == 1
            }),
        }
    }
}

/// Image sampled by at least one item.
#[derive(Debug)]
struct DrawnImage {
    id: AssetId<ImageAsset>,
    info: ImageInfo,
    /// Texture of this frame; `None` if it cannot be drawn.
    texture: Option<Texture>,
    /// Frame of the last change of `info`.
    changed_in: u64,
}

/// Table of the images that items sample, with stable indices.
#[derive(Default)]
pub(crate) struct DrawnImages {
    images: Vec<Option<DrawnImage>>,
    by_id: HashMap<AssetId<ImageAsset>, u32>,
    free: Vec<u32>,
    /// Images without a texture yet.
    new: Vec<u32>,
    last: Option<(AssetId<ImageAsset>, u32)>,
}

/// Outputs and inputs of a lookup of textures.
pub(crate) struct TextureLookup<'a> {
    pub(crate) phase: &'a mut Phase2d,
    pub(crate) textures: &'a mut Textures2d,
    pub(crate) images: &'a DeviceImages,
    pub(crate) assets: &'a Assets<ImageAsset>,
}

impl DrawnImages {
    /// Looks up all images. Returns whether any has changed.
    pub(crate) fn refresh(&mut self, frame: u64, lookup: &mut TextureLookup<'_>) -> bool {
        let mut has_changed = false;
        for image in self.images.iter_mut().flatten() {
            has_changed |= image.refresh(frame, lookup);
        }
        has_changed
    }

    /// Looks up the images that were added since the last call.
    pub(crate) fn refresh_new(&mut self, frame: u64, lookup: &mut TextureLookup<'_>) {
        for index in self.new.drain(..) {
            if let Some(Some(image)) = self.images.get_mut(index as usize) {
                image.refresh(frame, lookup);
            }
        }
    }

    /// Returns the index of an image, adding it if necessary.
    pub(crate) fn intern(&mut self, id: AssetId<ImageAsset>) -> u32 {
        if let Some((last, index)) = self.last
            && last == id
        {
            return index;
        }
        let index = match self.by_id.get(&id) {
            Some(&index) => index,
            None => self.add(id),
        };
        self.last = Some((id, index));
        index
    }

    fn add(&mut self, id: AssetId<ImageAsset>) -> u32 {
        let image = DrawnImage {
            id,
            info: ImageInfo::default(),
            texture: None,
            changed_in: 0,
        };
        let index = self.free.pop().unwrap_or(self.images.len() as u32);
        match self.images.get_mut(index as usize) {
            Some(free) => *free = Some(image),
            None => self.images.push(Some(image)),
        }
        self.by_id.insert(id, index);
        self.new.push(index);
        index
    }

    /// Removes the images that are not used. `is_used` is indexed like the table.
    pub(crate) fn retain(&mut self, is_used: &[bool]) {
        self.last = None;
        for (index, image) in self.images.iter_mut().enumerate() {
            if let Some(unused) = image.take_if(|_| !is_used.get(index).is_some_and(|used| *used)) {
                self.by_id.remove(&unused.id);
                self.free.push(index as u32);
            }
        }
    }

    /// Number of indices.
    pub(crate) fn len(&self) -> usize {
        self.images.len()
    }

    /// Returns the state of an image of the table as of this frame.
    pub(crate) fn info(&self, id: AssetId<ImageAsset>) -> Option<ImageInfo> {
        let index = *self.by_id.get(&id)?;
        Some(self.images[index as usize].as_ref()?.info)
    }

    /// Whether an image has not changed after a frame.
    pub(crate) fn is_unchanged_since(&self, index: u32, frame: u64) -> bool {
        let image = self.images.get(index as usize).and_then(Option::as_ref);
        image.is_some_and(|image| image.changed_in <= frame)
    }

    /// Returns state and texture of an image, adding it if necessary.
    #[cfg(feature = "ui")]
    pub(crate) fn look_up(
        &mut self,
        id: AssetId<ImageAsset>,
        lookup: &mut TextureLookup<'_>,
    ) -> (ImageInfo, Option<Texture>) {
        let index = self.intern(id);
        self.refresh_new(0, lookup);
        let image = self.images.get(index as usize).and_then(Option::as_ref);
        image.map_or_else(Default::default, |image| (image.info, image.texture))
    }

    /// Returns the texture of an image.
    pub(crate) fn texture(&self, index: u32) -> Option<Texture> {
        self.images.get(index as usize)?.as_ref()?.texture
    }
}

impl DrawnImage {
    fn refresh(&mut self, frame: u64, lookup: &mut TextureLookup<'_>) -> bool {
        let info = ImageInfo::of(self.id, lookup.images, lookup.assets);
        let texture = lookup
            .phase
            .texture(self.id, lookup.images, lookup.textures);
        let has_changed = self.info != info || self.texture != texture;
        if self.info != info {
            self.info = info;
            self.changed_in = frame;
        }
        self.texture = texture;
        has_changed
    }
}
