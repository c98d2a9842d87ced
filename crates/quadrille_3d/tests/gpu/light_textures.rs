//! Images that lights shine through, as exact numbers.

use bevy_camera::primitives::CubemapLayout;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use quadrille_3d::prelude::*;

use crate::common::Rig;
use crate::environment::{image, plane};
use crate::exact::{TOLERANCE, expect_near};

type IsLight = Or<(With<PointLight>, With<SpotLight>, With<DirectionalLight>)>;

/// What the middle of a plane that faces +z gets of a light.
fn lit(light: impl Bundle) -> Rig {
    plane(StandardMaterial::default(), move |world| {
        world.spawn(light);
    })
}

/// How the middle of the plane is lit through an image, beside how it is lit without.
fn expect_part<T: Component>(rig: &mut Rig, map: Image, slide: fn(Handle<Image>) -> T, part: f32) {
    let whole = f64::from(rig.exactly(4, 4)[0]);
    assert!(whole > 0.0);
    expect_of(rig, whole, map, slide, part);
}

/// The same, where it is known how it was lit without one.
fn expect_of<T: Component>(
    rig: &mut Rig,
    whole: f64,
    map: Image,
    slide: fn(Handle<Image>) -> T,
    part: f32,
) {
    let world = rig.app.world_mut();
    let map = world.resource_mut::<Assets<Image>>().add(map);
    let mut lights = world.query_filtered::<Entity, IsLight>();
    let light = lights.single(world).expect("there is one light");
    world.entity_mut(light).insert(slide(map));
    let found = rig.exactly(4, 4)[0];
    expect_near(found, whole * f64::from(part), TOLERANCE, "through it");
}

fn grey(value: f32) -> [f32; 3] {
    [value, 0.0, 0.0]
}

#[test]
#[ignore = "needs a device"]
fn spot_lights_shine_through_images() {
    // The plane's middle is above and to the right of where it shines, each by half of the slope.
    let light = SpotLight {
        outer_angle: std::f32::consts::FRAC_PI_4,
        inner_angle: 0.7,
        ..SpotLight::default()
    };
    let rig = || lit((light, Transform::from_xyz(-2.0, -2.0, 4.0)));
    let map = || image([4, 4, 1], |[x, y, _]| grey((x + 4 * y) as f32 / 16.0));
    // Between the third and the fourth column, and the first and second row.
    let slide = |image| SpotLightTexture { image };
    expect_part(&mut rig(), map(), slide, (2.5 + 4.0 * 0.5) / 16.0);
}

#[test]
#[ignore = "needs a device"]
fn directional_lights_shine_through_images_once_or_everywhere() {
    // One tile is two units wide; its middle lies beside and above the plane's.
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
    let part = (2.5 + 4.0 * 0.5) / 16.0;
    expect_part(&mut at(0.5), map(), once, part);
    expect_part(&mut at(2.5), map(), once, 0.0);
    expect_part(&mut at(2.5), map(), tiled, part);
}

#[test]
#[ignore = "needs a device"]
fn point_lights_shine_through_the_sides_of_unfolded_cubes() {
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
    for (layout, size, slide) in [
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
            // The plane lies on that side of the light.
            lights.single_mut(world).expect("there is one").rotation =
                Quat::from_rotation_arc(way, Vec3::NEG_Z);
            let shown = place(layout, number);
            let map = image([size[0], size[1], 1], |[x, y, _]| {
                grey(if [x, y] == shown { 0.5 } else { 0.0 })
            });
            expect_of(&mut rig, whole, map, slide, 0.5);
        }
    }
}
