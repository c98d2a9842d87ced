//! Phase of a frame: sorted instances per camera, batched by mesh and image.

use std::ops::Range;

use bevy_asset::{AssetId, Handle};
use bevy_color::LinearRgba;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_math::Mat4;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::material::BindingValue;
use quadrille::prelude::{GpuBuffer, GpuImage};
use quadrille::sync::resource::ResourceId;

use crate::instances::mesh_instance::Instance;
use crate::scene::materials::{BoundState, BoundTextures, Materials2d, Renderer2d};
use crate::scene::node_phase::NodePhase;
use crate::tilemaps::chunk::Chunk;
use bytemuck::bytes_of;
use quadrille_content::buffers::{RangeTable, RawBufferVec};
use quadrille_content::cameras::Msaa;
use quadrille_content::images::DeviceImages;
use quadrille_content::materials::{BoundImages, fits_row};
use quadrille_content::meshes::MeshAllocation;
use quadrille_content::views::CameraTargets;

/// Textures of this frame, declared as sampled by [`draw_2d`](crate::systems::draw_2d).
#[derive(Resource, Default, Deref)]
pub struct Textures2d(pub(crate) Vec<GpuImage>);

/// Instance buffer of sprites, glyphs and meshes. Rows are retained while they are unchanged.
#[derive(Resource, Deref)]
pub struct Instances2d(pub(crate) GpuBuffer);

/// Indices of rows of [`Instances2d`] in draw order.
#[derive(Resource, Deref)]
pub struct InstanceOrder2d(pub(crate) GpuBuffer);

/// CPU work on the items of a frame; zero without changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueWork {
    /// Sprites, texts and meshes whose instances were built.
    pub built_items: usize,
    /// Sprites and meshes of which only the transform was updated.
    pub moved_items: usize,
    /// Cameras whose items were sorted and batched.
    pub rebuilt_orders: usize,
    /// UI nodes whose instances were built.
    pub built_nodes: usize,
}

/// All views of a frame.
#[derive(Resource, Default)]
pub struct Phase2d {
    pub(crate) views: Vec<View2d>,
    pub(crate) batches: Vec<Batch>,
    /// Instances of retained items, and those of `quads`.
    pub(crate) rows: RangeTable<Instance>,
    /// Indices of `rows` in draw order.
    pub(crate) order: RawBufferVec<u32>,
    /// Quads that are not retained, with their indices in `order`.
    quads: Vec<(Instance, u32)>,
    /// Range of `quads` in `rows`, with unused rows at its end.
    quad_rows: Range<u32>,
    pub(crate) work: QueueWork,
    /// Textures of materials with a shader of their own.
    pub(crate) bind_groups: Vec<BoundTextures>,
    pub(crate) ui: NodePhase,
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
    pub(crate) camera: Entity,
    /// Index in [`CameraTargets`](quadrille_content::views::CameraTargets).
    pub(crate) target: u32,
    /// Ordering key of its passes across systems: passes of a lower step run first (`Recorder::pass_in_step`).
    pub(crate) step: u32,
    pub(crate) clip_from_world: Mat4,
    /// Left, top, width and height in physical pixels.
    pub(crate) viewport: [u32; 4],
    /// Clear color of the whole target; `None`: load op LOAD.
    pub(crate) clear: Option<LinearRgba>,
    /// Range in [`Phase2d::batches`].
    pub(crate) batches: Range<u32>,
    /// The camera's [`Msaa`].
    pub(crate) msaa: Msaa,
    /// Multisampled images of the view; `None` without MSAA.
    pub(crate) multisampled: Option<Multisampled>,
}

/// Images of a multisampled view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Multisampled {
    /// Index in [`MsaaTargets2d`](crate::resources::MsaaTargets2d).
    pub(crate) color_target: u32,
    /// Index in [`ResolvedLayers2d`](crate::resources::ResolvedLayers2d) of the resolve image that is composited over the target;
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
    /// Index in [`Phase2d::bind_groups`], of a material with a shader of its own.
    pub(crate) bind_group: Option<u32>,
    /// First word of the attributes of programs of its mesh; `None` without any, and without a material with a shader of its
    /// own.
    pub(crate) attribute_base: Option<u32>,
    /// Range in the draw order, or in the instance buffer of its kind.
    pub(crate) instances: Range<u32>,
}

/// Kind of the instances of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BatchKind {
    /// Instances of [`Phase2d::order`], in world space.
    World,
    /// Instances of [`Phase2d::order`], in clip space.
    Clip,
    /// As [`Self::Clip`], without blending: the target's color and alpha are replaced.
    Replace,
    /// Boxes of [`NodePhase::nodes`].
    Nodes,
    /// Gradient segments of [`NodePhase::nodes`].
    Gradients,
    /// Lines of [`GizmoLines`](quadrille_content::lines::GizmoLines).
    Lines,
    /// Tiles of [`Phase2d::chunks`].
    Tiles,
}

impl Batch {
    /// Creates a batch without instances.
    #[cfg(feature = "ui")]
    pub(crate) fn of(mesh: MeshAllocation, texture: Option<Texture>, kind: BatchKind) -> Self {
        Self {
            mesh,
            texture,
            kind,
            bind_group: None,
            attribute_base: None,
            instances: 0..0,
        }
    }

    fn can_merge_with(&self, next: &Self) -> bool {
        let bound = |batch: &Self| {
            batch
                .texture
                .map(|texture| (texture.image, texture.sampler))
        };
        self.mesh == next.mesh
            && bound(self) == bound(next)
            && (self.kind, self.bind_group) == (next.kind, next.bind_group)
            && self.instances.end == next.instances.start
    }
}

impl Phase2d {
    /// Number of draw commands of the frame.
    pub fn draws(&self) -> usize {
        self.batches.len()
    }

    /// Number of instances (sprites, glyphs, meshes, nodes, chunks) over all cameras. Before
    /// [`Prepare2dSystems::Queue`](crate::Prepare2dSystems::Queue) it is that of the previous frame.
    pub fn instances(&self) -> usize {
        self.order.len() + self.ui.nodes.len() + self.chunks.len()
    }

    /// CPU work on the items of the last frame.
    pub fn work(&self) -> QueueWork {
        self.work
    }

    /// Marks all instance data for re-upload (after a lost device).
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.mark_all_dirty();
        self.order.mark_all_dirty();
        self.ui.nodes.mark_all_dirty();
        self.chunks.mark_all_dirty();
    }

    /// Clears the lists for a new frame.
    pub(crate) fn begin(&mut self, textures: &mut Textures2d) {
        self.views.clear();
        self.batches.clear();
        self.order.clear();
        self.quads.clear();
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

    /// Looks up the textures of all bind groups of materials.
    pub(crate) fn bind_materials(
        &mut self,
        materials: &Materials2d,
        images: &DeviceImages,
        textures: &mut Textures2d,
    ) {
        self.bind_groups.clear();
        for slot in &materials.groups {
            let mut bound = BoundTextures::default();
            if let Some(group) = &slot.group {
                bound.of_type = group.of_type;
                bound.variant = group.variant;
                bound.blends = group.blends;
                bound.is_wrong = slot.bound == BoundState::Wrong;
                bound.is_complete = slot.bound != BoundState::Waiting;
                let layout = materials.rows[group.of_type as usize].layout();
                for (binding, value) in layout.bindings.iter().zip(group.resources.iter()) {
                    let BindingValue::Image(image) = value else {
                        continue;
                    };
                    if fits_row(binding.kind) {
                        let id = image.as_ref().map_or_else(AssetId::default, Handle::id);
                        let texture = self.texture(id, images, textures);
                        bound.is_complete &= texture.is_some();
                        bound.textures.extend(texture);
                    }
                }
            }
            self.bind_groups.push(bound);
        }
    }

    /// Removes batches whose material reads or writes the target that they are drawn to, which Vulkan forbids.
    pub(crate) fn remove_feedback(
        &mut self,
        targets: &CameraTargets,
        textures: &Textures2d,
        bound_images: &BoundImages<Renderer2d>,
    ) {
        if self.bind_groups.is_empty() {
            return;
        }
        for view in &self.views {
            let Some(target) = targets.get(view.target as usize) else {
                continue;
            };
            let reads_target = |group: u32, bound: &BoundTextures| {
                let mut images = bound.textures.iter().map(|it| it.image as usize);
                let mut own = bound_images.of((0, group));
                images.any(|image| textures.0.get(image) == Some(target))
                    || own.any(|(image, _)| image == target)
            };
            let range = view.batches.start as usize..view.batches.end as usize;
            for batch in &mut self.batches[range] {
                let Some(group) = batch.bind_group else {
                    continue;
                };
                let bound = self.bind_groups.get(group as usize);
                if bound.is_some_and(|it| !it.is_complete || reads_target(group, it)) {
                    batch.instances = 0..0;
                }
            }
        }
    }

    /// Removes batches whose material writes an image that another batch of the view samples: a pass has one access to each
    /// image. Returns the images.
    pub(crate) fn remove_written_samples(
        &mut self,
        textures: &Textures2d,
        bound_images: &BoundImages<Renderer2d>,
    ) -> Vec<GpuImage> {
        let mut removed = Vec::new();
        if bound_images.is_empty() {
            return removed;
        }
        for view in &self.views {
            let range = view.batches.start as usize..view.batches.end as usize;
            let batches = &mut self.batches[range];
            let mut sampled = HashSet::new();
            for batch in batches.iter().filter(|batch| !batch.instances.is_empty()) {
                let bound = batch.bind_group;
                let bound = bound.and_then(|it| self.bind_groups.get(it as usize));
                let bound = bound.into_iter().flat_map(|it| it.textures.iter());
                let all = batch.texture.iter().chain(bound);
                let images = all.filter_map(|it| textures.0.get(it.image as usize));
                sampled.extend(images.map(GpuImage::id));
            }
            for batch in batches {
                let own = batch.bind_group.into_iter();
                let mut own = own.flat_map(|group| bound_images.of((0, group)));
                let written = own.find(|(image, writes)| *writes && sampled.contains(&image.id()));
                if let Some((image, _)) = written {
                    batch.instances = 0..0;
                    removed.push(image.clone());
                }
            }
        }
        removed
    }

    /// Adds a quad that is not retained to the draw order, and returns its range there.
    pub(crate) fn push_quad(&mut self, quad: Instance) -> Range<u32> {
        let at = self.order.len() as u32;
        self.order.push(0);
        self.quads.push((quad, at));
        at..at + 1
    }

    /// Writes changed quads of [`Self::push_quad`] to the rows, and their indices to the draw order.
    pub(crate) fn write_quads(&mut self) {
        let count = self.quads.len() as u32;
        if self.quad_rows.len() < self.quads.len() {
            self.rows.remove(std::mem::take(&mut self.quad_rows));
            self.quad_rows = self.rows.add(count.next_power_of_two());
        }
        for (row, (quad, position)) in self.quad_rows.clone().zip(&self.quads) {
            self.order[*position as usize] = row;
            if bytes_of(&self.rows.rows()[row as usize]) != bytes_of(quad) {
                self.rows
                    .change(&(row..row + 1))
                    .copy_from_slice(std::slice::from_ref(quad));
            }
        }
    }

    /// Adds a batch to the view whose batches begin at `view_start`, or extends the previous one if compatible.
    pub(crate) fn add(&mut self, batch: Batch, view_start: u32) {
        if self.batches.len() > view_start as usize {
            add_batch(&mut self.batches, batch);
        } else if !batch.instances.is_empty() {
            self.batches.push(batch);
        }
    }
}

/// Adds a batch to a list, or extends the last one if compatible.
pub(crate) fn add_batch(batches: &mut Vec<Batch>, batch: Batch) {
    if batch.instances.is_empty() {
        return;
    }
    match batches.last_mut() {
        Some(last) if last.can_merge_with(&batch) => last.instances.end = batch.instances.end,
        _ => batches.push(batch),
    }
}

#[cfg(test)]
mod tests;
