//! Full screen materials: bevy's `FullscreenMaterial` by name, as an effect of the camera.

use std::any::type_name;
use std::marker::PhantomData;

use bevy_app::{App, Plugin};
use bevy_asset::{AssetEvent, AssetLoadFailedEvent, AssetServer, Assets, Handle};
use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{ColorAttachment as _, RenderStartup, ShaderValue};
use quadrille::prelude::{
    GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Render, Sampler,
    SamplerDesc,
};
use quadrille::vulkan::shader::{BindingKind, ShaderOptions, ShaderStage};
use quadrille::vulkan::vk;
use quadrille_content::materials::{check_material_output, material_entry_point};
use quadrille_content::shaders::{Shader, ShaderRef, shader_handle};

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectView, EffectViews,
};
use crate::effects::fxaa::fxaa_3d;
use crate::plugin::Quadrille3dPlugin;
use crate::prepare::view_colors::PostProcess;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// An effect of one fragment shader on the color of a camera, drawn where the camera has the component and
/// [`FullscreenMaterialPlugin`] is in the app.
///
/// Names are bevy's. The component is the uniform of the shader; its bindings have fixed numbers in group 0, and any
/// names: the color is 0, its sampler (nearest, clamped) 1, the uniform 2. A [`CameraEffect`] can do more: several passes,
/// images of its own, depth.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use quadrille::prelude::ShaderType;
/// use quadrille_3d::prelude::*;
/// use quadrille_3d::{FullscreenMaterial, FullscreenMaterialPlugin};
///
/// #[derive(Component, ShaderType, Clone, Copy, Default)]
/// struct Vignette {
///     strength: f32,
/// }
///
/// impl FullscreenMaterial for Vignette {
///     fn fragment_shader() -> ShaderRef {
///         "shaders/vignette.wgsl".into()
///     }
/// }
/// # let _: FullscreenMaterialPlugin<Vignette> = Default::default();
/// ```
///
/// ```wgsl
/// import bevy_core_pipeline::fullscreen_vertex_shader::FullscreenVertexOutput;
///
/// struct Vignette { strength: f32 }
///
/// @group(0) @binding(0) var screen: texture_2d<f32>;
/// @group(0) @binding(1) var screen_sampler: sampler;
/// @group(0) @binding(2) var<uniform> vignette: Vignette;
///
/// @fragment
/// fn fragment(in: FullscreenVertexOutput) -> @location(0) vec4f {
///     let from_center = distance(in.uv, vec2f(0.5));
///     let color = textureSample(screen, screen_sampler, in.uv);
///     return vec4f(color.rgb * (1.0 - vignette.strength * from_center), color.a);
/// }
/// ```
///
/// A shader that cannot be used is an error in the log, and the camera is drawn without the effect.
pub trait FullscreenMaterial: Component + ShaderValue + Clone + Copy + Default {
    /// The fragment shader.
    fn fragment_shader() -> ShaderRef;

    /// Set of its pass for cameras with `Hdr`: see [`CameraEffect::STAGE`]. It stands in for bevy's `schedule` and
    /// `schedule_configs`. For other cameras the pass follows tone mapping, since in bevy they have display-referred color
    /// throughout.
    const STAGE: Pass3dSystems = Pass3dSystems::PostProcess;
}

impl<T: FullscreenMaterial> CameraEffect for T {
    type Uniform = T;

    const STAGE: Pass3dSystems = <T as FullscreenMaterial>::STAGE;

    fn stage(is_hdr: bool) -> Pass3dSystems {
        match is_hdr {
            true => <T as FullscreenMaterial>::STAGE,
            false => Pass3dSystems::AfterTonemapping,
        }
    }

    fn uniform(&self, _: &EffectFrame) -> T {
        *self
    }
}

/// Draws an effect. Add it beside [`Quadrille3dPlugin`].
pub struct FullscreenMaterialPlugin<T: FullscreenMaterial>(PhantomData<fn() -> T>);

impl<T: FullscreenMaterial> Default for FullscreenMaterialPlugin<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: FullscreenMaterial> Plugin for FullscreenMaterialPlugin<T> {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<T>::default());
    }

    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<Quadrille3dPlugin>() {
            let name = type_name::<T>();
            tracing::error!(
                "`FullscreenMaterialPlugin<{name}>` draws nothing without `Quadrille3dPlugin`. Add it to the app"
            );
            return;
        }
        let server = app.world().resource::<AssetServer>().clone();
        let handle = shader_handle(T::fragment_shader(), |path| server.load(path));
        app.insert_resource(FullscreenShader::<T>::new(handle))
            .add_systems(RenderStartup, init_device_resources::<T>)
            .add_systems(
                Render,
                (
                    prepare_fullscreen_pipeline::<T>.in_set(Prepare3dSystems::Extract),
                    draw_fullscreen_material::<T>.in_set(<T as FullscreenMaterial>::STAGE),
                    draw_display_fullscreen_material::<T>
                        .in_set(Pass3dSystems::AfterTonemapping)
                        .before(fxaa_3d),
                ),
            );
    }
}

/// Shader and pipeline of an effect.
#[derive(Resource)]
struct FullscreenShader<T> {
    /// `None` is an error that was logged.
    handle: Option<Handle<Shader>>,
    pipeline: Option<GraphicsPipeline>,
    /// Whether the shader is loaded again for a pipeline.
    is_due: bool,
    effect: PhantomData<fn() -> T>,
}

/// Sampler of the color.
#[derive(Resource)]
struct FullscreenSampler<T> {
    sampler: Sampler,
    effect: PhantomData<fn() -> T>,
}

impl<T: FullscreenMaterial> FullscreenShader<T> {
    fn new(handle: Option<Handle<Shader>>) -> Self {
        let shader = Self {
            handle,
            pipeline: None,
            is_due: true,
            effect: PhantomData,
        };
        if shader.handle.is_none() {
            Self::warn("`ShaderRef::Default` is none. Return a shader from `fragment_shader`");
        }
        shader
    }

    fn warn(why: &str) {
        let name = type_name::<T>();
        tracing::error!(
            "cameras are drawn without the full screen material `{name}`, because its shader cannot be used: {why}"
        );
    }

    fn compile(&mut self, gpu: &GpuDevice, shader: &Shader) {
        self.is_due = false;
        match pipeline::<T>(gpu, shader) {
            Ok(pipeline) => self.pipeline = Some(pipeline),
            Err(why) => {
                self.pipeline = None;
                Self::warn(&why);
            }
        }
    }
}

fn pipeline<T: FullscreenMaterial>(
    gpu: &GpuDevice,
    shader: &Shader,
) -> Result<GraphicsPipeline, String> {
    let source = include_str!("../shaders/fullscreen_material.wgsl");
    let vertex = GpuShader::wgsl("quadrille_3d/fullscreen_material.wgsl", source);
    let vertex = vertex.map_err(|error| error.to_string())?;
    let composed =
        ShaderOptions::new().compose(&shader.path, &shader.source, shader.file.as_deref());
    let fragment = composed.and_then(|composed| composed.translate());
    let fragment = fragment.map_err(|error| error.to_string())?;
    check_bindings(&fragment, T::min_size().get())?;
    check_material_output(&fragment)?;
    let entry = material_entry_point(&fragment);
    let name = type_name::<T>();
    let desc = GraphicsPipelineDesc::new(name, (&vertex, ""), (&fragment, entry));
    gpu.graphics_pipeline(&desc)
        .map_err(|error| error.to_string())
}

/// Checks that a shader reads the color, the sampler and a uniform of `bytes`, and nothing else.
fn check_bindings(fragment: &GpuShader, bytes: u64) -> Result<(), String> {
    let entries = fragment.entry_points().iter();
    let entries = entries.filter(|entry| entry.stage == ShaderStage::Fragment);
    for binding in entries.flat_map(|entry| &entry.bindings) {
        let (number, name) = (binding.binding, &binding.name);
        let is_right = match number {
            0 => matches!(binding.kind, BindingKind::SampledImage(_)),
            1 => binding.kind == BindingKind::Sampler,
            2 => binding.kind == BindingKind::UniformBuffer,
            _ => false,
        };
        if !is_right {
            return Err(format!(
                "it reads `{name}` at binding {number}; full screen materials have a `texture_2d<f32>` at 0, a `sampler` at 1 and \
                 a `var<uniform>` at 2. Write a `CameraEffect` for other resources"
            ));
        }
        if number == 2 && binding.least_bytes > bytes {
            return Err(format!(
                "its uniform `{name}` has {} bytes, and the component {bytes}. Give both the same fields in the same order",
                binding.least_bytes
            ));
        }
    }
    Ok(())
}

/// Creates the sampler, and drops the pipeline of a lost device.
fn init_device_resources<T: FullscreenMaterial>(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut shader: ResMut<FullscreenShader<T>>,
) -> Result {
    // As bevy's `SamplerDescriptor::default()`.
    let sampler = gpu.create_sampler(&SamplerDesc {
        name: "full screen material".to_owned(),
        address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
        ..SamplerDesc::nearest()
    })?;
    commands.insert_resource(FullscreenSampler::<T> {
        sampler,
        effect: PhantomData,
    });
    shader.pipeline = None;
    shader.is_due = true;
    Ok(())
}

/// Makes a pipeline of a shader that was loaded or changed.
fn prepare_fullscreen_pipeline<T: FullscreenMaterial>(
    mut state: ResMut<FullscreenShader<T>>,
    shaders: Res<Assets<Shader>>,
    mut events: MessageReader<AssetEvent<Shader>>,
    mut failures: MessageReader<AssetLoadFailedEvent<Shader>>,
    gpu: Res<GpuDevice>,
) {
    let Some(handle) = state.handle.clone() else {
        return;
    };
    let is_it = |event: &AssetEvent<Shader>| event.is_added(&handle) || event.is_modified(&handle);
    let is_changed = events.read().filter(|event| is_it(event)).count() > 0;
    let failures = failures.read().filter(|failure| failure.id == handle.id());
    if let Some(failure) = failures.last() {
        FullscreenShader::<T>::warn(&failure.error.to_string());
    }
    if let Some(shader) = shaders.get(&handle)
        && (state.is_due || is_changed)
    {
        state.compile(&gpu, shader);
    }
}

/// Resources of passes of an effect.
#[derive(SystemParam)]
struct FullscreenParams<'w, 's, T: FullscreenMaterial> {
    effects: EffectViews<'w, T>,
    shader: Res<'w, FullscreenShader<T>>,
    sampler: Res<'w, FullscreenSampler<T>>,
    cameras: Query<'w, 's, Has<Hdr>>,
}

impl<T: FullscreenMaterial> FullscreenParams<'_, '_, T> {
    /// Records a pass for each view of cameras with or without `Hdr`.
    fn draw(&self, recorder: &mut Recorder, post_process: &mut PostProcess, is_hdr: bool) {
        let Some(pipeline) = &self.shader.pipeline else {
            return;
        };
        for view in self.effects.iter() {
            if self.cameras.get(view.camera()) == Ok(is_hdr) {
                self.draw_view(recorder, post_process, (&view, pipeline));
            }
        }
    }

    fn draw_view(
        &self,
        recorder: &mut Recorder,
        post_process: &mut PostProcess,
        (view, pipeline): (&EffectView, &GraphicsPipeline),
    ) {
        let Some(color) = post_process.write(view) else {
            return;
        };
        let uniforms = self.effects.uniforms();
        let uses = [color.source, color.destination, uniforms.any()];
        let uses = uses.map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "fullscreen_material", &uses);
        let mut rendering = pass.render(color.destination.discard());
        rendering.pipeline(pipeline);
        if rendering.uses(0) {
            rendering.bind(0, &color.source);
        }
        if rendering.uses(1) {
            rendering.sampler(1, &self.sampler.sampler);
        }
        if rendering.uses(2) {
            rendering.bind_bytes(2, uniforms, view.uniform_bytes());
        }
        rendering.draw(0..3, 0..1);
    }
}

/// Draws the effect in each view whose camera has the component and `Hdr`.
fn draw_fullscreen_material<T: FullscreenMaterial>(
    mut recorder: Recorder,
    params: FullscreenParams<T>,
    mut post_process: PostProcess,
) {
    params.draw(&mut recorder, &mut post_process, true);
}

/// Draws the effect in each view whose camera has the component, and not `Hdr`.
fn draw_display_fullscreen_material<T: FullscreenMaterial>(
    mut recorder: Recorder,
    params: FullscreenParams<T>,
    mut post_process: PostProcess,
) {
    params.draw(&mut recorder, &mut post_process, false);
}

#[cfg(test)]
mod tests;
