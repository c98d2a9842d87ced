use bevy_camera::primitives::Aabb;
use bevy_math::{Affine3A, Quat, proj};

use super::*;
use quadrille_content::affine::affine_rows;

/// Instance row with bounds, and bevy's culling components.
fn boxed(world_from_local: Affine3A, aabb: Aabb) -> (InstanceRow, BoundsRow) {
    let instance = InstanceRow {
        world_from_local: affine_rows(world_from_local),
        material: 0,
        flags: 0,
        range: [0; 2],
    };
    let bounds = BoundsRow {
        center: aabb.center.into(),
        half_extents: aabb.half_extents.into(),
        layers: 0,
        flags: CAMERAS | SHADOWS,
    };
    (instance, bounds)
}

#[test]
fn frustum_matches_bevy() {
    let clip_from_view = proj::perspective_infinite_reverse(1.0, 1.5, 0.1);
    let turned = Quat::from_rotation_y(0.6) * Quat::from_rotation_x(-0.5);
    let world_from_view = Affine3A::from_rotation_translation(turned, Vec3::new(3.0, 4.0, 5.0));
    let clip_from_world = clip_from_view * Mat4::from(world_from_view.inverse());
    let frustum = frustum(&clip_from_world);
    let camera = CullViewRow::camera(&frustum);
    let cascade = CullViewRow::cascade(&clip_from_world);
    let (mut seen, mut unseen) = (0, 0);
    for number in 0..4_000_u32 {
        let part = |by: u32| (number * by % 997) as f32 / 997.0 * 2.0 - 1.0;
        let aabb = Aabb {
            center: Vec3::new(part(3), part(5), part(7)).into(),
            half_extents: Vec3::new(part(11), part(13), part(17)).abs().into(),
        };
        let world_from_local = Affine3A::from_scale_rotation_translation(
            Vec3::new(part(19) + 2.0, part(23), 1.0),
            Quat::from_rotation_y(part(29) * 3.0),
            Vec3::new(part(31), part(37), part(41)) * 12.0,
        );
        let (instance, bounds) = boxed(world_from_local, aabb);
        let expected = frustum.intersects_obb(&aabb, &world_from_local, true, false);
        assert_eq!(
            camera.is_visible(&instance, &bounds, &[1]),
            expected,
            "box {number}"
        );
        let expected = frustum.intersects_obb(&aabb, &world_from_local, false, true);
        assert_eq!(
            cascade.is_visible(&instance, &bounds, &[1]),
            expected,
            "box {number}"
        );
        if expected { seen += 1 } else { unseen += 1 }
    }
    assert!(seen > 500 && unseen > 500, "{seen} seen, {unseen} not");
}

#[test]
fn light_culling_ends_at_range() {
    let clip_from_world = proj::perspective_infinite_reverse(1.5, 1.0, 0.1);
    let light = CullViewRow::light(&clip_from_world, Vec3::ZERO, 10.0);
    let is_visible = |distance: f32| {
        let at = Affine3A::from_translation(Vec3::NEG_Z * distance);
        let aabb = Aabb::from_min_max(Vec3::splat(-1.0), Vec3::splat(1.0));
        let (instance, bounds) = boxed(at, aabb);
        light.is_visible(&instance, &bounds, &[1])
    };
    assert_eq!(
        [5.0, 10.9, 11.1, -5.0].map(is_visible),
        [true, true, false, false]
    );
}

#[test]
fn culling_respects_flags_and_layers() {
    let frustum = frustum(&proj::perspective_infinite_reverse(1.0, 1.0, 0.1));
    let view = CullViewRow::camera(&frustum);
    let aabb = Aabb::from_min_max(Vec3::splat(-1.0), Vec3::splat(1.0));
    let (instance, bounds) = boxed(Affine3A::from_translation(Vec3::Z * 9.0), aabb);
    let is_visible = |flags, layers, bits: &[u32]| {
        view.is_visible(
            &instance,
            &BoundsRow {
                flags,
                layers,
                ..bounds
            },
            bits,
        )
    };
    assert!(!is_visible(CAMERAS, 0, &[1]), "it is behind the camera");
    assert!(is_visible(CAMERAS | NO_FRUSTUM_CULLING, 0, &[1]));
    assert!(!is_visible(SHADOWS | NO_FRUSTUM_CULLING, 0, &[1]));
    assert!(!is_visible(CAMERAS | NO_FRUSTUM_CULLING, 0, &[2]));
    assert!(is_visible(CAMERAS | NO_FRUSTUM_CULLING, 33, &[0, 2]));
}
