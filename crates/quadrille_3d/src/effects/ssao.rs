//! Screen-space ambient occlusion of cameras (Jimenez et al. 2016), before the opaque pass.
//!
//! ```text
//! prepass_3d          depth and normals
//! ssao_3d             distances and three levels of them; noisy visibility; its mean over the noise pattern
//! opaque_3d           scales indirect light
//! ```

mod component;

use bevy_app::{App, Plugin};
use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, Uniform, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, ImageDesc, ImageUsage, Recorder,
    Render, RenderStartup, ShaderType,
};
use quadrille::vulkan::Format;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

pub use component::{ScreenSpaceAmbientOcclusion, ScreenSpaceAmbientOcclusionQualityLevel};

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectView,
    EffectViews, ViewTransforms3d,
};
use crate::components::prepass::NormalPrepass;
use crate::constants::{HAS_AMBIENT_OCCLUSION_MAP, SSAO_LEVELS};
use crate::effects::needs::{missing_need, warn_of_need};
use crate::effects::prepass::copy_prepass_depths;
use crate::prepare::occlusion_maps::AmbientOcclusionMaps3d;
use crate::prepare::pipelines::prepare_pipelines;
use crate::prepare::targets::{PrepassNormals3d, SceneDepths, prepare_targets};
use crate::scene::frame::Scene3d;
use crate::scene::lists::ViewRows;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds ambient occlusion.
pub(crate) struct SsaoPlugin;

impl Plugin for SsaoPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<ScreenSpaceAmbientOcclusion>::default())
            .register_type::<ScreenSpaceAmbientOcclusion>()
            .init_resource::<AmbientOcclusionMaps3d>()
            .add_systems(RenderStartup, init_ssao)
            .add_systems(
                Render,
                (
                    warn_of_missing_needs.in_set(Prepare3dSystems::Extract),
                    prepare_occlusion_maps
                        .in_set(Prepare3dSystems::Prepare)
                        .after(prepare_targets)
                        .before(prepare_pipelines),
                    ssao_3d
                        .in_set(Pass3dSystems::Prepass)
                        .after(copy_prepass_depths),
                ),
            );
    }
}

/// Least radius in meters, as in bevy.
const MIN_RADIUS: f32 = 1e-4;

/// Uniform of the shader.
#[derive(ShaderType)]
pub struct SsaoUniform {
    slice_count: u32,
    samples_per_slice_side: u32,
    thickness: f32,
    radius: f32,
}

/// Indices of the images of a view.
const DISTANCES: usize = 0;
const NOISY: usize = 1;

impl CameraEffect for ScreenSpaceAmbientOcclusion {
    type Uniform = SsaoUniform;

    // Its images have the size of the depth.
    const STAGE: Pass3dSystems = Pass3dSystems::EarlyPostProcess;
    const REPLACES_COLOR: bool = false;

    fn uniform(&self, _: &EffectFrame) -> SsaoUniform {
        let [slice_count, samples_per_slice_side] = self.quality_level.sample_counts();
        SsaoUniform {
            slice_count,
            samples_per_slice_side,
            // NaN is 0.
            thickness: self.constant_object_thickness.max(0.0),
            radius: self.radius.max(MIN_RADIUS),
        }
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        let distances = EffectImage::new("ssao distances", Format::R32_SFLOAT).mips(SSAO_LEVELS);
        let noisy = EffectImage::new("ssao noisy", Format::R32_UINT);
        images.extend([distances, noisy].map(|image| image.usage(ImageUsage::STORAGE)));
    }
}

/// Pipelines of [`ssao_3d`].
#[derive(Resource)]
pub struct SsaoPipelines {
    distances: ComputePipeline,
    occlusion: ComputePipeline,
    denoise: ComputePipeline,
}

/// Creates pipelines, and drops images of a lost device.
fn init_ssao(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/ssao.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/ssao.wgsl", source)?;
    let compute = |name, entry| {
        let desc = ComputePipelineDesc::of(name, &shader);
        gpu.compute_pipeline(&ComputePipelineDesc { entry, ..desc })
    };
    commands.insert_resource(SsaoPipelines {
        distances: compute("ssao distances", "distance_levels")?,
        occlusion: compute("ssao", "occlusion")?,
        denoise: compute("ssao denoise", "denoise")?,
    });
    commands.insert_resource(AmbientOcclusionMaps3d::default());
    Ok(())
}

/// Cameras whose occlusion or samples changed.
type ChangedOcclusion = (
    With<Camera3d>,
    With<ScreenSpaceAmbientOcclusion>,
    Or<(Changed<ScreenSpaceAmbientOcclusion>, Changed<Msaa>)>,
);

/// Warns of cameras that lack what occlusion needs, when they are set up so.
fn warn_of_missing_needs(
    cameras: Query<(Entity, &Msaa, Has<NormalPrepass>), ChangedOcclusion>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (camera, msaa, has_normals) in &cameras {
        if let Some(need) = missing_need(*msaa, (has_normals, "NormalPrepass")) {
            let effect = ("ambient occlusion", need, "ScreenSpaceAmbientOcclusion");
            warn_of_need(&warnings, camera, effect);
        }
    }
}

/// Creates the maps of this frame's views, and sets the flag of these views.
fn prepare_occlusion_maps(
    cameras: Query<(), With<ScreenSpaceAmbientOcclusion>>,
    (scene, mut rows): (Res<Scene3d>, ResMut<ViewRows>),
    mut maps: ResMut<AmbientOcclusionMaps3d>,
    (gpu, warnings): (Res<GpuDevice>, Res<RateLimitedWarnings>),
) {
    let mut previous = maps.0.begin();
    for view in &scene.views {
        let has_needs = view.samples == 1 && view.prepass.normal.is_some();
        if !has_needs || !cameras.contains(view.camera()) {
            continue;
        }
        let name = "3d ambient occlusion";
        // Not all devices store images of 16 bits.
        let desc = ImageDesc::storage(name, view.size(), Format::R32_SFLOAT).transient();
        match maps.0.add(&gpu, &mut previous, (view, &desc)) {
            Ok(()) => rows.rows[view.row() as usize].flags |= HAS_AMBIENT_OCCLUSION_MAP,
            Err(error) => warnings.warn_message(|| {
                let camera = entity_name(view.camera());
                format!("the camera {camera} has no ambient occlusion: {error}")
            }),
        }
    }
}

/// Images of views, to read and to write.
#[derive(SystemParam)]
pub struct SsaoImages3d<'w> {
    sampled: AccessList<'w, EffectImages<ScreenSpaceAmbientOcclusion>, access_kind::Sampled>,
    written: AccessList<'w, EffectImages<ScreenSpaceAmbientOcclusion>, access_kind::StorageWrite>,
    depths: AccessList<'w, SceneDepths, access_kind::Sampled>,
    normals: AccessList<'w, PrepassNormals3d, access_kind::Sampled>,
    maps: AccessList<'w, AmbientOcclusionMaps3d, access_kind::StorageWrite>,
    map_of_view: Res<'w, AmbientOcclusionMaps3d>,
}

/// Resources of [`ssao_3d`].
#[derive(SystemParam)]
pub struct SsaoParams3d<'w> {
    effects: EffectViews<'w, ScreenSpaceAmbientOcclusion>,
    transforms: Uniform<'w, ViewTransforms3d>,
    images: SsaoImages3d<'w>,
    pipelines: Res<'w, SsaoPipelines>,
}

/// Computes ambient occlusion maps: three passes of the plan for each view with
/// [`ScreenSpaceAmbientOcclusion`].
pub fn ssao_3d(mut recorder: Recorder, params: SsaoParams3d) {
    for view in params.effects.iter() {
        params.record(&mut recorder, &view);
    }
}

impl SsaoParams3d<'_> {
    fn record(&self, recorder: &mut Recorder, view: &EffectView) -> Option<()> {
        let images = &self.images;
        let map = images.maps.get(images.map_of_view.0.index(view)?)?;
        let depth = images.depths.get(view.images())?;
        let normals = images.normals.get(view.prepass_normal()?)?;
        let (distances, noisy) = (view.image(DISTANCES)?, view.image(NOISY)?);
        self.write_distances(recorder, view, [depth, images.written.get(distances)?]);
        let distances = images.sampled.get(distances)?;
        let (written, noisy) = (images.written.get(noisy)?, images.sampled.get(noisy)?);
        self.write_occlusion(recorder, view, [distances, normals, written]);
        let uses = [noisy, map].map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "ssao denoise", &uses);
        let [width, height] = view.size();
        pass.compute(&self.pipelines.denoise)
            .bind("packed_visibility", &noisy)
            .bind("visibility", &map)
            .dispatch_invocations([width, height, 1]);
        Some(())
    }

    fn write_distances(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        [depth, distances]: [AnyAccess<'_>; 2],
    ) {
        let uses = [depth, distances, self.transforms.any()].map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "ssao distances", &uses);
        let mut compute = pass.compute(&self.pipelines.distances);
        compute.bind("depths", &depth);
        let [width, height] = view.size();
        let last = width.max(height).ilog2();
        for (level, name) in ["level_0", "level_1", "level_2", "level_3"]
            .iter()
            .enumerate()
        {
            compute.bind(*name, &distances.mip(last.min(level as u32)));
        }
        compute
            .bind_bytes("view", &self.transforms, view.transforms_bytes())
            .dispatch([width.div_ceil(16), height.div_ceil(16), 1]);
    }

    fn write_occlusion(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        [distances, normals, noisy]: [AnyAccess<'_>; 3],
    ) {
        let uniforms = self.effects.uniforms();
        let uses = [
            distances,
            normals,
            noisy,
            self.transforms.any(),
            uniforms.any(),
        ];
        let mut pass =
            recorder.pass_in_step(view.step(), "ssao_3d", &uses.map(|used| used.as_declared()));
        let [width, height] = view.size();
        pass.compute(&self.pipelines.occlusion)
            .bind("distances", &distances)
            .bind("normals", &normals)
            .bind("noisy", &noisy)
            .bind_bytes("settings", uniforms, view.uniform_bytes())
            .bind_bytes("view", &self.transforms, view.transforms_bytes())
            .dispatch_invocations([width, height, 1]);
    }
}
