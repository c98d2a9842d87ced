//! Atlas rects with `min > max`: `URect::size` underflows on them and panics in debug builds.

use bevy_asset::{AssetServer, Assets};
use bevy_ecs::prelude::*;
use bevy_image::TextureAtlasLayout;
use bevy_math::URect;

use quadrille_content::warnings::{RateLimitedWarnings, asset_label};

/// Makes inverted atlas rects empty, with a warning.
pub(crate) fn hide_inverted_atlas_rects(
    mut layouts: ResMut<Assets<TextureAtlasLayout>>,
    warnings: Res<RateLimitedWarnings>,
    server: Res<AssetServer>,
) {
    if !layouts.is_changed() {
        return;
    }
    let mut inverted_layouts = Vec::new();
    for (id, layout) in layouts.iter() {
        if let Some((index, texture)) = inverted_rects(layout).next() {
            let URect { min, max } = *texture;
            warnings.warn_message(|| {
                let atlas = asset_label(id, &server);
                format!(
                    "texture {index} of {atlas} is not drawn: its `min` {min} exceeds its `max` {max}; swap them in \
                     the `TextureAtlasLayout`"
                )
            });
            inverted_layouts.push(id);
        }
    }
    for id in inverted_layouts {
        if let Some(layout) = layouts.get_mut_untracked(id) {
            for texture in &mut layout.textures {
                texture.max = texture.max.max(texture.min);
            }
        }
    }
}

/// Rects with `min > max` along an axis, by index.
fn inverted_rects(layout: &TextureAtlasLayout) -> impl Iterator<Item = (usize, &URect)> {
    let textures = layout.textures.iter().enumerate();
    textures.filter(|(_, texture)| texture.min.cmpgt(texture.max).any())
}
