//! Textures of atlases whose corners lie the wrong way round: bevy asks for their size, and ends
//! programs that are built to be debugged where it is negative.

use bevy_asset::{AssetServer, Assets};
use bevy_ecs::prelude::*;
use bevy_image::TextureAtlasLayout;
use bevy_math::URect;

use quadrille_content::{RateLimitedWarnings, asset_label};

/// Has such textures show nothing.
pub(crate) fn hide_inverted_atlas_rects(
    mut layouts: ResMut<Assets<TextureAtlasLayout>>,
    warnings: Res<RateLimitedWarnings>,
    server: Res<AssetServer>,
) {
    if !layouts.is_changed() {
        return;
    }
    let mut odd = Vec::new();
    for (id, layout) in layouts.iter() {
        if let Some((index, texture)) = reversed(layout).next() {
            let URect { min, max } = *texture;
            warnings.warn_message(|| {
                let atlas = asset_label(id, &server);
                format!(
                    "texture {index} of {atlas} is not drawn: its least corner is {min}, and its greatest {max}"
                )
            });
            odd.push(id);
        }
    }
    for id in odd {
        if let Some(layout) = layouts.get_mut_untracked(id) {
            for texture in &mut layout.textures {
                texture.max = texture.max.max(texture.min);
            }
        }
    }
}

/// The textures whose corners lie the wrong way round, by index.
fn reversed(layout: &TextureAtlasLayout) -> impl Iterator<Item = (usize, &URect)> {
    let textures = layout.textures.iter().enumerate();
    textures.filter(|(_, texture)| texture.min.cmpgt(texture.max).any())
}
