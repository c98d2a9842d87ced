//! Views of a frame, for passes.

use bevy_ecs::prelude::*;
use quadrille::prelude::GpuImage;
use quadrille::vulkan::Format;

use crate::scene::formats::{PipelineTarget, scene_formats};
use crate::scene::lists::{QueuedView, ViewMap};
use crate::scene::prepass::PrepassImages;
use crate::scene::rows::ViewTransformsRow;
use crate::tables::table::uniform_row;

/// Destination of a view's colors, and their format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewOutput {
    /// Half floats, written to the target by `tonemap_3d`.
    SceneReferred,
    /// Display-referred colors, drawn or resolved directly to the target.
    Direct,
    /// Display-referred colors in a separate image, which `composite_3d` combines with the target.
    Layer,
}

/// Method of combining a view's separate image with its camera's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Composite {
    /// Replaces the target.
    Replace,
    /// Blends over the target by alpha.
    Alpha,
    /// Blends over the target by alpha, with premultiplied colors.
    Premultiplied,
}

impl Composite {
    /// Method for a view; `loads_target`: its images are initialized with the contents of the target.
    /// target.
    pub(crate) fn new(view: &QueuedView, loads_target: bool) -> Self {
        match view.background {
            None if loads_target => Self::Replace,
            None => Self::Premultiplied,
            Some(_) if view.replaces => Self::Replace,
            Some([.., alpha]) if alpha >= 1.0 => Self::Replace,
            Some(_) => Self::Alpha,
        }
    }
}

impl ViewOutput {
    /// Output of a view that does not need scene-referred colors.
    pub(crate) fn display_referred(
        view: &QueuedView,
        target: &GpuImage,
        (composite, samples): (Composite, u32),
    ) -> Self {
        let is_whole = view.covers(target) && !view.is_scaled();
        let draws_to_target = match composite {
            Composite::Replace => true,
            Composite::Alpha => false,
            // A multisampled image cannot be initialized from the target.
            Composite::Premultiplied => samples == 1,
        };
        match is_whole && draws_to_target && !view.samples_target && !view.effects.display_color {
            true => Self::Direct,
            false => Self::Layer,
        }
    }
}

/// Image that is initialized with the contents of the target, for effects of a camera that keeps the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadedImage {
    /// The samples of the view.
    Scene,
    /// The image that `tonemap_3d` writes, so that the contents are not tone mapped again.
    Display,
}

/// Contents of a target that an image of a view is initialized with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TargetLoad {
    /// Index of the copy in `TargetCopies`.
    pub(crate) copy: u32,
    pub(crate) to: LoadedImage,
}

/// Contents that the samples of a view begin with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InitialColor {
    /// Contents of the images.
    Keep,
    Clear([f32; 4]),
    /// Undefined: a skybox covers all samples that no mesh does, and no mesh blends. Clearing 4 samples of 1080p takes an
    /// H100 0.59 ms.
    Discard,
}

/// Passes that draw to the samples of a view, in this order; the last one of a view resolves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ScenePass {
    Opaque,
    OpaqueLate,
    Skybox,
    Atmosphere,
    Transmissive,
    Transparent,
}

/// View of a 3D camera in this frame, with the indices of its images.
#[derive(Clone, Debug)]
pub struct View3d {
    pub(crate) queued: QueuedView,
    /// Actual samples per pixel.
    pub(crate) samples: u32,
    /// Index of its images in `SceneColors` and the others.
    pub(crate) images: u32,
    pub(crate) output: ViewOutput,
    pub(crate) composite: Composite,
    pub(crate) load: Option<TargetLoad>,
    /// Format of its colors.
    pub(crate) format: Format,
    /// Pass that resolves its samples.
    pub(crate) last_pass: ScenePass,
    /// Whether `skybox_3d` draws all samples that `opaque_3d` leaves, before any other pass, and `opaque_3d` reads none.
    pub(crate) has_covering_sky: bool,
    /// Whether samples that alpha covers keep its value, for lack of the feature `alphaToOne`, so that a background that is added
    /// later would shine through.
    pub(crate) has_translucent_samples: bool,
    /// Late phase of [`OcclusionCulling`](crate::OcclusionCulling).
    pub(crate) late: Option<LateView>,
    /// Index in `PreviousDepths3d`.
    pub(crate) previous_depth: Option<u32>,
    pub(crate) prepass: PrepassImages,
}

/// Late phase of a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateView {
    /// Index in the list of culled views.
    pub(crate) cull_row: u32,
    /// Index in `DepthPyramids3d`.
    pub(crate) pyramid: u32,
}

impl View3d {
    /// Camera entity.
    pub fn camera(&self) -> Entity {
        self.queued.camera
    }

    /// Index in [`Views3d`](crate::resources::Views3d); shaders import `quadrille_3d::scene::View`.
    pub fn row(&self) -> u32 {
        self.queued.row
    }

    /// Byte range of its row in [`Views3d`](crate::resources::Views3d), for `bind_bytes`.
    pub fn uniform_bytes(&self) -> std::ops::Range<u64> {
        uniform_row(self.queued.row)
    }

    /// Index of its images in [`SceneColors`](crate::resources::SceneColors),
    /// [`SceneMsaaColors`](crate::resources::SceneMsaaColors) and [`SceneDepths`](crate::resources::SceneDepths).
    pub fn images(&self) -> usize {
        self.images as usize
    }

    /// Index in [`PreviousDepths3d`](crate::resources::PreviousDepths3d) of the depth of the previous frame, with the size and samples
    /// of this frame's. `None` without an effect with [`DEPTH_HISTORY`](crate::CameraEffect::DEPTH_HISTORY), and while
    /// [`history_is_valid`](crate::EffectFrame::history_is_valid) is false for that reason.
    pub fn previous_depth(&self) -> Option<usize> {
        Some(self.previous_depth? as usize)
    }

    /// Index in [`PrepassDepths3d`](crate::resources::PrepassDepths3d) of its depth after the prepass, if its camera has
    /// [`DepthPrepass`](crate::DepthPrepass). After [`Pass3dSystems::Opaque`](crate::Pass3dSystems::Opaque)
    /// [`SceneDepths`](crate::resources::SceneDepths) has it too, without a copy.
    pub fn prepass_depth(&self) -> Option<usize> {
        Some(self.prepass.depth? as usize)
    }

    /// Index in [`PrepassNormals3d`](crate::resources::PrepassNormals3d) of its normals, if its camera has
    /// [`NormalPrepass`](crate::NormalPrepass).
    pub fn prepass_normal(&self) -> Option<usize> {
        Some(self.prepass.normal? as usize)
    }

    /// Index in [`PrepassMotionVectors3d`](crate::resources::PrepassMotionVectors3d) of its motion vectors, if its camera has
    /// [`MotionVectorPrepass`](crate::MotionVectorPrepass).
    pub fn prepass_motion_vectors(&self) -> Option<usize> {
        Some(self.prepass.motion? as usize)
    }

    /// Index in [`GBuffers3d`](crate::resources::GBuffers3d) of its surfaces, if its camera has
    /// [`DeferredPrepass`](crate::DeferredPrepass).
    pub fn gbuffer(&self) -> Option<usize> {
        Some(self.prepass.gbuffer? as usize)
    }

    /// Byte range of its row in [`ViewTransforms3d`](crate::resources::ViewTransforms3d), for `bind_bytes`, if its camera has an
    /// effect or [`MotionVectorPrepass`](crate::MotionVectorPrepass).
    pub fn transforms_bytes(&self) -> std::ops::Range<u64> {
        let bytes = size_of::<ViewTransformsRow>() as u64;
        let first = u64::from(self.images) * bytes;
        first..first + bytes
    }

    /// Index of its target in [`CameraTargets`](quadrille_content::views::CameraTargets).
    pub fn target(&self) -> usize {
        self.queued.target as usize
    }

    /// Ordering key of its passes for [`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step), by which
    /// passes that draw to its target keep the order of cameras.
    pub fn step(&self) -> u32 {
        self.queued.step
    }

    /// Whether its colors are scene-referred (radiance times exposure, in half floats), as with `Hdr` and under effects that
    /// need them: [`tonemap_3d`](crate::systems::tonemap_3d) maps them to the target. Other views hold the display-referred colors of
    /// the target in its format, and [`SceneColors`](crate::resources::SceneColors) has the target itself where a view covers it.
    pub fn is_scene_referred(&self) -> bool {
        self.output == ViewOutput::SceneReferred
    }

    /// Whether its shaders read its depth, which has one sample: for contact shadows and for transmission.
    pub(crate) fn reads_depth(&self) -> bool {
        let for_transmission = self.queued.transmissive.needs_background() && self.samples == 1;
        let is_deferred = self.prepass.gbuffer.is_some();
        self.queued.contact_shadows
            || is_deferred
            || (for_transmission && self.prepass.depth.is_some())
    }

    /// Formats of its images, and whether fragment shaders apply tone mapping.
    pub(crate) fn pipeline_target(&self) -> PipelineTarget {
        PipelineTarget {
            formats: scene_formats(self.format, self.samples),
            maps_tones: !self.is_scene_referred(),
        }
    }

    /// Contents that its samples begin with.
    pub(crate) fn initial_color(&self) -> InitialColor {
        match self.output {
            _ if self.has_covering_sky => InitialColor::Discard,
            _ if self.loads(LoadedImage::Scene) => InitialColor::Keep,
            ViewOutput::SceneReferred if !self.has_background() => InitialColor::Clear([0.0; 4]),
            ViewOutput::Direct => match self.queued.background {
                Some(color) => InitialColor::Clear(color),
                None => InitialColor::Keep,
            },
            ViewOutput::SceneReferred | ViewOutput::Layer => {
                InitialColor::Clear(self.queued.background.unwrap_or_default())
            }
        }
    }

    /// Whether an effect upscales its color to the viewport's size.
    pub(crate) fn is_upscaled(&self) -> bool {
        self.queued.is_upscaled
    }

    /// Whether `composite_3d` scales its display-referred colors to the viewport.
    pub(crate) fn is_scaled(&self) -> bool {
        self.queued.is_scaled()
    }

    /// Whether this image is initialized with the contents of the target.
    pub(crate) fn loads(&self, image: LoadedImage) -> bool {
        self.load.is_some_and(|load| load.to == image)
    }

    /// Whether scene-referred colors include the background, for effects, transmission and translucent samples. Otherwise
    /// `tonemap_3d` adds it.
    pub(crate) fn has_background(&self) -> bool {
        self.queued.needs_scene_color() || self.has_translucent_samples
    }

    /// Whether the colors of the view contain the background of multiplying surfaces.
    pub(crate) fn has_backdrop(&self) -> bool {
        let has_background = self.queued.background.is_some() || self.loads(LoadedImage::Scene);
        match self.output {
            ViewOutput::SceneReferred => has_background && self.has_background(),
            ViewOutput::Direct => true,
            ViewOutput::Layer => has_background,
        }
    }

    /// Left, top, width and height in pixels of the target.
    pub fn viewport(&self) -> [u32; 4] {
        self.queued.viewport
    }

    /// Width and height in pixels of the images of the view: those of the viewport, of bevy's
    /// `MainPassResolutionOverride`, or that an effect upscales
    /// ([`TemporalUpscaling`](crate::TemporalUpscaling)).
    pub fn size(&self) -> [u32; 2] {
        self.queued.size
    }

    /// Width and height in pixels of its color after [`Pass3dSystems::Upscale`](crate::Pass3dSystems::Upscale): those of the
    /// viewport if an effect upscales it, otherwise [`Self::size`].
    pub fn output_size(&self) -> [u32; 2] {
        self.queued.output_size()
    }

    /// Samples per pixel of [`SceneMsaaColors`](crate::resources::SceneMsaaColors) and
    /// [`SceneDepths`](crate::resources::SceneDepths): 1 with [`Msaa::Off`](quadrille_content::cameras::Msaa).
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Linear clear color of the target; `None`: load op LOAD.
    pub fn clear(&self) -> Option<[f32; 4]> {
        self.queued.clear
    }
}

/// Whether a system of the program draws to the samples of views, with [`ViewTargets3d`](crate::systems::ViewTargets3d).
#[derive(Resource, Default)]
pub(crate) struct SamplesDrawnByPrograms(pub(crate) bool);

/// Sets `SamplesDrawnByPrograms` when a system with [`ViewTargets3d`](crate::systems::ViewTargets3d) is initialized.
pub struct LateResolve(());

impl FromWorld for LateResolve {
    fn from_world(world: &mut World) -> Self {
        let mut drawn = world.get_resource_or_init::<SamplesDrawnByPrograms>();
        drawn.0 = true;
        Self(())
    }
}

/// Number of fragments that the lists of order-independent transparency have memory for, by view that draws to them.
#[derive(Resource, Default)]
pub(crate) struct FragmentCapacities(pub(crate) ViewMap<u32>);

impl FragmentCapacities {
    /// Number of fragments of a view; `None` for views that sort their transparent meshes.
    pub(crate) fn of(&self, view: &View3d) -> Option<u32> {
        self.0.get(view.row()).copied()
    }
}

/// Views of the frame, built by `prepare_targets`, with counts of draws and shadow maps.
#[derive(Resource, Default)]
pub struct Scene3d {
    pub(crate) views: Vec<View3d>,
    pub(crate) draw_count: usize,
    pub(crate) shadow_map_count: usize,
    pub(crate) drawn_shadow_map_count: usize,
}

impl Scene3d {
    /// Views of this frame in draw order. Before [`Prepare3dSystems::Prepare`](crate::Prepare3dSystems), those of the
    /// previous frame.
    pub fn views(&self) -> &[View3d] {
        &self.views
    }

    /// Number of draw commands of the frame: one per pipeline and camera (two with
    /// [`OcclusionCulling`](crate::OcclusionCulling), and as many again with a prepass) or shadow map, regardless of the
    /// number of meshes, and one per batch of consecutive transparent instances.
    pub fn draws(&self) -> usize {
        self.draw_count
    }

    /// Number of shadow maps of the frame: one per spot light, six per point light, and one per cascade and camera of a
    /// directional light.
    pub fn shadow_maps(&self) -> usize {
        self.shadow_map_count
    }

    /// Number of shadow maps that are drawn in this frame. The others keep their contents: neither their view nor a
    /// caster in it has changed.
    pub fn drawn_shadow_maps(&self) -> usize {
        self.drawn_shadow_map_count
    }
}

#[cfg(test)]
mod tests;
