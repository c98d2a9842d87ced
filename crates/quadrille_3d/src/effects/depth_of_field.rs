//! Depth of field of cameras, before tone mapping.

use bevy_app::{App, Plugin};
use bevy_camera::{Camera3d, PhysicalCameraParameters, Projection};
use bevy_ecs::prelude::*;
use bevy_math::{UVec2, Vec2};
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::ecs::{AccessList, Uniform, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, ImageUsage, Recorder, Render,
    RenderStartup, ShaderType,
};
use quadrille::vulkan::Format;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectViews,
    ViewTransforms3d,
};
use crate::effects::bloom::bloom_3d;
use crate::effects::lens::lens_effects_3d;
use crate::pipelines::Pipelines3d;
use crate::prepare::targets::SceneDepths;
use crate::prepare::view_colors::PostProcess;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds depth of field.
pub(crate) struct DepthOfFieldPlugin;

impl Plugin for DepthOfFieldPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<DepthOfField>::default())
            .register_type::<DepthOfField>()
            .add_systems(RenderStartup, init_depth_of_field)
            .add_systems(
                Render,
                (
                    warn_of_orthographic_projections.in_set(Prepare3dSystems::Extract),
                    depth_of_field_3d
                        .in_set(DepthOfField::STAGE)
                        .after(bloom_3d)
                        .before(lens_effects_3d),
                ),
            );
    }
}

/// Returns the focal length in meters of a sensor of this height, also in meters, with a vertical field of view in radians. By
/// bevy's name.
///
/// ```
/// // A sensor of 18.66 mm that sees a right angle.
/// let focal_length = quadrille_3d::calculate_focal_length(0.01866, std::f32::consts::FRAC_PI_2);
/// assert!((focal_length - 0.00933).abs() < 1e-6);
/// ```
pub fn calculate_focal_length(sensor_height: f32, fov: f32) -> f32 {
    0.5 * sensor_height / (0.5 * fov).tan()
}

/// Depth of field of a 3D camera, with the fields and defaults of bevy's component: blur of surfaces that are not at the
/// focal distance of a thin lens.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct DepthOfField {
    /// Shape of the blur.
    pub mode: DepthOfFieldMode,
    /// Distance that is in focus, in meters.
    pub focal_distance: f32,
    /// Height of the sensor in meters. With the field of view it gives the focal length. 18.66 mm (Super 35) by default.
    pub sensor_height: f32,
    /// F-number: focal length by diameter of the aperture. Smaller is blurrier.
    pub aperture_f_stops: f32,
    /// Largest diameter of a circle of confusion, in pixels; above 256 as 256, since the cost of a pixel grows with it.
    pub max_circle_of_confusion_diameter: f32,
    /// Distance in meters that farther surfaces and the background are blurred as.
    pub max_depth: f32,
}

impl DepthOfField {
    /// Depth of field with the aperture and sensor of a physical camera.
    pub fn from_physical_camera(camera: &PhysicalCameraParameters) -> Self {
        Self {
            mode: DepthOfFieldMode::default(),
            focal_distance: 10.0,
            sensor_height: camera.sensor_height,
            aperture_f_stops: camera.aperture_f_stops,
            max_circle_of_confusion_diameter: 64.0,
            max_depth: f32::INFINITY,
        }
    }
}

impl Default for DepthOfField {
    fn default() -> Self {
        Self::from_physical_camera(&PhysicalCameraParameters::default())
    }
}

/// Shape of the blur of [`DepthOfField`], with the variants of bevy's type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum DepthOfFieldMode {
    /// Disks, in one pass of 64 samples.
    Bokeh,
    /// Gaussian blur of the same variance, in two passes.
    #[default]
    Gaussian,
}

/// Upper bound of diameters, in pixels.
const MAX_DIAMETER: f32 = 256.0;

/// Uniform of the shader.
#[derive(ShaderType)]
pub struct LensUniform {
    focal_distance: f32,
    sensor_height: f32,
    aperture_f_stops: f32,
    max_diameter: f32,
    inverse_max_depth: f32,
    picture_size: Vec2,
}

impl CameraEffect for DepthOfField {
    type Uniform = LensUniform;

    const STAGE: Pass3dSystems = Pass3dSystems::PostProcess;

    fn invalid_setting(&self) -> Option<String> {
        let fields = [
            ("focal_distance", self.focal_distance),
            ("sensor_height", self.sensor_height),
            ("aperture_f_stops", self.aperture_f_stops),
            (
                "max_circle_of_confusion_diameter",
                self.max_circle_of_confusion_diameter,
            ),
            ("max_depth", self.max_depth),
        ];
        let is_valid =
            |field: &str, value: f32| value > 0.0 && (value.is_finite() || field == "max_depth");
        let (field, value) = fields
            .into_iter()
            .find(|(field, value)| !is_valid(field, *value))?;
        Some(format!("its `{field}` is {value}. Set a positive number."))
    }

    fn uniform(&self, frame: &EffectFrame) -> LensUniform {
        LensUniform {
            focal_distance: self.focal_distance,
            sensor_height: self.sensor_height,
            aperture_f_stops: self.aperture_f_stops,
            max_diameter: self.max_circle_of_confusion_diameter.min(MAX_DIAMETER),
            inverse_max_depth: self.max_depth.recip(),
            picture_size: UVec2::from(frame.size).as_vec2(),
        }
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        // Not all devices store images of 16 bits.
        let diameters = EffectImage::new("3d circles of confusion", Format::R32_SFLOAT);
        images.push(diameters.usage(ImageUsage::STORAGE));
    }
}

/// Cameras whose lens or projection changed.
type ChangedLens = (
    With<Camera3d>,
    With<DepthOfField>,
    Or<(Changed<DepthOfField>, Changed<Projection>)>,
);

/// Warns of projections without a lens, when they are set.
fn warn_of_orthographic_projections(
    cameras: Query<(Entity, &Projection), ChangedLens>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (camera, projection) in &cameras {
        if matches!(projection, Projection::Orthographic(_)) {
            warnings.warn_message(|| {
                let camera = entity_name(camera);
                format!(
                    "the camera {camera} has no depth of field: its projection is orthographic. Set a perspective \
                     projection, or remove `DepthOfField`."
                )
            });
        }
    }
}

/// Pipelines of [`depth_of_field_3d`].
#[derive(Resource)]
pub struct DepthOfFieldPipelines {
    /// Diameters from depths with one sample, and with several.
    diameters: [ComputePipeline; 2],
    gaussian: [ComputePipeline; 2],
    bokeh: [ComputePipeline; 1],
}

fn init_depth_of_field(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/depth_of_field.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/depth_of_field.wgsl", source)?;
    let pipeline =
        |name, entry| gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader).entry(entry));
    commands.insert_resource(DepthOfFieldPipelines {
        diameters: [
            pipeline("circles of confusion", "diameter_main")?,
            pipeline(
                "circles of confusion multisampled",
                "multisampled_diameter_main",
            )?,
        ],
        gaussian: [
            pipeline("depth of field horizontal", "horizontal_main")?,
            pipeline("depth of field vertical", "vertical_main")?,
        ],
        bokeh: [pipeline("depth of field bokeh", "bokeh_main")?],
    });
    Ok(())
}

/// The image of diameters, to sample and to write.
type Diameters<'w> = (
    AccessList<'w, EffectImages<DepthOfField>, access_kind::Sampled>,
    AccessList<'w, EffectImages<DepthOfField>, access_kind::StorageWrite>,
);

/// Computes depth of field: for each view with [`DepthOfField`] a pass of diameters of circles of confusion, then the blur in
/// one or two passes.
pub fn depth_of_field_3d(
    mut recorder: Recorder,
    (effects, transforms): (EffectViews<DepthOfField>, Uniform<ViewTransforms3d>),
    depths: AccessList<SceneDepths, access_kind::Sampled>,
    (sampled, written): Diameters,
    mut post_process: PostProcess,
    cameras: Query<&DepthOfField>,
    (pipelines, shared): (Res<DepthOfFieldPipelines>, Res<Pipelines3d>),
) {
    for view in effects.iter() {
        let at = view.image(0);
        let (Ok(lens), Some(depth), Some(from), Some(to)) = (
            cameras.get(view.camera()),
            depths.get(view.images()),
            at.and_then(|at| sampled.get(at)),
            at.and_then(|at| written.get(at)),
        ) else {
            continue;
        };
        let (pipeline, binding) = match view.samples() {
            1 => (&pipelines.diameters[0], "depths"),
            _ => (&pipelines.diameters[1], "multisampled_depths"),
        };
        let [width, height] = view.output_size();
        let uses = [depth, to, effects.uniforms().any(), transforms.any()];
        recorder
            .pass_in_step(
                view.step(),
                "depth_of_field_3d",
                &uses.map(|used| used.as_declared()),
            )
            .compute(pipeline)
            .bind(binding, &depth)
            .bind("new_diameters", &to)
            .bind_bytes("lens", effects.uniforms(), view.uniform_bytes())
            .bind_bytes("view", &transforms, view.transforms_bytes())
            .dispatch_invocations([width, height, 1]);
        let blurs: &[ComputePipeline] = match lens.mode {
            DepthOfFieldMode::Gaussian => &pipelines.gaussian,
            DepthOfFieldMode::Bokeh => &pipelines.bokeh,
        };
        for blur in blurs {
            let Some(color) = post_process.write(&view) else {
                break;
            };
            let uses = [color.source, color.storage, from].map(|used| used.as_declared());
            let mut pass = recorder.pass_in_step(view.step(), "depth_of_field_3d", &uses);
            let mut compute = pass.compute(blur);
            compute
                .bind("picture", &color.source)
                .bind("diameters", &from)
                .bind("new_picture", &color.storage);
            if lens.mode == DepthOfFieldMode::Bokeh {
                compute.sampler("picture_sampler", &shared.clamped_sampler);
            }
            compute.dispatch_invocations([width, height, 1]);
        }
    }
}
