//! Lens effects of cameras in one pass, as in bevy: distortion, chromatic aberration and vignette.
//!
//! Cameras with `Hdr` have them before tone mapping. For others they are after it, since their colors are mapped by the
//! shaders of meshes.

mod component;

use bevy_app::{App, Plugin};
use bevy_camera::{Camera, Hdr};
use bevy_color::ColorToComponents as _;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuImage, GpuShader, GraphicsPipeline,
    GraphicsPipelineDesc, ImageDesc, Recorder, Render, RenderStartup, Uploads,
};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::Format;
use quadrille_content::images::DeviceImages;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

pub use component::{ChromaticAberration, LensDistortion, Vignette};

use crate::camera_effect::warn_of_cameras_without_3d;
use crate::effects::bloom::bloom_3d;
use crate::pipelines::Pipelines3d;
use crate::prepare::view_colors::PostProcess;
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::frame::{Scene3d, View3d};
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds lens effects.
pub(crate) struct LensPlugin;

impl Plugin for LensPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ChromaticAberration>()
            .register_type::<LensDistortion>()
            .register_type::<Vignette>()
            .init_resource::<LensCameras>()
            .init_resource::<LensLuts>()
            .add_systems(RenderStartup, init_lens_effects)
            .add_systems(
                Render,
                (
                    (
                        warn_of_cameras_without_3d::<ChromaticAberration>,
                        warn_of_cameras_without_3d::<LensDistortion>,
                        warn_of_cameras_without_3d::<Vignette>,
                        list_lens_cameras,
                    )
                        .in_set(Prepare3dSystems::ExtractEffects),
                    lens_effects_3d
                        .in_set(Pass3dSystems::PostProcess)
                        .after(bloom_3d),
                    display_lens_effects_3d.in_set(Pass3dSystems::AfterTonemapping),
                ),
            );
    }
}

/// Push constants of the shader of lens effects.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/lens.wgsl", "Push")]
pub(crate) struct LensPush {
    vignette_color: [f32; 4],
    vignette_center: [f32; 2],
    distortion_center: [f32; 2],
    distortion_multiplier: [f32; 2],
    /// 0 without distortion; the other intensities likewise.
    distortion_intensity: f32,
    distortion_scale: f32,
    edge_curvature: f32,
    aberration_intensity: f32,
    max_samples: u32,
    vignette_intensity: f32,
    vignette_radius: f32,
    vignette_smoothness: f32,
    vignette_roundness: f32,
    edge_compensation: f32,
}

impl LensPush {
    fn draws_nothing(&self) -> bool {
        let intensities = [
            self.aberration_intensity,
            self.distortion_intensity,
            self.vignette_intensity,
        ];
        intensities == [0.0; 3]
    }

    fn add_aberration(&mut self, aberration: &ChromaticAberration) {
        self.aberration_intensity = aberration.intensity;
        self.max_samples = aberration.max_samples;
    }

    fn add_distortion(&mut self, distortion: &LensDistortion) {
        self.distortion_center = distortion.center.to_array();
        self.distortion_multiplier = distortion.multiplier.to_array();
        self.distortion_intensity = distortion.intensity;
        self.distortion_scale = distortion.scale.max(1e-6);
        self.edge_curvature = distortion.edge_curvature;
    }

    /// Limits values as bevy does.
    fn add_vignette(&mut self, vignette: &Vignette) {
        self.vignette_color = vignette.color.to_linear().to_f32_array();
        self.vignette_center = vignette.center.to_array();
        self.vignette_intensity = vignette.intensity.min(1.0);
        self.vignette_radius = vignette.radius.max(1e-6);
        self.vignette_smoothness = vignette.smoothness.max(0.0);
        self.vignette_roundness = vignette.roundness.clamp(1e-6, 2.0 - 1e-6);
        self.edge_compensation = vignette.edge_compensation;
    }
}

/// A camera with lens effects.
struct LensCamera {
    camera: Entity,
    is_hdr: bool,
    push: LensPush,
    /// Index in [`LensLuts`].
    lut: usize,
}

/// Cameras of the frame with lens effects.
#[derive(Resource, Default)]
struct LensCameras(Vec<LensCamera>);

/// LUTs of chromatic aberration: the default one, then those of this frame's cameras.
#[derive(Resource, Default, Deref)]
pub struct LensLuts(Vec<GpuImage>);

/// Pipelines of lens effects.
#[derive(Resource)]
pub struct LensPipelines {
    /// On scene-referred color, of cameras with `Hdr`.
    compute: ComputePipeline,
    /// On display-referred color, whose format few devices can store.
    draw: GraphicsPipeline,
}

/// Creates the pipelines and the default LUT, at the start and after a lost device.
fn init_lens_effects(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let source = include_str!("../../shaders/lens.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/lens.wgsl", source)?;
    let draw = GraphicsPipelineDesc::of("display lens effects", &shader);
    commands.insert_resource(LensPipelines {
        compute: gpu.compute_pipeline(&ComputePipelineDesc::of("lens effects", &shader))?,
        draw: gpu.graphics_pipeline(&draw)?,
    });
    let name = "3d default chromatic aberration lut";
    let lut = gpu.create_image(&ImageDesc::sampled(name, [3, 1], Format::R8G8B8A8_UNORM))?;
    let texels = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]];
    uploads.write_image(&lut, texels.as_flattened());
    commands.insert_resource(LensLuts(vec![lut]));
    Ok(())
}

/// Components of lens effects of a camera.
type LensComponents = (
    Entity,
    Has<Hdr>,
    Option<Ref<'static, ChromaticAberration>>,
    Option<Ref<'static, LensDistortion>>,
    Option<Ref<'static, Vignette>>,
);

/// Filter of cameras with any of them.
type WithLens = (
    With<Camera>,
    Or<(
        With<ChromaticAberration>,
        With<LensDistortion>,
        With<Vignette>,
    )>,
);

/// Lists the cameras with lens effects.
fn list_lens_cameras(
    cameras: Query<LensComponents, WithLens>,
    images: Res<DeviceImages>,
    mut listed: ResMut<EffectCameras>,
    (mut lens_cameras, mut luts): (ResMut<LensCameras>, ResMut<LensLuts>),
    warnings: Res<RateLimitedWarnings>,
) {
    lens_cameras.0.clear();
    luts.0.truncate(1);
    for (camera, is_hdr, aberration, distortion, vignette) in &cameras {
        let mut push = LensPush::zeroed();
        let mut lut = 0;
        if let Some(aberration) = &aberration
            && aberration.is_enabled()
            && let Some(found) = find_lut(aberration, &images, (&mut luts.0, &warnings))
        {
            lut = found;
            push.add_aberration(aberration);
        }
        if let Some(distortion) = distortion.as_ref().filter(|it| it.is_enabled()) {
            push.add_distortion(distortion);
        }
        if let Some(vignette) = vignette.as_ref().filter(|it| it.is_enabled()) {
            push.add_vignette(vignette);
        }
        let invalid = [
            aberration
                .filter(|it| it.is_changed())
                .and_then(|it| it.invalid_field()),
            distortion
                .filter(|it| it.is_changed())
                .and_then(|it| it.invalid_field()),
            vignette
                .filter(|it| it.is_changed())
                .and_then(|it| it.invalid_field()),
        ];
        for value in invalid.into_iter().flatten() {
            let camera = entity_name(camera);
            warnings.warn(format_args!("a lens effect of the camera {camera}"), || {
                value
            });
        }
        if push.draws_nothing() {
            continue;
        }
        listed.add(camera, Some(stage(is_hdr)), false);
        lens_cameras.0.push(LensCamera {
            camera,
            is_hdr,
            push,
            lut,
        });
    }
}

/// Set of the lens effects of a camera with or without `Hdr`.
fn stage(is_hdr: bool) -> Pass3dSystems {
    match is_hdr {
        true => Pass3dSystems::PostProcess,
        false => Pass3dSystems::AfterTonemapping,
    }
}

/// Whether an image is a `texture_2d`.
pub(super) fn is_2d(image: &GpuImage) -> bool {
    let desc = image.desc();
    !desc.cube && desc.array_layers == 1 && desc.extent[2] == 1
}

/// Returns the index of the LUT of a camera, which is added; `None` until it is uploaded.
fn find_lut(
    aberration: &ChromaticAberration,
    images: &DeviceImages,
    (luts, warnings): (&mut Vec<GpuImage>, &RateLimitedWarnings),
) -> Option<usize> {
    let Some(handle) = &aberration.color_lut else {
        return Some(0);
    };
    let image = images.image(handle)?;
    if !is_2d(image) {
        warnings.warn_message(|| {
            let name = image.name();
            format!(
                "chromatic aberration is not drawn: its `color_lut` `{name}` is a cube, an array or a volume. Set a 2D \
                 image."
            )
        });
        return None;
    }
    luts.push(image.clone());
    Some(luts.len() - 1)
}

/// Resources of passes of lens effects.
#[derive(SystemParam)]
pub struct LensParams3d<'w> {
    scene: Res<'w, Scene3d>,
    cameras: Res<'w, LensCameras>,
    luts: AccessList<'w, LensLuts, access_kind::Sampled>,
    pipelines: Res<'w, LensPipelines>,
    shared: Res<'w, Pipelines3d>,
}

impl LensParams3d<'_> {
    /// Records a pass for each view of cameras with or without `Hdr`.
    fn draw(&self, recorder: &mut Recorder, post_process: &mut PostProcess, is_hdr: bool) {
        for view in self.scene.views() {
            let cameras = &self.cameras.0;
            let known = cameras.iter().find(|it| it.camera == view.camera());
            if let Some(camera) = known.filter(|camera| camera.is_hdr == is_hdr) {
                self.draw_view(recorder, post_process, (view, camera));
            }
        }
    }

    fn draw_view(
        &self,
        recorder: &mut Recorder,
        post_process: &mut PostProcess,
        (view, camera): (&View3d, &LensCamera),
    ) {
        let (Some(lut), Some(color)) = (self.luts.get(camera.lut), post_process.write(view)) else {
            return;
        };
        let destination = match camera.is_hdr {
            true => color.storage,
            false => color.destination,
        };
        let uses = [color.source, destination, lut].map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "lens_effects_3d", &uses);
        let (sampler, push) = (
            &self.shared.clamped_sampler,
            bytemuck::bytes_of(&camera.push),
        );
        if camera.is_hdr {
            let [width, height] = view.output_size();
            pass.compute(&self.pipelines.compute)
                .bind("picture", &color.source)
                .bind("color_lut", &lut)
                .sampler("clamped_sampler", sampler)
                .bind("new_picture", &destination)
                .push_bytes(push)
                .dispatch_invocations([width, height, 1]);
        } else {
            pass.render(destination.discard())
                .pipeline(&self.pipelines.draw)
                .bind("picture", &color.source)
                .bind("color_lut", &lut)
                .sampler("clamped_sampler", sampler)
                .push_bytes(push)
                .draw(0..3, 0..1);
        }
    }
}

/// Draws the lens effects of cameras with `Hdr`, on scene-referred color: one pass of the plan for each.
pub fn lens_effects_3d(
    mut recorder: Recorder,
    params: LensParams3d,
    mut post_process: PostProcess,
) {
    params.draw(&mut recorder, &mut post_process, true);
}

/// Draws the lens effects of cameras without `Hdr`, on display-referred color: one pass of the plan for each.
pub fn display_lens_effects_3d(
    mut recorder: Recorder,
    params: LensParams3d,
    mut post_process: PostProcess,
) {
    params.draw(&mut recorder, &mut post_process, false);
}
