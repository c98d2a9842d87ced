//! Phase of a frame: sorted instances per camera, batched by mesh and image.

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

/// Textures of this frame, declared as sampled by [`draw_2d`](crate::draw_2d).
#[derive(Resource, Default, Deref)]
pub struct Textures2d(pub(crate) Vec<GpuImage>);

/// Instance buffer of sprites, glyphs and meshes.
#[derive(Resource, Deref)]
pub struct Instances2d(pub(crate) GpuBuffer);

/// All views of a frame.
#[derive(Resource, Default)]
pub struct Phase2d {
    pub(crate) views: Vec<View2d>,
    pub(crate) batches: Vec<Batch>,
    pub(crate) instances: RawBufferVec<Instance>,
    /// Boxes of UI nodes.
    pub(crate) nodes: RawBufferVec<NodeInstance>,
    /// Tilemap chunks.
    pub(crate) chunks: RawBufferVec<Chunk>,
    /// Index in [`Textures2d`] by image.
    slots: HashMap<ResourceId, u32>,
    last: Option<(AssetId<ImageAsset>, Texture)>,
    /// Images already reported as undrawable: array images outside tilemaps, and 3D images.
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
    /// Ordering key of its passes across systems: passes of a lower step run first (`Recorder::pass_in_step`).
    pub(crate) step: u32,
    pub(crate) clip_from_world: Mat4,
    /// Left, top, width and height in physical pixels.
    pub(crate) viewport: [u32; 4],
    /// Clear color of the whole target; `None`: load op LOAD.
    pub(crate) clear: Option<LinearRgba>,
    /// Range in [`Phase2d::batches`].
    pub(crate) batches: std::ops::Range<u32>,
    /// The camera's [`Msaa`].
    pub(crate) msaa: Msaa,
    /// Multisampled images of the view; `None` without MSAA.
    pub(crate) multisampled: Option<Multisampled>,
}

/// Images of a multisampled view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Multisampled {
    /// Index in [`MsaaTargets2d`](crate::MsaaTargets2d).
    pub(crate) color_target: u32,
    /// Index in [`ResolvedLayers2d`](crate::ResolvedLayers2d) of the resolve image that is composited over the target;
    /// `None` if the view clears its target and resolves directly to it.
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

/// Instances with one mesh, image and pipeline, drawn by one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) mesh: MeshAllocation,
    /// `None` for lines and gradients.
    pub(crate) texture: Option<Texture>,
    pub(crate) kind: BatchKind,
    /// Range in the instance buffer of its kind.
    pub(crate) instances: std::ops::Range<u32>,
}

/// Kind of the instances of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchKind {
    /// Instances of [`Phase2d::instances`], in world space.
    World,
    /// Instances of [`Phase2d::instances`], in clip space.
    Clip,
    /// As [`Self::Clip`], without blending: the target's color and alpha are replaced.
    Replace,
    /// Nodes of [`Phase2d::nodes`].
    Nodes,
    /// Gradient segments of [`Phase2d::nodes`].
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
    /// Number of draw commands of the frame.
    pub fn draws(&self) -> usize {
        self.batches.len()
    }

    /// Number of instances (sprites, glyphs, meshes, nodes, chunks) over all cameras. Before
    /// [`Prepare2dSystems::Prepare`](crate::Prepare2dSystems::Prepare) it is that of the previous frame.
    pub fn instances(&self) -> usize {
        self.instances.uploaded() + self.nodes.uploaded() + self.chunks.uploaded()
    }

    /// Marks all instance data for re-upload (after a lost device).
    pub(crate) fn mark_all_dirty(&mut self) {
        self.instances.mark_all_dirty();
        self.nodes.mark_all_dirty();
        self.chunks.mark_all_dirty();
    }

    /// Clears the lists for a new frame.
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

    /// Returns the texture of an image asset or its placeholder; `None`, with an error in the log, for array images,
    /// which only tilemaps can draw.
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
                "image `{name}` has array layers, which only tilemaps can draw; load it without `array_layout`"
            );
        }
        (!texture.is_array).then_some(texture)
    }

    /// Returns the texture of an image asset or its placeholder, with all array layers; `None`, with an error in the
    /// log, for 3D images.
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
                    "image `{name}` is a 3D image, which 2D cannot draw; use a 2D image"
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

    /// Adds a batch to the view whose batches begin at `view_start`, or extends the previous one if compatible.
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
