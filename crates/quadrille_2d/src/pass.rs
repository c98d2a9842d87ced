//! The pass: draws what was listed, for each camera.

use bevy_color::ColorToComponents as _;
use bevy_ecs::prelude::*;
use bevy_math::Mat4;
use quadrille::ecs::{AccessList, ColorAttachment as _, PassUse, Rendering, access_kind};
use quadrille::prelude::Recorder;

use crate::geometry::Geometry2d;
use crate::msaa::Multisampled2d;
use crate::phase::{Batch, BatchKind, Phase2d, Textures2d, View2d};
use crate::pipelines::Pipelines2d;
use quadrille_content::{CameraTargets, DeviceImages};

/// What [`draw_2d`] draws, and with what.
#[derive(bevy_ecs::system::SystemParam)]
pub struct Drawn<'w> {
    phase: Res<'w, Phase2d>,
    images: Res<'w, DeviceImages>,
    pipelines: Res<'w, Pipelines2d>,
}

/// The images that [`draw_2d`] draws to.
#[derive(bevy_ecs::system::SystemParam)]
pub struct ColorTargets2d<'w> {
    targets: AccessList<'w, CameraTargets, access_kind::ColorTarget>,
    multisampled: AccessList<'w, Multisampled2d, access_kind::ColorTarget>,
}

/// The pass that draws all 2D cameras, in the order of `Camera::order`: one pass of the plan for
/// each. Order your own before or after it, or disable its entity and put your own in its place.
pub fn draw_2d(
    mut recorder: Recorder,
    targets: ColorTargets2d,
    textures: AccessList<Textures2d, access_kind::Sampled>,
    geometry: Geometry2d,
    drawn: Drawn,
    mut scratch: Local<(Vec<PassUse>, Vec<bool>)>,
) {
    let (uses, seen) = &mut *scratch;
    for (index, view) in drawn.phase.views.iter().enumerate() {
        let Some(target) = targets.targets.get(view.target as usize) else {
            continue;
        };
        let batches = &drawn.phase.batches[view.batches.start as usize..view.batches.end as usize];
        let samples = view.multisampled;
        let samples = samples.and_then(|place| targets.multisampled.get(place as usize));
        // The last one on a target resolves it.
        let later = &drawn.phase.views[index + 1..];
        let is_last = later.iter().all(|other| other.target != view.target);
        // As of a 3D camera without nodes.
        if batches.is_empty() && view.clear.is_none() && samples.is_none() {
            continue;
        }
        uses.clear();
        uses.extend(samples.map(|samples| samples.as_declared()));
        if samples.is_none() || is_last {
            uses.push(target.as_declared());
        }
        geometry.add_uses(batches, uses);
        add_textures(batches, &textures, seen, uses);
        let mut pass = recorder.pass("draw 2d", uses);
        let drawn_to = samples.unwrap_or(target);
        let mut attachment = match view.clear {
            Some(color) => drawn_to.clear(color.to_f32_array()),
            None => drawn_to.keep(),
        };
        if samples.is_some() && is_last {
            attachment = attachment.resolve_to(&target);
        }
        let mut rendering = pass.render(attachment);
        draw_view(&mut rendering, view, batches, &drawn, &textures, &geometry);
    }
}

/// Adds each image that the batches show, once.
fn add_textures(
    batches: &[Batch],
    textures: &AccessList<Textures2d, access_kind::Sampled>,
    seen: &mut Vec<bool>,
    uses: &mut Vec<PassUse>,
) {
    seen.clear();
    seen.resize(textures.len(), false);
    for texture in batches.iter().filter_map(|batch| batch.texture) {
        let at = texture.image as usize;
        if let Some(texture) = textures.get(at)
            && !std::mem::replace(&mut seen[at], true)
        {
            uses.push(texture.as_declared());
        }
    }
}

fn draw_view(
    rendering: &mut Rendering<'_>,
    view: &View2d,
    batches: &[Batch],
    drawn: &Drawn,
    textures: &AccessList<Textures2d, access_kind::Sampled>,
    geometry: &Geometry2d,
) {
    rendering
        .viewport(view.viewport.map(|length| length as f32))
        .scissor(view.viewport);
    let mut bound: Option<&Batch> = None;
    for batch in batches {
        let pipeline = drawn.pipelines.of(batch);
        let last = bound.filter(|last| std::ptr::eq(drawn.pipelines.of(last), pipeline));
        if last.is_none() {
            rendering.pipeline(pipeline);
            geometry.bind(batch.kind, rendering);
        }
        if let Some(shown) = batch.texture
            && last.is_none_or(|last| last.texture != batch.texture)
        {
            let texture = textures.get(shown.image as usize);
            let sampler = drawn.images.samplers().get(shown.sampler);
            let (Some(texture), Some(sampler)) = (texture, sampler) else {
                bound = None;
                continue;
            };
            rendering.bind(0, &texture).sampler(1, sampler);
        }
        if last.is_none_or(|last| last.kind != batch.kind) {
            push_view(rendering, view, batch.kind);
        }
        let mesh = &batch.mesh;
        rendering.draw_indexed(
            mesh.first_index..mesh.first_index + mesh.index_count,
            mesh.base_vertex,
            batch.instances.clone(),
        );
        bound = Some(batch);
    }
}

/// Tells the shaders of a kind of batches where what they draw is seen.
fn push_view(rendering: &mut Rendering<'_>, view: &View2d, kind: BatchKind) {
    let world = view.clip_from_world.to_cols_array();
    match kind {
        BatchKind::World | BatchKind::Nodes | BatchKind::Gradients | BatchKind::Tiles => {
            rendering.push(&world)
        }
        BatchKind::Clip => rendering.push(&Mat4::IDENTITY.to_cols_array()),
        BatchKind::Lines => {
            // The matrix, the size, and what fills the struct up to a whole vector.
            let mut constants = [0.0; 20];
            constants[..16].copy_from_slice(&world);
            let [_, _, width, height] = view.viewport;
            constants[16..18].copy_from_slice(&[width as f32, height as f32]);
            rendering.push(&constants)
        }
    };
}
