//! Cutting quads to what the ancestors of their node let through.

use bevy_math::{Affine3A, Rect, Vec2, Vec3};
use bevy_ui::CalculatedClip;

use super::rect_y_up;
use crate::instance::UvRect;

/// What is let through, in pixels, y up; none if that is nothing.
pub(super) fn bounds(clip: &CalculatedClip) -> Option<Rect> {
    let CalculatedClip::Rects(rects) = clip else {
        return None;
    };
    let mut bounds = Rect::from_corners(Vec2::splat(f32::MIN), Vec2::splat(f32::MAX));
    for clip in rects {
        let to_world = clip.world_to_clip_local.inverse();
        let corners = [
            clip.rect.min,
            Vec2::new(clip.rect.min.x, clip.rect.max.y),
            clip.rect.max,
            Vec2::new(clip.rect.max.x, clip.rect.min.y),
        ];
        let corners = corners.map(|corner| to_world.transform_point2(corner));
        let min = corners.into_iter().reduce(Vec2::min)?;
        let max = corners.into_iter().reduce(Vec2::max)?;
        bounds = bounds.intersect(Rect { min, max });
    }
    (!bounds.is_empty()).then(|| rect_y_up(bounds))
}

/// The part of a quad within bounds, and the part of its image that it shows; none if there is
/// none. A turned quad stays whole.
pub(super) fn clip(
    world: &Affine3A,
    place: Rect,
    uv: UvRect,
    bounds: Rect,
) -> Option<(Rect, UvRect)> {
    let matrix = world.matrix3;
    let is_turned = matrix.x_axis.y != 0.0 || matrix.y_axis.x != 0.0;
    let scale = Vec2::new(matrix.x_axis.x, matrix.y_axis.y);
    if is_turned || scale.x == 0.0 || scale.y == 0.0 {
        return Some((place, uv));
    }
    let point = |at: Vec2| world.transform_point3(at.extend(0.0)).truncate();
    let covered = Rect::from_corners(point(place.min), point(place.max));
    let seen = covered.intersect(bounds);
    if seen.is_empty() {
        return None;
    }
    let translation: Vec3 = world.translation.into();
    let local = |at: Vec2| (at - translation.truncate()) / scale;
    let cut = Rect::from_corners(local(seen.min), local(seen.max));
    let size = place.size();
    // The image's v goes down, the place's y up.
    let from = Vec2::new(cut.min.x - place.min.x, place.max.y - cut.max.y) / size;
    let to = Vec2::new(cut.max.x - place.min.x, place.max.y - cut.min.y) / size;
    let whole = uv.max - uv.min;
    let uv = UvRect {
        min: uv.min + whole * from,
        max: uv.min + whole * to,
    };
    Some((cut, uv))
}
