//! Converts sprites to instances.

use bevy_asset::Assets;
use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_image::{TextureAtlas, TextureAtlasLayout};
use bevy_math::{Affine3A, Rect, Vec2};
use bevy_sprite::{Anchor, Sprite, SpriteAlphaMode, SpriteImageMode};

use crate::instances::mesh_instance::{AlphaMode, Instance, UvRect, rect_around};
use crate::queue::slices::{TextureSlice, slices};
use quadrille_content::images::PLACEHOLDER_SIZE;
use quadrille_content::warnings::first_non_finite;

/// Image data of a sprite.
pub(crate) struct SpriteImage<'a> {
    /// Size in pixels; `None` until loaded.
    pub(crate) size: Option<Vec2>,
    /// Texture atlas layouts.
    pub(crate) layouts: &'a Assets<TextureAtlasLayout>,
    /// Whether the image is a placeholder, which ignores `rect`, atlas and image mode.
    pub(crate) is_placeholder: bool,
}

/// Appends the instances of a sprite to `out`. Returns the rectangle of the last one in the sprite's local space; `None`
/// and leaves `out` unchanged if it cannot be drawn.
pub(crate) fn add_sprite(
    sprite: &Sprite,
    anchor: &Anchor,
    world: &Affine3A,
    image: &SpriteImage<'_>,
    (scratch, out): (&mut Vec<TextureSlice>, &mut Vec<Instance>),
) -> Option<Rect> {
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
    let source_rect = source_rect(sprite, image.size, image.layouts);
    let size = sprite
        .custom_size
        .or(source_rect.map(|source_rect| source_rect.size()));
    let size = size.unwrap_or(PLACEHOLDER_SIZE);
    // A negative size flips, as in bevy.
    let is_mirrored = [size.x < 0.0, size.y < 0.0];
    scratch.clear();
    let whole = TextureSlice {
        source_rect: Rect::new(0.0, 0.0, 1.0, 1.0),
        dest_rect: rect_around(Vec2::ZERO, size.abs()),
    };
    match source_rect {
        _ if is_placeholder => scratch.push(whole),
        Some(_) if is_mirrored.contains(&true) && !allows_negative_size(&sprite.image_mode) => {
            return None;
        }
        Some(source_rect) => slices(&sprite.image_mode, source_rect, size.abs(), scratch),
        None if image.size.is_none() => scratch.push(whole),
        None => return None,
    }
    let image_size = image.size.filter(|_| !is_placeholder).unwrap_or(Vec2::ONE);
    let flip_x = sprite.flip_x != is_mirrored[0];
    let flip_y = sprite.flip_y != is_mirrored[1];
    let mirror = Vec2::new(
        if flip_x { -1.0 } else { 1.0 },
        if flip_y { -1.0 } else { 1.0 },
    );
    let offset = -anchor.as_vec() * size;
    let first = out.len();
    let mut last = Rect::EMPTY;
    for slice in scratch.iter() {
        let uv = UvRect::of_pixels(slice.source_rect, image_size).flipped(flip_x, flip_y);
        let dest_rect = &slice.dest_rect;
        // Flipping also mirrors the positions of slices.
        let center = dest_rect.center() * mirror + offset;
        let dest_rect = rect_around(center, dest_rect.size());
        out.push(Instance::quad(world, dest_rect, uv, tint, alpha));
        last = dest_rect;
    }
    let is_finite = out[first..].iter().all(Instance::is_finite);
    if !is_finite {
        out.truncate(first);
    }
    is_finite.then_some(last)
}

/// Whether negative sizes flip a sprite of this image mode.
fn allows_negative_size(mode: &SpriteImageMode) -> bool {
    matches!(mode, SpriteImageMode::Auto)
}

/// Describes an atlas index out of bounds; `None` while the layout is not loaded.
pub(crate) fn missing_texture(
    atlas: &TextureAtlas,
    layouts: &Assets<TextureAtlasLayout>,
) -> Option<String> {
    let count = layouts.get(&atlas.layout)?.textures.len();
    let index = atlas.index;
    Some(format!(
        "its atlas index {index} is beyond {count} textures"
    ))
}

/// Returns the reason a sprite cannot be drawn; `None` if it only waits for assets.
pub(crate) fn sprite_error(
    sprite: &Sprite,
    anchor: &Anchor,
    world: &Affine3A,
    image: &SpriteImage<'_>,
) -> Option<String> {
    if let Some(atlas) = &sprite.texture_atlas
        && atlas.texture_rect(image.layouts).is_none()
    {
        return missing_texture(atlas, image.layouts);
    }
    let size = sprite.custom_size.unwrap_or_default();
    if size.min_element() < 0.0 && !allows_negative_size(&sprite.image_mode) {
        return Some(format!(
            "its custom_size is {size}; negative sizes require `SpriteImageMode::Auto`"
        ));
    }
    let rect = sprite.rect.unwrap_or_default();
    let threshold = match sprite.alpha_mode {
        SpriteAlphaMode::Mask(threshold) => threshold,
        SpriteAlphaMode::Opaque | SpriteAlphaMode::Blend => 0.0,
    };
    Some(first_non_finite(&[
        ("transform", &world.to_cols_array()),
        ("custom_size", &size.to_array()),
        ("rect", &[rect.min.x, rect.min.y, rect.max.x, rect.max.y]),
        ("anchor", &anchor.as_vec().to_array()),
        ("color", &sprite.color.to_linear().to_f32_array()),
        ("alpha_mode", &[threshold]),
    ]))
}

/// Returns the visible rect of a sprite's image in pixels; `None` until its assets are loaded, or if the atlas index
/// is out of bounds.
fn source_rect(
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
