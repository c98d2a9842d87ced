//! Which part of an image goes where in a sprite: scaled, cut into nine, or tiled.
//!
//! Places are in the sprite's space, y up, with the sprite's centre at the origin; parts of the
//! image in pixels, y down.

use bevy_math::{Rect, Vec2};
use bevy_sprite::{SliceScaleMode, SpriteImageMode, SpriteScalingMode, TextureSlicer};

use crate::instance::rect_around;

/// A part of the image at a place of the sprite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slice {
    /// Pixels of the image.
    pub(crate) part: Rect,
    /// Where they are drawn.
    pub(crate) place: Rect,
}

/// The most tiles of one sprite: a slip of the pen must not fill the memory.
const MOST_TILES: usize = 1 << 14;

/// The slices of a sprite of this size that shows this part of an image.
pub(crate) fn slices(mode: &SpriteImageMode, part: Rect, size: Vec2, out: &mut Vec<Slice>) {
    let place = rect_around(Vec2::ZERO, size);
    let whole = Slice { part, place };
    match mode {
        SpriteImageMode::Auto => out.push(whole),
        SpriteImageMode::Scale(mode) => out.push(scaled(whole, *mode)),
        SpriteImageMode::Sliced(slicer) => sliced(whole, slicer, out),
        SpriteImageMode::Tiled {
            tile_x,
            tile_y,
            stretch_value,
        } => tile(whole, [*tile_x, *tile_y], *stretch_value, out),
    }
}

/// Keeps the image's proportions: by leaving out a part of it (fill), or of the sprite (fit).
fn scaled(slice: Slice, mode: SpriteScalingMode) -> Slice {
    use SpriteScalingMode as M;
    let Slice { part, place } = slice;
    let (have, want) = (part.size(), place.size());
    if have.min_element() <= 0.0 || want.min_element() <= 0.0 {
        return slice;
    }
    // Where the rest goes: 0 is left and top, 1 is right and bottom.
    let align = match mode {
        M::FillStart | M::FitStart => 0.0,
        M::FillCenter | M::FitCenter => 0.5,
        M::FillEnd | M::FitEnd => 1.0,
    };
    match mode {
        M::FillCenter | M::FillStart | M::FillEnd => {
            let size = want * (have / want).min_element();
            let min = part.min + (have - size) * align;
            let part = Rect::from_corners(min, min + size);
            Slice { part, place }
        }
        M::FitCenter | M::FitStart | M::FitEnd => {
            let size = have * (want / have).min_element();
            let rest = want - size;
            let left_top = Vec2::new(place.min.x, place.max.y) + rest * Vec2::new(align, -align);
            let place = Rect::from_corners(left_top, left_top + size * Vec2::new(1.0, -1.0));
            Slice { part, place }
        }
    }
}

/// Cuts into corners that keep their proportions, sides and a centre.
fn sliced(whole: Slice, slicer: &TextureSlicer, out: &mut Vec<Slice>) {
    let Slice { part, place } = whole;
    let (first, last) = (slicer.border.min_inset, slicer.border.max_inset);
    let has_room = (first + last).cmplt(part.size()).all();
    let is_inset = first.cmpge(Vec2::ZERO).all() && last.cmpge(Vec2::ZERO).all();
    if !has_room || !is_inset {
        return out.push(whole);
    }
    let scale = (place.size() / part.size())
        .min_element()
        .min(slicer.max_corner_scale)
        .max(f32::EPSILON);
    let cuts = |low: f32, high: f32, first: f32, last: f32| [low, low + first, high - last, high];
    let part_x = cuts(part.min.x, part.max.x, first.x, last.x);
    let part_y = cuts(part.min.y, part.max.y, first.y, last.y);
    let place_x = cuts(place.min.x, place.max.x, first.x * scale, last.x * scale);
    // The image's rows go down, the sprite's space goes up.
    let down = cuts(0.0, place.height(), first.y * scale, last.y * scale);
    for row in 0..3 {
        for column in 0..3 {
            let corners =
                |x: [f32; 4], y: [f32; 4]| Rect::new(x[column], y[row], x[column + 1], y[row + 1]);
            let from_top = corners(place_x, down);
            let slice = Slice {
                part: corners(part_x, part_y),
                place: Rect::new(
                    from_top.min.x,
                    place.max.y - from_top.max.y,
                    from_top.max.x,
                    place.max.y - from_top.min.y,
                ),
            };
            let inner = [column == 1, row == 1];
            let mode = match inner {
                [true, true] => slicer.center_scale_mode,
                [false, false] => SliceScaleMode::Stretch,
                _ => slicer.sides_scale_mode,
            };
            match mode {
                SliceScaleMode::Stretch => push(slice, out),
                SliceScaleMode::Tile { stretch_value } => tile(slice, inner, stretch_value, out),
            }
        }
    }
}

/// Repeats the part along the wished axes from the top left on, each repetition `stretch` times
/// as large as its pixels; the last ones are cut.
fn tile(slice: Slice, along: [bool; 2], stretch: f32, out: &mut Vec<Slice>) {
    let Slice { part, place } = slice;
    if !along[0] && !along[1] || part.size().min_element() <= 0.0 {
        return push(slice, out);
    }
    let stretch = if stretch.is_finite() {
        stretch.max(0.001)
    } else {
        1.0
    };
    let axis = |on: bool, pixels: f32, room: f32| if on { pixels * stretch } else { room };
    let length = Vec2::new(
        axis(along[0], part.width(), place.width()),
        axis(along[1], part.height(), place.height()),
    );
    let counts = (place.size() / length).ceil().max(Vec2::ONE);
    if counts.x * counts.y > MOST_TILES as f32 {
        return push(slice, out);
    }
    for row in 0..counts.y as u32 {
        for column in 0..counts.x as u32 {
            let start = Vec2::new(column as f32, row as f32) * length;
            let size = length.min(place.size() - start);
            let left_top = Vec2::new(place.min.x + start.x, place.max.y - start.y);
            let tile = Slice {
                part: Rect::from_corners(part.min, part.min + part.size() * (size / length)),
                place: Rect::from_corners(left_top, left_top + size * Vec2::new(1.0, -1.0)),
            };
            push(tile, out);
        }
    }
}

/// Adds a slice that has an area.
fn push(slice: Slice, out: &mut Vec<Slice>) {
    if slice.place.size().min_element() > 0.0 {
        out.push(slice);
    }
}

#[cfg(test)]
mod tests;
