//! Records the queued views of [`Phase2d`].

use bevy_color::ColorToComponents as _;
use bevy_ecs::prelude::*;
use bevy_math::{Mat4, Vec2};
use bevy_platform::collections::HashSet;
use quadrille::bindings::PassBindings;
use quadrille::ecs::{
    AccessList, AnyAccess, ColorAttachment as _, PassUse, Rendering, access_kind,
};
use quadrille::material::{MaterialBinding, MaterialBindingKind};
use quadrille::prelude::{GraphicsPipeline, Recorder, Sampler, ShaderType};

use crate::passes::msaa::{MsaaTargets2d, ResolvedLayers2d};
use crate::pipelines::Pipelines2d;
use crate::pipelines::materials::FIRST_IMAGE;
use crate::scene::geometry::Geometry2d;
use crate::scene::material_view::MaterialViewRow;
use crate::scene::materials::{GLOBALS, MESH_ATTRIBUTES, Materials2d, Renderer2d, VIEW};
use crate::scene::phase::{Batch, BatchKind, Multisampled, Phase2d, Textures2d, View2d};
use quadrille_content::images::DeviceImages;
use quadrille_content::materials::{BoundAccesses, MATERIAL_ROWS, fits_row};
use quadrille_content::views::{CameraTargets, draw_composite};

/// Phase, images, materials and pipelines of [`draw_2d`].
#[derive(bevy_ecs::system::SystemParam)]
pub struct DrawParams2d<'w> {
    phase: Res<'w, Phase2d>,
    materials: Res<'w, Materials2d>,
    images: Res<'w, DeviceImages>,
    pipelines: Res<'w, Pipelines2d>,
    bound: BoundAccesses<'w, Renderer2d>,
}

/// Render targets of [`draw_2d`].
#[derive(bevy_ecs::system::SystemParam)]
pub struct ColorTargets2d<'w> {
    targets: AccessList<'w, CameraTargets, access_kind::ColorTarget>,
    multisampled: AccessList<'w, MsaaTargets2d, access_kind::ColorTarget>,
    layers: AccessList<'w, ResolvedLayers2d, access_kind::ColorTarget>,
    sampled_layers: AccessList<'w, ResolvedLayers2d, access_kind::Sampled>,
}

/// Attachments of one view.
struct Attachments<'w> {
    /// Color attachment; load op CLEAR or LOAD.
    color_attachment: AnyAccess<'w>,
    /// Single-sampled resolve attachment of `color_attachment`.
    resolve_target: Option<AnyAccess<'w>>,
    /// `resolve_target` again, sampled by the composite over `target`; `None` if it is the target itself.
    layer: Option<AnyAccess<'w>>,
    target: AnyAccess<'w>,
}

impl<'w> ColorTargets2d<'w> {
    fn of(&self, view: &View2d) -> Option<Attachments<'w>> {
        let target = self.targets.get(view.target as usize)?;
        let Some(Multisampled {
            color_target,
            layer,
        }) = view.multisampled
        else {
            return Some(Attachments {
                color_attachment: target,
                resolve_target: None,
                layer: None,
                target,
            });
        };
        let color_attachment = self.multisampled.get(color_target as usize)?;
        let (resolve_target, layer) = match layer.map(|it| it as usize) {
            Some(at) => (self.layers.get(at)?, Some(self.sampled_layers.get(at)?)),
            None => (target, None),
        };
        Some(Attachments {
            color_attachment,
            resolve_target: Some(resolve_target),
            layer,
            target,
        })
    }
}

/// Draws all 2D cameras and UI nodes, in the order of `Camera::order`: per camera one pass in the plan, one for its
/// UI, and one composite pass if it uses MSAA without clearing.
///
/// Order your own passes before or after it. To replace it, disable its entity and add yours.
pub fn draw_2d(
    mut recorder: Recorder,
    targets: ColorTargets2d,
    textures: AccessList<Textures2d, access_kind::Sampled>,
    geometry: Geometry2d,
    params: DrawParams2d,
    mut scratch: Local<(Vec<PassUse>, Vec<bool>)>,
) {
    let (uses, added) = &mut *scratch;
    let reads_globals = params.materials.reads_globals();
    for (index, view) in (0..).zip(&params.phase.views) {
        let Some(images) = targets.of(view) else {
            continue;
        };
        let batches = &params.phase.batches[view.batches.start as usize..view.batches.end as usize];
        // For example, a 3D camera without UI.
        if batches.is_empty() && view.clear.is_none() {
            continue;
        }
        uses.clear();
        uses.push(images.color_attachment.as_declared());
        uses.extend(images.resolve_target.map(|image| image.as_declared()));
        geometry.add_uses(batches, reads_globals, uses);
        add_textures((&params.phase, batches), &textures, added, uses);
        add_bound(&params, batches, uses);
        let mut pass = recorder.pass_in_step(view.step, "draw_2d", uses);
        let clear = view.clear.map(|color| color.to_f32_array());
        let clear = clear.or(images.layer.map(|_| [0.0; 4]));
        let mut attachment = match clear {
            Some(color) => images.color_attachment.clear(color),
            None => images.color_attachment.keep(),
        };
        if let Some(resolve_target) = &images.resolve_target {
            attachment = attachment.resolve_to(resolve_target);
        }
        let mut rendering = pass.render(attachment);
        let view_index = (index, view);
        draw_view(
            &mut rendering,
            view_index,
            batches,
            &params,
            &textures,
            &geometry,
        );
        drop(rendering);
        if let Some(layer) = images.layer {
            composite_over(&mut recorder, view, (&layer, &images.target), &params);
        }
    }
}

/// Composites the resolved layer of a view over its camera's target.
fn composite_over(
    recorder: &mut Recorder,
    view: &View2d,
    (layer, target): (&AnyAccess<'_>, &AnyAccess<'_>),
    params: &DrawParams2d,
) {
    let uses = [layer.as_declared(), target.as_declared()];
    let mut pass = recorder.pass_in_step(view.step, "draw_2d", &uses);
    draw_composite(
        &mut pass.render(target.keep()),
        &params.pipelines.composite,
        layer,
        view.viewport,
        [0, 0],
    );
}

/// Adds each texture of the batches once to `uses`.
fn add_textures(
    (phase, batches): (&Phase2d, &[Batch]),
    textures: &AccessList<Textures2d, access_kind::Sampled>,
    added: &mut Vec<bool>,
    uses: &mut Vec<PassUse>,
) {
    added.clear();
    added.resize(textures.len(), false);
    let drawn = batches.iter().filter(|batch| !batch.instances.is_empty());
    let textures_of = |batch: &Batch| {
        let bound = batch
            .bind_group
            .and_then(|it| phase.bind_groups.get(it as usize));
        let bound = bound
            .into_iter()
            .flat_map(|bound| bound.textures.iter().copied());
        batch.texture.into_iter().chain(bound)
    };
    for texture in drawn.flat_map(textures_of) {
        let at = texture.image as usize;
        if let Some(texture) = textures.get(at)
            && !std::mem::replace(&mut added[at], true)
        {
            uses.push(texture.as_declared());
        }
    }
}

/// Adds each resource that materials of the batches bind by themselves once to `uses`.
fn add_bound(params: &DrawParams2d, batches: &[Batch], uses: &mut Vec<PassUse>) {
    let (mut groups, mut added) = (HashSet::<u32>::new(), HashSet::new());
    let drawn = batches.iter().filter(|batch| !batch.instances.is_empty());
    for group in drawn.filter_map(|batch| batch.bind_group) {
        if groups.insert(group) {
            let is_new = |list, index| added.insert((list, index));
            params.bound.add_uses((0, group), is_new, uses);
        }
    }
}

/// Image of a batch.
#[derive(PassBindings)]
struct BoundImage<'a> {
    #[bind]
    image: AnyAccess<'a>,
    #[bind]
    image_sampler: &'a Sampler,
}

fn draw_view(
    rendering: &mut Rendering<'_>,
    (index, view): (u64, &View2d),
    batches: &[Batch],
    params: &DrawParams2d,
    textures: &AccessList<Textures2d, access_kind::Sampled>,
    geometry: &Geometry2d,
) {
    rendering
        .viewport(view.viewport.map(|length| length as f32))
        .scissor(view.viewport);
    let mut bound: Option<(&Batch, &GraphicsPipeline)> = None;
    for batch in batches.iter().filter(|batch| !batch.instances.is_empty()) {
        let pipeline = params.pipelines.of(batch, &params.phase.bind_groups);
        let Some(pipeline) = pipeline else {
            continue;
        };
        let last = bound.filter(|(_, last)| std::ptr::eq(*last, pipeline));
        let last = last.map(|(last, _)| last);
        if last.is_none() {
            rendering.pipeline(pipeline);
            geometry.bind(batch.kind, rendering);
        }
        if let Some(shown) = batch.texture
            && last.is_none_or(|last| last.texture != batch.texture)
        {
            let texture = textures.get(shown.image as usize);
            let sampler = params.images.samplers().get(shown.sampler);
            let (Some(texture), Some(sampler)) = (texture, sampler) else {
                bound = None;
                continue;
            };
            let image = BoundImage {
                image: texture,
                image_sampler: sampler,
            };
            match batch.bind_group {
                Some(_) => rendering.bind_used(&image),
                None => rendering.bind_all(&image),
            };
        }
        if let Some(group) = batch.bind_group
            && last.is_none_or(|last| last.bind_group != batch.bind_group)
        {
            bind_material(
                rendering,
                params,
                (group, last.is_none(), index),
                (textures, geometry),
            );
        }
        let pushed = |batch: &Batch| (batch.kind, batch.attribute_base);
        if last.is_none_or(|last| pushed(last) != pushed(batch)) {
            push_view_constants(rendering, view, batch);
        }
        let mesh = &batch.mesh;
        rendering.draw_indexed(
            mesh.first_index..mesh.first_index + mesh.index_count,
            mesh.base_vertex,
            batch.instances.clone(),
        );
        bound = Some((batch, pipeline));
    }
}

/// Binds the images of a material, and its rows, the time and the view if the pipeline has changed.
fn bind_material(
    rendering: &mut Rendering<'_>,
    params: &DrawParams2d,
    (group, is_new, view): (u32, bool, u64),
    (textures, geometry): (&AccessList<Textures2d, access_kind::Sampled>, &Geometry2d),
) {
    let Some(bound) = params.phase.bind_groups.get(group as usize) else {
        return;
    };
    let rows = &params.materials.rows[bound.of_type as usize];
    if let Some(range) = rows.range()
        && is_new
        && rendering.uses(MATERIAL_ROWS)
    {
        rendering.bind_bytes(MATERIAL_ROWS, &geometry.material_rows, range);
    }
    if is_new && rendering.uses(MESH_ATTRIBUTES) {
        rendering.bind(MESH_ATTRIBUTES, &geometry.mesh_attributes);
    }
    if is_new && rendering.uses(GLOBALS) {
        rendering.bind(GLOBALS, &geometry.material_globals);
    }
    if is_new && rendering.uses(VIEW) {
        let bytes = size_of::<MaterialViewRow>() as u64;
        let start = view * bytes;
        rendering.bind_bytes(VIEW, &geometry.material_views, start..start + bytes);
    }
    let is_uniform = |it: &&MaterialBinding| matches!(it.kind, MaterialBindingKind::Uniform { .. });
    let images = rows.layout().bindings.iter().filter(|it| !is_uniform(it));
    let images = (FIRST_IMAGE..)
        .zip(images)
        .filter(|(_, it)| fits_row(it.kind));
    params.bound.bind(rendering, (0, group));
    for ((number, binding), texture) in images.zip(&bound.textures) {
        if !rendering.uses(number) {
            continue;
        }
        if let MaterialBindingKind::Sampler(_) = binding.kind {
            if let Some(sampler) = params.images.samplers().get(texture.sampler) {
                rendering.sampler(number, sampler);
            }
        } else if let Some(image) = textures.get(texture.image as usize) {
            rendering.bind(number, &image);
        }
    }
}

/// Push constants of lines.
#[derive(ShaderType)]
struct LinesPush {
    clip_from_world: Mat4,
    /// Width and height of the viewport in pixels.
    size: Vec2,
}

/// Push constants of all other kinds.
#[derive(ShaderType)]
struct ViewPush {
    clip_from_world: Mat4,
    attribute_base: u32,
}

/// Pushes the constants of a batch: the transform to clip space with the first word of the mesh's attributes of programs,
/// or for lines the viewport size.
fn push_view_constants(rendering: &mut Rendering<'_>, view: &View2d, batch: &Batch) {
    let attribute_base = batch.attribute_base.unwrap_or_default();
    match batch.kind {
        BatchKind::World | BatchKind::Nodes | BatchKind::Gradients | BatchKind::Tiles => rendering
            .push(&ViewPush {
                clip_from_world: view.clip_from_world,
                attribute_base,
            }),
        BatchKind::Clip | BatchKind::Replace => rendering.push(&ViewPush {
            clip_from_world: Mat4::IDENTITY,
            attribute_base,
        }),
        BatchKind::Lines => {
            let [_, _, width, height] = view.viewport;
            rendering.push(&LinesPush {
                clip_from_world: view.clip_from_world,
                size: Vec2::new(width as f32, height as f32),
            })
        }
    };
}
