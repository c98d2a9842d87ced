//! Specular transmission: refraction, attenuation, blur, steps and cost, against formulas.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_image::ImageSampler;
use quadrille::prelude::Renderer;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::TransmissionBackgrounds3d;
use quadrille_3d::{ScreenSpaceTransmission, ScreenSpaceTransmissionQuality};

use crate::common::{EXACT, Rig, golden};
use crate::environment::image;
use crate::prepass::spawn;

const SIDE: u32 = 64;
/// Width and height of the view in meters.
const METERS: f32 = 4.0;

/// Glass that reflects nothing.
fn glass() -> StandardMaterial {
    StandardMaterial {
        specular_transmission: 1.0,
        perceptual_roughness: 0.0,
        reflectance: 0.0,
        ..StandardMaterial::default()
    }
}

fn unlit(color: Color) -> StandardMaterial {
    StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(color)
    }
}

fn camera() -> impl Bundle {
    let projection = OrthographicProjection {
        scaling_mode: ScalingMode::Fixed {
            width: METERS,
            height: METERS,
        },
        ..OrthographicProjection::default_3d()
    };
    (
        Camera3d::default(),
        Projection::from(projection),
        Transform::from_xyz(0.0, 0.0, 10.0),
    )
}

/// A camera with values that are read exactly.
fn exact_camera(more: impl Bundle) -> impl Bundle {
    let exact = (Tonemapping::None, RenderTarget::TextureView(EXACT));
    (camera(), exact, more)
}

fn rig(setup: impl FnOnce(&mut World)) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    world.insert_resource(ClearColor(Color::BLACK));
    setup(world);
    rig
}

fn facing(z: f32) -> Transform {
    Transform::from_xyz(0.0, 0.0, z)
}

fn pane(world: &mut World, material: StandardMaterial, transform: Transform) -> Entity {
    spawn(world, Rectangle::new(20.0, 20.0), material, transform)
}

/// A wall of texels of different colors.
fn pattern(world: &mut World) {
    let mut texels = image([8, 8, 1], |[x, y, _]| {
        let mixed = (x * 37 + y * 91 + x * y * 13) % 64;
        [mixed as f32 / 64.0, x as f32 / 8.0, y as f32 / 8.0]
    });
    texels.sampler = ImageSampler::nearest();
    let texture = world.resource_mut::<Assets<Image>>().add(texels);
    let material = StandardMaterial {
        base_color_texture: Some(texture),
        ..unlit(Color::WHITE)
    };
    spawn(world, Rectangle::new(3.0, 3.0), material, facing(-3.0));
}

/// White to the right of the middle, black to the left.
fn edge(world: &mut World) {
    pane(
        world,
        unlit(Color::WHITE),
        Transform::from_xyz(10.0, 0.0, -3.0),
    );
}

#[test]
#[ignore = "needs a device"]
fn smooth_glass_without_thickness_shows_background_exactly() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        for is_hdr in [false, true] {
            let rows = |z: f32| {
                let mut rig = rig(|world| {
                    pattern(world);
                    // Behind the camera it is not drawn, and colors are scene-referred in either case.
                    pane(world, glass(), facing(z));
                    let camera = exact_camera((msaa, ScreenSpaceTransmission::default()));
                    let mut camera = world.spawn(camera);
                    if is_hdr {
                        camera.insert(Hdr);
                    }
                });
                rig.exact_rows()
            };
            let (with, without) = (rows(0.0), rows(20.0));
            // Devices may truncate when they write half floats: a step below 1 is 2^-11.
            let step = 1.1 / 2048.0;
            let differs =
                |(a, b): (&[f32; 4], &[f32; 4])| (0..4).any(|at| (a[at] - b[at]).abs() > step);
            let pairs = with.iter().flatten().zip(without.iter().flatten());
            assert_eq!(
                pairs.filter(|pair| differs(*pair)).count(),
                0,
                "{msaa:?} {is_hdr}"
            );
            assert!(with[32][20] != with[32][40], "there is a pattern");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn tone_mapped_picture_is_the_same_behind_glass() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let picture = |z: f32| {
            let mut rig = rig(|world| {
                world.insert_resource(ClearColor(Color::srgb(0.2, 0.4, 0.6)));
                pattern(world);
                pane(world, glass(), facing(z));
                world.spawn((camera(), msaa, ScreenSpaceTransmission::default()));
            });
            rig.picture()
        };
        let (with, without) = (picture(0.0), picture(20.0));
        let pairs = with.pixels.iter().zip(&without.pixels);
        // A step of half floats is less than one of 8 bits.
        let most = pairs
            .flat_map(|(a, b)| (0..4).map(|at| a[at].abs_diff(b[at])))
            .max();
        assert!(most <= Some(1), "{msaa:?}: {most:?}");
    }
}

/// Position of the edge in pixels, seen through glass.
fn edge_through(material: StandardMaterial, turn: f32, msaa: Msaa) -> f64 {
    let mut rig = rig(|world| {
        edge(world);
        let turned = Transform::from_rotation(Quat::from_rotation_y(turn));
        pane(world, material, turned);
        world.spawn(exact_camera((msaa, ScreenSpaceTransmission::default())));
    });
    let row = rig.exact_row(SIDE / 2);
    f64::from(SIDE) - row.iter().map(|texel| f64::from(texel[0])).sum::<f64>()
}

#[test]
#[ignore = "needs a device"]
fn refraction_shifts_edge_by_snells_law() {
    let middle = f64::from(SIDE) / 2.0;
    for (turn, ior, thickness, msaa) in [
        (0.0, 1.5, 1.0, Msaa::Off),
        (0.7, 1.5, 0.0, Msaa::Off),
        (0.7, 1.5, 1.0, Msaa::Off),
        (0.7, 1.5, 1.0, Msaa::Sample4),
        (-0.7, 1.33, 1.5, Msaa::Off),
        (0.9, 2.4, 0.5, Msaa::Off),
    ] {
        let material = StandardMaterial {
            ior,
            thickness,
            ..glass()
        };
        let found = edge_through(material, turn, msaa);
        // The ray runs inside at this angle to the normal, which the surface turns by `turn` from the view.
        let (outside, ior) = (f64::from(turn), f64::from(ior));
        let inside = (outside.sin() / ior).asin();
        let aside = f64::from(thickness) * (outside - inside).sin();
        // The ray bends towards -x for positive turns, so that the edge is farther to the right.
        let expected = middle + aside * f64::from(SIDE) / f64::from(METERS);
        assert!(
            (found - expected).abs() < 0.05,
            "{turn} {ior} {thickness} {msaa:?}: {found}, not {expected}"
        );
    }
}

fn center_of(setup: impl FnOnce(&mut World)) -> [f32; 4] {
    let mut rig = rig(|world| {
        pane(world, unlit(Color::WHITE), facing(-3.0));
        setup(world);
    });
    rig.exactly(SIDE / 2, SIDE / 2)
}

fn assert_color(found: [f32; 4], wanted: [f64; 3], what: &str) {
    for channel in 0..3 {
        let off = (f64::from(found[channel]) - wanted[channel]).abs();
        assert!(off < 1e-3, "{what}: {found:?}, not {wanted:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn light_is_attenuated_exponentially_and_reflected_by_fresnel() {
    let through = |material| {
        center_of(|world| {
            pane(world, material, facing(0.0));
            world.spawn(exact_camera(ScreenSpaceTransmission::default()));
        })
    };
    let attenuated = StandardMaterial {
        thickness: 3.0,
        attenuation_distance: 2.0,
        attenuation_color: Color::linear_rgb(0.25, 0.5, 1.0),
        ..glass()
    };
    let left = [0.25f64.powf(1.5), 0.5f64.powf(1.5), 1.0];
    assert_color(through(attenuated), left, "attenuation");
    let tinted = StandardMaterial {
        base_color: Color::linear_rgb(0.5, 0.25, 1.0),
        specular_transmission: 0.5,
        ..glass()
    };
    assert_color(through(tinted), [0.25, 0.125, 0.5], "half transmission");
    let reflecting = StandardMaterial {
        reflectance: 0.5,
        ..glass()
    };
    assert_color(through(reflecting), [0.96; 3], "Fresnel");
}

#[test]
#[ignore = "needs a device"]
fn textures_scale_transmission_and_thickness() {
    let found = center_of(|world| {
        let texels = image([1, 1, 1], |_| [0.5, 0.25, 0.0]);
        let texture = Some(world.resource_mut::<Assets<Image>>().add(texels));
        let material = StandardMaterial {
            specular_transmission_texture: texture.clone(),
            thickness: 4.0,
            thickness_texture: texture,
            attenuation_distance: 1.0,
            attenuation_color: Color::linear_rgb(0.5, 0.25, 1.0),
            ..glass()
        };
        pane(world, material, facing(0.0));
        world.spawn(exact_camera(ScreenSpaceTransmission::default()));
    });
    assert_color(found, [0.25, 0.125, 0.5], "one meter, half");
}

#[test]
#[ignore = "needs a device"]
fn steps_show_glass_behind_glass() {
    let tint = |color| StandardMaterial {
        base_color: color,
        ..glass()
    };
    let through = |steps, msaa| {
        center_of(|world| {
            pane(world, tint(Color::linear_rgb(0.5, 1.0, 1.0)), facing(1.0));
            pane(world, tint(Color::linear_rgb(1.0, 0.5, 1.0)), facing(0.0));
            pane(world, tint(Color::linear_rgb(1.0, 1.0, 0.5)), facing(-1.0));
            let quality = ScreenSpaceTransmissionQuality::Low;
            world.spawn(exact_camera((
                msaa,
                ScreenSpaceTransmission { steps, quality },
            )));
        })
    };
    for msaa in [Msaa::Off, Msaa::Sample4] {
        assert_color(through(1, msaa), [0.5, 1.0, 1.0], "one step");
        assert_color(through(2, msaa), [0.5, 0.5, 1.0], "two steps");
        assert_color(through(9, msaa), [0.5; 3], "a step for each");
        assert_color(through(0, msaa), [0.0; 3], "environment maps alone");
    }
}

#[test]
#[ignore = "needs a device"]
fn transparent_meshes_blend_over_glass() {
    let found = center_of(|world| {
        pane(world, glass(), facing(0.0));
        let red = unlit(Color::linear_rgba(1.0, 0.0, 0.0, 0.5));
        pane(world, red, facing(1.0));
        world.spawn(exact_camera(ScreenSpaceTransmission::default()));
    });
    assert_color(found, [1.0, 0.5, 0.5], "red over glass");
}

#[test]
#[ignore = "needs a device"]
fn glass_is_dark_under_cameras_without_component() {
    let found = center_of(|world| {
        pane(world, glass(), facing(0.0));
        world.spawn(exact_camera(()));
    });
    assert_color(found, [0.0; 3], "as in bevy");
}

#[test]
#[ignore = "needs a device"]
fn background_is_blurred_by_roughness() {
    let row = |roughness: f32, quality| {
        let mut rig = rig(|world| {
            edge(world);
            let material = StandardMaterial {
                perceptual_roughness: roughness,
                ..glass()
            };
            // Half a meter in front of the camera: a spread of twice the squared roughness.
            pane(world, material, facing(9.5));
            world.spawn(exact_camera((
                Msaa::Off,
                ScreenSpaceTransmission { steps: 1, quality },
            )));
        });
        let rows = rig.exact_rows();
        let mean = |x: usize| rows.iter().map(|row| row[x][0]).sum::<f32>() / SIDE as f32;
        (0..SIDE as usize).map(mean).collect::<Vec<_>>()
    };
    let width = |row: &[f32]| {
        row.iter()
            .filter(|&&mean| mean > 0.02 && mean < 0.98)
            .count()
    };
    let sharp = row(0.0, ScreenSpaceTransmissionQuality::Ultra);
    assert_eq!(width(&sharp), 0, "{sharp:?}");
    let mut last = 0;
    for roughness in [0.15, 0.25, 0.35] {
        for quality in [
            ScreenSpaceTransmissionQuality::Low,
            ScreenSpaceTransmissionQuality::Ultra,
        ] {
            let blurred = row(roughness, quality);
            // Points of the spiral are at most this far away.
            let radius = 2.0 * roughness * roughness * SIDE as f32;
            for (x, mean) in blurred.iter().enumerate() {
                let aside = x as f32 + 0.5 - SIDE as f32 / 2.0;
                if aside.abs() > radius + 1.0 {
                    let expected = if aside > 0.0 { 1.0 } else { 0.0 };
                    assert!((mean - expected).abs() < 1e-3, "{roughness} {x}: {mean}");
                }
            }
            let sum: f32 = blurred.iter().sum();
            assert!(
                (sum - SIDE as f32 / 2.0).abs() < 0.5,
                "light is kept: {sum}"
            );
            if quality == ScreenSpaceTransmissionQuality::Ultra {
                assert!(width(&blurred) > last, "{roughness}: {blurred:?}");
                last = width(&blurred);
            }
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn nearer_surfaces_are_not_refracted_with_depth_prepass() {
    let found = |with_prepass: bool| {
        center_of(|world| {
            let material = StandardMaterial {
                thickness: 1.0,
                ..glass()
            };
            let turned = Transform::from_rotation(Quat::from_rotation_y(0.7));
            pane(world, material, turned);
            // In front of the glass, where the refracted ray of the center leaves it.
            let place = Transform::from_xyz(-0.25, 0.0, 5.0);
            let red = unlit(Color::linear_rgb(1.0, 0.0, 0.0));
            spawn(world, Rectangle::new(0.2, 4.0), red, place);
            let camera = exact_camera((Msaa::Off, ScreenSpaceTransmission::default()));
            let mut camera = world.spawn(camera);
            if with_prepass {
                camera.insert(DepthPrepass);
            }
        })
    };
    assert_color(found(false), [1.0, 0.0, 0.0], "without depth");
    assert_color(found(true), [0.0; 3], "with depth");
}

/// The plan of a frame, and the number of images of backgrounds.
fn cost(rig: &mut Rig) -> (String, usize) {
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    renderer.keep_frames(true);
    rig.update(3);
    let world = rig.app.world();
    let plan = world.resource::<Renderer>().plan_text();
    let images = world.resource::<TransmissionBackgrounds3d>().len();
    (plan.expect("frames are kept"), images)
}

#[test]
#[ignore = "needs a device"]
fn views_without_glass_cost_nothing() {
    let shown = |x: Option<f32>| {
        let mut rig = rig(|world| {
            pane(world, unlit(Color::WHITE), facing(-3.0));
            if let Some(x) = x {
                pane(world, glass(), Transform::from_xyz(x, 0.0, 0.0));
            }
            world.spawn(exact_camera(ScreenSpaceTransmission::default()));
        });
        cost(&mut rig)
    };
    for x in [None, Some(100.0)] {
        let (plan, images) = shown(x);
        assert!(!plan.contains("transmissi") && images == 0, "{x:?}: {plan}");
    }
    let (plan, images) = shown(Some(0.0));
    assert!(plan.contains("transmissive_3d") && images == 1, "{plan}");
}

/// Glass balls from smooth to rough above, of several indices of refraction below, a box of amber, and a blended pane, before
/// a board of squares.
#[test]
#[ignore = "needs a device"]
fn glass_matches_golden() {
    let mut rig = Rig::scene(320, 180, glass_scene);
    golden::expect("glass", &rig.picture());
}

fn glass_scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let square = meshes.add(Rectangle::new(0.5, 0.5));
    let colors = [Color::srgb(0.9, 0.4, 0.2), Color::srgb(0.1, 0.3, 0.6)];
    let colors = colors.map(|color| materials.add(unlit(color)));
    for at in 0..144_u8 {
        let (x, y) = (at % 16, at / 16);
        commands.spawn((
            Mesh3d(square.clone()),
            MeshMaterial3d(colors[usize::from((x + y) % 2)].clone()),
            Transform::from_xyz(f32::from(x) * 0.5 - 3.75, f32::from(y) * 0.5 - 2.0, -2.0),
        ));
    }
    let ball = meshes.add(Sphere::new(0.45));
    let clear = || StandardMaterial {
        reflectance: 0.5,
        thickness: 0.6,
        ..glass()
    };
    for at in 0..4_u8 {
        let part = f32::from(at) / 3.0;
        let rough = StandardMaterial {
            perceptual_roughness: part * 0.6,
            ..clear()
        };
        let dense = StandardMaterial {
            ior: 1.0 + part,
            ..clear()
        };
        for (y, material) in [(0.55, rough), (-0.55, dense)] {
            commands.spawn((
                Mesh3d(ball.clone()),
                MeshMaterial3d(materials.add(material)),
                Transform::from_xyz(f32::from(at) - 2.0, y, 0.0),
            ));
        }
    }
    let amber = StandardMaterial {
        attenuation_distance: 0.5,
        attenuation_color: Color::srgb(1.0, 0.6, 0.2),
        ..clear()
    };
    commands.spawn((
        Mesh3d(meshes.add(Cuboid::from_length(0.9))),
        MeshMaterial3d(materials.add(amber)),
        Transform::from_xyz(2.0, 0.3, 0.0).with_rotation(Quat::from_rotation_y(0.5)),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Rectangle::new(1.2, 0.7))),
        MeshMaterial3d(materials.add(Color::srgba(0.2, 0.9, 0.3, 0.4))),
        Transform::from_xyz(1.6, -0.6, 0.6),
    ));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(1.0, 2.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        ScreenSpaceTransmission {
            steps: 2,
            quality: ScreenSpaceTransmissionQuality::High,
        },
        Transform::from_xyz(0.0, 0.0, 4.2).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
