//! Effects of cameras: images with history, order, sizes, and what is left out without the component.

use bevy_app::App;
use bevy_camera::{OrthographicProjection, Projection, ScalingMode};
use bevy_ecs::prelude::*;
use bevy_math::UVec2;
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille_2d::prelude::{Camera2d, Quadrille2dPlugin, Sprite};
use quadrille_3d::prelude::*;
use quadrille_3d::resources::SceneColors;
use quadrille_3d::{
    CameraCut, CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages,
    EffectView, EffectViews, Pass3dSystems, PostProcess,
};

use crate::common::{EXACT, Rig};

/// `destination = source * scale + offset`. `N` distinguishes effects: 1 is computed and not drawn, 2 is after tone mapping.
#[derive(Component, Clone, Copy)]
pub(crate) struct Affine<const N: u8> {
    pub(crate) scale: f32,
    pub(crate) offset: f32,
}

/// Keeps an image of a fraction of the view's size: red is half of its previous value plus 1, green counts frames, and
/// alpha is the index of the first frame. The view shows red, green, and in blue the number of frames since the first.
#[derive(Component, Clone, Copy)]
struct Accumulate {
    divisor: u32,
}

#[derive(ShaderType)]
pub(crate) struct Params {
    scale: f32,
    offset: f32,
    history_is_valid: u32,
    frame: u32,
}

impl<const N: u8> CameraEffect for Affine<N> {
    type Uniform = Params;

    const STAGE: Pass3dSystems = match N {
        2 => Pass3dSystems::AfterTonemapping,
        _ => Pass3dSystems::PostProcess,
    };

    fn uniform(&self, frame: &EffectFrame) -> Params {
        Params {
            scale: self.scale,
            offset: self.offset,
            history_is_valid: u32::from(frame.history_is_valid),
            frame: 0,
        }
    }
}

impl CameraEffect for Accumulate {
    type Uniform = Params;

    fn uniform(&self, frame: &EffectFrame) -> Params {
        Params {
            scale: 0.5,
            offset: 0.0,
            history_is_valid: u32::from(frame.history_is_valid),
            frame: frame.index,
        }
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        let image = EffectImage::new("accumulated", Format::R32G32B32A32_SFLOAT);
        images.push(image.divided(self.divisor).history());
    }
}

const SHADER: &str = "
    struct Params { scale: f32, offset: f32, history_is_valid: u32, frame: u32 }

    @group(0) @binding(0) var source: texture_2d<f32>;
    @group(0) @binding(1) var<uniform> params: Params;
    @group(0) @binding(2) var history: texture_2d<f32>;
    @group(0) @binding(3) var destination: texture_storage_2d<rgba16float, write>;

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    @fragment fn affine(@builtin(position) position: vec4f) -> @location(0) vec4f {
        let color = textureLoad(source, vec2i(position.xy), 0);
        return vec4f(color.rgb * params.scale + params.offset, 1.0);
    }

    @compute @workgroup_size(8, 8) fn computed_affine(@builtin(global_invocation_id) at: vec3u) {
        if all(at.xy < textureDimensions(destination)) {
            let color = textureLoad(source, at.xy, 0);
            textureStore(destination, at.xy, vec4f(color.rgb * params.scale + params.offset, 1.0));
        }
    }

    @fragment fn accumulate(@builtin(position) position: vec4f) -> @location(0) vec4f {
        let ratio = vec2f(textureDimensions(source)) / vec2f(textureDimensions(history));
        let color = textureLoad(source, vec2i(position.xy * ratio), 0);
        let previous = textureLoad(history, vec2i(position.xy), 0);
        if params.history_is_valid == 0u {
            return vec4f(color.r, 1.0, 0.0, f32(params.frame));
        }
        return vec4f(previous.r * params.scale + 1.0, previous.g + 1.0, 0.0, previous.a);
    }

    @fragment fn show(@builtin(position) position: vec4f) -> @location(0) vec4f {
        let ratio = vec2f(textureDimensions(source)) / vec2f(textureDimensions(history));
        let now = textureLoad(history, vec2i(position.xy / ratio), 0);
        return vec4f(now.rg, f32(params.frame) - now.a + 1.0, 1.0);
    }";

#[derive(Resource)]
pub(crate) struct Pipelines {
    affine: GraphicsPipeline,
    computed_affine: ComputePipeline,
    accumulate: GraphicsPipeline,
    show: GraphicsPipeline,
}

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("effects.wgsl", SHADER)?;
    let pipeline = |name, entry| {
        let desc = GraphicsPipelineDesc::new(name, (&shader, "vertex_main"), (&shader, entry));
        gpu.graphics_pipeline(&desc)
    };
    commands.insert_resource(Pipelines {
        affine: pipeline("affine", "affine")?,
        computed_affine: gpu
            .compute_pipeline(&ComputePipelineDesc::of("computed affine", &shader))?,
        accumulate: pipeline("accumulate", "accumulate")?,
        show: pipeline("show", "show")?,
    });
    Ok(())
}

pub(crate) fn affine<const N: u8>(
    mut recorder: Recorder,
    effects: EffectViews<Affine<N>>,
    mut post_process: PostProcess,
    pipelines: Res<Pipelines>,
) {
    for view in effects.iter() {
        let Some(color) = post_process.write(&view) else {
            continue;
        };
        let destination = if N == 1 {
            color.storage
        } else {
            color.destination
        };
        let uses = [color.source, destination, effects.uniforms().any()];
        let uses = uses.map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "affine", &uses);
        if N == 1 {
            let [width, height] = view.output_size();
            pass.compute(&pipelines.computed_affine)
                .bind("source", &color.source)
                .bind("destination", &destination)
                .bind_bytes("params", effects.uniforms(), view.uniform_bytes())
                .dispatch_invocations([width, height, 1]);
            continue;
        }
        pass.render(color.destination.discard())
            .pipeline(&pipelines.affine)
            .bind("source", &color.source)
            .bind_bytes("params", effects.uniforms(), view.uniform_bytes())
            .draw(0..3, 0..1);
    }
}

fn accumulate(
    mut recorder: Recorder,
    effects: EffectViews<Accumulate>,
    (sampled, written): (
        AccessList<EffectImages<Accumulate>, access_kind::Sampled>,
        AccessList<EffectImages<Accumulate>, access_kind::ColorTarget>,
    ),
    mut post_process: PostProcess,
    pipelines: Res<Pipelines>,
) {
    let get = |view: &EffectView<'_>| {
        let (current, previous) = (view.image(0)?, view.previous(0)?);
        Some([
            sampled.get(current)?,
            written.get(current)?,
            sampled.get(previous)?,
        ])
    };
    for view in effects.iter() {
        let (Some([shown, current, previous]), Some(color)) =
            (get(&view), post_process.write(&view))
        else {
            continue;
        };
        let params = effects.uniforms().any();
        let uses = [color.source, current, previous, params].map(|used| used.as_declared());
        recorder
            .pass_in_step(view.step(), "accumulate", &uses)
            .render(current.discard())
            .pipeline(&pipelines.accumulate)
            .bind("source", &color.source)
            .bind("history", &previous)
            .bind_bytes("params", effects.uniforms(), view.uniform_bytes())
            .draw(0..3, 0..1);
        let uses = [color.source, color.destination, shown, params];
        let uses = uses.map(|used| used.as_declared());
        recorder
            .pass_in_step(view.step(), "show", &uses)
            .render(color.destination.discard())
            .pipeline(&pipelines.show)
            .bind("source", &color.source)
            .bind("history", &shown)
            .bind_bytes("params", effects.uniforms(), view.uniform_bytes())
            .draw(0..3, 0..1);
    }
}

fn add(app: &mut App) {
    app.add_plugins((
        Quadrille2dPlugin::default(),
        CameraEffectPlugin::<Affine<0>>::default(),
        CameraEffectPlugin::<Affine<1>>::default(),
        CameraEffectPlugin::<Affine<2>>::default(),
        CameraEffectPlugin::<Accumulate>::default(),
    ))
    .add_systems(RenderStartup, make)
    .add_systems(
        Render,
        (
            accumulate.in_set(Pass3dSystems::EarlyPostProcess),
            (affine::<0>, affine::<1>)
                .chain()
                .in_set(Pass3dSystems::PostProcess),
            affine::<2>.in_set(Affine::<2>::STAGE),
        ),
    );
}

/// A window of 32 x 16 pixels with a world that is filled directly.
pub(crate) fn rig(fill: impl FnOnce(&mut World)) -> Rig {
    let mut rig = Rig::new(32, 16);
    add(&mut rig.app);
    rig.start();
    fill(rig.app.world_mut());
    rig
}

/// A camera of one layer, whose picture has a single linear value that tone mapping does not change.
pub(crate) fn camera(world: &mut World, layer: usize, value: f32, msaa: Msaa) -> Entity {
    let mesh = Rectangle::new(100.0, 100.0);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(value, value, value))
    };
    let materials = &mut world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(material);
    let layers = RenderLayers::layer(layer);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), layers.clone()));
    let camera = Camera {
        order: layer as isize,
        ..Camera::default()
    };
    let eye = Transform::from_xyz(0.0, 0.0, 5.0);
    let kind = (Camera3d::default(), Tonemapping::None, camera);
    let camera = (kind, RenderTarget::TextureView(EXACT), msaa, eye, layers);
    world.spawn(camera).id()
}

/// A camera over black whose view of `side` x `side` pixels has one unit per pixel, with the origin in the middle.
pub(crate) fn pixel_camera(side: u32) -> impl Bundle {
    let scaling_mode = ScalingMode::Fixed {
        width: side as f32,
        height: side as f32,
    };
    (
        Camera3d::default(),
        Projection::from(OrthographicProjection {
            scaling_mode,
            ..OrthographicProjection::default_3d()
        }),
        Camera {
            clear_color: ClearColorConfig::Custom(Color::BLACK),
            ..Camera::default()
        },
        (Tonemapping::None, Msaa::Off),
        RenderTarget::TextureView(EXACT),
        Transform::from_xyz(0.0, 0.0, 5.0),
    )
}

pub(crate) fn set_viewport(rig: &mut Rig, camera: Entity, [left, top, width, height]: [u32; 4]) {
    let mut camera = rig.app.world_mut().entity_mut(camera);
    let mut camera = camera.get_mut::<Camera>().expect("a camera");
    camera.viewport = Some(Viewport {
        physical_position: UVec2::new(left, top),
        physical_size: UVec2::new(width, height),
        ..Viewport::default()
    });
}

pub(crate) fn expect_close(value: f32, expected: f32) {
    assert!((value - expected).abs() < 2e-3, "{value}, not {expected}");
}

/// Checks the history at a pixel, from its first value on, and returns its number of frames.
fn expect_history(rig: &mut Rig, [x, y]: [u32; 2], first: f32) -> f32 {
    let [value, count, frames, _] = rig.exactly(x, y);
    assert!(
        count == frames,
        "{count} of {frames} frames found the one before"
    );
    expect_close(value, 2.0 - (2.0 - first) * 0.5_f32.powf(count - 1.0));
    count
}

pub(crate) fn extents<E: CameraEffect>(rig: &Rig) -> Vec<[u32; 3]> {
    let images = rig.app.world().resource::<EffectImages<E>>();
    images.iter().map(GpuImage::extent).collect()
}

const HALF: Accumulate = Accumulate { divisor: 2 };

#[test]
#[ignore = "needs a device"]
fn history_is_the_frame_before_and_ends_with_cut_resize_and_removal() {
    let mut eye = Entity::PLACEHOLDER;
    let mut rig = rig(|world| {
        eye = camera(world, 0, 0.25, Msaa::Off);
        world.entity_mut(eye).insert((HALF, CameraCut::default()));
    });
    let grows = |rig: &mut Rig, at: [u32; 2]| {
        rig.update(16);
        let count = expect_history(rig, at, 0.25);
        assert!(count >= 16.0, "{count}");
    };
    let restarts = |rig: &mut Rig, at: [u32; 2]| {
        let count = expect_history(rig, at, 0.25);
        assert!(count < 8.0, "{count} frames of an old history");
    };
    restarts(&mut rig, [0, 0]);
    grows(&mut rig, [31, 15]);
    let mut camera = rig.app.world_mut().entity_mut(eye);
    camera.get_mut::<CameraCut>().expect("was inserted").cut();
    restarts(&mut rig, [5, 5]);
    grows(&mut rig, [5, 5]);
    set_viewport(&mut rig, eye, [4, 2, 21, 13]);
    restarts(&mut rig, [5, 5]);
    assert_eq!(extents::<Accumulate>(&rig), [[11, 7, 1]; 2]);
    grows(&mut rig, [24, 14]);
    // Half of 22 pixels is also 11: the images keep their size, but the view changes.
    set_viewport(&mut rig, eye, [4, 2, 22, 14]);
    restarts(&mut rig, [5, 5]);
    grows(&mut rig, [5, 5]);
    // A view that is only moved keeps its history.
    set_viewport(&mut rig, eye, [6, 1, 22, 14]);
    grows(&mut rig, [7, 5]);
    rig.app.world_mut().entity_mut(eye).remove::<Accumulate>();
    expect_close(rig.exactly(7, 5)[0], 0.25);
    assert!(extents::<Accumulate>(&rig).is_empty(), "images stay");
    assert_eq!(rig.app.world().resource::<SceneColors>().len(), 1);
    rig.app.world_mut().entity_mut(eye).insert(HALF);
    restarts(&mut rig, [7, 5]);
}

#[test]
#[ignore = "needs a device"]
fn cameras_have_effect_images_and_uniforms_of_their_own() {
    let mut eyes = [Entity::PLACEHOLDER; 3];
    let mut rig = rig(|world| {
        eyes = [(0, 0.25), (1, 0.5), (2, 0.75)]
            .map(|(layer, value)| camera(world, layer, value, Msaa::Off));
    });
    let [left, right, plain] = eyes;
    set_viewport(&mut rig, left, [0, 0, 20, 16]);
    set_viewport(&mut rig, right, [20, 0, 12, 9]);
    set_viewport(&mut rig, plain, [20, 9, 12, 7]);
    let world = rig.app.world_mut();
    world.entity_mut(left).insert(HALF);
    let factor = Affine::<1> {
        scale: 2.0,
        offset: 0.5,
    };
    world
        .entity_mut(right)
        .insert((Accumulate { divisor: 3 }, factor));
    rig.update(10);
    assert!(expect_history(&mut rig, [19, 15], 0.25) > 10.0);
    let [value, count, ..] = rig.exactly(31, 8).map(|value| (value - 0.5) / 2.0);
    expect_close(value, 2.0 - 1.5 * 0.5_f32.powf(count - 1.0));
    expect_close(rig.exactly(25, 12)[0], 0.75);
    let sizes = [[10, 8, 1], [10, 8, 1], [4, 3, 1], [4, 3, 1]];
    assert_eq!(extents::<Accumulate>(&rig), sizes);
    let colors = rig.app.world().resource::<SceneColors>().len();
    assert_eq!(colors, 5, "two of three views have a second one");
    // The other camera's row of the uniforms becomes the first.
    rig.app.world_mut().entity_mut(left).despawn();
    rig.update(10);
    let [value, count, ..] = rig.exactly(31, 8).map(|value| (value - 0.5) / 2.0);
    assert!(
        count > 20.0,
        "the history of a camera ends with another camera"
    );
    expect_close(value, 2.0 - 1.5 * 0.5_f32.powf(count - 1.0));
}

#[test]
#[ignore = "needs a device"]
fn effects_run_in_their_order_with_any_samples_below_2d() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let mut eye = Entity::PLACEHOLDER;
        let mut rig = rig(|world| {
            eye = camera(world, 0, 0.25, msaa);
            let target = RenderTarget::TextureView(EXACT);
            let over = Camera {
                order: 1,
                clear_color: ClearColorConfig::None,
                ..Camera::default()
            };
            world.spawn((Camera2d, over, target, msaa));
            world.spawn(Sprite::from_color(
                Color::linear_rgb(0.0, 1.0, 0.0),
                Vec2::splat(4.0),
            ));
        });
        let twice = Affine::<0> {
            scale: 2.0,
            offset: 1.0,
        };
        rig.app.world_mut().entity_mut(eye).insert(twice);
        expect_close(rig.exactly(1, 1)[0], 1.5);
        let thrice = Affine::<1> {
            scale: 3.0,
            offset: 0.5,
        };
        rig.app.world_mut().entity_mut(eye).insert(thrice);
        expect_close(rig.exactly(1, 1)[0], 5.0);
        assert_eq!(
            rig.exactly(16, 8)[..3],
            [0.0, 1.0, 0.0],
            "2D lies over effects"
        );
        // A changed component reaches the shader.
        let thrice = Affine::<0> {
            scale: 3.0,
            offset: 0.5,
        };
        rig.app.world_mut().entity_mut(eye).insert(thrice);
        expect_close(rig.exactly(1, 1)[0], 4.25);
        rig.app
            .world_mut()
            .entity_mut(eye)
            .remove::<(Affine<0>, Affine<1>)>();
        expect_close(rig.exactly(1, 1)[0], 0.25);
        assert_eq!(rig.app.world().resource::<SceneColors>().len(), 1);
    }
}
