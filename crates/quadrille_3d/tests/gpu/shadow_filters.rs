//! Filters of shadows against the same sums of comparisons in double precision.

use bevy_ecs::prelude::*;
use bevy_light::{
    DirectionalLightShadowMap, GlobalAmbientLight, NotShadowCaster, PointLightShadowMap,
    ShadowFilteringMethod,
};
use bevy_math::{DVec2, DVec3};
use quadrille_3d::prelude::*;

use crate::common::{EXACT, Rig};

#[cfg(feature = "experimental_pbr_pcss")]
#[path = "shadow_filters/soft.rs"]
mod soft;

const WIDTH: u32 = 64;
const HEIGHT: u32 = 8;
const ROW: u32 = 4;

const METHODS: [ShadowFilteringMethod; 3] = [
    ShadowFilteringMethod::Hardware2x2,
    ShadowFilteringMethod::Gaussian,
    ShadowFilteringMethod::Temporal,
];

/// Texels per side of the shadow map, and of each face of a point light's shadow map.
const SIDE: f64 = 1024.0;

/// Height of the light over the floor, twice that of the plane that casts the shadow.
const LIGHT_HEIGHT: f64 = 4.0;

/// First lit column of texels: the edge of the caster is between two columns.
const FIRST_LIT: f64 = 602.0;

/// Edge of the caster.
const EDGE: f64 = (2.0 * FIRST_LIT / SIDE - 1.0) * LIGHT_HEIGHT / 2.0;

/// Units of the floor per pixel.
const PIXEL: f64 = 0.0008;

/// Position of the camera over the floor, within the shadow's penumbra.
const CAMERA: DVec2 = DVec2::new(2.0 * EDGE, 0.13);

/// Sample positions of 8x multisampling in Direct3D, in sixteenths of a pixel from its middle (`D3D11_STANDARD_MULTISAMPLE_PATTERN`).
const SAMPLES: [[f64; 2]; 8] = [
    [1.0, -3.0],
    [-1.0, 3.0],
    [5.0, 1.0],
    [-3.0, -5.0],
    [-5.0, 5.0],
    [-7.0, -1.0],
    [3.0, 7.0],
    [7.0, -7.0],
];

/// The taps of a method around a point light's direction at a pixel: positions, and weights whose sum is 1.
fn taps(method: ShadowFilteringMethod, pixel: DVec2) -> Vec<(DVec2, f64)> {
    match method {
        ShadowFilteringMethod::Hardware2x2 => vec![(DVec2::ZERO, 1.0)],
        ShadowFilteringMethod::Gaussian => {
            let positions = SAMPLES.map(|sample| DVec2::from(sample) / 8.0);
            let bell = |position: &DVec2| (-position.length_squared() / 2.0).exp();
            let sum: f64 = positions.iter().map(bell).sum();
            let tap = |position: &DVec2| (*position, bell(position) / sum);
            positions.iter().map(tap).collect()
        }
        ShadowFilteringMethod::Temporal => spiral(pixel).map(|tap| (tap * 0.5, 0.125)).collect(),
    }
}

/// Eight taps within a circle of radius 1, with a different rotation for each pixel (Jimenez 2014).
fn spiral(pixel: DVec2) -> impl Iterator<Item = DVec2> {
    let noise = (52.9829189 * (0.06711056 * pixel.x + 0.00583715 * pixel.y).fract()).fract();
    let turn = std::f64::consts::TAU * noise;
    (0..8).map(move |step| {
        let angle = (135.0 + 135.0 * f64::from(step)).to_radians() - turn;
        DVec2::from_angle(angle) * (1.0 - f64::from(step) / 8.0)
    })
}

/// Comparison at a position in texels, interpolated linearly between the centers of two columns.
fn compare(texel: f64) -> f64 {
    (texel + 0.5 - FIRST_LIT).clamp(0.0, 1.0)
}

/// Size of a spot light's texel in bevy's formulas, whatever the light.
const SPOT_TEXEL: f64 = 0.0134277345;

/// Radius of the spiral in texels, for texels of a size.
fn spiral_radius(texel: f64) -> f64 {
    let slope = (0.035 - 0.015) / (0.022949219 - 0.00390625);
    (0.015 + (texel - 0.00390625) * slope) / texel
}

/// Position of a pixel of the row, and the point of the floor that it shows.
fn floor_at(column: u32) -> [DVec2; 2] {
    let pixel = DVec2::new(f64::from(column) + 0.5, f64::from(ROW) + 0.5);
    let middle = DVec2::new(f64::from(WIDTH), f64::from(HEIGHT)) / 2.0;
    [pixel, CAMERA + (pixel - middle) * PIXEL]
}

/// Axes of the pattern in the left-handed coordinates of cube maps, for a direction in those
/// (Duff et al., "Building an Orthonormal Basis, Revisited", 2017).
fn axes(z: DVec3) -> [DVec3; 2] {
    let sign = 1f64.copysign(z.z);
    let a = -1.0 / (sign + z.z);
    let b = z.x * z.y * a;
    [
        DVec3::new(1.0 + sign * z.x * z.x * a, sign * b, -sign * z.x),
        DVec3::new(b, sign + z.y * z.y * a, -z.y),
    ]
}

/// Visibility of the point light at a pixel of the row.
fn of_point_light(method: ShadowFilteringMethod, column: u32) -> f64 {
    let [pixel, floor] = floor_at(column);
    // Z is mirrored in cube maps.
    let direction = DVec3::new(floor.x, -LIGHT_HEIGHT, -floor.y);
    let [x, y] = axes(direction.normalize());
    let visible = taps(method, pixel).into_iter().map(|(tap, weight)| {
        let direction = direction + (x * tap.x + y * tap.y) * 0.003 * LIGHT_HEIGHT;
        weight * compare((direction.x / direction.y.abs() + 1.0) / 2.0 * SIDE)
    });
    visible.sum()
}

/// Visibility of the spot light at a pixel of the row. Its map covers the same area as one face of the point light's.
fn of_spot_light(method: ShadowFilteringMethod, column: u32) -> f64 {
    let [pixel, floor] = floor_at(column);
    let texel = (floor.x / LIGHT_HEIGHT + 1.0) / 2.0 * SIDE;
    match method {
        ShadowFilteringMethod::Hardware2x2 => compare(texel),
        // The columns of the kernel of I. Castaño, "Shadow Mapping Summary", 2013. All rows are equal.
        ShadowFilteringMethod::Gaussian => {
            let corner = (texel + 0.5).floor();
            let part = texel + 0.5 - corner;
            let weights = [4.0 - 3.0 * part, 7.0, 1.0 + 3.0 * part];
            let offsets = [
                (3.0 - 2.0 * part) / weights[0] - 2.0,
                (3.0 + part) / 7.0,
                part / weights[2] + 2.0,
            ];
            let taps = weights.into_iter().zip(offsets);
            let taps = taps.map(|(weight, offset)| weight * compare(corner - 0.5 + offset));
            taps.sum::<f64>() / 12.0
        }
        // bevy assumes the same texel size for all spot lights.
        ShadowFilteringMethod::Temporal => {
            let radius = spiral_radius(SPOT_TEXEL);
            let taps = spiral(pixel).map(|tap| compare(texel + radius * tap.x));
            taps.sum::<f64>() / 8.0
        }
    }
}

/// A light over a floor, and a plane between them that ends at [`EDGE`]; returns the camera.
fn spawn_scene(world: &mut World, light: impl Bundle) -> Entity {
    world.insert_resource(GlobalAmbientLight::NONE);
    let size = SIDE as usize;
    world.insert_resource(PointLightShadowMap { size });
    world.insert_resource(DirectionalLightShadowMap { size });
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::WHITE);
    let plane = Plane3d::default().mesh().size(20.0, 20.0);
    let plane = world.resource_mut::<Assets<Mesh>>().add(plane);
    let between = Transform::from_xyz(EDGE as f32 - 10.0, LIGHT_HEIGHT as f32 / 2.0, 0.0);
    let parts = (Mesh3d(plane), MeshMaterial3d(material));
    world.spawn((parts.clone(), NotShadowCaster));
    world.spawn((parts, between));
    let down = Transform::from_xyz(0.0, LIGHT_HEIGHT as f32, 0.0).looking_to(Vec3::NEG_Y, Vec3::Z);
    world.spawn((light, down));
    let projection = OrthographicProjection {
        scale: PIXEL as f32,
        ..OrthographicProjection::default_3d()
    };
    let camera = world.spawn((
        Camera3d::default(),
        RenderTarget::TextureView(EXACT),
        Projection::from(projection),
        Tonemapping::None,
        Msaa::Off,
        over(CAMERA),
    ));
    camera.id()
}

/// Looks down from below the caster.
fn over(place: DVec2) -> Transform {
    let eye = Vec3::new(place.x as f32, 1.0, place.y as f32);
    Transform::from_translation(eye).looking_to(Vec3::NEG_Y, Vec3::NEG_Z)
}

fn point_light() -> PointLight {
    PointLight {
        shadow_depth_bias: 0.0,
        shadow_normal_bias: 0.0,
        ..PointLight::default()
    }
}

/// The fraction of the light that reaches the row.
fn visibility(rig: &mut Rig) -> Vec<f64> {
    let [shadowed, lit] = [true, false].map(|is_on| {
        let world = rig.app.world_mut();
        let mut points = world.query::<&mut PointLight>();
        for mut light in points.iter_mut(world) {
            light.shadow_maps_enabled = is_on;
        }
        let mut suns = world.query::<&mut DirectionalLight>();
        for mut light in suns.iter_mut(world) {
            light.shadow_maps_enabled = is_on;
        }
        let mut spots = world.query::<&mut SpotLight>();
        for mut light in spots.iter_mut(world) {
            light.shadow_maps_enabled = is_on;
        }
        rig.exact_row(ROW)
    });
    let ratio = |(shadowed, lit): (&[f32; 4], &[f32; 4])| f64::from(shadowed[0] / lit[0]);
    shadowed.iter().zip(&lit).map(ratio).collect()
}

/// Compares the visibility of a light with the expected value at each column.
fn check(light: impl Bundle, expected: fn(ShadowFilteringMethod, u32) -> f64) {
    let mut rig = Rig::with_dfg_lut(WIDTH, HEIGHT);
    let camera = spawn_scene(rig.app.world_mut(), light);
    rig.start();
    for method in METHODS {
        rig.app.world_mut().entity_mut(camera).insert(method);
        let found = visibility(&mut rig);
        assert!(found[0] < 0.01 && found[WIDTH as usize - 1] > 0.99);
        for (column, found) in (0..).zip(found) {
            let expected = expected(method, column);
            assert!(
                (found - expected).abs() < 0.01,
                "{method:?}, column {column}: {found}, expected {expected}"
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn point_light_shadows_are_filtered_as_in_bevy() {
    check(point_light(), of_point_light);
}

#[test]
#[ignore = "needs a device"]
fn spot_light_shadows_are_filtered_as_in_bevy() {
    let light = SpotLight {
        outer_angle: std::f32::consts::FRAC_PI_4,
        shadow_depth_bias: 0.0,
        shadow_normal_bias: 0.0,
        ..SpotLight::default()
    };
    check(light, of_spot_light);
}

#[test]
#[ignore = "needs a device"]
fn taps_beyond_a_face_look_up_the_next_one() {
    let mut rig = Rig::with_dfg_lut(WIDTH, HEIGHT);
    let camera = spawn_scene(rig.app.world_mut(), point_light());
    rig.start();
    // Two faces meet at the point of the floor whose horizontal distance equals the light's height. Light passes the
    // caster's edge there only on one side of the light.
    for (aside, expected) in [(LIGHT_HEIGHT, 1.0), (-LIGHT_HEIGHT, 0.0)] {
        let place = over(DVec2::new(aside, 0.13));
        rig.app.world_mut().entity_mut(camera).insert(place);
        for found in visibility(&mut rig) {
            assert!((found - expected).abs() < 1e-3, "{found} at {aside}");
        }
    }
}
