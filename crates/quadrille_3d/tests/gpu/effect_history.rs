//! Effects that read matrices and depth of the previous frame.

use std::sync::{Arc, Mutex};

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessList, ColorAttachment as _, RenderError, access_kind};
use quadrille::ecs::{RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{PreviousDepths3d, SceneDepths, ViewTransforms3d};
use quadrille_3d::{
    CameraCut, CameraEffect, CameraEffectPlugin, EffectFrame, EffectViews, Pass3dSystems,
    PostProcess, TemporalJitter,
};

use crate::camera_effects::{camera, expect_close, set_viewport};
use crate::common::{EXACT, Rig};

/// Shows motion, position and depth, or green without a valid history. Records the validity of each frame.
#[derive(Component, Clone, Default)]
struct Reproject {
    history_is_valid: Arc<Mutex<Vec<bool>>>,
    shows_scene: bool,
    jitter: Vec2,
}

impl Reproject {
    /// Validity of the history in the frames since the last call.
    fn take(&self) -> Vec<bool> {
        std::mem::take(&mut self.history_is_valid.lock().expect("no panic"))
    }
}

impl CameraEffect for Reproject {
    type Uniform = Vec4;

    const STAGE: Pass3dSystems = Pass3dSystems::EarlyPostProcess;
    const DEPTH_HISTORY: bool = true;

    fn uniform(&self, frame: &EffectFrame) -> Vec4 {
        let mut frames = self.history_is_valid.lock().expect("no panic");
        frames.push(frame.history_is_valid);
        let [valid, scene] =
            [frame.history_is_valid, self.shows_scene].map(|it| f32::from(u8::from(it)));
        Vec4::new(valid, scene, self.jitter.x, self.jitter.y)
    }
}

const SHADER: &str = "
    import quadrille_3d::view_transforms::{ViewTransforms, camera_motion, world_position};

    @group(0) @binding(0) var<uniform> params: vec4f;
    @group(0) @binding(1) var<uniform> view: ViewTransforms;
    @group(0) @binding(2) var depths: texture_depth_2d;
    @group(0) @binding(3) var previous_depths: texture_depth_2d;
    @group(0) @binding(4) var scene: texture_2d<f32>;

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    @fragment fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
        let pixel = vec2i(position.xy);
        if params.x != 1.0 || view.history_is_valid != 1u {
            return vec4f(0.0, 1.0, 0.0, 1.0);
        }
        if params.y == 1.0 {
            return textureLoad(scene, pixel, 0);
        }
        let depth = textureLoad(depths, pixel, 0);
        let near = view.clip_from_view[3][2];
        let approach = near / textureLoad(previous_depths, pixel, 0) - near / depth;
        let motion = camera_motion(position.xy, depth, view);
        let at = world_position(position.xy, depth, view);
        let round_trip = view.view_from_clip * view.clip_from_view * view.view_from_world * view.world_from_view;
        let eye = view.world_from_view[3].xyz - view.world_position;
        if abs(determinant(round_trip) - 1.0) > 1e-3 || any(eye != vec3f(0.0)) || any(view.jitter != params.zw) {
            return vec4f(9.0, 9.0, 9.0, 1.0);
        }
        return vec4f(motion.x * 16.0, at.z - at.x, approach, 1.0);
    }";

#[derive(Resource)]
struct Pipeline(GraphicsPipeline);

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("reproject.wgsl", SHADER)?;
    let desc = GraphicsPipelineDesc::of("reproject", &shader);
    commands.insert_resource(Pipeline(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

fn reproject(
    mut recorder: Recorder,
    (effects, transforms): (EffectViews<Reproject>, Uniform<ViewTransforms3d>),
    (depths, previous_depths): (
        AccessList<SceneDepths, access_kind::Sampled>,
        AccessList<PreviousDepths3d, access_kind::Sampled>,
    ),
    mut post_process: PostProcess,
    pipeline: Res<Pipeline>,
) {
    for view in effects.iter() {
        let (Some(color), Some(depth)) = (post_process.write(&view), depths.get(view.images()))
        else {
            continue;
        };
        let previous = view.previous_depth().and_then(|at| previous_depths.get(at));
        let previous = previous.unwrap_or(depth);
        let read = [
            color.source,
            depth,
            previous,
            effects.uniforms().any(),
            transforms.any(),
        ];
        let mut uses = read.map(|used| used.as_declared()).to_vec();
        uses.push(color.destination.as_declared());
        recorder
            .pass_in_step(view.step(), "reproject", &uses)
            .render(color.destination.discard())
            .pipeline(&pipeline.0)
            .bind_bytes("params", effects.uniforms(), view.uniform_bytes())
            .bind_bytes("view", &transforms, view.transforms_bytes())
            .bind("depths", &depth)
            .bind("previous_depths", &previous)
            .bind("scene", &color.source)
            .draw(0..3, 0..1);
    }
}

/// Motion of all cameras per frame.
#[derive(Resource, Default)]
struct Step(Vec3);

fn step(by: Res<Step>, mut cameras: Query<&mut Transform, With<Camera3d>>) {
    for mut camera in &mut cameras {
        if by.0 != Vec3::ZERO {
            camera.translation += by.0;
        }
    }
}

fn add(app: &mut App) {
    app.add_plugins(CameraEffectPlugin::<Reproject>::default())
        .init_resource::<Step>()
        .add_systems(Update, step)
        .add_systems(RenderStartup, make)
        .add_systems(Render, reproject.in_set(Reproject::STAGE));
}

#[test]
#[ignore = "needs a device"]
fn matrices_and_depth_of_the_previous_frame_tell_motion() {
    let mut rig = Rig::new(32, 16);
    add(&mut rig.app);
    rig.start();
    let effect = Reproject::default();
    let world = rig.app.world_mut();
    let eye = camera(world, 0, 0.25, Msaa::Off);
    let place = Transform::from_xyz(0.0, 0.0, 20.0);
    world
        .entity_mut(eye)
        .insert((effect.clone(), place, CameraCut::default()));
    let [motion, z, approach, _] = rig.exactly(5, 3);
    expect_close(motion, 0.0);
    expect_close(approach, 0.0);
    // The surface is the plane z = 0; the pixel is this far left of the center.
    let camera = rig.app.world().get::<Camera>(eye).expect("a camera");
    let scale = camera.clip_from_view().x_axis.x;
    let x = (5.5 / 32.0 * 2.0 - 1.0) * 20.0 / scale;
    assert!((z + x).abs() < 2e-2, "{z}, not {}", -x);
    rig.app.world_mut().resource_mut::<Step>().0 = Vec3::X;
    let [motion, ..] = rig.exactly(5, 3);
    expect_close(motion, -16.0 * 0.5 * scale / 20.0);
    rig.app.world_mut().resource_mut::<Step>().0 = Vec3::NEG_Z * 0.25;
    let [.., approach, _] = rig.exactly(5, 3);
    expect_close(approach, 0.25);
    rig.app.world_mut().resource_mut::<Step>().0 = Vec3::ZERO;
    rig.update(2);
    let place = rig.app.world().get::<Transform>(eye).expect("a camera");
    let [moved, _, depth] = place.translation.to_array();
    for jitter in [Vec2::new(0.25, -0.375), Vec2::new(-0.5, 0.125)] {
        let mut eye = rig.app.world_mut().entity_mut(eye);
        eye.insert(TemporalJitter { offset: jitter });
        eye.get_mut::<Reproject>().expect("was inserted").jitter = jitter;
        let [motion, z, approach, _] = rig.exactly(5, 3);
        expect_close(motion, 0.0);
        expect_close(approach, 0.0);
        let x = ((5.5 + jitter.x) / 32.0 * 2.0 - 1.0) * depth / scale + moved;
        assert!((z + x).abs() < 2e-2, "{z}, not {}, with {jitter}", -x);
    }
    effect.take();
    let mut eye = rig.app.world_mut().entity_mut(eye);
    eye.get_mut::<CameraCut>().expect("was inserted").cut();
    let eye = eye.id();
    rig.update(3);
    assert_eq!(effect.take(), [false, true, true], "after a cut");
    set_viewport(&mut rig, eye, [4, 2, 20, 10]);
    rig.update(3);
    assert_eq!(effect.take(), [false, true, true], "after a change of size");
    set_viewport(&mut rig, eye, [5, 2, 20, 10]);
    rig.update(2);
    assert_eq!(effect.take(), [true, true], "a viewport that moves");
    assert_eq!(rig.app.world().resource::<PreviousDepths3d>().len(), 1);
    rig.app.world_mut().entity_mut(eye).remove::<Reproject>();
    rig.update(1);
    assert_eq!(rig.app.world().resource::<PreviousDepths3d>().len(), 0);
}

/// Whether the next frame loses the device.
#[derive(Resource, Default)]
struct Lose(bool);

fn fail(_: Recorder, mut lose: ResMut<Lose>) -> Result {
    match std::mem::take(&mut lose.0) {
        true => Err("refused by the test".into()),
        false => Ok(()),
    }
}

#[test]
#[ignore = "needs a device"]
fn history_begins_again_after_device_loss() {
    let mut rig = Rig::new(32, 16);
    add(&mut rig.app);
    rig.app
        .insert_resource(RenderErrorHandler(|error, _| match error {
            RenderError::System { .. } => RenderErrorPolicy::Recover,
            error => panic!("{error}"),
        }))
        .init_resource::<Lose>()
        .add_systems(Render, fail);
    rig.start();
    let world = rig.app.world_mut();
    // The image with exact values belongs to the lost device.
    world.resource_mut::<ManualTextureViews>().remove(&EXACT);
    let effects = [0, 1].map(|at| {
        let effect = Reproject {
            shows_scene: true,
            ..Reproject::default()
        };
        let eye = camera(world, at, 0.25 + 0.5 * at as f32, Msaa::Off);
        let target = RenderTarget::default();
        world.entity_mut(eye).insert((effect.clone(), target));
        (eye, effect)
    });
    for (at, (eye, _)) in (0..).zip(&effects) {
        set_viewport(&mut rig, *eye, [16 * at, 0, 16, 16]);
    }
    let before = rig.picture();
    let grey = |value: f32| {
        Color::linear_rgb(value, value, value)
            .to_srgba()
            .to_u8_array()
    };
    assert_eq!(
        [before.at(3, 3), before.at(20, 3)],
        [grey(0.25), grey(0.75)]
    );
    rig.update(1);
    for (_, effect) in &effects {
        effect.take();
    }
    rig.app.world_mut().resource_mut::<Lose>().0 = true;
    rig.update(5);
    for (_, effect) in &effects {
        let frames = effect.take();
        let first = frames.iter().position(|is_valid| !is_valid);
        let first = first.expect("the history of the lost device is not valid");
        assert!(first <= 1 && frames.len() >= first + 3, "{frames:?}");
        assert!(
            frames[first + 1..].iter().all(|is_valid| *is_valid),
            "{frames:?}"
        );
    }
    assert!(rig.picture() == before, "the picture is another one");
}
