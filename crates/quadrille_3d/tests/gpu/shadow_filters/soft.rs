//! Shadows that are soft by the size of their light.

use bevy_light::Cascades;
use bevy_math::DMat4;

use super::*;

/// Factor of the spiral's radius by the blockers' mean depth: `depths` are those of the map around a receiver of a depth.
fn penumbra(depths: impl Iterator<Item = f64>, depth: f64, size: f64) -> f64 {
    let blockers: Vec<f64> = depths.filter(|&found| found >= depth).collect();
    let mean = blockers.iter().sum::<f64>() / blockers.len().max(1) as f64;
    ((mean - depth) * size / depth).max(0.5)
}

/// Depth of the blocker in the maps of [`spawn_scene`], over that of the floor.
const BLOCKER: f64 = 2.0;

/// Visibility of a point light with soft shadows at a pixel of the row.
fn of_soft_point_light(size: f64, column: u32) -> f64 {
    let [pixel, floor] = floor_at(column);
    let direction = DVec3::new(floor.x, -LIGHT_HEIGHT, -floor.y);
    let [x, y] = axes(direction.normalize());
    let texel = |tap: DVec2, radius: f64| {
        let direction = direction + (x * tap.x + y * tap.y) * radius * LIGHT_HEIGHT;
        (direction.x / direction.y.abs() + 1.0) / 2.0 * SIDE
    };
    let depths =
        SAMPLES.map(|sample| BLOCKER * (1.0 - compare(texel(DVec2::from(sample) / 8.0, size))));
    let radius = 0.003 * penumbra(depths.into_iter(), 1.0, size);
    let visible = spiral(pixel).map(|tap| compare(texel(tap * 0.5, radius)) / 8.0);
    visible.sum()
}

/// Visibility of a spot light with soft shadows at a pixel of the row.
fn of_soft_spot_light(size: f64, column: u32) -> f64 {
    let [pixel, floor] = floor_at(column);
    let texel = (floor.x / LIGHT_HEIGHT + 1.0) / 2.0 * SIDE;
    let depths =
        SAMPLES.map(|[x, _]| BLOCKER * (1.0 - compare(texel + x / 8.0 * size / SPOT_TEXEL)));
    let radius = spiral_radius(SPOT_TEXEL) * penumbra(depths.into_iter(), 1.0, size);
    let taps = spiral(pixel).map(|tap| compare(texel + radius * tap.x));
    taps.sum::<f64>() / 8.0
}

/// Compares the visibility of a light with soft shadows with the expected value at each column, for two sizes.
fn check_soft<L: Bundle>(light: fn(f32) -> L, expected: fn(f64, u32) -> f64) {
    for size in [0.75, 1.5] {
        let mut rig = Rig::with_dfg_lut(WIDTH, HEIGHT);
        spawn_scene(rig.app.world_mut(), light(size));
        rig.start();
        for (column, found) in (0..).zip(visibility(&mut rig)) {
            let expected = expected(size.into(), column);
            assert!(
                (found - expected).abs() < 0.02,
                "size {size}, column {column}: {found}, expected {expected}"
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn soft_shadows_of_point_lights_widen_with_their_radius() {
    let light = |radius| PointLight {
        radius,
        soft_shadows_enabled: true,
        ..point_light()
    };
    check_soft(light, of_soft_point_light);
}

#[test]
#[ignore = "needs a device"]
fn soft_shadows_of_spot_lights_widen_with_their_radius() {
    let light = |radius| SpotLight {
        radius,
        soft_shadows_enabled: true,
        outer_angle: std::f32::consts::FRAC_PI_4,
        shadow_depth_bias: 0.0,
        shadow_normal_bias: 0.0,
        ..SpotLight::default()
    };
    check_soft(light, of_soft_spot_light);
}

/// Position in texels of the first cascade's map, and depth.
fn in_cascade(clip_from_world: DMat4, point: DVec3) -> [f64; 2] {
    let at = clip_from_world.project_point3(point);
    [(at.x * 0.5 + 0.5) * SIDE, at.z]
}

#[test]
#[ignore = "needs a device"]
fn soft_shadows_of_directional_lights_widen_with_their_size() {
    let mut rig = Rig::with_dfg_lut(WIDTH, HEIGHT);
    let light = DirectionalLight {
        shadow_maps_enabled: true,
        shadow_depth_bias: 0.0,
        shadow_normal_bias: 0.0,
        ..DirectionalLight::default()
    };
    let camera = spawn_scene(rig.app.world_mut(), light);
    rig.app
        .world_mut()
        .entity_mut(camera)
        .insert(over(DVec2::new(EDGE, 0.13)));
    rig.start();
    rig.exact_row(ROW);
    let world = rig.app.world_mut();
    let cascades = world
        .query::<&Cascades>()
        .single(world)
        .expect("one light has cascades");
    let cascade = &cascades.cascades[&camera][0];
    let (matrix, texel_size) = (
        cascade.clip_from_world.as_dmat4(),
        f64::from(cascade.texel_size),
    );
    let height = LIGHT_HEIGHT / 2.0;
    let [edge, blocker] = in_cascade(matrix, DVec3::new(EDGE, height, 0.13));
    let [beside, depth] = in_cascade(matrix, DVec3::new(EDGE + 0.01, 0.0, 0.13));
    assert!(blocker > depth && beside < edge, "the map is mirrored");
    // Depths of casters before the cascade's volume are clamped.
    let blocker = blocker.min(1.0);
    // Covered columns begin here.
    let first_covered = (edge - 0.5).ceil();
    let lit = |texel: f64| 1.0 - (texel + 0.5 - first_covered).clamp(0.0, 1.0);
    for scale in [1.0, 2.0] {
        let size = scale * depth / (blocker - depth);
        let world = rig.app.world_mut();
        let mut suns = world.query::<&mut DirectionalLight>();
        let mut sun = suns.single_mut(world).expect("one sun");
        sun.soft_shadow_size = Some(size as f32);
        for (column, found) in (0..).zip(visibility(&mut rig)) {
            let pixel = DVec2::new(f64::from(column) + 0.5, f64::from(ROW) + 0.5);
            let x = EDGE + (pixel.x - f64::from(WIDTH) / 2.0) * PIXEL;
            let [texel, _] = in_cascade(matrix, DVec3::new(x, 0.0, 0.13));
            let depths =
                SAMPLES.map(|[x, _]| blocker * (1.0 - lit(texel + x / 8.0 * size / texel_size)));
            let radius = spiral_radius(texel_size) * penumbra(depths.into_iter(), depth, size);
            let expected = spiral(pixel)
                .map(|tap| lit(texel + radius * tap.x))
                .sum::<f64>()
                / 8.0;
            assert!(
                (found - expected).abs() < 0.03,
                "size {size}, column {column}: {found}, expected {expected}"
            );
        }
    }
}
