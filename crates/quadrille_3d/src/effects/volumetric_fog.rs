//! Volumetric fog of cameras, by the components of bevy_light: `VolumetricFog`, `FogVolume` and `VolumetricLight`.
//!
//! ```text
//! list_fog_cameras        cameras with fog, if there are volumes and lights
//! queue_views             rows of volumetric lights
//! prepare_volumetric_fog  a row and a draw for each volume in each view, back to front
//! volumetric_fog_3d       adds them to the color of the view, before all other effects
//! ```

pub(crate) mod row;
mod volumes;

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_light::{FogVolume, VolumetricFog, VolumetricLight};
use quadrille::bindings::PassBindings;
use quadrille::ecs::{AccessList, AnyAccess, PassUse, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, Recorder, Render, RenderStartup,
    Sampled, StorageRead, Uniform,
};
use quadrille_content::ContentSystems;

use volumes::{
    FogDensities3d, FogDraw, FogDraws, FogLights3d, FogRows, FogVolumes3d, init_fog_buffers,
    list_fog_cameras, prepare_volumetric_fog,
};

use crate::camera_effect::{ViewTransforms3d, warn_of_cameras_without_3d};
use crate::constants::HARDWARE_2X2;
use crate::pipelines::Pipelines3d;
use crate::prepare::shadow_maps::{PointShadowFaces, ShadowAtlas};
use crate::prepare::targets::{SceneColors, SceneDepths};
use crate::prepare::view_colors::CurrentColors;
use crate::scene::buffers::{ShadowViews3d, Views3d};
use crate::scene::frame::{Scene3d, View3d};
use crate::schedule::{Pass3dSystems, Prepare3dSystems};
use crate::tables::table::uniform_row;

/// Adds volumetric fog.
pub(crate) struct VolumetricFogPlugin;

impl Plugin for VolumetricFogPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<VolumetricFog>()
            .register_type::<FogVolume>()
            .register_type::<VolumetricLight>()
            .init_resource::<FogRows>()
            .init_resource::<FogDraws>()
            .init_resource::<FogDensities3d>()
            .add_systems(RenderStartup, (init_fog_buffers, init_fog_pipelines))
            .add_systems(
                Render,
                (
                    (
                        warn_of_cameras_without_3d::<VolumetricFog>,
                        list_fog_cameras,
                    )
                        .in_set(Prepare3dSystems::ExtractEffects),
                    prepare_volumetric_fog.in_set(Prepare3dSystems::PrepareEffects),
                    volumetric_fog_3d
                        .after(Pass3dSystems::Transparent)
                        .before(Pass3dSystems::EarlyPostProcess)
                        .in_set(ContentSystems::Draw3d),
                ),
            );
    }
}

/// Pipelines of [`volumetric_fog_3d`]: for depths with one sample, and with several.
#[derive(Resource)]
pub struct FogPipelines([ComputePipeline; 2]);

fn init_fog_pipelines(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/volumetric_fog.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/volumetric_fog.wgsl", source)?;
    let pipeline = |name, entry| {
        gpu.compute_pipeline(&ComputePipelineDesc {
            // Filters of more taps are not worth their cost in each step, as in bevy.
            constants: vec![("SHADOW_FILTER".to_owned(), HARDWARE_2X2.into())],
            ..ComputePipelineDesc::of(name, &shader).entry(entry)
        })
    };
    commands.insert_resource(FogPipelines([
        pipeline("volumetric fog", "compute_main")?,
        pipeline("volumetric fog multisampled", "multisampled_compute_main")?,
    ]));
    Ok(())
}

/// Inputs of [`volumetric_fog_3d`] that all volumes share.
#[derive(SystemParam, PassBindings)]
pub struct FogInputs3d<'w> {
    #[declared]
    volumes: Uniform<'w, FogVolumes3d>,
    #[declared]
    views: Uniform<'w, Views3d>,
    #[declared]
    transforms: Uniform<'w, ViewTransforms3d>,
    #[bind]
    volumetric_lights: StorageRead<'w, FogLights3d>,
    #[bind]
    shadow_views: Uniform<'w, ShadowViews3d>,
    #[bind]
    shadow_atlas: Sampled<'w, ShadowAtlas>,
    #[bind]
    point_shadow_faces: Sampled<'w, PointShadowFaces>,
    densities: AccessList<'w, FogDensities3d, access_kind::Sampled>,
    draws: Res<'w, FogDraws>,
    pipelines: Res<'w, FogPipelines>,
    shared: Res<'w, Pipelines3d>,
}

/// Adds volumetric fog: one pass of the plan for each `FogVolume` that is visible in a view, back to front.
pub fn volumetric_fog_3d(
    mut recorder: Recorder,
    inputs: FogInputs3d,
    depths: AccessList<SceneDepths, access_kind::Sampled>,
    colors: AccessList<SceneColors, access_kind::StorageReadWrite>,
    current: Res<CurrentColors>,
    scene: Res<Scene3d>,
    mut uses: Local<Vec<PassUse>>,
) {
    for (at, view) in scene.views().iter().enumerate() {
        let color = current.of(view).and_then(|at| colors.get(at));
        let (Some(color), Some(depth)) = (color, depths.get(view.images())) else {
            continue;
        };
        for draw in inputs.draws.of_view(at) {
            inputs.add(&mut recorder, (view, draw), [color, depth], &mut uses);
        }
    }
}

impl FogInputs3d<'_> {
    /// Adds one volume to the color of a view, within its bounds there.
    fn add(
        &self,
        recorder: &mut Recorder,
        (view, draw): (&View3d, &FogDraw),
        [color, depth]: [AnyAccess<'_>; 2],
        uses: &mut Vec<PassUse>,
    ) {
        let Some(density) = self.densities.get(draw.density) else {
            return;
        };
        uses.clear();
        uses.extend([color, depth, density].map(|used| used.as_declared()));
        self.add_uses(uses);
        let (pipeline, binding) = match view.samples() {
            1 => (&self.pipelines.0[0], "depths"),
            _ => (&self.pipelines.0[1], "multisampled_depths"),
        };
        let sampler = draw.sampler.as_ref();
        let [.., width, height] = draw.bounds.to_array();
        recorder
            .pass_in_step(view.step(), "volumetric_fog_3d", uses)
            .compute(pipeline)
            .bind(binding, &depth)
            .bind("picture", &color)
            .bind_all(self)
            .sampler("shadow_sampler", &self.shared.shadow_sampler)
            .sampler("clamped_sampler", &self.shared.clamped_sampler)
            .bind_bytes("camera", &self.views, view.uniform_bytes())
            .bind_bytes("view", &self.transforms, view.transforms_bytes())
            .bind_bytes("volume", &self.volumes, uniform_row(draw.row))
            .bind("densities", &density)
            .sampler(
                "density_sampler",
                sampler.unwrap_or(&self.shared.clamped_sampler),
            )
            .push_bytes(bytemuck::bytes_of(&draw.bounds.to_array()))
            .dispatch_invocations([width, height, 1]);
    }
}
