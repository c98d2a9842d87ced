//! The pass of tone mapping.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{
    AccessList, AnyAccess, Attachment, ColorAttachment as _, PassUse, access_kind,
};
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::pipeline::Blend;
use quadrille_content::views::CameraTargets;

use crate::passes::composite::output_attachment;
use crate::passes::display::{DisplayTransform3d, ViewExposures};
use crate::pipelines::Pipelines3d;
use crate::prepare::targets::SceneColors;
use crate::prepare::view_colors::CurrentColors;
use crate::scene::frame::{Composite, LoadedImage, Scene3d, View3d, ViewOutput};

/// Pipelines of [`tonemap_3d`].
#[derive(Resource)]
pub struct TonemapPipelines3d {
    /// Replaces the contents of the destination.
    replace: GraphicsPipeline,
    /// Blends over the destination.
    blend: GraphicsPipeline,
}

impl TonemapPipelines3d {
    pub(super) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../../shaders/tonemap.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/tonemap.wgsl", source)?;
        let pipeline = |name, blend| {
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                blend,
                ..GraphicsPipelineDesc::of(name, &shader)
            })
        };
        Ok(Self {
            replace: pipeline("3d tonemap first", Blend::Opaque)?,
            blend: pipeline("3d tonemap", Blend::Premultiplied)?,
        })
    }
}

/// Push constants of the shader of [`tonemap_3d`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/tonemap.wgsl", "Push")]
pub(crate) struct TonemapPush {
    background: [f32; 4],
    corner: [f32; 2],
    maps_background: u32,
    premultiplies: u32,
    /// Texels of the scene per pixel.
    scale: [f32; 2],
    unused: [u32; 2],
}

/// Exposure of views by auto exposure.
#[derive(SystemParam)]
pub struct ExposureParams<'w> {
    images: AccessList<'w, ViewExposures, access_kind::Sampled>,
    of_view: Res<'w, ViewExposures>,
}

impl<'w> ExposureParams<'w> {
    fn of(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.images.get(self.of_view.index(view))
    }
}

/// Maps scene-referred colors of views ([`View3d::is_scene_referred`]) to display-referred ones, in the target or, with
/// effects after tone mapping, in an image of the view: one pass of the plan for each.
pub fn tonemap_3d(
    mut recorder: Recorder,
    sources: AccessList<SceneColors, access_kind::Sampled>,
    destinations: (
        AccessList<SceneColors, access_kind::ColorTarget>,
        AccessList<CameraTargets, access_kind::ColorTarget>,
    ),
    (display_transform, exposures): (DisplayTransform3d, ExposureParams),
    (scene, mut current): (Res<Scene3d>, ResMut<CurrentColors>),
    (pipelines, shared): (Res<TonemapPipelines3d>, Res<Pipelines3d>),
    mut uses: Local<Vec<PassUse>>,
) {
    let (images, targets) = destinations;
    for view in scene.views() {
        if view.output != ViewOutput::SceneReferred {
            continue;
        }
        let image = current.display_image(view);
        let destination = match image {
            Some(at) => images.get(at),
            None => targets.get(view.target()),
        };
        let color = current.of(view).and_then(|at| sources.get(at));
        let (Some(color), Some(destination), Some(exposure)) =
            (color, destination, exposures.of(view))
        else {
            continue;
        };
        uses.clear();
        uses.extend([color, destination, exposure].map(|used| used.as_declared()));
        display_transform.add_uses(view, &mut uses);
        let mut pass = recorder.pass_in_step(view.step(), "tonemap_3d", &uses);
        let attachment = match image {
            Some(_) => image_attachment(view, &destination),
            None => output_attachment(view, &destination),
        };
        let mut rendering = pass.render(attachment);
        let mut push = match image {
            Some(_) => TonemapPush::to_image(view),
            None => {
                let viewport = view.viewport();
                rendering
                    .viewport(viewport.map(|length| length as f32))
                    .scissor(viewport);
                TonemapPush::to_target(view)
            }
        };
        push.set_scale(current.size(view), view.output_size());
        rendering
            .pipeline(match blends(view, image.is_some()) {
                true => &pipelines.blend,
                false => &pipelines.replace,
            })
            .bind("scene", &color)
            .bind("exposure", &exposure);
        display_transform.bind(&mut rendering, &shared, view);
        rendering
            .push_bytes(bytemuck::bytes_of(&push))
            .draw(0..3, 0..1);
        current.set_tone_mapped(view);
    }
}

/// The attachment for an image of the view. Load op LOAD if the image begins with the contents of the target, else
/// DONT_CARE, since the output covers it.
fn image_attachment(view: &View3d, image: &AnyAccess<'_>) -> Attachment {
    match view.loads(LoadedImage::Display) {
        true => image.keep(),
        false => image.discard(),
    }
}

/// Whether output is blended over the destination (an image of the view, or the target).
fn blends(view: &View3d, is_image: bool) -> bool {
    match is_image {
        true => view.loads(LoadedImage::Display),
        false => view.composite != Composite::Replace,
    }
}

impl TonemapPush {
    /// Push constants for output to the target of a view.
    fn to_target(view: &View3d) -> Self {
        let [left, top, ..] = view.viewport();
        Self {
            corner: [left as f32, top as f32],
            premultiplies: u32::from(view.composite == Composite::Alpha),
            ..Self::to_image(view)
        }
    }

    /// Push constants for output to an image of a view.
    fn to_image(view: &View3d) -> Self {
        let includes_background = view.has_background();
        let background = view.queued.background.filter(|_| !includes_background);
        let maps_all = includes_background && view.composite != Composite::Premultiplied;
        Self {
            background: background.unwrap_or_default(),
            corner: [0.0; 2],
            maps_background: u32::from(maps_all || view.queued.is_hdr && background.is_some()),
            premultiplies: 0,
            scale: [1.0; 2],
            unused: [0; 2],
        }
    }

    /// Scales a scene of another size than the output, which no effect has upscaled for lack of memory.
    fn set_scale(&mut self, size: [u32; 2], output_size: [u32; 2]) {
        let ratio = |at: usize| size[at] as f32 / output_size[at] as f32;
        self.scale = [ratio(0), ratio(1)];
    }
}
