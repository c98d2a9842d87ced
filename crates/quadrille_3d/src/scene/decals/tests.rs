use bevy_math::{Mat4, Vec3, proj};
use bytemuck::Zeroable as _;

use super::{DecalLists, DecalRow, ROW_WORDS, touched_slices};
use crate::constants::{SLICES_PER_AXIS, TOTAL_SLICES};
use crate::scene::rows::ViewRow;

/// A view from the origin along -z with a field of view of 90 degrees.
fn view() -> ViewRow {
    let clip_from_world = proj::perspective_infinite_reverse(std::f32::consts::FRAC_PI_2, 1.0, 0.1);
    ViewRow {
        clip_from_world: clip_from_world.to_cols_array(),
        forward: [0.0, 0.0, -1.0],
        ..ViewRow::zeroed()
    }
}

fn at(x: f32, y: f32, z: f32) -> Mat4 {
    Mat4::from_translation(Vec3::new(x, y, z))
}

#[test]
fn slices_are_those_of_the_box() {
    // From 2 to 3: half a unit at distance 2 is a quarter of half the view.
    let slices = touched_slices(&view(), &at(0.0, 0.0, -2.5)).unwrap();
    let deep = |depth: f32| ((depth / 0.1).log2() * 4.0) as u32;
    assert_eq!(slices, [[23, 40], [23, 40], [deep(2.0), deep(3.0)]]);
}

#[test]
fn box_around_eye_touches_all_slices_across() {
    let slices = touched_slices(&view(), &at(0.0, 0.0, 0.0)).unwrap();
    let last = SLICES_PER_AXIS - 1;
    assert_eq!(slices[..2], [[0, last], [0, last]]);
    assert_eq!(slices[2][0], 0);
}

#[test]
fn boxes_behind_or_beside_touch_none_and_far_ones_the_last() {
    assert_eq!(touched_slices(&view(), &at(0.0, 0.0, 2.0)), None);
    assert_eq!(touched_slices(&view(), &at(20.0, 0.0, -5.0)), None);
    let far = touched_slices(&view(), &at(0.0, 0.0, -1e6)).unwrap();
    assert_eq!(far[2][1], SLICES_PER_AXIS - 1);
}

#[test]
fn masks_have_a_bit_per_decal_and_follow_one_another() {
    let mut lists = DecalLists::default();
    for index in 0..40 {
        lists.rows.push(DecalRow::zeroed());
        let beside = if index == 33 { 0.0 } else { 1e3 };
        lists.world_from_local.push(at(beside, 0.0, -2.5));
    }
    let mut views = [view(), view()];
    for view in &mut views {
        lists.add_view(view);
    }
    assert_eq!(views[0].decal_words, 2);
    let first_mask = 40 * ROW_WORDS as u32;
    assert_eq!(views[0].first_decal_mask, first_mask);
    assert_eq!(views[1].first_decal_mask, first_mask + 2 * TOTAL_SLICES);
    let middle = |first: u32| (first + SLICES_PER_AXIS / 2 * 2) as usize;
    for view in &views {
        let at = middle(view.first_decal_mask - first_mask);
        assert_eq!(lists.masks[at..at + 2], [0, 1 << 1]);
    }
    lists.fill_table();
    let words: &[u32] = bytemuck::cast_slice(&lists.table);
    let at = middle(views[1].first_decal_mask);
    assert_eq!(words[at..at + 2], [0, 1 << 1]);
}
