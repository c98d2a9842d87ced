//! Lines of gizmos in 3D, partly occluded by a box.

use bevy_app::{Startup, Update};
use bevy_ecs::prelude::*;
use quadrille_3d::Quadrille3dPlugin;
use quadrille_3d::prelude::*;

use crate::common::{Picture, Rig, golden};

const RED: Color = Color::srgb(1.0, 0.0, 0.0);
const GREEN: Color = Color::srgb(0.0, 1.0, 0.0);
const BLACK: [u8; 4] = [0, 0, 0, 255];
const IS_RED: [u8; 4] = [255, 0, 0, 255];
const IS_GREEN: [u8; 4] = [0, 255, 0, 255];

fn rig_with<M>(draw: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>) -> Rig {
    let mut rig = Rig::with(64, 64, (Quadrille3dPlugin::default(), GizmoPlugin));
    rig.app
        .add_systems(Startup, setup)
        .add_systems(Update, draw);
    rig.start();
    rig
}

/// A camera at z = 10 with one pixel per unit, and a grey square of 20 in the center. Its tone mapping changes all
/// colors except those of gizmos.
fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.insert_resource(ClearColor(Color::BLACK));
    commands.spawn((
        Mesh3d(meshes.add(Rectangle::new(20.0, 20.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb_u8(128, 128, 128),
            unlit: true,
            ..StandardMaterial::default()
        })),
    ));
    commands.spawn((
        Camera3d::default(),
        Projection::from(OrthographicProjection::default_3d()),
        Transform::from_xyz(0.0, 0.0, 10.0),
    ));
}

/// The pixels of a column.
fn column(picture: &Picture, x: u32, rows: std::ops::Range<u32>) -> Vec<[u8; 4]> {
    rows.map(|y| picture.at(x, y)).collect()
}

fn change(rig: &mut Rig, change: impl FnOnce(&mut GizmoConfig)) {
    let mut configs = rig.app.world_mut().resource_mut::<GizmoConfigStore>();
    change(configs.config_mut::<DefaultGizmoConfigGroup>().0);
}

#[test]
#[ignore = "needs a device"]
fn gizmo_lines_have_color_width_and_depth_test() {
    let mut rig = rig_with(|mut gizmos: Gizmos| {
        let ends = |y, z| (Vec3::new(-30.0, y, z), Vec3::new(30.0, y, z));
        let (from, to) = ends(4.0, 1.0);
        gizmos.line(from, to, RED);
        let (from, to) = ends(-4.0, -1.0);
        gizmos.line(from, to, GREEN);
    });
    let picture = rig.picture();
    // Two pixels wide, in the exact colors, regardless of tone mapping.
    assert_eq!(column(&picture, 5, 26..30), [BLACK, IS_RED, IS_RED, BLACK]);
    assert_eq!(column(&picture, 32, 27..29), [IS_RED; 2]);
    assert_eq!(
        column(&picture, 5, 34..38),
        [BLACK, IS_GREEN, IS_GREEN, BLACK]
    );
    // The square occludes what is behind it; dithering changes its color slightly.
    let is_square = |[r, g, b, _]: [u8; 4]| r > 100 && r.abs_diff(g) < 3 && r.abs_diff(b) < 3;
    let rows = column(&picture, 32, 34..38);
    assert!(rows.iter().all(|at| is_square(*at)), "{rows:?}");
    // In front of everything, and behind everything.
    change(&mut rig, |config| config.depth_bias = -1.0);
    let picture = rig.picture();
    assert_eq!(column(&picture, 32, 35..37), [IS_GREEN; 2]);
    change(&mut rig, |config| config.depth_bias = 1.0);
    let picture = rig.picture();
    let rows = column(&picture, 32, 26..30);
    assert!(rows.iter().all(|at| is_square(*at)), "{rows:?}");
    // A different width, and no lines of other layers.
    change(&mut rig, |config| {
        config.depth_bias = 0.0;
        config.line.width = 4.0;
    });
    let picture = rig.picture();
    let thick = [BLACK, IS_RED, IS_RED, IS_RED, IS_RED, BLACK];
    assert_eq!(column(&picture, 5, 25..31), thick);
    change(&mut rig, |config| {
        config.render_layers = RenderLayers::layer(3)
    });
    assert_eq!(column(&rig.picture(), 5, 25..31), [BLACK; 6]);
}

#[test]
#[ignore = "needs a device"]
fn retained_gizmos_follow_entity() {
    let mut rig = rig_with(
        |mut commands: Commands,
         mut assets: ResMut<Assets<GizmoAsset>>,
         mut moved: Query<&mut Transform, With<Gizmo>>| {
            if let Ok(mut place) = moved.single_mut() {
                place.translation.y = 12.0;
                return;
            }
            let mut asset = GizmoAsset::new();
            asset.line(Vec3::new(-30.0, 0.0, 0.0), Vec3::new(30.0, 0.0, 0.0), RED);
            commands.spawn(Gizmo {
                handle: assets.add(asset),
                ..Gizmo::default()
            });
        },
    );
    let picture = rig.picture();
    assert_eq!(column(&picture, 32, 18..22), [BLACK, IS_RED, IS_RED, BLACK]);
}

#[test]
#[ignore = "needs a device"]
fn gizmo_lines_clip_at_near_plane_and_scale_with_perspective() {
    let mut rig = rig_with(|mut gizmos: Gizmos| {
        // From behind the camera to far in front of it.
        gizmos.line(Vec3::new(0.0, -2.0, 20.0), Vec3::new(0.0, -2.0, -9.0), RED);
        gizmos.line(Vec3::new(-9.0, 1.0, 5.0), Vec3::new(9.0, 1.0, 5.0), GREEN);
    });
    rig.update(1);
    let world = rig.app.world_mut();
    let mut projections = world.query::<&mut Projection>();
    for mut projection in projections.iter_mut(world) {
        *projection = Projection::Perspective(PerspectiveProjection::default());
    }
    change(&mut rig, |config| {
        config.depth_bias = -1.0;
        config.line.width = 20.0;
    });
    let is = |picture: &Picture, color| picture.pixels.iter().filter(|at| **at == color).count();
    let picture = rig.picture();
    // 20 pixels in each of 64 columns, except where red covers them.
    let green = is(&picture, IS_GREEN);
    assert!((640..=1280).contains(&green), "{green}");
    assert_eq!(picture.at(32, 63), IS_RED);
    change(&mut rig, |config| config.line.perspective = true);
    let picture = rig.picture();
    // 4 pixels at a distance of 5.
    let thin = is(&picture, IS_GREEN);
    assert!((64..=256).contains(&thin), "{thin}");
    assert_eq!(picture.at(32, 63), IS_RED);
}

/// Shapes around a box.
fn show(mut gizmos: Gizmos) {
    gizmos.grid(
        Quat::from_rotation_x(std::f32::consts::FRAC_PI_2),
        UVec2::splat(8),
        Vec2::splat(1.0),
        Color::srgb(0.4, 0.4, 0.4),
    );
    gizmos.cube(
        Transform::from_xyz(0.0, 0.5, 0.0).with_scale(Vec3::splat(1.25)),
        Color::BLACK,
    );
    gizmos.sphere(Vec3::new(1.0, 0.7, 0.5), 0.7, RED);
    gizmos.arrow(
        Vec3::ZERO,
        Vec3::new(-2.0, 2.0, 1.5),
        Color::srgb(1.0, 0.8, 0.2),
    );
    gizmos.axes(Transform::from_xyz(-2.5, 0.2, -1.5), 1.5);
}

#[test]
#[ignore = "needs a device"]
fn gizmos_match_golden() {
    let mut rig = Rig::with(240, 135, (Quadrille3dPlugin::default(), GizmoPlugin));
    rig.app
        .add_systems(Startup, crate::scene)
        .add_systems(Update, show);
    rig.start();
    change(&mut rig, |config| config.depth_bias = -0.01);
    golden::expect("gizmos", &rig.picture());
}
