//! Light textures, by exact values.

use bevy_camera::primitives::CubemapLayout;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use quadrille_3d::prelude::*;

use crate::analytic_lighting::{TOLERANCE, assert_near};
use crate::common::Rig;
use crate::environment::{image, plane};

type IsLight = Or<(With<PointLight>, With<SpotLight>, With<DirectionalLight>)>;

/// Returns a plane that faces +z, under one light.
fn lit(light: impl Bundle) -> Rig {
    plane(StandardMaterial::default(), move |world| {
        world.spawn(light);
    })
}

/// Asserts the fraction of the light that reaches the center of the plane through an image.
fn assert_light_fraction<T: Component>(
    rig: &mut Rig,
    map: Image,
    light_texture: fn(Handle<Image>) -> T,
    fraction: f32,
) {
    let whole = f64::from(rig.exactly(4, 4)[0]);
    assert!(whole > 0.0);
    expect_of(rig, whole, map, light_texture, fraction);
}

/// The same, for a known value without the image.
fn expect_of<T: Component>(
    rig: &mut Rig,
    whole: f64,
    map: Image,
    light_texture: fn(Handle<Image>) -> T,
    fraction: f32,
) {
    let world = rig.app.world_mut();
    let map = world.resource_mut::<Assets<Image>>().add(map);
    let mut lights = world.query_filtered::<Entity, IsLight>();
    let light = lights.single(world).expect("there is one light");
    world.entity_mut(light).insert(light_texture(map));
    let found = rig.exactly(4, 4)[0];
    assert_near(found, whole * f64::from(fraction), TOLERANCE, "through it");
}

fn grey(value: f32) -> [f32; 3] {
    [value, 0.0, 0.0]
}

#[test]
#[ignore = "needs a device"]
fn spot_light_textures_apply() {
    // The center of the plane is above and to the right of the light's axis, by half of the slope each.
    let light = SpotLight {
        outer_angle: std::f32::consts::FRAC_PI_4,
        inner_angle: 0.7,
        ..SpotLight::default()
    };
    let rig = || lit((light, Transform::from_xyz(-2.0, -2.0, 4.0)));
    let map = || image([4, 4, 1], |[x, y, _]| grey((x + 4 * y) as f32 / 16.0));
    // Between the third and the fourth column, and the first and second row.
    let light_texture = |image| SpotLightTexture { image };
    assert_light_fraction(&mut rig(), map(), light_texture, (2.5 + 4.0 * 0.5) / 16.0);
}

#[test]
#[ignore = "needs a device"]
fn directional_light_textures_clamp_or_tile() {
    // One tile is two units wide; its center is beside and above that of the plane.
    let at = |x: f32| {
        let place = Transform::from_xyz(x, 0.5, 3.0);
        lit((DirectionalLight::default(), place))
    };
    let map = || image([4, 4, 1], |[x, y, _]| grey((x + 4 * y) as f32 / 16.0));
    let once = |image| DirectionalLightTexture {
        image,
        tiled: false,
    };
    let tiled = |image| DirectionalLightTexture { image, tiled: true };
    // The middle of the plane is at -0.5 and -0.5: three quarters from the left, a quarter from above.
    let fraction = (2.5 + 4.0 * 0.5) / 16.0;
    assert_light_fraction(&mut at(0.5), map(), once, fraction);
    assert_light_fraction(&mut at(2.5), map(), once, 0.0);
    assert_light_fraction(&mut at(2.5), map(), tiled, fraction);
}

#[test]
#[ignore = "needs a device"]
fn point_light_textures_follow_cubemap_layout() {
    const SIDES: [Vec3; 6] = [
        Vec3::X,
        Vec3::NEG_X,
        Vec3::Y,
        Vec3::NEG_Y,
        Vec3::NEG_Z,
        Vec3::Z,
    ];
    let place = |layout: CubemapLayout, side: u32| match layout {
        CubemapLayout::SequenceVertical => [0, side],
        CubemapLayout::SequenceHorizontal => [side, 0],
        CubemapLayout::CrossVertical => {
            [[2, 1], [0, 1], [1, 0], [1, 2], [1, 1], [1, 3]][side as usize]
        }
        CubemapLayout::CrossHorizontal => {
            [[2, 1], [0, 1], [1, 0], [1, 2], [1, 1], [3, 1]][side as usize]
        }
    };
    let mut rig = lit((PointLight::default(), Transform::from_xyz(0.0, 0.0, 4.0)));
    let whole = f64::from(rig.exactly(4, 4)[0]);
    for (layout, size, light_texture) in [
        (
            CubemapLayout::CrossVertical,
            [3, 4],
            (|image| PointLightTexture {
                image,
                cubemap_layout: CubemapLayout::CrossVertical,
            }) as fn(_) -> _,
        ),
        (CubemapLayout::CrossHorizontal, [4, 3], |image| {
            PointLightTexture {
                image,
                cubemap_layout: CubemapLayout::CrossHorizontal,
            }
        }),
        (CubemapLayout::SequenceVertical, [1, 6], |image| {
            PointLightTexture {
                image,
                cubemap_layout: CubemapLayout::SequenceVertical,
            }
        }),
        (CubemapLayout::SequenceHorizontal, [6, 1], |image| {
            PointLightTexture {
                image,
                cubemap_layout: CubemapLayout::SequenceHorizontal,
            }
        }),
    ] {
        for (number, way) in (0..6).zip(SIDES) {
            let world = rig.app.world_mut();
            let mut lights = world.query_filtered::<&mut Transform, With<PointLight>>();
            // Rotated so that this side of the light faces the plane.
            lights.single_mut(world).expect("there is one").rotation =
                Quat::from_rotation_arc(way, Vec3::NEG_Z);
            let shown = place(layout, number);
            let map = image([size[0], size[1], 1], |[x, y, _]| {
                grey(if [x, y] == shown { 0.5 } else { 0.0 })
            });
            expect_of(&mut rig, whole, map, light_texture, 0.5);
        }
    }
}
