//! Motion vectors of prepasses against analytic motion.

use bevy_app::{App, Update};
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_mesh::morph::{MeshMorphWeights, MorphAttributes};
use bevy_mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use bevy_mesh::{PrimitiveTopology, VertexAttributeValues};
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{PrepassMotionVectors3d, SceneColors};
use quadrille_3d::{CameraCut, NoBackgroundMotionVectors, Pass3dSystems, Scene3d, TemporalJitter};

use crate::camera_effects::set_viewport;
use crate::common::{EXACT, Rig};
use crate::prepass::spawn;

pub(crate) const SIDE: u32 = 32;

/// Motion per update of an entity.
#[derive(Component, Clone, Copy, Default)]
pub(crate) struct Moving {
    pub(crate) by: Vec3,
    pub(crate) turn: f32,
}

/// Change of the first morph weight per update.
#[derive(Component)]
struct Morphing(f32);

fn advance(
    mut moving: Query<(&mut Transform, &Moving)>,
    mut morphing: Query<(&mut MeshMorphWeights, &Morphing)>,
    mut cuts: Query<&mut CameraCut>,
) {
    for (mut place, moving) in &mut moving {
        if moving.by != Vec3::ZERO || moving.turn != 0.0 {
            place.translation += moving.by;
            place.rotate_local_z(moving.turn);
        }
    }
    for (mut weights, by) in &mut morphing {
        if by.0 != 0.0
            && let MeshMorphWeights::Value { weights } = &mut *weights
        {
            weights[0] += by.0;
        }
    }
    for mut cut in &mut cuts {
        cut.cut();
    }
}

#[derive(Resource)]
struct ShowPipelines([GraphicsPipeline; 2]);

const SHOW: &str = "
    @group(0) @binding(0) var motion_vectors: texture_2d<f32>;
    @group(0) @binding(1) var multisampled: texture_multisampled_2d<f32>;

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    @fragment fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
        return textureLoad(motion_vectors, vec2i(position.xy), 0);
    }

    @fragment fn multisampled_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
        return textureLoad(multisampled, vec2i(position.xy), 3);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("show_motion.wgsl", SHOW)?;
    let pipeline = |entry| {
        let (vertex, fragment) = ((&shader, "vertex_main"), (&shader, entry));
        gpu.graphics_pipeline(&GraphicsPipelineDesc::new(entry, vertex, fragment))
    };
    let pipelines = [pipeline("fragment_main")?, pipeline("multisampled_main")?];
    commands.insert_resource(ShowPipelines(pipelines));
    Ok(())
}

fn show(
    mut recorder: Recorder,
    motion_vectors: AccessList<PrepassMotionVectors3d, access_kind::Sampled>,
    colors: AccessList<SceneColors, access_kind::ColorTarget>,
    (scene, pipelines): (Res<Scene3d>, Res<ShowPipelines>),
) {
    for view in scene.views() {
        let image = view.prepass_motion_vectors();
        let image = image.and_then(|at| motion_vectors.get(at));
        let (Some(image), Some(color)) = (image, colors.get(view.images())) else {
            continue;
        };
        let (pipeline, name) = match view.samples() {
            1 => (&pipelines.0[0], "motion_vectors"),
            _ => (&pipelines.0[1], "multisampled"),
        };
        let uses = [image.as_declared(), color.as_declared()];
        let mut pass = recorder.pass_in_step(view.step(), "show motion", &uses);
        pass.render(color.discard())
            .pipeline(pipeline)
            .bind(name, &image)
            .draw(0..3, 0..1);
    }
}

/// An app that shows motion vectors in place of colors.
pub(crate) fn motion_rig(build: impl FnOnce(&mut App)) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    let place = show
        .after(Pass3dSystems::Transparent)
        .before(Pass3dSystems::EarlyPostProcess);
    rig.app
        .add_systems(RenderStartup, make)
        .add_systems(Update, advance)
        .add_systems(Render, place);
    build(&mut rig.app);
    rig.start();
    rig
}

/// Camera that sees the square of side 2 around the origin.
pub(crate) fn flat_camera() -> impl Bundle {
    let mut projection = OrthographicProjection::default_3d();
    (projection.scale, projection.near, projection.far) = (2.0 / SIDE as f32, 0.0, 8.0);
    (
        Camera3d::default(),
        Projection::from(projection),
        (Tonemapping::None, DebandDither::Disabled, Msaa::Off),
        RenderTarget::TextureView(EXACT),
        Transform::from_xyz(0.0, 0.0, 3.0),
        MotionVectorPrepass,
    )
}

fn gray() -> StandardMaterial {
    StandardMaterial::from(Color::linear_rgb(0.5, 0.5, 0.5))
}

/// World position of a pixel of [`flat_camera`] at z = 0.
fn at_pixel(x: usize, y: usize) -> Vec2 {
    let ndc = |pixel: usize| (pixel as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0;
    Vec2::new(ndc(x), -ndc(y))
}

/// Expects motion in texture coordinates of a pixel.
fn expect(found: [f32; 4], expected: Vec2) {
    let error = (Vec2::new(found[0], found[1]) - expected).abs();
    // Half floats have 11 bits.
    let tolerance = expected.abs() / 1024.0 + Vec2::splat(2e-5);
    assert!(
        error.cmple(tolerance).all(),
        "{:?}, not {expected}",
        &found[..2]
    );
}

fn set(rig: &mut Rig, entity: Entity, moving: Moving) {
    rig.app.world_mut().entity_mut(entity).insert(moving);
}

fn expect_rest(rig: &mut Rig) {
    for row in rig.exact_rows() {
        for texel in row {
            assert_eq!(texel[..2], [0.0; 2], "nothing moves");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn moving_meshes_have_their_motion() {
    let mut rig = motion_rig(|_| ());
    let world = rig.app.world_mut();
    world.spawn(flat_camera());
    spawn(
        world,
        Rectangle::new(2.0, 2.0),
        gray(),
        Transform::default(),
    );
    let cube = spawn(
        world,
        Cuboid::from_length(0.5),
        gray(),
        Transform::from_xyz(-3.0, 0.0, 0.0),
    );
    expect_rest(&mut rig);
    // The cube passes the middle of the picture in the frame that is read.
    let by = Vec3::new(0.0625, -0.03125, 0.0);
    let mut place = rig.app.world_mut().get_mut::<Transform>(cube).unwrap();
    place.translation = -3.0 * by;
    set(&mut rig, cube, Moving { by, turn: 0.0 });
    let rows = rig.exact_rows();
    let moved = Vec2::new(by.x, -by.y) / 2.0;
    expect(rows[SIDE as usize / 2][SIDE as usize / 2], moved);
    assert_eq!(rows[1][1][..2], [0.0; 2], "the wall rests");
    let moving = rows.iter().flatten().filter(|texel| texel[0] != 0.0);
    assert_eq!(moving.count(), 64, "a square of 8 pixels");
    set(&mut rig, cube, Moving::default());
    expect_rest(&mut rig);
}

#[test]
#[ignore = "needs a device"]
fn turning_meshes_move_by_radius() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let mut rig = motion_rig(|_| ());
        let world = rig.app.world_mut();
        let camera = world.spawn(flat_camera()).id();
        world.entity_mut(camera).insert(msaa);
        let wheel = spawn(world, Circle::new(0.9), gray(), Transform::default());
        let turn = 0.25_f32;
        set(
            &mut rig,
            wheel,
            Moving {
                by: Vec3::ZERO,
                turn,
            },
        );
        let rows = rig.exact_rows();
        let mut count = 0;
        for (y, row) in rows.iter().enumerate() {
            for (x, texel) in row.iter().enumerate() {
                let at = at_pixel(x, y);
                if at.length() > 0.75 {
                    continue;
                }
                let before = Vec2::from_angle(-turn).rotate(at);
                expect(*texel, (at - before) * Vec2::new(0.5, -0.5));
                count += 1;
            }
        }
        assert!(count > 400, "{count}");
    }
}

#[test]
#[ignore = "needs a device"]
fn static_world_moves_with_camera() {
    let mut rig = motion_rig(|_| ());
    let world = rig.app.world_mut();
    let camera = world.spawn(flat_camera()).id();
    let (slope, distance) = (0.5_f32, 4.0);
    let projection = PerspectiveProjection {
        fov: 2.0 * slope.atan(),
        ..PerspectiveProjection::default()
    };
    world.entity_mut(camera).insert((
        Projection::from(projection),
        Transform::from_xyz(0.0, 0.0, distance),
    ));
    spawn(
        world,
        Rectangle::new(40.0, 40.0),
        gray(),
        Transform::default(),
    );
    let by = Vec3::new(0.25, 0.125, 0.0);
    set(&mut rig, camera, Moving { by, turn: 0.0 });
    let expected = Vec2::new(-by.x, by.y) / (2.0 * slope * distance);
    for row in rig.exact_rows() {
        row.iter().for_each(|texel| expect(*texel, expected));
    }
    // A cut in each frame: nothing is known of the frame before.
    rig.app
        .world_mut()
        .entity_mut(camera)
        .insert(CameraCut::default());
    expect_rest(&mut rig);
    rig.app.world_mut().entity_mut(camera).remove::<CameraCut>();
    let jitter = TemporalJitter {
        offset: Vec2::new(0.25, -0.375),
    };
    rig.app.world_mut().entity_mut(camera).insert(jitter);
    for row in rig.exact_rows() {
        row.iter().for_each(|texel| expect(*texel, expected));
    }
    set(&mut rig, camera, Moving::default());
    expect_rest(&mut rig);
}

#[test]
#[ignore = "needs a device"]
fn cameras_have_motion_of_their_own() {
    let mut rig = motion_rig(|_| ());
    let world = rig.app.world_mut();
    let cameras = [0, 1].map(|order| {
        let camera = world.spawn(flat_camera()).id();
        let mut part = world.get_mut::<Camera>(camera).unwrap();
        part.order = order;
        camera
    });
    spawn(
        world,
        Rectangle::new(40.0, 40.0),
        gray(),
        Transform::default(),
    );
    for (at, camera) in (0..).zip(cameras) {
        set_viewport(&mut rig, camera, [at * SIDE / 2, 0, SIDE / 2, SIDE]);
    }
    let by = Vec3::X * 0.25;
    set(&mut rig, cameras[1], Moving { by, turn: 0.0 });
    // The height of 2 units has twice as many pixels as the width.
    let row = rig.exact_row(SIDE / 2);
    expect(row[3], Vec2::ZERO);
    assert!(row[SIDE as usize - 3][0] < -0.1, "{row:?}");
    set(&mut rig, cameras[1], Moving::default());
    expect_rest(&mut rig);
    assert_eq!(
        rig.app.world().resource::<PrepassMotionVectors3d>().len(),
        2
    );
    for camera in cameras {
        let mut camera = rig.app.world_mut().entity_mut(camera);
        camera.remove::<MotionVectorPrepass>();
    }
    rig.update(1);
    assert_eq!(
        rig.app.world().resource::<PrepassMotionVectors3d>().len(),
        0
    );
}

/// A square of side 1, all of whose vertices follow the first joint and the first morph target.
fn deformable() -> Mesh {
    let square = Mesh::from(Rectangle::new(1.0, 1.0));
    let count = square.count_vertices();
    let mut square = square
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            VertexAttributeValues::Uint16x4(vec![[0; 4]; count]),
        )
        .with_inserted_attribute(
            Mesh::ATTRIBUTE_JOINT_WEIGHT,
            vec![[1.0_f32, 0.0, 0.0, 0.0]; count],
        );
    let to_right = [Vec3::X, Vec3::ZERO, Vec3::ZERO];
    square.set_morph_targets(vec![MorphAttributes::from(to_right); count]);
    assert_eq!(square.primitive_topology(), PrimitiveTopology::TriangleList);
    assert!(square.asset_usage.contains(RenderAssetUsages::MAIN_WORLD));
    square
}

#[test]
#[ignore = "needs a device"]
fn skins_and_morph_targets_move() {
    let mut rig = motion_rig(|_| ());
    let world = rig.app.world_mut();
    world.spawn(flat_camera());
    let wall = Transform::from_xyz(0.0, 0.0, -1.0);
    spawn(world, Rectangle::new(2.0, 2.0), gray(), wall);
    let joint = world.spawn(Transform::default()).id();
    let mut binds = world.resource_mut::<Assets<SkinnedMeshInverseBindposes>>();
    let inverse_bindposes = binds.add(vec![Mat4::IDENTITY]);
    let entity = spawn(world, deformable(), gray(), Transform::default());
    world.entity_mut(entity).insert((
        SkinnedMesh {
            inverse_bindposes,
            joints: vec![joint],
        },
        MeshMorphWeights::Value { weights: vec![0.0] },
        bevy_camera::visibility::NoFrustumCulling,
    ));
    let middle = SIDE / 2;
    expect_rest(&mut rig);
    let by = Vec3::new(0.0, 0.015625, 0.0);
    set(&mut rig, joint, Moving { by, turn: 0.0 });
    let skinned = Vec2::new(0.0, -by.y / 2.0);
    let texels = rig.exact_row(middle);
    expect(texels[middle as usize], skinned);
    expect(texels[1], Vec2::ZERO);
    let mut place = rig.app.world_mut().get_mut::<Transform>(joint).unwrap();
    place.translation = Vec3::new(0.0, -0.25, 0.0);
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(Morphing(0.015625));
    let morphed = Vec2::new(0.015625 / 2.0, 0.0);
    expect(rig.exactly(middle, middle), skinned + morphed);
    set(&mut rig, joint, Moving::default());
    expect(rig.exactly(middle, middle), morphed);
    rig.app.world_mut().entity_mut(entity).remove::<Morphing>();
    expect_rest(&mut rig);
    // Without a skin the entity moves the square.
    rig.app
        .world_mut()
        .entity_mut(entity)
        .remove::<SkinnedMesh>();
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(Morphing(0.015625));
    let by = Vec3::new(-0.03125, 0.015625, 0.0);
    set(&mut rig, entity, Moving { by, turn: 0.0 });
    let both = morphed + Vec2::new(by.x, -by.y) / 2.0;
    expect(rig.exactly(middle, middle), both);
}

#[test]
#[ignore = "needs a device"]
fn masked_surfaces_show_motion_behind_them() {
    for normals in [false, true] {
        let mut rig = motion_rig(|_| ());
        let world = rig.app.world_mut();
        let camera = world.spawn(flat_camera()).id();
        if normals {
            world.entity_mut(camera).insert(NormalPrepass);
        }
        let wall = Transform::from_xyz(0.0, 0.0, -1.0);
        spawn(world, Rectangle::new(2.0, 2.0), gray(), wall);
        let by = Vec3::X * 0.0625;
        for (x, alpha) in [(-0.5, 0.25), (0.5, 0.75)] {
            let material = StandardMaterial {
                base_color: Color::srgba(1.0, 1.0, 1.0, alpha),
                alpha_mode: AlphaMode::Mask(0.5),
                ..gray()
            };
            let place = Transform::from_xyz(x, 0.0, 0.0);
            let entity = spawn(world, Rectangle::new(0.9, 1.0), material, place);
            world.entity_mut(entity).insert(Moving { by, turn: 0.0 });
        }
        let row = rig.exact_row(SIDE / 2);
        expect(row[8], Vec2::ZERO);
        expect(row[27], Vec2::new(by.x / 2.0, 0.0));
    }
}

#[test]
#[ignore = "needs a device"]
fn background_moves_as_camera_turns() {
    for (msaa, normals) in [(Msaa::Off, false), (Msaa::Off, true), (Msaa::Sample4, true)] {
        let mut rig = motion_rig(|_| ());
        let camera = rig.app.world_mut().spawn(flat_camera()).id();
        let projection = PerspectiveProjection::default();
        let turn = 0.25_f32;
        // The background is infinitely far, so that it does not matter where the camera is.
        let by = Vec3::new(0.5, -0.25, 1.0);
        let mut eye = rig.app.world_mut().entity_mut(camera);
        eye.insert((Projection::from(projection), msaa, Moving { by, turn }));
        if normals {
            eye.insert(NormalPrepass);
        }
        for (y, row) in rig.exact_rows().iter().enumerate() {
            for (x, texel) in row.iter().enumerate() {
                let at = at_pixel(x, y);
                let before = Vec2::from_angle(turn).rotate(at);
                expect(*texel, (at - before) * Vec2::new(0.5, -0.5));
            }
        }
        set(&mut rig, camera, Moving::default());
        expect_rest(&mut rig);
        set(&mut rig, camera, Moving { by, turn });
        let mut eye = rig.app.world_mut().entity_mut(camera);
        eye.insert(NoBackgroundMotionVectors);
        expect_rest(&mut rig);
    }
}
