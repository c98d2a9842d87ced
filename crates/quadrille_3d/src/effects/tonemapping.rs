//! Tone mapping: in the shaders of meshes and skies where a camera has no `Hdr` and no effect that needs scene-referred
//! colors, else in the pass [`tonemap_3d`].

use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{
    AccessList, AnyAccess, Attachment, ColorAttachment as _, PassUse, Rendering, access_kind,
};
use quadrille::prelude::Recorder;
use quadrille_content::CameraTargets;

use crate::passes::display::DisplayTransform3d;
use crate::passes::draw::DrawParams3d;
use crate::prepare::view_colors::ViewColors;
use crate::scene::frame::{View3d, ViewOutput};
use crate::scene::lists::QueuedView;

/// Push constants of the shader of [`tonemap_3d`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct TonemapPush {
    background: [f32; 4],
    corner: [f32; 2],
    maps_background: u32,
    premultiplies: u32,
}

/// The pass that brings views to their cameras' targets, one pass of the plan for each: it maps scene-referred colors
/// ([`View3d::is_scene_referred`]), and puts display-referred ones over the target where they have an image of their own.
/// Views that are drawn to the target itself need no such pass.
pub fn tonemap_3d(
    mut recorder: Recorder,
    colors: ViewColors,
    display_transform: DisplayTransform3d,
    targets: AccessList<CameraTargets, access_kind::ColorTarget>,
    draw_params: DrawParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &draw_params.scene.views {
        let (Some(color), Some(target)) =
            (colors.of(view), targets.get(view.queued.target as usize))
        else {
            continue;
        };
        uses.clear();
        uses.extend([color.as_declared(), target.as_declared()]);
        match view.output {
            ViewOutput::Direct => {}
            ViewOutput::Layer(composite) => {
                let mut pass = recorder.pass_in_step(view.queued.step, "composite_3d", &uses);
                let [left, top, ..] = view.queued.viewport;
                begin_output(&mut pass.render(output_attachment(view, &target)), view)
                    .pipeline(draw_params.pipelines.composite(composite))
                    .bind(0, &color)
                    .push_bytes(bytemuck::cast_slice(&[left as f32, top as f32]))
                    .draw(0..3, 0..1);
            }
            ViewOutput::SceneReferred => {
                display_transform.add_uses(view, &mut uses);
                let mut pass = recorder.pass_in_step(view.queued.step, "tonemap_3d", &uses);
                let mut rendering = pass.render(output_attachment(view, &target));
                let pipelines = &draw_params.pipelines;
                begin_output(&mut rendering, view)
                    .pipeline(match view.queued.background {
                        Some(_) if view.queued.replaces => &pipelines.tonemap_first,
                        _ => &pipelines.tonemap,
                    })
                    .bind(0, &color);
                display_transform.bind(&mut rendering, pipelines, view);
                rendering
                    .push_bytes(bytemuck::bytes_of(&tonemap_push(view)))
                    .draw(0..3, 0..1);
            }
        }
    }
}

/// The target of a view, cleared before its image's first camera where that covers only a part.
fn output_attachment(view: &View3d, target: &AnyAccess<'_>) -> Attachment {
    match view.queued.clear {
        Some(color) => target.clear(color),
        None => target.keep(),
    }
}

/// Restricts drawing to the viewport of a view.
fn begin_output<'r, 'w>(rendering: &'r mut Rendering<'w>, view: &View3d) -> &'r mut Rendering<'w> {
    let viewport = view.queued.viewport;
    rendering
        .viewport(viewport.map(|length| length as f32))
        .scissor(viewport)
}

fn tonemap_push(view: &View3d) -> TonemapPush {
    let QueuedView {
        viewport: [left, top, ..],
        background,
        replaces,
        is_hdr,
        ..
    } = view.queued;
    TonemapPush {
        background: background.unwrap_or_default(),
        corner: [left as f32, top as f32],
        maps_background: u32::from(is_hdr && background.is_some()),
        premultiplies: u32::from(background.is_some() && !replaces),
    }
}
