//! From sprites to instances.

use bevy_asset::Assets;
use bevy_color::LinearRgba;
use bevy_image::TextureAtlasLayout;
use bevy_math::{Affine3A, Rect, Vec2};
use bevy_sprite::{Anchor, Sprite, SpriteAlphaMode};

use crate::images::PLACEHOLDER_SIZE;
use crate::instance::{AlphaMode, Instance, UvRect};
use crate::slices::{Slice, slices};

/// The image of a sprite.
pub(crate) struct SpriteImage<'a> {
    /// Its size in pixels; none while that is not known.
    pub(crate) size: Option<Vec2>,
    /// The parts that it may be cut into.
    pub(crate) layouts: &'a Assets<TextureAtlasLayout>,
    /// It is not there: what stands for it is shown whole.
    pub(crate) is_placeholder: bool,
}

/// Adds the instances of a sprite to `out`.
pub(crate) fn add_sprite(
    sprite: &Sprite,
    anchor: &Anchor,
    world: &Affine3A,
    image: &SpriteImage<'_>,
    (scratch, out): (&mut Vec<Slice>, &mut Vec<Instance>),
) {
    let is_placeholder = image.is_placeholder;
    let tint = if is_placeholder {
        LinearRgba::WHITE
    } else {
        sprite.color.to_linear()
    };
    let alpha = match sprite.alpha_mode {
        SpriteAlphaMode::Opaque => AlphaMode::Opaque,
        SpriteAlphaMode::Mask(threshold) => AlphaMode::Mask(threshold),
        SpriteAlphaMode::Blend => AlphaMode::Blend,
    };
    let part = part(sprite, image.size, image.layouts);
    let size = sprite.custom_size.or(part.map(|part| part.size()));
    let size = size.unwrap_or(PLACEHOLDER_SIZE);
    let offset = -anchor.as_vec() * size;
    scratch.clear();
    match part.filter(|_| !is_placeholder) {
        Some(part) => slices(&sprite.image_mode, part, size, scratch),
        None => scratch.push(Slice {
            part: Rect::new(0.0, 0.0, 1.0, 1.0),
            place: Rect::from_center_size(Vec2::ZERO, size),
        }),
    }
    let image_size = image.size.filter(|_| !is_placeholder).unwrap_or(Vec2::ONE);
    let mirror = Vec2::new(
        if sprite.flip_x { -1.0 } else { 1.0 },
        if sprite.flip_y { -1.0 } else { 1.0 },
    );
    for slice in scratch.iter() {
        let uv = UvRect::of_pixels(slice.part, image_size).flipped(sprite.flip_x, sprite.flip_y);
        let place = &slice.place;
        // A mirrored sprite has its slices mirrored as well.
        let center = place.center() * mirror + offset;
        let place = Rect::from_center_size(center, place.size());
        out.push(Instance::quad(world, place, uv, tint, alpha));
    }
}

/// The pixels of the image that a sprite shows; none while they are not known.
fn part(
    sprite: &Sprite,
    image_size: Option<Vec2>,
    layouts: &Assets<TextureAtlasLayout>,
) -> Option<Rect> {
    let atlas = match &sprite.texture_atlas {
        Some(atlas) => Some(atlas.texture_rect(layouts)?.as_rect()),
        None => None,
    };
    match (atlas, sprite.rect) {
        (None, None) => image_size.map(|size| Rect::from_corners(Vec2::ZERO, size)),
        (None, Some(rect)) => Some(rect),
        (Some(atlas), None) => Some(atlas),
        (Some(atlas), Some(rect)) => Some(Rect {
            min: rect.min + atlas.min,
            max: rect.max + atlas.min,
        }),
    }
}

#[cfg(test)]
mod tests;
