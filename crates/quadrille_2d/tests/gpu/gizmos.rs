//! Pictures of gizmos.

use crate::common::{Picture, Rig, golden};
use bevy_app::{Startup, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Isometry2d, Vec2};
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

const RED: Color = Color::srgb(1.0, 0.0, 0.0);
const GOLD: Color = Color::srgb(1.0, 0.8, 0.2);
const BLACK: [u8; 4] = [0, 0, 0, 255];

/// A gizmo group with another line style and layer.
#[derive(Default, bevy_reflect::Reflect, GizmoConfigGroup)]
struct Dashed;

/// Retained gizmos with each kind of joint; 160 x 100 pixels.
fn setup(
    mut commands: Commands,
    mut assets: ResMut<Assets<GizmoAsset>>,
    mut configs: ResMut<GizmoConfigStore>,
) {
    commands.insert_resource(ClearColor(Color::BLACK));
    commands.spawn(Camera2d);
    let (dashed, _) = configs.config_mut::<Dashed>();
    dashed.line.width = 4.0;
    dashed.line.style = GizmoLineStyle::Dashed {
        gap_scale: 1.0,
        line_scale: 2.0,
    };
    let mut zigzag = GizmoAsset::new();
    let places = [(-14.0, -8.0), (-4.0, 8.0), (4.0, -8.0), (14.0, 8.0)];
    zigzag.linestrip_2d(places.map(Vec2::from), GOLD);
    let zigzag = assets.add(zigzag);
    let joints = [
        GizmoLineJoint::None,
        GizmoLineJoint::Miter,
        GizmoLineJoint::Bevel,
        GizmoLineJoint::Round(6),
    ];
    for (index, joints) in joints.into_iter().enumerate() {
        let line_config = GizmoLineConfig {
            width: 8.0,
            joints,
            ..GizmoLineConfig::default()
        };
        let gizmo = Gizmo {
            handle: zigzag.clone(),
            line_config,
            depth_bias: 0.0,
        };
        let x = -60.0 + 40.0 * index as f32;
        commands.spawn((gizmo, Transform::from_xyz(x, 30.0, 0.0)));
    }
    // Gizmos are drawn over everything that the camera sees, regardless of z.
    let square = Sprite::from_color(Color::srgb(0.2, 0.3, 0.8), Vec2::new(40.0, 30.0));
    commands.spawn((square, Transform::from_xyz(-50.0, -15.0, 500.0)));
}

/// Immediate gizmos.
fn draw(mut gizmos: Gizmos, mut dashed: Gizmos<Dashed>) {
    gizmos.line_2d(Vec2::new(-75.0, -10.0), Vec2::new(-25.0, -10.0), RED);
    gizmos.circle_2d(Vec2::new(0.0, -20.0), 18.0, GOLD);
    let turned = Isometry2d::new(Vec2::new(40.0, -20.0), 0.5_f32.into());
    gizmos.rect_2d(turned, Vec2::new(30.0, 20.0), Color::WHITE);
    let (from, to) = (Vec2::new(70.0, -40.0), Vec2::new(70.0, 5.0));
    gizmos.line_gradient_2d(from, to, RED, Color::srgb(0.0, 0.0, 1.0));
    dashed.line_2d(Vec2::new(-76.0, -40.0), Vec2::new(-4.0, -40.0), GOLD);
}

fn rig() -> Rig {
    let mut rig = Rig::with(160, 100, (Quadrille2dPlugin::default(), GizmoPlugin));
    rig.app.init_gizmo_group::<Dashed>();
    rig.app
        .add_systems(Startup, setup)
        .add_systems(Update, draw);
    rig.start();
    rig
}

#[test]
#[ignore = "needs a device"]
fn gizmos_match_golden() {
    let mut rig = rig();
    // The first frame already draws its own gizmos.
    let picture = rig.picture();
    // Two pixels wide, also over the sprite, and not wider.
    let column = |x: u32| (57..63).map(|y| picture.at(x, y)).collect::<Vec<_>>();
    let red = [255, 0, 0, 255];
    assert_eq!(column(7), [BLACK, BLACK, red, red, BLACK, BLACK]);
    assert_eq!(column(30)[2..4], [red; 2]);
    // Dashes of 8 pixels, 4 apart.
    let row: Vec<bool> = (4..28).map(|x| picture.at(x, 90) != BLACK).collect();
    let dash = [true, true, true, true, true, true, true, true];
    let gap = [false; 4];
    assert_eq!(row, [&dash[..], &gap, &dash, &gap].concat());
    golden::expect("gizmos", &picture);
}

#[test]
#[ignore = "needs a device"]
fn removed_gizmos_disappear_immediately() {
    #[derive(Resource)]
    struct Quiet;
    let mut rig = Rig::with(32, 32, (Quadrille2dPlugin::default(), GizmoPlugin));
    let line = |mut gizmos: Gizmos| {
        gizmos.line_2d(Vec2::new(-16.0, 0.0), Vec2::new(16.0, 0.0), RED);
    };
    rig.app
        .insert_resource(ClearColor(Color::BLACK))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn(Camera2d);
        })
        .add_systems(Update, line.run_if(not(resource_exists::<Quiet>)));
    rig.start();
    let is_red = |picture: &Picture| picture.pixels.contains(&[255, 0, 0, 255]);
    rig.update(1);
    assert!(is_red(&rig.picture()));
    rig.app.insert_resource(Quiet);
    assert!(!is_red(&rig.picture()), "a line of the frame before");
    rig.app.world_mut().remove_resource::<Quiet>();
    assert!(is_red(&rig.picture()));
    // Cameras see the layers of the group.
    let mut configs = rig.app.world_mut().resource_mut::<GizmoConfigStore>();
    configs
        .config_mut::<DefaultGizmoConfigGroup>()
        .0
        .render_layers = RenderLayers::layer(3);
    assert!(!is_red(&rig.picture()), "a line of another layer");
}
