//! Draws that read attachments of their own rendering, in any order and to any part.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{DepthState, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille_vulkan::resources::{GpuImage, ImageDesc, ImageUsage, View};
use quadrille_vulkan::shader::GpuShader;

use super::{COLOR, Dice, SHADER, Sheets, Tools};
use crate::local_read::light;

#[derive(Resource, Deref)]
pub(super) struct Surface(GpuImage);

#[derive(Resource, Deref)]
pub(super) struct Distance(GpuImage);

#[derive(Resource)]
pub(super) struct Draws {
    paint: GraphicsPipeline,
    light: GraphicsPipeline,
}

/// Makes what the pass takes; nothing where the device has no local reads.
pub(super) fn make(world: &mut World) -> Result<bool> {
    let gpu = world.resource::<GpuDevice>().clone();
    let shader = GpuShader::wgsl("anything.wgsl", SHADER)?;
    let light = GpuShader::spirv("light.spv", &light())?;
    let light = GraphicsPipelineDesc::new("light", (&shader, "corner"), (&light, "main"));
    let Ok(light) = gpu.graphics_pipeline(&light) else {
        return Ok(false);
    };
    let mut paint = GraphicsPipelineDesc::new("paint", (&shader, "corner"), (&shader, "plain"));
    paint.depth = Some(DepthState::LESS);
    let paint = gpu.graphics_pipeline(&paint)?;
    let input = ImageUsage::INPUT_ATTACHMENT;
    let surface = ImageDesc::color_target("surface", [16, 16], COLOR).with_layers(2);
    world.insert_resource(Surface(gpu.create_image(&surface.with_usage(input))?));
    let distance = ImageDesc::depth("distance", [16, 16], Format::D32_SFLOAT_S8_UINT);
    let distance = distance.with_layers(2).with_usage(input);
    world.insert_resource(Distance(gpu.create_image(&distance)?));
    world.insert_resource(Draws { paint, light });
    Ok(true)
}

pub(super) fn local(
    mut recorder: Recorder,
    (surface, sheets): (ColorLocalRead<Surface>, ColorTarget<Sheets>),
    distance: DepthLocalRead<Distance>,
    (draws, tools): (Res<Draws>, Res<Tools>),
) {
    let Some(mut dice) = Dice::of(&tools, 4) else {
        return;
    };
    let surface_view = if dice.one_in(3) {
        dice.view()
    } else {
        View::WHOLE
    };
    let surface = surface.view(surface_view).clear(dice.color());
    let distance = distance.clear_depth(1.0).clear_stencil(0);
    let sheets = sheets.keep();
    let mask = if dice.one_in(3) { dice.mask() } else { 0 };
    let attachments = dice.below(6);
    let mut rendering = match attachments {
        0 => recorder.render([sheets, surface].view_mask(mask)),
        1 => recorder.render(([surface], distance).view_mask(mask)),
        2 => recorder.render([surface, sheets].view_mask(mask)),
        _ => recorder.render(([surface, sheets], distance).view_mask(mask)),
    };
    for _ in 0..1 + dice.below(4) {
        match dice.below(6) {
            0 => rendering.clear_color(dice.pick(&[0, 1]), [0, 0, 4, 99], dice.color()),
            1 => rendering.clear_depth([0, 0, 4, 99], 0.5),
            _ => &mut rendering,
        };
        let pipeline = match attachments {
            // Colors that nothing takes are a warning.
            1 => &draws.paint,
            _ => dice.pick(&[&draws.paint, &draws.light, &draws.light]),
        };
        rendering.pipeline(pipeline).draw(0..3, 0..dice.count());
    }
}
