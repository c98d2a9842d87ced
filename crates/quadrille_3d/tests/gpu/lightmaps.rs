//! Lightmaps, by exact values.

use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::GlobalAmbientLight;
use quadrille_3d::prelude::*;

use crate::analytic_lighting::{TOLERANCE, assert_near, exposure};
use crate::common::Rig;
use crate::environment::{camera, environment, image, one, plane};

const BASE: [f32; 3] = [0.5, 0.25, 1.0];
const UNIT: f32 = 40.0;

fn material() -> StandardMaterial {
    StandardMaterial {
        base_color: Color::linear_rgb(BASE[0], BASE[1], BASE[2]),
        lightmap_exposure: UNIT,
        ..StandardMaterial::default()
    }
}

/// The plane with a lightmap.
fn baked(map: Image, uv_rect: Rect, bicubic_sampling: bool) -> (Rig, Entity) {
    let mut rig = plane(material(), |_| {});
    let world = rig.app.world_mut();
    let image = world.resource_mut::<Assets<Image>>().add(map);
    let mesh = world.query_filtered::<Entity, With<Mesh3d>>().single(world);
    let mesh = mesh.expect("there is one plane");
    world.entity_mut(mesh).insert(Lightmap {
        image,
        uv_rect,
        bicubic_sampling,
    });
    (rig, mesh)
}

/// Asserts that the center of the plane is lit only by one texel of the lightmap.
fn assert_texel(rig: &mut Rig, texel: [f32; 3], what: &str) {
    let found = rig.exactly(4, 4);
    for channel in 0..3 {
        let wanted = f64::from(texel[channel] * BASE[channel] * UNIT) * exposure();
        assert_near(found[channel], wanted, TOLERANCE, what);
    }
}

const WHOLE: Rect = Rect {
    min: Vec2::ZERO,
    max: Vec2::ONE,
};

/// Four columns of increasing brightness.
fn columns() -> Image {
    image([4, 1, 1], |[x, ..]| column(x))
}

fn column(x: u32) -> [f32; 3] {
    let x = x as f32;
    [1.0 + x, 2.0 + x, 0.25 + 0.5 * x]
}

#[test]
#[ignore = "needs a device"]
fn lightmap_uv_rect_and_exposure_apply() {
    for x in 0..4u32 {
        let part = Rect::new(x as f32 / 4.0, 0.0, (x + 1) as f32 / 4.0, 1.0);
        let (mut rig, _) = baked(columns(), part, false);
        assert_texel(&mut rig, column(x), &format!("column {x}"));
    }
}

#[test]
#[ignore = "needs a device"]
fn lightmap_bicubic_sampling_matches_spline() {
    let dot = || image([5, 5, 1], |[x, y, _]| [f32::from(x == 2 && y == 2); 3]);
    let (mut rig, _) = baked(dot(), WHOLE, true);
    assert_texel(&mut rig, [4.0 / 9.0; 3], "in the middle of the texel");
    // A quarter of a texel to the right, and one to the left.
    let moved = |texels: f32| {
        let by = Vec2::new(texels / 5.0, 0.0);
        Rect::from_corners(WHOLE.min + by, WHOLE.max + by)
    };
    let (mut rig, _) = baked(dot(), moved(0.25), true);
    let weight = 2.0 / 3.0 - 0.25f32 * 0.25 + 0.25f32.powi(3) / 2.0;
    assert_texel(&mut rig, [weight * 2.0 / 3.0; 3], "beside its middle");
    let (mut rig, _) = baked(dot(), moved(-1.0), true);
    assert_texel(&mut rig, [1.0 / 9.0; 3], "in the next texel");
}

#[test]
#[ignore = "needs a device"]
fn lightmap_uses_uv1_and_replaces_diffuse_environment() {
    let (mut rig, mesh) = baked(columns(), WHOLE, false);
    let world = rig.app.world_mut();
    for (_, mesh) in world.resource_mut::<Assets<Mesh>>().iter_mut() {
        mesh.insert_attribute(Mesh::ATTRIBUTE_UV_1, vec![[0.875, 0.5]; 4]);
    }
    let light = environment(world, image([1, 1, 6], |_| [1.0; 3]), one());
    camera(world).insert(light);
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    for (_, material) in materials.iter_mut() {
        // Without specular reflection of the environment.
        material.reflectance = 0.0;
    }
    assert_texel(&mut rig, column(3), "under a white sky");
    rig.app.world_mut().insert_resource(GlobalAmbientLight {
        brightness: 1000.0,
        affects_lightmapped_meshes: false,
        ..GlobalAmbientLight::default()
    });
    assert_texel(&mut rig, column(3), "in ambient light of other things");
    let world = rig.app.world_mut();
    let mut maps = world.query::<&Lightmap>();
    let map = maps.single(world).expect("there is one").image.clone();
    let mut images = world.resource_mut::<Assets<Image>>();
    images
        .insert(map.id(), image([1, 1, 1], |_| [8.0; 3]))
        .expect("the image is there");
    assert_texel(&mut rig, [8.0; 3], "another image");
    let mut world = rig.app.world_mut().entity_mut(mesh);
    world.remove::<Lightmap>();
    rig.app
        .world_mut()
        .insert_resource(GlobalAmbientLight::NONE);
    let found = rig.exactly(4, 4)[0];
    // Under a white sky the plane has its base color.
    assert_near(found, f64::from(BASE[0]), 0.02, "without it");
}
