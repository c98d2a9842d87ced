//! Bloom of cameras: a mip chain that is filtered down and up again (Jimenez 2014).

mod component;

use bevy_app::{App, Plugin};
use bevy_camera::{Camera3d, Hdr};
use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec4};
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, AnyAccess, DeclaredView, ResourceRef, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, ImageUsage, Recorder, Render,
    RenderStartup, Sampler, SamplerDesc, ShaderType,
};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::{Format, vk};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

pub use component::{Bloom, BloomCompositeMode, BloomPrefilter, UnweightedBloom};

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectView,
    EffectViews,
};
use crate::prepare::view_colors::{PostProcess, PostProcessWrite};
use crate::schedule::Prepare3dSystems;

/// Adds bloom.
pub(crate) struct BloomPlugin;

impl Plugin for BloomPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<Bloom>::default())
            .register_type::<Bloom>()
            .register_type::<UnweightedBloom>()
            .add_systems(RenderStartup, init_bloom)
            .add_systems(
                Render,
                (
                    warn_of_missing_hdr.in_set(Prepare3dSystems::Extract),
                    bloom_3d.in_set(Bloom::STAGE),
                ),
            );
    }
}

/// Uniform of the downsampling shaders.
#[derive(ShaderType)]
pub struct BloomUniform {
    /// Threshold, lower end of its knee, width of the knee, 1 / (2 * width).
    threshold: Vec4,
    /// Factors of the kernel's size.
    scale: Vec2,
}

impl CameraEffect for Bloom {
    type Uniform = BloomUniform;

    fn is_enabled(&self, is_hdr: bool) -> bool {
        is_hdr && self.intensity != 0.0
    }

    fn invalid_setting(&self) -> Option<String> {
        let prefilter = &self.prefilter;
        let fields: [(&str, &[f32]); 7] = [
            ("intensity", &[self.intensity]),
            ("low_frequency_boost", &[self.low_frequency_boost]),
            (
                "low_frequency_boost_curvature",
                &[self.low_frequency_boost_curvature],
            ),
            ("high_pass_frequency", &[self.high_pass_frequency]),
            ("prefilter.threshold", &[prefilter.threshold]),
            (
                "prefilter.threshold_softness",
                &[prefilter.threshold_softness],
            ),
            ("scale", &self.scale.to_array()),
        ];
        let is_finite = fields.iter().all(|(_, numbers)| is_finite(numbers));
        (!is_finite).then(|| first_non_finite(&fields))
    }

    fn uniform(&self, _: &EffectFrame) -> BloomUniform {
        let threshold = self.prefilter.threshold;
        let knee = threshold * self.prefilter.threshold_softness.clamp(0.0, 1.0);
        let curve = 0.25 / (knee + 1e-5);
        BloomUniform {
            threshold: Vec4::new(threshold, threshold - knee, 2.0 * knee, curve),
            scale: self.scale,
        }
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        let image = EffectImage::new("bloom", Format::R16G16B16A16_SFLOAT);
        let height = self.max_mip_dimension.max(1);
        let image = image.height(height).mips(self.levels());
        images.push(image.usage(ImageUsage::STORAGE));
    }
}

/// Cameras without `Hdr` whose bloom changed.
type ChangedBloom = (Changed<Bloom>, With<Camera3d>, Without<Hdr>);

/// Warns of bloom that is not drawn for lack of `Hdr`, when it is inserted or changed.
fn warn_of_missing_hdr(cameras: Query<Entity, ChangedBloom>, warnings: Res<RateLimitedWarnings>) {
    for camera in &cameras {
        warnings.warn_message(|| {
            let camera = entity_name(camera);
            format!("the camera {camera} has Bloom, but no Hdr, so it has no bloom. Add Hdr.")
        });
    }
}

/// Pipelines of [`bloom_3d`].
#[derive(Resource)]
pub struct BloomPipelines {
    downsample_first: ComputePipeline,
    downsample: ComputePipeline,
    upsample: ComputePipeline,
    composite: ComputePipeline,
    sampler: Sampler,
}

impl BloomPipelines {
    fn new(gpu: &GpuDevice) -> Result<Self> {
        let source = include_str!("../../shaders/bloom.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/bloom.wgsl", source)?;
        let pipeline = |name, entry| {
            gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader).entry(entry))
        };
        Ok(Self {
            downsample_first: pipeline("bloom first", "downsample_first")?,
            downsample: pipeline("bloom down", "downsample")?,
            upsample: pipeline("bloom up", "upsample")?,
            composite: pipeline("bloom composite", "composite")?,
            // A mirrored picture keeps the sum of light at its edges, a clamped one does not.
            sampler: gpu.create_sampler(&SamplerDesc {
                name: "bloom".to_owned(),
                address: vk::SamplerAddressMode::MIRRORED_REPEAT,
                ..SamplerDesc::linear()
            })?,
        })
    }
}

fn init_bloom(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(BloomPipelines::new(&gpu)?);
    Ok(())
}

/// Push constants of the shaders of [`bloom_3d`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/bloom.wgsl", "Push")]
pub(crate) struct BloomPush {
    /// Factor of the blurred image.
    factor: f32,
    /// Factor of the picture, or of the level that is blended with the next one.
    picture_factor: f32,
    /// Factor of luminance in the weights of the first downsampling.
    luminance_weight: f32,
}

/// The image of the mip chain, to sample, to write and to blend with, by [`bloom_3d`].
type Chain<'w> = (
    AccessList<'w, EffectImages<Bloom>, access_kind::Sampled>,
    AccessList<'w, EffectImages<Bloom>, access_kind::StorageWrite>,
    AccessList<'w, EffectImages<Bloom>, access_kind::StorageReadWrite>,
);

/// Computes bloom: passes of the plan for each view with [`Bloom`], one for each level of its mip chain down and up again,
/// the last of which writes the color of the view.
pub fn bloom_3d(
    mut recorder: Recorder,
    effects: EffectViews<Bloom>,
    (sampled, written, blended): Chain,
    mut post_process: PostProcess,
    cameras: Query<(&Bloom, Has<UnweightedBloom>)>,
    pipelines: Res<BloomPipelines>,
) {
    for view in effects.iter() {
        let at = view.image(0);
        let (Ok((bloom, is_unweighted)), Some(from), Some(to), Some(blended)) = (
            cameras.get(view.camera()),
            at.and_then(|at| sampled.get(at)),
            at.and_then(|at| written.get(at)),
            at.and_then(|at| blended.get(at)),
        ) else {
            continue;
        };
        let ResourceRef::Image(image) = from.resource() else {
            continue;
        };
        let [width, height, _] = image.extent();
        let Some(color) = post_process.write(&view) else {
            continue;
        };
        let mut passes = BloomPasses {
            recorder: &mut recorder,
            effects: &effects,
            view: &view,
            sampler: &pipelines.sampler,
            levels: bloom.levels(),
            size: [width, height],
        };
        let weight = if is_unweighted { 0.0 } else { 0.25 };
        passes.downsample(&pipelines, (color.source, &from, &to), weight);
        passes.upsample(&pipelines, (&from, &blended), bloom);
        passes.composite(&pipelines, (color, &from), bloom);
    }
}

/// Recorder of the passes of one view.
struct BloomPasses<'a, 'w, 's> {
    recorder: &'a mut Recorder<'w, 's>,
    effects: &'a EffectViews<'a, Bloom>,
    view: &'a EffectView<'a>,
    sampler: &'a Sampler,
    levels: u32,
    /// Width and height of the first level.
    size: [u32; 2],
}

impl BloomPasses<'_, '_, '_> {
    /// Records a pass that computes a level from another one, or from the picture. `target`: the level by the name of its
    /// binding.
    fn compute(
        &mut self,
        (pipeline, push): (&ComputePipeline, BloomPush),
        source: DeclaredView<'_>,
        (binding, target): (&'static str, DeclaredView<'_>),
        level: u32,
    ) {
        let (uniforms, size) = (self.effects.uniforms(), self.size_of(level));
        let uses = [
            source.as_declared(),
            target.as_declared(),
            uniforms.any().as_declared(),
        ];
        let mut pass = self
            .recorder
            .pass_in_step(self.view.step(), "bloom_3d", &uses);
        pass.compute(pipeline)
            .bind("blurred", &source)
            .sampler("blurred_sampler", self.sampler)
            .bind_bytes("bloom", uniforms, self.view.uniform_bytes())
            .bind(binding, &target)
            .push_bytes(bytemuck::bytes_of(&push))
            .dispatch_invocations(size);
    }

    /// Width, height and depth of a level.
    fn size_of(&self, level: u32) -> [u32; 3] {
        let [width, height] = self.size.map(|side| (side >> level).max(1));
        [width, height, 1]
    }

    /// Computes each level from the previous one, and the first from the picture.
    fn downsample(
        &mut self,
        pipelines: &BloomPipelines,
        (picture, from, to): (AnyAccess<'_>, &AnyAccess<'_>, &AnyAccess<'_>),
        luminance_weight: f32,
    ) {
        let push = BloomPush {
            luminance_weight,
            ..BloomPush::zeroed()
        };
        for level in 0..self.levels {
            let (pipeline, source) = match level.checked_sub(1) {
                None => (&pipelines.downsample_first, picture.mip(0)),
                Some(previous) => (&pipelines.downsample, from.mip(previous)),
            };
            self.compute((pipeline, push), source, ("level", to.mip(level)), level);
        }
    }

    /// Blends each level with the next one, from the smallest on.
    fn upsample(
        &mut self,
        pipelines: &BloomPipelines,
        (from, blended): (&AnyAccess<'_>, &AnyAccess<'_>),
        bloom: &Bloom,
    ) {
        for level in (1..self.levels).rev() {
            let push = bloom_push(bloom, level, self.levels);
            let target = blended.mip(level - 1);
            self.compute(
                (&pipelines.upsample, push),
                from.mip(level),
                ("blended", target),
                level - 1,
            );
        }
    }

    /// Combines the picture with the first level.
    fn composite(
        &mut self,
        pipelines: &BloomPipelines,
        (color, blurred): (PostProcessWrite<'_>, &AnyAccess<'_>),
        bloom: &Bloom,
    ) {
        let push = bloom_push(bloom, 0, self.levels);
        let blurred = blurred.mip(0);
        let uses = [
            color.source.as_declared(),
            color.storage.as_declared(),
            blurred.as_declared(),
            self.effects.uniforms().any().as_declared(),
        ];
        let mut pass = self
            .recorder
            .pass_in_step(self.view.step(), "bloom_3d", &uses);
        let [width, height] = self.view.output_size();
        pass.compute(&pipelines.composite)
            .bind("picture", &color.source)
            .bind("blurred", &blurred)
            .sampler("blurred_sampler", self.sampler)
            .bind_bytes("bloom", self.effects.uniforms(), self.view.uniform_bytes())
            .bind("level", &color.storage)
            .push_bytes(bytemuck::bytes_of(&push))
            .dispatch_invocations([width, height, 1]);
    }
}

/// Factors of a level of `levels`, and of the sharper one or the picture that it is blended with.
fn bloom_push(bloom: &Bloom, level: u32, levels: u32) -> BloomPush {
    let factor = bloom.blend_factor(level, levels - 1);
    BloomPush {
        factor,
        picture_factor: match bloom.composite_mode {
            BloomCompositeMode::EnergyConserving => 1.0 - factor,
            BloomCompositeMode::Additive => 1.0,
        },
        ..BloomPush::zeroed()
    }
}

#[cfg(test)]
mod tests;
