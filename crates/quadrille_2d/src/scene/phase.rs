//! Phase of a frame: for each camera its instances in order, batched into as few draws as
//! images and meshes allow.

use bevy_asset::AssetId;
use bevy_color::LinearRgba;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_math::Mat4;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::prelude::{GpuBuffer, GpuImage};
use quadrille::sync::ResourceId;

use crate::instances::mesh_instance::Instance;
use crate::instances::node::NodeInstance;
use crate::tilemaps::chunk::Chunk;
use quadrille_content::MeshAllocation;
use quadrille_content::{DeviceImages, Msaa, RawBufferVec};

/// The images that are drawn in this frame: the list behind the sampled images of
/// [`draw_2d`](crate::draw_2d).
#[derive(Resource, Default, Deref)]
pub struct Textures2d(pub(crate) Vec<GpuImage>);

/// The instances of this frame.
#[derive(Resource, Deref)]
pub struct Instances2d(pub(crate) GpuBuffer);

/// All views of a frame.
#[derive(Resource, Default)]
pub struct Phase2d {
    pub(crate) views: Vec<View2d>,
    pub(crate) batches: Vec<Batch>,
    pub(crate) instances: RawBufferVec<Instance>,
    /// The boxes of nodes.
    pub(crate) nodes: RawBufferVec<NodeInstance>,
    /// The chunks of tilemaps.
    pub(crate) chunks: RawBufferVec<Chunk>,
    /// Where images are in [`Textures2d`].
    slots: HashMap<ResourceId, u32>,
    last: Option<(AssetId<ImageAsset>, Texture)>,
    /// Images that were to be drawn and have array layers.
    rejected: HashSet<AssetId<ImageAsset>>,
}

/// View of one camera.
#[derive(Clone, Debug)]
pub(crate) struct View2d {
    #[cfg_attr(
        not(feature = "ui"),
        expect(dead_code, reason = "only UI asks which camera a view is of")
    )]
    pub(crate) camera: Entity,
    /// Index in [`CameraTargets`](crate::CameraTargets).
    pub(crate) target: u32,
    /// Step of its passes (`Recorder::pass_in_step`).
    pub(crate) step: u32,
    pub(crate) clip_from_world: Mat4,
    /// Left, top, width and height in pixels.
    pub(crate) viewport: [u32; 4],
    /// The colour that the whole target is cleared with; none draws over what is there.
    pub(crate) clear: Option<LinearRgba>,
    /// Range in [`Phase2d::batches`].
    pub(crate) batches: std::ops::Range<u32>,
    /// The camera's [`Msaa`].
    pub(crate) msaa: Msaa,
    /// Its images, if it is drawn with several samples.
    pub(crate) multisampled: Option<Multisampled>,
}

/// Images of a view with several samples per pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Multisampled {
    /// Index in [`MsaaTargets2d`](crate::MsaaTargets2d).
    pub(crate) samples: u32,
    /// Index in [`ResolvedLayers2d`](crate::ResolvedLayers2d) of the image that they are resolved to and
    /// that is composited over the target; none if they are resolved to the target, which the view clears.
    pub(crate) layer: Option<u32>,
}

/// An image with its sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Texture {
    /// Index in [`Textures2d`].
    pub(crate) image: u32,
    /// Index in the samplers of [`DeviceImages`].
    pub(crate) sampler: u32,
    /// Whether the image is a placeholder.
    pub(crate) is_placeholder: bool,
    /// Whether it has several array layers.
    pub(crate) is_array: bool,
}

/// Instances of one mesh with one image, drawn at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) mesh: MeshAllocation,
    /// None for lines and gradients.
    pub(crate) texture: Option<Texture>,
    pub(crate) kind: BatchKind,
    /// Range in the list of its kind.
    pub(crate) instances: std::ops::Range<u32>,
}

/// Kind of the instances of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchKind {
    /// Instances of [`Phase2d::instances`], in world space.
    World,
    /// Instances of [`Phase2d::instances`], in clip space.
    Clip,
    /// The same, but they replace the target's color, alpha included.
    Replace,
    /// Nodes of [`Phase2d::nodes`].
    Nodes,
    /// Segments of gradients, of [`Phase2d::nodes`].
    Gradients,
    /// Lines of [`GizmoLines`](quadrille_content::GizmoLines).
    Lines,
    /// Tiles of [`Phase2d::chunks`].
    Tiles,
}

impl Batch {
    fn can_merge_with(&self, next: &Self) -> bool {
        let bound = |batch: &Self| {
            batch
                .texture
                .map(|texture| (texture.image, texture.sampler))
        };
        self.mesh == next.mesh
            && bound(self) == bound(next)
            && self.kind == next.kind
            && self.instances.end == next.instances.start
    }
}

impl Phase2d {
    /// How many draws the frame has.
    pub fn draws(&self) -> usize {
        self.batches.len()
    }

    /// How many instances (sprites, glyphs, meshes, nodes, chunks) the frame has, over all
    /// cameras; those of the frame before until
    /// [`Prepare2dSystems::Prepare`](crate::Prepare2dSystems::Prepare).
    pub fn instances(&self) -> usize {
        self.instances.uploaded() + self.nodes.uploaded() + self.chunks.uploaded()
    }

    /// Forgets what the device's buffer holds.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.instances.mark_all_dirty();
        self.nodes.mark_all_dirty();
        self.chunks.mark_all_dirty();
    }

    /// Begins a frame.
    pub(crate) fn begin(&mut self, textures: &mut Textures2d) {
        self.views.clear();
        self.batches.clear();
        self.instances.clear();
        self.nodes.clear();
        self.chunks.clear();
        self.slots.clear();
        self.last = None;
        textures.0.clear();
    }

    /// The texture of an asset, or what stands for it; none if it has array layers, which only
    /// tilemaps can show.
    pub(crate) fn texture(
        &mut self,
        id: AssetId<ImageAsset>,
        images: &DeviceImages,
        textures: &mut Textures2d,
    ) -> Option<Texture> {
        let texture = self.tileset(id, images, textures)?;
        if texture.is_array && self.rejected.insert(id) {
            let name = images
                .get_or_placeholder(id)
                .map_or("", |shown| shown.image.name());
            tracing::error!(
                "the image `{name}` has array layers, so only tilemaps can show it; load it without an \
                 `array_layout` for anything else"
            );
        }
        (!texture.is_array).then_some(texture)
    }

    /// The texture of an asset, or what stands for it, with all its layers.
    pub(crate) fn tileset(
        &mut self,
        id: AssetId<ImageAsset>,
        images: &DeviceImages,
        textures: &mut Textures2d,
    ) -> Option<Texture> {
        if let Some((last, texture)) = self.last
            && last == id
        {
            return Some(texture);
        }
        let shown = images.get_or_placeholder(id)?;
        if shown.image.desc().extent[2] > 1 {
            if self.rejected.insert(id) {
                let name = shown.image.name();
                tracing::error!(
                    "the image `{name}` has three dimensions, so nothing in 2D can show it"
                );
            }
            return None;
        }
        let slot = *self.slots.entry(shown.image.id()).or_insert_with(|| {
            textures.0.push(shown.image.clone());
            textures.0.len() as u32 - 1
        });
        let texture = Texture {
            image: slot,
            sampler: shown.sampler,
            is_placeholder: shown.is_placeholder,
            is_array: shown.image.desc().array_layers > 1,
        };
        self.last = Some((id, texture));
        Some(texture)
    }

    /// Adds a draw to the view whose first one is `view_start`, or lengthens the one before if it
    /// is drawn alike.
    pub(crate) fn add(&mut self, batch: Batch, view_start: u32) {
        if batch.instances.is_empty() {
            return;
        }
        match self.batches[view_start as usize..].last_mut() {
            Some(last) if last.can_merge_with(&batch) => last.instances.end = batch.instances.end,
            _ => self.batches.push(batch),
        }
    }
}

#[cfg(test)]
mod tests;
