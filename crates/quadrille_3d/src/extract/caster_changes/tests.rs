use bevy_math::{Mat4, Vec3};

use super::{CasterChanges, MAX_TESTED};
use crate::constants::{CAMERAS, SHADOWS};
use crate::scene::cull_view::{BoundsRow, CullViewRow};
use crate::scene::rows::InstanceRow;

/// An orthographic map of the cube from -1 to 1.
fn view() -> CullViewRow {
    let clip_from_world =
        Mat4::from_translation(Vec3::Z * 0.5) * Mat4::from_scale(Vec3::new(1.0, 1.0, 0.5));
    CullViewRow::cascade(&clip_from_world)
}

fn unit_cube_at(x: f32, flags: u32) -> (InstanceRow, BoundsRow) {
    let instance = InstanceRow {
        world_from_local: [
            [1.0, 0.0, 0.0, x],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
        material: 0,
        flags: 0,
        range: [0; 2],
    };
    let bounds = BoundsRow {
        half_extents: Vec3::splat(0.5).to_array(),
        flags,
        ..BoundsRow::default()
    };
    (instance, bounds)
}

/// Whether a map is affected by an instance that moves along x.
fn is_affected(from: f32, to: f32, flags: u32) -> bool {
    let (instance, bounds) = unit_cube_at(from, flags);
    let mut changes = CasterChanges::default();
    changes.note(0, Some((&instance, &bounds)));
    let (instance, bounds) = unit_cube_at(to, flags);
    changes.affects(&view(), &[u32::MAX], (&[instance], &[bounds]))
}

#[test]
fn map_is_affected_by_casters_that_enter_leave_or_move_in_it() {
    let all = CAMERAS | SHADOWS;
    assert!(is_affected(9.0, 0.0, all), "a caster enters");
    assert!(is_affected(0.0, 9.0, all), "a caster leaves");
    assert!(is_affected(0.0, 0.1, all), "a caster moves in it");
    assert!(!is_affected(8.0, 9.0, all), "a caster moves outside");
    assert!(!is_affected(0.0, 0.1, CAMERAS), "no caster");
}

#[test]
fn many_changed_casters_affect_all_maps() {
    let (instance, bounds) = unit_cube_at(9.0, SHADOWS);
    let mut changes = CasterChanges::default();
    for _ in 0..MAX_TESTED {
        changes.note(0, Some((&instance, &bounds)));
    }
    assert!(!changes.affects(&view(), &[u32::MAX], (&[], &[])));
    changes.note(0, Some((&instance, &bounds)));
    assert!(changes.affects(&view(), &[u32::MAX], (&[], &[])));
    changes.clear();
    assert!(!changes.is_any());
    for _ in 0..=MAX_TESTED {
        changes.note(0, None);
    }
    changes.finish(&[bounds]);
    assert!(changes.is_any(), "new casters");
}

#[test]
fn many_changed_instances_without_shadows_affect_no_map() {
    let (instance, bounds) = unit_cube_at(0.0, CAMERAS);
    let mut changes = CasterChanges::default();
    for _ in 0..=MAX_TESTED {
        changes.note(0, Some((&instance, &bounds)));
    }
    changes.finish(&[bounds]);
    assert!(!changes.affects(&view(), &[u32::MAX], (&[instance], &[bounds])));
}
