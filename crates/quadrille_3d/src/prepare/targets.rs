//! Color and depth images of views, up to tone mapping to the cameras' targets.

mod effect_images;
mod prepass_images;

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::{Error, Format};
use quadrille_content::views::CameraTargets;
use quadrille_content::warnings::RateLimitedWarnings;

use crate::constants::{HAS_BACKDROP, MULTISAMPLED_PREPASS};
use crate::environment::sky::Skies;
use crate::pipelines::Pipelines3d;
use crate::pipelines::meshes::leaves_translucent;
use crate::prepare::view_colors::CurrentColors;
use crate::scene::camera_history::CameraHistories;
use crate::scene::formats::COLOR;
use crate::scene::frame::{
    Composite, LateView, LoadedImage, SamplesDrawnByPrograms, Scene3d, ScenePass, TargetLoad,
    View3d, ViewOutput,
};
use crate::scene::keys::{MaterialShader, PipelineKey};
use crate::scene::lists::{BatchList, QueuedView, SceneLists, ShadowList, TransparentList};
use crate::scene::prepass::{PrepassImages, PrepassNeeds};

pub(crate) use effect_images::DepthHistories;
use effect_images::effect_color_desc;
pub use effect_images::{PreviousDepths3d, TargetCopies};
use prepass_images::PrepassLists;
pub use prepass_images::{GBuffers3d, PrepassDepths3d, PrepassMotionVectors3d, PrepassNormals3d};

/// Single-sampled color images of all views of this frame: the target itself where a display-referred view covers it.
/// Other images of views with effects follow, unsorted (`CurrentColors`).
#[derive(Resource, Default, Deref)]
pub struct SceneColors(Vec<GpuImage>);

/// Color images of all views with the samples of their `Msaa`; for single-sampled views the images of [`SceneColors`].
#[derive(Resource, Default, Deref)]
pub struct SceneMsaaColors(Vec<GpuImage>);

/// Depth images of all views, with the samples of [`SceneMsaaColors`]. Reversed: 1 is near, 0 infinitely far.
#[derive(Resource, Default, Deref)]
pub struct SceneDepths(Vec<GpuImage>);

/// Images of all views.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct SceneImages<'w> {
    targets: Res<'w, CameraTargets>,
    skies: Res<'w, Skies>,
    drawn_by_programs: Res<'w, SamplesDrawnByPrograms>,
    colors: ResMut<'w, SceneColors>,
    samples: ResMut<'w, SceneMsaaColors>,
    depths: ResMut<'w, SceneDepths>,
    pyramids: ResMut<'w, DepthPyramids3d>,
    current: ResMut<'w, CurrentColors>,
    copies: ResMut<'w, TargetCopies>,
    histories: Res<'w, CameraHistories>,
    depth_histories: ResMut<'w, DepthHistories>,
    previous_depths: ResMut<'w, PreviousDepths3d>,
    prepasses: PrepassLists<'w>,
}

/// Builds the views of the frame: creates or reuses their images, and counts draws.
pub(crate) fn prepare_targets(
    mut scene: ResMut<Scene3d>,
    mut lists: SceneLists,
    mut images: SceneImages,
    (batches, pipelines): (Res<BatchList>, Res<Pipelines3d>),
    gpu: Res<GpuDevice>,
    warnings: Res<RateLimitedWarnings>,
    // A count of 2 may fail where 4 works, so counts are stored one by one.
    mut instead: Local<FewerSamples>,
) {
    let SceneLists {
        views,
        rows,
        shadows,
        cull,
        transparent,
        ..
    } = &mut lists;
    let mut previous = images.take_previous(&gpu);
    let mut pyramids = std::mem::take(&mut images.pyramids.0);
    scene.views.clear();
    for view in views.0.drain(..) {
        let at = images.colors.len() as u32;
        let Some(colors) = images.add(&mut previous, &view, &mut instead, &warnings) else {
            continue;
        };
        let [width, height] = view.size;
        let late = view.late_cull_row.and_then(|cull_row| {
            let pyramid = images.add_pyramid(&gpu, &mut pyramids, [width, height]);
            let late = pyramid.map(|pyramid| LateView { cull_row, pyramid });
            late.inspect_err(|error| {
                warnings.warn_message(|| {
                    format!("occlusion culling of a 3D camera is disabled: {error}")
                });
                cull.rows[cull_row as usize].merge_phases();
            })
            .ok()
        });
        let view = View3d {
            last_pass: images.last_pass(&view, late),
            has_covering_sky: images.has_covering_sky(&view)
                && batches
                    .opaque_batch_sets_of(&view)
                    .all(|batch_set| replaces_color(&gpu, &pipelines, &view, batch_set.pipeline)),
            has_translucent_samples: colors.samples > 1
                && batches
                    .opaque_batch_sets_of(&view)
                    .any(|batch_set| leaves_translucent(&gpu, batch_set.pipeline)),
            queued: view,
            samples: colors.samples,
            images: at,
            output: colors.output,
            composite: colors.composite,
            load: colors.load,
            format: colors.format,
            late,
            previous_depth: colors.previous_depth,
            prepass: colors.prepass,
        };
        rows.rows[view.row() as usize].flags |= view_flags(&view);
        scene.views.push(view);
    }
    images.add_effect_colors(&scene.views, &mut previous, &warnings);
    images
        .prepasses
        .add_sampled(&mut scene.views, &mut previous, &warnings);
    scene.draw_count = count_draws(&scene.views, &batches, shadows, transparent);
    scene.shadow_map_count = shadows.draws.len();
    let drawn = shadows.draws.iter().filter(|shadow| shadow.is_drawn);
    scene.drawn_shadow_map_count = drawn.count();
}

/// Whether a pipeline replaces the color of all samples whose depth it draws to a view. Shaders of programs may move
/// vertices by other amounts than in the prepass.
fn replaces_color(
    gpu: &GpuDevice,
    pipelines: &Pipelines3d,
    view: &QueuedView,
    key: PipelineKey,
) -> bool {
    let is_standard = key.shader == MaterialShader::Standard;
    (is_standard || view.prepass == PrepassNeeds::default())
        && pipelines.meshes.replaces_color(gpu, key)
}

/// Flags of a view's row that depend on its images.
fn view_flags(view: &View3d) -> u32 {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    let is_multisampled = view.samples > 1 && view.queued.prepass.any();
    flag(view.has_backdrop(), HAS_BACKDROP) | flag(is_multisampled, MULTISAMPLED_PREPASS)
}

/// Fallback sample count for each format and sample count whose image could not be created.
type FewerSamples = HashMap<(Format, u32), u32>;

/// Output kind, formats and indices of a view's color images.
#[derive(Clone, Copy)]
struct ColorPath {
    output: ViewOutput,
    composite: Composite,
    load: Option<TargetLoad>,
    format: Format,
    samples: u32,
    previous_depth: Option<u32>,
    prepass: PrepassImages,
}

impl ColorPath {
    /// The color path of a view. `copy`: index of the copy of the target that the view begins with; `samples` per
    /// pixel.
    fn new(
        gpu: &GpuDevice,
        view: &QueuedView,
        target: &GpuImage,
        (copy, samples): (Option<u32>, u32),
    ) -> Self {
        let composite = Composite::new(view, copy.is_some());
        let needs_linear_light = view.is_hdr || view.needs_scene_color();
        let output = match needs_linear_light || !gpu.can_blend(target.format()) {
            true => ViewOutput::SceneReferred,
            false => ViewOutput::display_referred(view, target, (composite, samples)),
        };
        let format = match output {
            ViewOutput::SceneReferred => COLOR,
            ViewOutput::Layer => layer_format(composite, target.format()),
            ViewOutput::Direct => target.format(),
        };
        let to = match output {
            ViewOutput::SceneReferred if !view.needs_scene_color() => LoadedImage::Display,
            _ => LoadedImage::Scene,
        };
        Self {
            output,
            composite,
            load: copy.map(|copy| TargetLoad { copy, to }),
            format,
            samples,
            previous_depth: None,
            prepass: PrepassImages::default(),
        }
    }
}

/// Format of a display-referred layer that is composited over a target of this format.
fn layer_format(composite: Composite, target: Format) -> Format {
    match composite {
        Composite::Alpha | Composite::Premultiplied if !has_fine_alpha(target) => COLOR,
        _ => target,
    }
}

/// Whether a format has alpha of at least 8 bits, for images that are blended over the target.
fn has_fine_alpha(format: Format) -> bool {
    matches!(
        format,
        Format::R8G8B8A8_UNORM
            | Format::R8G8B8A8_SRGB
            | Format::B8G8R8A8_UNORM
            | Format::B8G8R8A8_SRGB
            | Format::A8B8G8R8_UNORM_PACK32
            | Format::A8B8G8R8_SRGB_PACK32
            | Format::R16G16B16A16_UNORM
            | Format::R16G16B16A16_SFLOAT
            | Format::R32G32B32A32_SFLOAT
    )
}

impl SceneImages<'_> {
    /// Begins a frame. Returns the images of the previous one, for reuse.
    fn take_previous<'a>(&mut self, gpu: &'a GpuDevice) -> PreviousImages<'a> {
        PreviousImages {
            gpu,
            colors: std::mem::take(&mut self.colors.0),
            samples: std::mem::take(&mut self.samples.0),
            depths: std::mem::take(&mut self.depths.0),
            copies: self.begin_effects(),
            gbuffers: self.prepasses.take_gbuffers(),
            prepass_depths: self.prepasses.take_depths(),
            prepass_normals: self.prepasses.take_normals(),
            prepass_motion_vectors: self.prepasses.take_motion_vectors(),
        }
    }

    /// Last pass that draws to the samples of a view, and so resolves them.
    fn last_pass(&self, view: &QueuedView, late: Option<LateView>) -> ScenePass {
        if self.drawn_by_programs.0
            || !view.transparent.is_empty()
            || !view.order_independent.is_empty()
        {
            ScenePass::Transparent
        } else if !view.transmissive.steps.is_empty() {
            ScenePass::Transmissive
        } else if view.effects.atmosphere {
            ScenePass::Atmosphere
        } else if self.skies.0.get(view.row).is_some() {
            ScenePass::Skybox
        } else if late.is_some() {
            ScenePass::OpaqueLate
        } else {
            ScenePass::Opaque
        }
    }

    /// Whether a skybox covers all samples of a view without meshes. Passes of programs may draw before it, and blend
    /// with the clear color; it is behind a depth that is cleared to a nearer value.
    fn has_covering_sky(&self, view: &QueuedView) -> bool {
        !self.drawn_by_programs.0 && view.clear_depth == 0.0 && self.skies.0.get(view.row).is_some()
    }

    /// Adds the depth pyramid of a view of this size; returns its index.
    fn add_pyramid(
        &mut self,
        gpu: &GpuDevice,
        previous: &mut Vec<GpuImage>,
        size: [u32; 2],
    ) -> Result<u32, Error> {
        let image = take(gpu, previous, &pyramid_desc(size))?;
        self.pyramids.0.push(image);
        Ok(self.pyramids.len() as u32 - 1)
    }

    /// Adds the images of a view, with fewer samples than requested if the device has too little memory. Returns the
    /// color path; `None` if even single-sampled images fail.
    fn add(
        &mut self,
        previous: &mut PreviousImages<'_>,
        view: &QueuedView,
        instead: &mut FewerSamples,
        warnings: &RateLimitedWarnings,
    ) -> Option<ColorPath> {
        let target = self.targets.get(view.target as usize)?.clone();
        let copy = self.copy_target(previous, view, &target, warnings);
        let mut samples = view.wanted_samples;
        loop {
            let mut colors = ColorPath::new(previous.gpu, view, &target, (copy, samples));
            if let Some(less) = instead.get(&(colors.format, samples)) {
                samples = *less;
                continue;
            }
            let made = previous.colors(&target, view, colors).and_then(|made| {
                let depth = self.depth(previous, view, samples)?;
                let prepass = self.prepasses.add(previous, view, samples)?;
                Ok((made, depth, prepass))
            });
            match made {
                Ok(([color, sampled], (depth, previous_depth), prepass)) => {
                    self.colors.0.push(color);
                    self.samples.0.push(sampled);
                    self.depths.0.push(depth);
                    colors.previous_depth = previous_depth;
                    colors.prepass = prepass;
                    return Some(colors);
                }
                Err(error) if samples > 1 => {
                    let less = samples / 2;
                    warnings.warn_message(|| {
                        format!("3D cameras use {less} samples per pixel: {error}")
                    });
                    instead.insert((colors.format, samples), less);
                }
                Err(error) => {
                    warnings
                        .warn_message(|| format!("the view of a 3D camera is not drawn: {error}"));
                    return None;
                }
            }
        }
    }
}

/// Counts the draws that passes record.
fn count_draws(
    views: &[View3d],
    batches: &BatchList,
    shadows: &ShadowList,
    transparent: &TransparentList,
) -> usize {
    let phases = views.iter().map(|view| {
        let phases = 1 + usize::from(view.late.is_some());
        let passes = 1 + usize::from(view.queued.prepass.any());
        let forward = batches.opaque_batch_sets_of(&view.queued).count();
        let deferred = batches
            .opaque_batch_sets()
            .filter(|it| view.queued.prepass.defers(it.pipeline));
        phases * (passes * forward + deferred.count()) + usize::from(view.gbuffer().is_some())
    });
    let of_views = phases.sum::<usize>();
    let drawn = shadows
        .draws
        .iter()
        .filter(|shadow| shadow.cull_row.is_some() && shadow.is_drawn);
    let of_shadows = drawn.count() * batches.shadow_batch_sets().count();
    of_views + of_shadows + transparent.draws.len()
}

/// Images of the previous frame, for reuse.
struct PreviousImages<'a> {
    gpu: &'a GpuDevice,
    colors: Vec<GpuImage>,
    samples: Vec<GpuImage>,
    depths: Vec<GpuImage>,
    copies: Vec<GpuImage>,
    gbuffers: Vec<GpuImage>,
    prepass_depths: Vec<GpuImage>,
    prepass_normals: Vec<GpuImage>,
    prepass_motion_vectors: Vec<GpuImage>,
}

impl PreviousImages<'_> {
    /// Returns the single-sampled and the multisampled color image of a view.
    fn colors(
        &mut self,
        target: &GpuImage,
        view: &QueuedView,
        ColorPath {
            output,
            format,
            samples,
            ..
        }: ColorPath,
    ) -> Result<[GpuImage; 2], Error> {
        let [width, height] = view.size;
        let size = [width, height];
        let color = match view.effects.replaces_color() {
            true => effect_color_desc("3d color", size, format),
            false => ImageDesc::color_target("3d color", size, format).transient(),
        };
        let sampled = ImageDesc {
            samples,
            ..ImageDesc::color_target("3d samples", size, format).transient()
        };
        let color = match output {
            ViewOutput::Direct => target.clone(),
            _ => take(self.gpu, &mut self.colors, &color)?,
        };
        let sampled = match samples {
            1 => color.clone(),
            _ => take(self.gpu, &mut self.samples, &sampled)?,
        };
        Ok([color, sampled])
    }
}

/// Returns a matching image of the previous frame, or creates one.
pub(crate) fn take(
    gpu: &GpuDevice,
    previous: &mut Vec<GpuImage>,
    desc: &ImageDesc,
) -> Result<GpuImage, Error> {
    match previous.iter().position(|image| image.desc() == desc) {
        // Keeps the order, so that views of equal size keep their images.
        Some(index) => Ok(previous.remove(index)),
        None => gpu.create_image(desc),
    }
}

/// Depth pyramids (Hi-Z) of cameras with [`OcclusionCulling`](crate::OcclusionCulling): the farthest (least, since
/// reversed) depth of squares of pixels. The first mip level has power-of-two sides.
#[derive(Resource, Default, Deref)]
pub struct DepthPyramids3d(pub(crate) Vec<GpuImage>);

/// Describes the depth pyramid for a depth image of this size.
pub(crate) fn pyramid_desc([width, height]: [u32; 2]) -> ImageDesc {
    let below = |side: u32| 1_u32 << side.max(1).ilog2();
    let size = [below(width), below(height)];
    let levels = size[0].max(size[1]).ilog2() + 1;
    let desc = ImageDesc::storage("3d depth pyramid", size, Format::R32_SFLOAT);
    desc.with_mips(levels).transient()
}
