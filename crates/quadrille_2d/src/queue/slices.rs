//! Texture slices of a sprite: scaled, nine-sliced or tiled.
//!
//! `dest_rect`s are in the sprite's local space, y up, its centre at the origin; `source_rect`s are in pixels of the
//! image, y down.

use bevy_math::{Rect, Vec2};
use bevy_sprite::{SliceScaleMode, SpriteImageMode, SpriteScalingMode, TextureSlicer};

use crate::instances::mesh_instance::rect_around;

/// Rect of the image, and the rect of the sprite that shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TextureSlice {
    /// Pixels of the image, y down.
    pub(crate) source_rect: Rect,
    /// Local space of the sprite, y up.
    pub(crate) dest_rect: Rect,
}

/// Maximum number of tiles of one sprite, so that a tiny `stretch_value` cannot exhaust memory.
const MAX_TILES: usize = 1 << 14;

/// Appends the slices of a sprite of this size that shows `source_rect`.
pub(crate) fn slices(
    mode: &SpriteImageMode,
    source_rect: Rect,
    size: Vec2,
    out: &mut Vec<TextureSlice>,
) {
    let dest_rect = rect_around(Vec2::ZERO, size);
    let whole = TextureSlice {
        source_rect,
        dest_rect,
    };
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

/// Preserves the aspect ratio: crops the image (fill) or letterboxes it (fit).
fn scaled(slice: TextureSlice, mode: SpriteScalingMode) -> TextureSlice {
    use SpriteScalingMode as M;
    let TextureSlice {
        source_rect,
        dest_rect,
    } = slice;
    let (have, want) = (source_rect.size(), dest_rect.size());
    if have.min_element() <= 0.0 || want.min_element() <= 0.0 {
        return slice;
    }
    // Alignment of the remainder: 0 is left and top, 1 is right and bottom.
    let align = match mode {
        M::FillStart | M::FitStart => 0.0,
        M::FillCenter | M::FitCenter => 0.5,
        M::FillEnd | M::FitEnd => 1.0,
    };
    match mode {
        M::FillCenter | M::FillStart | M::FillEnd => {
            let size = want * (have / want).min_element();
            let min = source_rect.min + (have - size) * align;
            let source_rect = Rect::from_corners(min, min + size);
            TextureSlice {
                source_rect,
                dest_rect,
            }
        }
        M::FitCenter | M::FitStart | M::FitEnd => {
            let size = have * (want / have).min_element();
            let rest = want - size;
            let left_top =
                Vec2::new(dest_rect.min.x, dest_rect.max.y) + rest * Vec2::new(align, -align);
            let dest_rect = Rect::from_corners(left_top, left_top + size * Vec2::new(1.0, -1.0));
            TextureSlice {
                source_rect,
                dest_rect,
            }
        }
    }
}

/// Nine-slices into corners, sides and centre; corners keep their aspect ratio.
fn sliced(whole: TextureSlice, slicer: &TextureSlicer, out: &mut Vec<TextureSlice>) {
    let TextureSlice {
        source_rect,
        dest_rect,
    } = whole;
    let (first, last) = (slicer.border.min_inset, slicer.border.max_inset);
    let has_room = (first + last).cmplt(source_rect.size()).all();
    let is_inset = first.cmpge(Vec2::ZERO).all() && last.cmpge(Vec2::ZERO).all();
    if !has_room || !is_inset {
        return out.push(whole);
    }
    let scale = (dest_rect.size() / source_rect.size())
        .min_element()
        .min(slicer.max_corner_scale)
        .max(f32::EPSILON);
    let cuts = |low: f32, high: f32, first: f32, last: f32| [low, low + first, high - last, high];
    let source_x = cuts(source_rect.min.x, source_rect.max.x, first.x, last.x);
    let source_y = cuts(source_rect.min.y, source_rect.max.y, first.y, last.y);
    let dest_x = cuts(
        dest_rect.min.x,
        dest_rect.max.x,
        first.x * scale,
        last.x * scale,
    );
    // Distances from the top, flipped to y up below.
    let down = cuts(0.0, dest_rect.height(), first.y * scale, last.y * scale);
    for row in 0..3 {
        for column in 0..3 {
            let corners =
                |x: [f32; 4], y: [f32; 4]| Rect::new(x[column], y[row], x[column + 1], y[row + 1]);
            let from_top = corners(dest_x, down);
            let slice = TextureSlice {
                source_rect: corners(source_x, source_y),
                dest_rect: Rect::new(
                    from_top.min.x,
                    dest_rect.max.y - from_top.max.y,
                    from_top.max.x,
                    dest_rect.max.y - from_top.min.y,
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

/// Tiles a slice along the given axes from the top left; tiles have `stretch` times their pixel size, and the last
/// ones are cropped.
fn tile(slice: TextureSlice, along: [bool; 2], stretch: f32, out: &mut Vec<TextureSlice>) {
    let TextureSlice {
        source_rect,
        dest_rect,
    } = slice;
    if !along[0] && !along[1] || source_rect.size().min_element() <= 0.0 {
        return push(slice, out);
    }
    let stretch = if stretch.is_finite() {
        stretch.max(0.001)
    } else {
        1.0
    };
    let axis = |on: bool, pixels: f32, room: f32| if on { pixels * stretch } else { room };
    let length = Vec2::new(
        axis(along[0], source_rect.width(), dest_rect.width()),
        axis(along[1], source_rect.height(), dest_rect.height()),
    );
    let counts = (dest_rect.size() / length).ceil().max(Vec2::ONE);
    if counts.x * counts.y > MAX_TILES as f32 {
        return push(slice, out);
    }
    for row in 0..counts.y as u32 {
        for column in 0..counts.x as u32 {
            let start = Vec2::new(column as f32, row as f32) * length;
            let size = length.min(dest_rect.size() - start);
            let left_top = Vec2::new(dest_rect.min.x + start.x, dest_rect.max.y - start.y);
            let tile = TextureSlice {
                source_rect: Rect::from_corners(
                    source_rect.min,
                    source_rect.min + source_rect.size() * (size / length),
                ),
                dest_rect: Rect::from_corners(left_top, left_top + size * Vec2::new(1.0, -1.0)),
            };
            push(tile, out);
        }
    }
}

/// Appends a slice unless it is empty.
fn push(slice: TextureSlice, out: &mut Vec<TextureSlice>) {
    if slice.dest_rect.size().min_element() > 0.0 {
        out.push(slice);
    }
}

#[cfg(test)]
mod tests;
